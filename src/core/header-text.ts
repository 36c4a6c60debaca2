/** The values of HTTP headers. Node gives each of them with one character for each byte. */
import { decodeStrictly } from "./charset.ts";

/** The value of a header; repeated headers are joined (RFC 9110, section 5.3). */
export const joinHeaderValues = (value: string | readonly string[] | undefined): string =>
  typeof value === "string" ? value : (value ?? []).join(", ");

/** Returns the text of a value: its bytes as UTF-8 if they are that, else as Latin-1, as older programs send it (RFC 9110, section 5.5). */
export function headerText(value: string): string {
  if (!/[\x80-\xff]/.test(value)) return value;
  return decodeStrictly(headerBytes(value), "utf-8") ?? value;
}

/** Returns the bytes of a value as they were received, which signatures are over. */
export const headerBytes = (value: string): Buffer => Buffer.from(value, "latin1");

/** The headers of a response: as they arrive, and as steps get them. */
import { decodeStrictly } from "../../core/charset.ts";
import type { ResponseHeaders } from "../../core/connections.ts";
import type { Masker } from "../masking.ts";

/** Names in lower case. Each value has one character for each byte. */
export type RawHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The value of a header; repeated headers are joined (RFC 9110, section 5.3). */
export const joinHeaderValues = (value: string | string[] | undefined): string =>
  Array.isArray(value) ? value.join(", ") : (value ?? "");

/** Returns the text of a value: its bytes as UTF-8 if they are that, else as Latin-1, as older servers send it (RFC 9110, section 5.5). */
export function headerText(value: string): string {
  if (!/[\x80-\xff]/.test(value)) return value;
  return decodeStrictly(Buffer.from(value, "latin1"), "utf-8") ?? value;
}

/** The headers for steps: `set-cookie` is a list, because its values can't be joined; secrets are masked. */
export function responseHeaders(raw: RawHeaders, mask: Masker): ResponseHeaders {
  const shown = (value: string): string => mask.text(headerText(value));
  return Object.fromEntries(
    Object.entries(raw).map(([name, value]) => [
      mask.text(name),
      name === "set-cookie" ? [value ?? []].flat().map(shown) : shown(joinHeaderValues(value)),
    ]),
  );
}

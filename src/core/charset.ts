/** Decodes text by its declared charset. Bytes that the charset does not have are never replaced: the text would be another one. */
import { MIMEType } from "node:util";

const ASCII = /^(?:us-)?ascii$/i;

/** @returns undefined for a header that is missing or invalid */
export function parseContentType(header: string | undefined): MIMEType | undefined {
  if (header === undefined || header === "") return undefined;
  try {
    return new MIMEType(header);
  } catch {
    return undefined;
  }
}

/** A decoder that returns undefined for bytes that are not valid in its charset. */
export type Decode = (bytes: Uint8Array) => string | undefined;

/**
 * @param charset a label such as `iso-8859-1` (WHATWG Encoding, section 4.2)
 * @param options.hasMark whether a byte order mark at the start is no part of the text
 * @returns undefined if the charset is not known
 */
export function decoderOf(charset: string, { hasMark }: { hasMark: boolean }): Decode | undefined {
  let decoder: InstanceType<typeof TextDecoder>;
  try {
    // ASCII is a label of windows-1252, which has a character for every byte.
    decoder = new TextDecoder(ASCII.test(charset) ? "utf-8" : charset, { fatal: true, ignoreBOM: !hasMark });
  } catch {
    return undefined;
  }
  return (bytes) => {
    if (ASCII.test(charset) && bytes.some((byte) => byte > 0x7f)) return undefined;
    try {
      return decoder.decode(bytes);
    } catch {
      return undefined;
    }
  };
}

/** Whether a charset has the characters of ASCII as single bytes, so that bytes can be taken apart before they are decoded. */
export const isAsciiCompatible = (charset: string): boolean =>
  decoderOf(charset, { hasMark: false })?.(Buffer.from("a=&%")) === "a=&%";

/** The charset that a byte order mark names; undefined without one. */
export function charsetOfMark(bytes: Uint8Array): string | undefined {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  return first === 0xff && second === 0xfe ? "utf-16le" : undefined;
}

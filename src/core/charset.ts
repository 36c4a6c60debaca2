/** Decodes text by its declared charset. Bytes that the charset does not have are never replaced: the text would be another one. */
import { MIMEType } from "node:util";
import { nearMatch } from "./near-match.ts";

const ASCII = /^(?:us-)?ascii$/i;

/** Maximum length of a Content-Type, in characters: parsing takes the square of it. */
const MAX_TYPE_CHARS = 1_000;

/** @returns undefined for a header that is missing, invalid or longer than 1,000 characters */
export function parseContentType(header: string | undefined): MIMEType | undefined {
  if (header === undefined || header === "" || header.length > MAX_TYPE_CHARS) return undefined;
  try {
    return new MIMEType(header);
  } catch {
    return undefined;
  }
}

const PARAMETER = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]*))/g;

/** Returns the parameters of a header such as Content-Type, with names in lower case, also beside a value that is invalid. */
export const headerParameters = (header: string | undefined): [name: string, value: string][] =>
  Array.from((header ?? "").matchAll(PARAMETER), ([, name, quoted, plain]) => [
    name!.toLowerCase(),
    quoted ?? plain!,
  ]);

/** Returns the charset that a Content-Type declares, also beside a type that is invalid, as some servers send it. */
export function charsetParameter(header: string | undefined): string | undefined {
  const declared = headerParameters(header).find(([name]) => name === "charset");
  return declared && /[^\s,]+/.exec(declared[1])?.[0];
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
  const isShiftJis = decoder.encoding === "shift_jis";
  return (bytes) => {
    if (ASCII.test(charset) && bytes.some((byte) => byte > 0x7f)) return undefined;
    try {
      const text = decoder.decode(bytes);
      return isShiftJis ? text.replaceAll(EXCHANGED_CONTROLS, (control) => EXCHANGED[control]!) : text;
    } catch {
      return undefined;
    }
  };
}

/** Control characters that the decoder of Node for Shift_JIS exchanges, as IBM did; in the standard they are those of ASCII. */
const EXCHANGED: Readonly<Record<string, string>> = { "\x1c": "\x1a", "\x7f": "\x1c", "\x1a": "\x7f" };
const EXCHANGED_CONTROLS = new RegExp(`[${Object.keys(EXCHANGED).join("")}]`, "g");

const ASCII_BYTES = Uint8Array.from({ length: 0x80 }, (_, byte) => byte);

/** Whether bytes below 0x80 that are no part of a longer character are those of ASCII, whatever bytes are before them. */
export const isAsciiCompatible = (charset: string): boolean =>
  decoderOf(charset, { hasMark: false })?.(ASCII_BYTES) === Buffer.from(ASCII_BYTES).toString("latin1");

/** The charset that a byte order mark names, which for UTF-32 is not a known one; undefined without one. */
export function charsetOfMark([first, second, third, fourth]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  if (first === 0xff && second === 0xfe) return third === 0 && fourth === 0 ? "utf-32le" : "utf-16le";
  return first === 0 && second === 0 && third === 0xfe && fourth === 0xff ? "utf-32be" : undefined;
}

/** Well-known labels, for near matches. All labels of the standard are accepted. */
const KNOWN: readonly string[] = (
  "utf-8 utf-16le utf-16be us-ascii latin1 macintosh x-mac-cyrillic koi8-r koi8-u ibm866 gbk gb2312 gb18030 big5 euc-jp " +
  "iso-2022-jp shift_jis euc-kr windows-874"
)
  .split(" ")
  .concat([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 15, 16].map((part) => `iso-8859-${part}`))
  .concat([1250, 1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258].map((page) => `windows-${page}`));

/** Returns the name of the encoding that a label means; undefined for an unknown one. */
export function encodingOf(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

/** The encoding of JSON: the one that Content-Type declares, else UTF-8 (RFC 8259, section 8.1); undefined for an unknown one. */
export const jsonEncodingOf = (contentType: string | undefined): string | undefined =>
  encodingOf(charsetParameter(contentType) ?? "utf-8");

/** Says that JSON is expected in another charset than Content-Type declares. */
export const otherJsonCharset = (contentType: string | undefined): string => {
  const declared = JSON.stringify(charsetParameter(contentType)?.slice(0, 50) ?? "");
  return `Content-Type declares the charset ${declared}. Send the body as UTF-8, with Content-Type: application/json.`;
};

/** The issue of a label, if it is unknown. */
export function charsetIssue(
  label: string,
): { code: string; message: string; did_you_mean?: string; fix: string } | undefined {
  if (encodingOf(label) !== undefined) return undefined;
  const near = nearMatch(label, KNOWN);
  return {
    code: "not_allowed",
    message: "must be a charset of the Encoding standard",
    ...(near !== undefined && { did_you_mean: near }),
    fix: `Write ${near ?? "a name such as utf-8, windows-1252 or utf-16le"}.`,
  };
}

/**
 * Decodes bytes. A byte order mark of the charset at the start is left out.
 * @param charset a known label
 * @returns undefined if they are not valid
 */
export const decodeStrictly = (bytes: Uint8Array, charset: string): string | undefined =>
  decoderOf(charset, { hasMark: true })?.(bytes);

/** Returns the offset of the first byte that is not valid; the length if the last character is incomplete. */
export function invalidOffset(bytes: Uint8Array, charset: string): number {
  if (ASCII.test(charset)) return bytes.findIndex((byte) => byte > 0x7f);
  const isValid = (length: number): boolean => {
    try {
      new TextDecoder(charset, { fatal: true }).decode(bytes.subarray(0, length), { stream: true });
      return true;
    } catch {
      return false;
    }
  };
  let [valid, invalid] = [0, bytes.length + 1];
  while (invalid - valid > 1) {
    const middle = Math.floor((valid + invalid) / 2);
    if (isValid(middle)) valid = middle;
    else invalid = middle;
  }
  return valid;
}

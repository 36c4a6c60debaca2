/**
 * Whether bytes have one meaning. No signature is over Content-Type, so somebody with a signed delivery could send its bytes with another
 * one: JSON as a form, of which a text in it becomes the fields, or UTF-8 in a charset in which a character takes the quote after it.
 */
import { isUtf8 } from "node:buffer";
import { charsetOfMark } from "../../core/charset.ts";
import { AppError } from "../../core/errors.ts";

/**
 * How JSON texts and forms in parts begin, after white space. A form encodes brackets and quotes in the names of fields, and control
 * characters, which JSON in UTF-16 and ISO-2022-JP begins with (WHATWG URL, section 5.2).
 */
const NO_FORM = /^[\t\r\n ]*(?:[{["]|--|[^\P{Cc}\t\r\n\x7f-\x9f])/u;
/** Control characters that no JSON in UTF-8 has, but UTF-16 and ISO-2022-JP have. */
const CONTROLS = /[^\P{Cc}\t\r\n\x7f-\x9f]/u;
const BEYOND_ASCII = /[^\0-\x7f]/g;

/** @throws AppError invalid_input for a urlencoded form that is JSON or has parts */
export function assertUrlEncoded(bytes: Buffer): void {
  if (charsetOfMark(bytes) !== undefined || NO_FORM.test(bytes.toString("latin1")))
    throw new AppError(
      "invalid_input",
      "Content-Type says that the body is a form (application/x-www-form-urlencoded), but it begins like JSON or like a form in parts. " +
        "Send JSON with Content-Type: application/json (curl -H 'Content-Type: application/json' …: its default is a form), " +
        "and parts with multipart/form-data.",
    );
}

/** @throws AppError invalid_input for a form in parts that begins with another text than line breaks (RFC 2046, section 5.1.1) */
export function assertMultipart(bytes: Buffer, boundary: string): void {
  const text = bytes.toString("latin1");
  const start = `--${boundary}`;
  const at = /^(?:\r\n)*/.exec(text)![0].length;
  // A shorter boundary would end the form here, or begin in the middle of its own one.
  if (!text.startsWith(start, at) || !/^(?:[\t ]*\r\n|--\s*$)/.test(text.slice(at + start.length)))
    throw new AppError(
      "invalid_input",
      "The body is not valid multipart/form-data: it must begin with the boundary that Content-Type names.",
    );
}

/**
 * Whether bytes are UTF-8 with other characters of ASCII than their text in another charset, such as other quotes.
 * @param text the bytes in the declared charset
 */
export function hasOtherAscii(bytes: Buffer, text: string): boolean {
  if (!isUtf8(bytes)) return false;
  const utf8 = bytes.toString("utf8");
  return !CONTROLS.test(utf8) && utf8.replaceAll(BEYOND_ASCII, "") !== text.replaceAll(BEYOND_ASCII, "");
}

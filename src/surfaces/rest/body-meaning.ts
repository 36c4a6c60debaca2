/**
 * Whether bytes have one meaning. No signature is over Content-Type, so somebody with a signed delivery could send its bytes with another
 * one: JSON as a form, of which a text in it becomes the fields, or UTF-8 in a charset in which a character takes the quote after it.
 */
import { encodingOf } from "../../core/charset.ts";
import { AppError } from "../../core/errors.ts";

/** The first character of JSON texts and of forms in parts. A form encodes the first three in the names of fields (WHATWG URL, section 5.2). */
const NO_FORM = /^(?:\s*[{["]|--)/;
/** Control characters that no JSON in UTF-8 has, but UTF-16 and ISO-2022-JP have. */
const CONTROLS = /[^\P{Cc}\t\r\n\x7f-\x9f]/u;
const BEYOND_ASCII = /[^\0-\x7f]/g;

/** @throws AppError invalid_input for a urlencoded form that is JSON or has parts */
export function assertUrlEncoded(bytes: Buffer): void {
  if (NO_FORM.test(bytes.toString("latin1", 0, 100)))
    throw new AppError(
      "invalid_input",
      "Content-Type says that the body is a form (application/x-www-form-urlencoded), but it begins like JSON or like a form in parts. " +
        "Send JSON with Content-Type: application/json, and parts with multipart/form-data.",
    );
}

/** @throws AppError invalid_input for a form in parts that begins with another text */
export function assertMultipart(bytes: Buffer, boundary: string): void {
  const start = `--${boundary}`;
  if (bytes.toString("latin1", 0, start.length) !== start)
    throw new AppError(
      "invalid_input",
      "The body is not valid multipart/form-data: it must begin with the boundary that Content-Type names.",
    );
}

/**
 * @param text the bytes in the declared charset
 * @throws AppError invalid_json where they are UTF-8 with other characters of ASCII, such as other quotes
 */
export function assertSameAscii(bytes: Buffer, text: string, charset: string): void {
  const utf8 = bytes.toString("utf8");
  const isUtf8 = !utf8.includes("\uFFFD") && !CONTROLS.test(utf8);
  if (isUtf8 && utf8.replaceAll(BEYOND_ASCII, "") !== text.replaceAll(BEYOND_ASCII, ""))
    throw new AppError(
      "invalid_json",
      `The body is JSON in UTF-8, but Content-Type declares the charset ${JSON.stringify(charset.slice(0, 50))}. Declare the one that it is in.`,
    );
}

/**
 * @param charset the one that Content-Type declares
 * @throws AppError invalid_json for JSON in a field of a form that is not UTF-8 (RFC 8259, section 8.1)
 */
export function assertPayloadIsUtf8(payload: string, charset: string | undefined): void {
  if (
    charset !== undefined &&
    encodingOf(charset) !== "utf-8" &&
    payload.replaceAll(BEYOND_ASCII, "") !== payload
  )
    throw new AppError(
      "invalid_json",
      `The JSON in the field payload must be UTF-8, but Content-Type declares the charset ${JSON.stringify(charset.slice(0, 50))}. Send the form as UTF-8.`,
    );
}

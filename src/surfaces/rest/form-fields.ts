/**
 * Reads the fields of forms and query strings. Nothing is chosen or replaced: a field that occurs more than once is the list of
 * its values in order, and bytes that are not valid in the charset are refused.
 */
import { AppError } from "../../core/errors.ts";
import {
  charsetParameter,
  type Decode,
  decoderOf,
  encodingOf,
  isAsciiCompatible,
} from "../../core/charset.ts";
import { formatPath, invalidInput } from "../../core/issues.ts";
import type { EventFields } from "../../core/event-path.ts";
import { hasOtherAscii } from "./body-meaning.ts";

export type Field = readonly [name: string, value: string];

/** Maximum number of fields of a form or a query: reading one with parts takes about 40 µs for each, on the event loop. */
const MAX_FIELDS = 2_000;
const UTF_8 = decoderOf("utf-8", { hasMark: false })!;
/** The field with which a form names its charset (HTML, section 4.10.21.4; RFC 7578, section 4.6). */
const CHARSET_FIELD = "_charset_";
/** The only charset of forms in which bytes below 0x80 are not always those of ASCII: an escape changes what they mean. */
const ESCAPED_CHARSET = "iso-2022-jp";
const ESCAPE = 0x1b;

export function groupFields(fields: readonly Field[]): EventFields {
  const grouped = new Map<string, string | string[]>();
  for (const [name, value] of fields) {
    const before = grouped.get(name);
    if (Array.isArray(before)) before.push(value);
    else grouped.set(name, before === undefined ? value : [before, value]);
  }
  // Also a field with the name __proto__ becomes one of the object.
  return Object.fromEntries(grouped);
}

/** Reads a query string. @throws AppError invalid_input for bytes that are not valid UTF-8 */
export const parseQuery = (query: string | null | undefined): EventFields =>
  groupFields(decodeFields(urlEncodedFields(query ?? ""), UTF_8, notUtf8Parameter));

/**
 * Reads a form (application/x-www-form-urlencoded).
 * @throws AppError invalid_input
 */
export function parseForm(body: Buffer, contentType: string): Field[] {
  const raw = urlEncodedFields(body.toString("latin1"));
  const charset = formCharset(contentType, raw);
  const decode = decoderOfForm(charset);
  // The bytes of a character can then be `&`, `=`, `+` or `%`.
  if (!isAsciiCompatible(charset) && body.includes(ESCAPE))
    throw new AppError(
      "invalid_input",
      `The form in the charset ${encodingOf(charset)} has escapes that are not percent-encoded. Send it as UTF-8.`,
    );
  const fields = decodeFields(raw, decode, (name) => notInCharset(name, charset));
  if (charsetParameter(contentType) !== undefined) assertSameFields(raw, fields, charset);
  return fields;
}

/** A charset that Content-Type declares is not signed: somebody could declare another one. */
function assertSameFields(raw: readonly Field[], fields: readonly Field[], charset: string): void {
  for (const [index, field] of fields.entries())
    if (field.some((text, side) => hasOtherAscii(Buffer.from(raw[index]![side]!, "latin1"), text)))
      throw invalidInput([
        {
          path: shown(raw[index]![0]),
          code: "wrong_format",
          message: `is text in UTF-8, but Content-Type declares the charset ${charset.slice(0, 50)}`,
          fix: "Declare the charset that the form is in.",
        },
      ]);
}

/** The charset of a form: the declared one, else the one that its field `_charset_` names. */
export function formCharset(contentType: string, raw: readonly Field[]): string {
  return charsetParameter(contentType) ?? (raw.find(([name]) => name === CHARSET_FIELD)?.[1] || "utf-8");
}

/** @throws AppError invalid_input for a charset that is not known, or in which names and values can't be taken apart */
export function decoderOfForm(charset: string): Decode {
  const decode = decoderOf(charset, { hasMark: false });
  if (decode === undefined || !(isAsciiCompatible(charset) || encodingOf(charset) === ESCAPED_CHARSET))
    throw new AppError(
      "invalid_input",
      `The charset ${JSON.stringify(charset.slice(0, 50))} of the form is ${decode === undefined ? "not known" : "not supported for forms"}. Send it as UTF-8.`,
    );
  return decode;
}

/** Names and values as their bytes: each is a string with a character for each byte. */
function urlEncodedFields(text: string): Field[] {
  const parts = text.split("&");
  assertFieldCount(parts.length);
  return parts.flatMap((part): Field[] => {
    if (part === "") return [];
    const at = part.indexOf("=");
    return at < 0 ? [[bytesOf(part), ""]] : [[bytesOf(part.slice(0, at)), bytesOf(part.slice(at + 1))]];
  });
}

/** @throws AppError invalid_input */
export function assertFieldCount(count: number): void {
  if (count > MAX_FIELDS)
    throw new AppError(
      "invalid_input",
      `A form or a query must have at most ${MAX_FIELDS.toLocaleString("en-US")} fields, got ${count.toLocaleString("en-US")}. Send JSON instead.`,
    );
}

const bytesOf = (part: string): string =>
  /[+%]/.test(part)
    ? part
        .replaceAll("+", " ")
        .replaceAll(/%([0-9a-f]{2})/gi, (_code, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    : part;

/** Decodes names and values. @param fields strings with a character for each byte */
export function decodeFields(
  fields: readonly Field[],
  decode: Decode,
  refusal: (name: string) => AppError,
): Field[] {
  const decoded = (bytes: string, name: string): string => {
    const text = decode(Buffer.from(bytes, "latin1"));
    if (text === undefined) throw refusal(name);
    return text;
  };
  return fields.map(([name, value]) => [decoded(name, name), decoded(value, name)]);
}

/** A name for a message, whatever its bytes are. */
const shown = (name: string): string =>
  formatPath([(UTF_8(Buffer.from(name, "latin1")) ?? name.replaceAll(/[^\x20-\x7e]/g, "?")).slice(0, 100)]);

const notUtf8Parameter = (name: string): AppError =>
  invalidInput([
    {
      path: shown(name),
      code: "wrong_format",
      message: "is not valid UTF-8 in the query string",
      fix: "Encode the parameter as UTF-8 before it is percent-encoded.",
    },
  ]);

export const notInCharset = (name: string, charset: string): AppError =>
  invalidInput([
    {
      path: shown(name),
      code: "wrong_format",
      message: `is not valid text in the charset ${charset.slice(0, 50)} of the form`,
      fix: "Send the form as UTF-8, or declare its charset, such as Content-Type: application/x-www-form-urlencoded; charset=iso-8859-1.",
    },
  ]);

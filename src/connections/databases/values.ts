/**
 * Converts values of databases to plain JSON, in the same way for all of them: integers and decimals are numbers if a double
 * holds them exactly, otherwise long numbers; times are ISO text, bytes are base64. NaN and infinities are null, as in JSON.
 * (Children load this file: it imports little.)
 */
import type { SqlColumn } from "../../core/connections.ts";
import { hasRepeatedKey, LONG_NUMBER, MAX_ADDED_CHARS } from "../../core/json-scan.ts";
import { readNumber } from "../../../schemas/long-numbers.ts";

/** The form in which values of a database type arrive. */
export type ColumnType = Pick<SqlColumn, "type" | "sqlNumber">;

export const TEXT: ColumnType = { type: "string" };
export const BOOL: ColumnType = { type: "boolean" };
/** Values of several types, or of an unknown one. */
export const LOOSE: ColumnType = { type: "any" };
/** A number that a double holds exactly, or a float. */
export const FLOAT: ColumnType = { type: "number" };
/** An integer of up to 53 bits. */
export const SMALL_INTEGER: ColumnType = { type: "number", sqlNumber: "integer" };
/** Beyond 53 bits its values are text. */
export const LARGE_INTEGER: ColumnType = { type: "any", sqlNumber: "integer" };
const LARGE_DECIMAL: ColumnType = { type: "any", sqlNumber: "decimal" };

/** A double preserves decimals with up to this many digits. */
const EXACT_DIGITS = 15;

/** @param precision number of digits of the type; undefined without a limit */
export const decimalType = (precision: number | undefined): ColumnType =>
  precision !== undefined && precision <= EXACT_DIGITS ? FLOAT : LARGE_DECIMAL;

export const integerToJson = (value: bigint): number | string => decimalToJson(String(value))!;

export const floatToJson = (value: number): number | null => (Number.isFinite(value) ? value : null);

/** Maximum number of digits of the shortest text of a float of single precision. (IEEE 754) */
const MAX_SINGLE_DIGITS = 9;

/** Converts a float of single precision to the number with the shortest text that is the same float: 0.1, not 0.10000000149011612. */
export function singleToJson(value: number): number | null {
  if (!Number.isFinite(value)) return null;
  for (let digits = 1; digits < MAX_SINGLE_DIGITS; digits += 1) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return Number(value.toPrecision(MAX_SINGLE_DIGITS));
}

/**
 * @param text digits with a sign, a point or an exponent, or a word such as NaN. Servers pad some numbers with zeros, and write
 *   a plus in exponents.
 * @returns a number or a long number; the text itself where it is too long for one
 */
export function decimalToJson(text: string): number | string | null {
  const number = readNumber(text.replace(/^(-?)0+(?=\d)/, "$1"));
  if (number !== undefined) return number;
  return NON_FINITE.test(text) ? null : text;
}

const NON_FINITE = /^(?:nan|[+-]?inf(?:inity)?)$/i;

export const bytesToBase64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");

/** Converts `2026-01-01 08:00:00+02` to `2026-01-01T08:00:00+02:00`; other text, such as `infinity`, is unchanged. */
export function toIsoTimestamp(text: string): string {
  const parts =
    /^([+-]?\d{4,6}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d+)?)(?:([+-]\d\d)(?::?(\d\d))?(:\d\d)?|(Z))?$/.exec(
      text,
    );
  if (parts === null) return text;
  const [, date, time, hours, minutes = "00", seconds = "", zulu = ""] = parts;
  const offset = hours === undefined ? zulu : `${hours}:${minutes}${seconds}`;
  return `${date}T${time}${offset === "+00:00" ? "Z" : offset}`;
}

/**
 * Parses the value of a column that holds JSON as text. Numbers that a double can't hold become long numbers; one that is too
 * long even for these becomes text as it is written. JSON with a key that occurs twice in an object stays the text that it is, and so
 * does JSON whose numbers have exponents that would make it more than twice as long.
 */
export function parseJsonText(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    if (hasRepeatedKey(text, value)) return text;
    if (!LONG_NUMBER.test(text)) return value;
    return JSON.parse(text, numberReader(text.length + MAX_ADDED_CHARS) as Parameters<typeof JSON.parse>[1]);
  } catch {
    return text;
  }
}

/**
 * @param maxAdded number of characters that long numbers may have beyond those that are written, in all
 * @returns a reviver of JSON.parse that reads long numbers, and throws beyond that
 */
function numberReader(maxAdded: number) {
  let added = 0;
  return (_key: string, value: unknown, { source }: { source?: string }): unknown => {
    if (typeof value !== "number" || source === undefined) return value;
    const number = readNumber(source) ?? source;
    if (typeof number === "string" && (added += number.length - source.length) > maxAdded)
      throw new RangeError("The numbers have too many digits.");
    return number;
  };
}

const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

/**
 * Writes JSON for a column or a parameter. Doubles beyond 2^53 have an exponent there: `parseJsonText` would read their digits
 * alone as a long number.
 */
export function toJsonText(value: unknown): string {
  const text = JSON.stringify(value);
  if (!/\d{16}/.test(text)) return text;
  return JSON.stringify(value, (_key, item: unknown) =>
    Number.isInteger(item) && !Number.isSafeInteger(item) ? rawJSON((item as number).toExponential()) : item,
  );
}

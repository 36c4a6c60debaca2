/**
 * Converts values of databases to plain JSON, in the same way for all of them: integers and decimals are numbers if a double
 * holds them exactly, otherwise text; times are ISO text, bytes are base64. NaN and infinities are null, as in JSON.
 * (Children load this file: it imports only types.)
 */
import type { SqlColumn } from "../../core/connections.ts";

/** What a type of a database arrives as. */
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

export const integerToJson = (value: bigint): number | string =>
  value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER)
    ? Number(value)
    : String(value);

export const floatToJson = (value: number): number | null => (Number.isFinite(value) ? value : null);

/** @param text digits with a sign, a point or an exponent, or a word such as NaN */
export function decimalToJson(text: string): number | string | null {
  if (/^-?\d+$/.test(text)) return integerToJson(BigInt(text));
  const number = Number(text);
  if (!Number.isFinite(number)) return NON_FINITE.test(text) ? null : text;
  const digits = text
    .replace(/e.*$/i, "")
    .replace(/(\.\d*?)0+$/, "$1")
    .replace(/^-?0*\.?0*/, "")
    .replace(".", "");
  return digits.length <= EXACT_DIGITS ? number : text;
}

const NON_FINITE = /^(?:nan|[+-]?inf(?:inity)?)$/i;

/**
 * Converts a decimal that a query computed, such as an average: its last digits are rounded in any case, so one with a
 * fraction becomes the nearest double.
 */
export function computedDecimalToJson(text: string): number | string | null {
  const number = Number(text);
  return text.includes(".") && Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : decimalToJson(text);
}

export const bytesToBase64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");

/** Converts `2026-01-01 08:00:00+02` to `2026-01-01T08:00:00+02:00`; other text is unchanged. */
export function toIsoTimestamp(text: string): string {
  const parts =
    /^([+-]?\d{4,6}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d+)?)(?:([+-]\d\d)(?::?(\d\d))?|(Z))?$/.exec(text);
  if (parts === null) return text;
  const [, date, time, hours, minutes, zulu] = parts;
  const offset = hours === undefined ? (zulu ?? "") : `${hours}:${minutes ?? "00"}`;
  return `${date}T${time}${offset === "+00:00" ? "Z" : offset}`;
}

/** Parses the value of a column that holds JSON as text. */
export function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

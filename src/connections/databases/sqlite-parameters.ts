/** The values of parameters of SQLite. (Child processes load this file.) */
import { isLongNumber } from "../../../schemas/long-numbers.ts";
import { uncastParameters } from "./casts.ts";
import { isNumberText, readNumberText } from "../../core/number-text.ts";
import type { SqlValue } from "./driver.ts";
import type { InexactKind } from "./sqlite-conversions.ts";

export type BoundValue = string | number | bigint | null;

const MAX_INT64 = 2n ** 63n - 1n;
const MAX_INT64_CHARS = "-9223372036854775808".length;

const isInt64 = (integer: bigint): boolean => integer >= -MAX_INT64 - 1n && integer <= MAX_INT64;

/**
 * Binds integers as integers: node:sqlite binds every number as a double, and 1 would become 1.0 in text. A long number is an
 * integer where SQLite has it, otherwise text, which has all its digits.
 */
export function bindable(value: SqlValue): BoundValue {
  if (typeof value === "boolean") return BigInt(value);
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (!isLongNumber(value) || !/^-?\d+$/.test(value)) return value;
  const integer = BigInt(value);
  return isInt64(integer) ? integer : value;
}

/** The positions of the values, from 0 on, that are another value of SQLite as a number than as a text. */
export function positionsWithTwoReadings(text: string, values: readonly SqlValue[]): number[] {
  const positions = [...values.keys()].filter((position) => {
    const value = values[position]!;
    return isLongNumber(value) && !isBeyondIntegers(value);
  });
  if (positions.length === 0) return [];
  const uncast = uncastParameters(text, "?");
  return positions.filter((position) => uncast.has(position + 1));
}

/** Binds a long number the other way: as text where `bindable` makes an integer, and as the nearest double where it makes a text. */
export const bindableOtherwise = (value: string): BoundValue =>
  typeof bindable(value) === "bigint" ? value : Number(value);

/** Every integer of SQLite is smaller, as it is than a text: both readings of the value agree. */
const isBeyondIntegers = (value: string): boolean => /^\d+$/.test(value) && BigInt(value) > MAX_INT64;

/**
 * What SQLite holds of a number that a double does not hold; undefined for every other value. SQLite reads more spellings of numbers
 * than those of long numbers in a text that it stores as a number.
 */
export function inexactKind(value: SqlValue): InexactKind | undefined {
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  if (!isNumberText(text) || typeof readNumberText(text) === "number") return undefined;
  if (!/^[+-]?\d+$/.test(text)) return "text";
  const digits = text.replace(/^([+-]?)0+(?=\d)/, "$1");
  // Reading a longer one takes time.
  if (digits.length > MAX_INT64_CHARS) return "text";
  const integer = BigInt(digits.replace("+", ""));
  if (!isInt64(integer)) return "text";
  return BigInt(Number(integer)) === integer ? undefined : "integer";
}

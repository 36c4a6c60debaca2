/** The values of parameters of SQLite. (Child processes load this file.) */
import { isLongNumber } from "../../../schemas/long-numbers.ts";
import type { SqlValue } from "./driver.ts";

export type BoundValue = string | number | bigint | null;

const MAX_INT64 = 2n ** 63n - 1n;

/**
 * Binds integers as integers: node:sqlite binds every number as a double, and 1 would become 1.0 in text. A long number is an
 * integer where SQLite has it, otherwise text, which has all its digits.
 */
export function bindable(value: SqlValue): BoundValue {
  if (typeof value === "boolean") return BigInt(value);
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (!isLongNumber(value) || !/^-?\d+$/.test(value)) return value;
  const integer = BigInt(value);
  return integer >= -MAX_INT64 - 1n && integer <= MAX_INT64 ? integer : value;
}

/**
 * The values with long numbers bound the other way: as text where `bindable` makes integers, and as the nearest double where it
 * makes texts. SQLite orders every number before every text, so where a query compares one with an expression without a type the
 * binding decides what it finds, and nothing says which is right.
 * @returns undefined if no value has two readings
 */
export function bindableOtherwise(text: string, values: readonly SqlValue[]): BoundValue[] | undefined {
  const hasTwoReadings = (value: SqlValue, index: number): value is string =>
    isLongNumber(value) && !isBeyondIntegers(value) && !isCast(text, index);
  if (!values.some(hasTwoReadings)) return undefined;
  return values.map((value, index) => {
    const bound = bindable(value);
    if (!hasTwoReadings(value, index)) return bound;
    return typeof bound === "bigint" ? value : Number(value);
  });
}

/** Every integer of SQLite is smaller, as it is than a text: both readings of the value agree. */
const isBeyondIntegers = (value: string): boolean => /^\d+$/.test(value) && BigInt(value) > MAX_INT64;

/** Whether a query casts a parameter at each of its places. */
function isCast(text: string, index: number): boolean {
  const placeholder = String.raw`\?${index + 1}(?!\d)`;
  const cast = new RegExp(String.raw`\bcast\s*\(\s*${placeholder}\s+as\b`, "gi");
  return !new RegExp(placeholder).test(text.replaceAll(cast, ""));
}

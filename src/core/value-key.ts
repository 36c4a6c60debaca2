/** Compares JSON values as expressions do: numbers and long numbers by their value, whatever their spelling. */
import { isLongNumber } from "../../schemas/long-numbers.ts";
import { canonicalJson } from "./canonical-json.ts";
import { canonicalDigits, isLargeInteger } from "./long-number-arithmetic.ts";

/** Returns a text that two JSON values share if and only if they are equal. */
export const valueKey = (value: unknown): string => canonicalJson(withOneSpelling(value));

/** Writes each number that has several spellings as the one that equal numbers share. */
function withOneSpelling(value: unknown): unknown {
  if (isLongNumber(value) || isLargeInteger(value)) return canonicalDigits(value);
  if (Array.isArray(value)) return value.map(withOneSpelling);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withOneSpelling(inner)]));
}

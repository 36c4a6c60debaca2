/**
 * Exact arithmetic with numbers and long numbers (`long-numbers.ts`). Results are numbers if a double holds them exactly,
 * otherwise long numbers.
 */
import { Big } from "big.js";
import { isLongNumber, readNumber } from "../../schemas/long-numbers.ts";

/** A number, or a long number: a text with the digits of a number that a double can't hold. */
export type ExactNumber = number | string;

/** Maximum number of decimals of a quotient, unless it ends earlier. */
const QUOTIENT_DECIMALS = 20;

/** Rounding modes of the library. */
const TOWARDS_ZERO = 0;
const HALF_AWAY_FROM_ZERO = 1;
const AWAY_FROM_ZERO = 3;

const Exact = Big();
Exact.DP = QUOTIENT_DECIMALS;
Exact.RM = HALF_AWAY_FROM_ZERO;

const INTEGER = /^-?\d+$/;

export const isExactNumber = (value: unknown): value is ExactNumber =>
  typeof value === "number" || isLongNumber(value);

/** Compares by value, whatever the spelling. @returns negative if a is smaller, 0 if they are equal */
export function compareNumbers(a: ExactNumber, b: ExactNumber): number {
  if (typeof a === "number" && typeof b === "number") return a < b ? -1 : Number(a > b);
  if (INTEGER.test(String(a)) && INTEGER.test(String(b))) {
    const [left, right] = [BigInt(a), BigInt(b)];
    return left < right ? -1 : Number(left > right);
  }
  return new Exact(a).cmp(b);
}

/** Returns the spelling that equal numbers share: digits without an exponent and without zeros at the end of decimals. */
export const canonicalDigits = (value: ExactNumber): string => new Exact(value).toFixed();

export type ExactOperator = "+" | "-" | "*" | "/" | "%";

/**
 * Calculates with all digits. A quotient that does not end has 20 decimals, the last one rounded half away from zero.
 * @param right not zero for `/` and `%`
 * @returns undefined if the result has more digits than a long number may have
 */
export function calculateExactly(
  op: ExactOperator,
  left: ExactNumber,
  right: ExactNumber,
): ExactNumber | undefined {
  const a = new Exact(left);
  switch (op) {
    case "+":
      return resultOf(a.plus(right));
    case "-":
      return resultOf(a.minus(right));
    case "*":
      return resultOf(a.times(right));
    case "/":
      return resultOf(a.div(right));
    case "%":
      return resultOf(a.mod(right));
  }
}

/**
 * Rounds half away from zero, exactly.
 * @param decimals 0 to 15
 */
export const roundExactly = (value: string, decimals: number): ExactNumber =>
  resultOf(new Exact(value).round(decimals, HALF_AWAY_FROM_ZERO))!;

/** Removes the decimals. */
export const truncateExactly = (value: ExactNumber): ExactNumber =>
  resultOf(new Exact(value).round(0, TOWARDS_ZERO))!;

/** Returns the next integer that is not larger. */
export const floorExactly = (value: string): ExactNumber =>
  resultOf(new Exact(value).round(0, value.startsWith("-") ? AWAY_FROM_ZERO : TOWARDS_ZERO))!;

/** Returns the next integer that is not smaller. */
export const ceilExactly = (value: string): ExactNumber =>
  resultOf(new Exact(value).round(0, value.startsWith("-") ? TOWARDS_ZERO : AWAY_FROM_ZERO))!;

const resultOf = (value: Big): ExactNumber | undefined => readNumber(value.toFixed());

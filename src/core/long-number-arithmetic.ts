/**
 * Exact arithmetic with numbers and long numbers (`long-numbers.ts`). Results are numbers if a double holds them exactly,
 * otherwise long numbers.
 */
import { Big } from "big.js";
import { isLongNumber, MAX_LONG_NUMBER_CHARS, readNumber } from "../../schemas/long-numbers.ts";

/** A number, or a long number: a text with the digits of a number that a double can't hold. */
export type ExactNumber = number | string;

/** Rounding modes of the library. */
const TOWARDS_ZERO = 0;
const HALF_AWAY_FROM_ZERO = 1;
const AWAY_FROM_ZERO = 3;

const INTEGER = /^-?\d+$/;

export const isExactNumber = (value: unknown): value is ExactNumber =>
  typeof value === "number" || isLongNumber(value);

/** Whether a value is a double that may be written as a long number too. */
export const isLargeInteger = (value: unknown): value is number =>
  Number.isInteger(value) && !Number.isSafeInteger(value);

/** Compares by value, whatever the spelling. @returns negative if a is smaller, 0 if they are equal */
export function compareNumbers(a: ExactNumber, b: ExactNumber): number {
  if (typeof a === "number" && typeof b === "number") return a < b ? -1 : Number(a > b);
  // The digits of a double are those that JavaScript and JSON write, not those of its binary fraction.
  const [left, right] = [String(a), String(b)];
  if (!INTEGER.test(left) || !INTEGER.test(right)) return new Big(left).cmp(right);
  const [one, other] = [BigInt(left), BigInt(right)];
  return one < other ? -1 : Number(one > other);
}

/** Returns the spelling that equal numbers share: digits without an exponent and without zeros at the end of decimals. */
export const canonicalDigits = (value: ExactNumber): string => new Big(value).toFixed();

export type ExactOperator = "+" | "-" | "*" | "/" | "%";

/**
 * Calculates with all digits. A quotient that does not end has 20 digits at least.
 * @param right not zero for `/` and `%`
 * @returns undefined if the result has more digits than a long number may have
 */
export function calculateExactly(
  op: ExactOperator,
  left: ExactNumber,
  right: ExactNumber,
): ExactNumber | undefined {
  const [a, b] = [new Big(left), new Big(right)];
  switch (op) {
    case "+":
      return resultOf(a.plus(b));
    case "-":
      return resultOf(a.minus(b));
    case "*":
      return resultOf(a.times(b));
    case "/":
      return resultOf(divide(a, b));
    case "%":
      return resultOf(a.mod(b));
  }
}

/** Minimum number of digits of a quotient that does not end. */
const QUOTIENT_DIGITS = 20;
/** A quotient by an integer of n digits that ends has at most n · log2(10) decimals. */
const DECIMALS_OF_DIGIT = Math.log2(10);

const decimalsOf = ({ c, e }: Big): number => Math.max(0, c.length - 1 - e);

function divide(a: Big, b: Big): Big {
  const ending =
    Math.ceil(b.c.length * DECIMALS_OF_DIGIT) + decimalsOf(a) + Math.max(0, b.e - b.c.length + 1);
  const exact = divideTo(a, b, ending);
  if (exact.times(b).eq(a)) return exact;
  return divideTo(a, b, QUOTIENT_DIGITS + Math.max(0, b.e - a.e));
}

function divideTo(a: Big, b: Big, decimals: number): Big {
  const Decimal = Big();
  Decimal.DP = Math.min(decimals, MAX_LONG_NUMBER_CHARS);
  Decimal.RM = HALF_AWAY_FROM_ZERO;
  return new Decimal(a).div(b);
}

/**
 * Divides two doubles as the decimals that they write.
 * @param right not zero
 * @returns the nearest double
 */
export const divideWritten = (left: number, right: number): number =>
  nearestQuotient(new Big(left), new Big(right));

/** The double that is nearest to the mean of the decimals that doubles write, however large their sum is. */
export const meanOfWritten = (values: readonly number[]): number =>
  nearestQuotient(
    values.reduce((sum, value) => sum.plus(value), new Big(0)),
    new Big(values.length),
  );

/** More bits than those of a double, which has 53: the last one only says that there are more. */
const QUOTIENT_BITS = 66;

function nearestQuotient(a: Big, b: Big): number {
  const exponent = Math.min(lastExponent(a), lastExponent(b));
  const [dividend, divisor] = [integerOf(a, exponent), integerOf(b, exponent)];
  const shift = Math.max(0, QUOTIENT_BITS + bitsOf(divisor) - bitsOf(dividend));
  const shifted = dividend << BigInt(shift);
  const quotient = shifted / divisor;
  const bits = quotient * divisor === shifted ? quotient : quotient | 1n;
  // In two parts, because 2 ** 1024 is no double.
  const half = Math.floor(shift / 2);
  return (a.s * b.s * Number(bits)) / 2 ** half / 2 ** (shift - half);
}

const lastExponent = ({ c, e }: Big): number => e - c.length + 1;
const integerOf = (value: Big, exponent: number): bigint =>
  BigInt(value.c.join("")) * 10n ** BigInt(lastExponent(value) - exponent);
const bitsOf = (value: bigint): number => value.toString(2).length;

/**
 * Rounds half away from zero, exactly.
 * @param decimals 0 to 15
 */
export const roundExactly = (value: string, decimals: number): ExactNumber =>
  resultOf(new Big(value).round(decimals, HALF_AWAY_FROM_ZERO))!;

/** Removes the decimals. */
export const truncateExactly = (value: ExactNumber): ExactNumber =>
  resultOf(new Big(value).round(0, TOWARDS_ZERO))!;

/** Returns the next integer that is not larger. */
export const floorExactly = (value: string): ExactNumber =>
  resultOf(new Big(value).round(0, value.startsWith("-") ? AWAY_FROM_ZERO : TOWARDS_ZERO))!;

/** Returns the next integer that is not smaller. */
export const ceilExactly = (value: string): ExactNumber =>
  resultOf(new Big(value).round(0, value.startsWith("-") ? TOWARDS_ZERO : AWAY_FROM_ZERO))!;

const resultOf = (value: Big): ExactNumber | undefined => readNumber(value.toFixed());

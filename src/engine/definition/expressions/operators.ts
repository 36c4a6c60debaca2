/** The operators. Except for equality and `in`, callers have ruled out null. */
import {
  calculateExactly,
  compareNumbers,
  divideWritten,
  isLargeInteger,
  meanOfWritten,
} from "../../../core/long-number-arithmetic.ts";
import type { ExactNumber, ExactOperator } from "../../../core/long-number-arithmetic.ts";
import type { BinaryOperator } from "./cel-parser.ts";
import { throwFailed } from "./failures.ts";
import type { SourceLocation } from "./cel-parser.ts";
import { charge, chargeComparison, chargeText, limitList } from "./evaluation-context.ts";
import type { Evaluation } from "./evaluation-context.ts";
import { boundedIncludes } from "./text-search.ts";
import { createTimestamp, createDuration } from "./time-functions.ts";
import { addTimes, exactTime } from "./exact-times.ts";
import type { Duration } from "./exact-times.ts";
import {
  assertFinite,
  assertWritable,
  chargeDigits,
  compare,
  describeKind,
  equals,
  isNumber,
  kindOf,
  mapKey,
  orderOf,
} from "./values.ts";
import type { Kind } from "./values.ts";

/** Whether the operator accepts null. */
export const isEquality = (op: BinaryOperator): boolean => op === "==" || op === "!=";

const ARITHMETIC = new Set<BinaryOperator>(["+", "-", "*", "/", "%"]);

/**
 * Returns the kind of an operator's result; undefined if it does not accept these operands. The checker, which knows
 * kinds, and the evaluator, which has values, share this rule.
 */
export function resultKind(op: BinaryOperator, left: Kind, right: Kind): Kind | undefined {
  if (isEquality(op)) return "boolean";
  if (op === "in") {
    const isTextInText = left === "string" && right === "string";
    const isKey = right === "map" && (left === "string" || left === "number" || left === "boolean");
    return right === "list" || isTextInText || isKey ? "boolean" : undefined;
  }
  if (!ARITHMETIC.has(op)) return left === right && left !== "list" && left !== "map" ? "boolean" : undefined;
  if (left === "number" && right === "number") return "number";
  if (op === "+" && left === right && (left === "string" || left === "list")) return left;
  if (op !== "+" && op !== "-") return undefined;
  if (left === "duration" && right === "duration") return "duration";
  if (left === "timestamp" && right === "duration") return "timestamp";
  if (op === "+" && left === "duration" && right === "timestamp") return "timestamp";
  return op === "-" && left === "timestamp" && right === "timestamp" ? "duration" : undefined;
}

/** Explains why an operator does not accept two kinds. The message is a predicate. */
export function operatorMismatch(
  op: BinaryOperator,
  left: Kind,
  right: Kind,
): { message: string; fix?: string } {
  const message = `applies ${op} to ${describeKind(left)} and ${describeKind(right)}, which it does not accept`;
  const kinds = new Set([left, right]);
  if (kinds.has("string") && (kinds.has("timestamp") || kinds.has("duration"))) {
    return { message, fix: "Convert the text first: timestamp(…) or duration(…)." };
  }
  if (op === "+" && kinds.has("string")) return { message, fix: "Convert both to text: string(…) + …." };
  if (kinds.has("string") && kinds.has("number")) {
    return { message, fix: "Convert the text to a number first: double(…)." };
  }
  return { message };
}

/** Whether two values of these kinds can ever be equal. */
export const areComparable = (left: Kind, right: Kind): boolean =>
  left === right || left === "null" || right === "null";

/** @throws StepError expression_failed */
export function applyOperator(
  evaluation: Evaluation,
  location: SourceLocation,
  op: BinaryOperator,
  left: unknown,
  right: unknown,
): unknown {
  switch (op) {
    case "==":
      return equals(evaluation, left, right);
    case "!=":
      return !equals(evaluation, left, right);
    case "in":
      return isIn(evaluation, location, left, right);
    case "<":
    case "<=":
    case ">":
    case ">=":
      return ordered(evaluation, location, op, left, right);
    default:
      if (isNumber(evaluation, left) && isNumber(evaluation, right))
        return calculate(evaluation, location, op, left, right);
      return combine(evaluation, location, op, left, right);
  }
}

/**
 * Calculates with numbers. Integers, and decimals of up to 15 digits, are what they write: the result has all its digits, where
 * that of doubles would be rounded, and a quotient is the nearest double. Other doubles, such as thirds, are rounded as doubles are.
 * @throws StepError expression_failed
 */
export function calculate(
  evaluation: Evaluation,
  location: SourceLocation,
  op: ExactOperator,
  left: ExactNumber,
  right: ExactNumber,
): ExactNumber {
  if (right === 0 && (op === "/" || op === "%")) throwFailed(location, "divides by zero");
  if (typeof left === "number" && typeof right === "number") {
    const result = calculateDouble(op, left, right);
    const areIntegers = Number.isSafeInteger(left) && Number.isSafeInteger(right);
    if (areIntegers && (op === "/" || Number.isSafeInteger(result))) return assertFinite(location, result);
    const short = areIntegers ? undefined : calculateShort(op, left, right);
    if (short !== undefined) return short;
    charge(evaluation, DIGITS_COST);
    if (!isWritten(left) || !isWritten(right)) return assertFinite(location, result);
    if (op === "/") return quotientOf(evaluation, left, right);
    const exact = calculateDigits(evaluation, location, op, left, right);
    // With a large double the result may be one, too; from others an integer beyond 2^53 is a long number.
    const isLarge = isLargeInteger(left) || isLargeInteger(right);
    return isLarge && compareNumbers(exact, result) === 0 ? result : exact;
  }
  return calculateDigits(evaluation, location, op, left, right);
}

/**
 * Returns the mean of numbers: their sum divided by their count, and also where the sum of doubles is too large for one.
 * @param values at least one
 * @throws StepError expression_failed
 */
export function meanOf(
  evaluation: Evaluation,
  location: SourceLocation,
  values: readonly ExactNumber[],
): ExactNumber {
  charge(evaluation, values.length);
  if (areAllDoubles(values) && !Number.isFinite(values.reduce((sum, value) => sum + value, 0))) {
    charge(evaluation, LARGE_COST * values.length);
    return meanOfWritten(values);
  }
  const sum = sumOf(evaluation, location, values);
  if (typeof sum !== "number" || Number.isSafeInteger(sum) || !areAllDoubles(values))
    return calculate(evaluation, location, "/", sum, values.length);
  charge(evaluation, DIGITS_COST * values.length);
  // The sum may have more digits than a decimal that is certainly written.
  return values.every(isWritten)
    ? quotientOf(evaluation, sum, values.length)
    : calculate(evaluation, location, "/", sum, values.length);
}

/** Adds numbers. Those that are decimals of few digits are added exactly, also where a sum in between has more of them. */
export function sumOf(
  evaluation: Evaluation,
  location: SourceLocation,
  values: readonly ExactNumber[],
): ExactNumber {
  charge(evaluation, values.length);
  const isDecimal = (value: ExactNumber): boolean => {
    if (typeof value === "string" || decimalsOf(value) !== undefined) return true;
    charge(evaluation, DIGITS_COST);
    return isWritten(value);
  };
  const areDecimals = values.every(isDecimal);
  return values.reduce(
    (sum, value) =>
      areDecimals && !Number.isInteger(sum) && !isDecimal(sum)
        ? calculateDigits(evaluation, location, "+", sum, value)
        : calculate(evaluation, location, "+", sum, value),
    0,
  );
}

const areAllDoubles = (values: readonly ExactNumber[]): values is number[] =>
  values.every((value) => typeof value === "number");

/** Work of adding a double to a sum of hundreds of digits. */
const LARGE_COST = 600;
/** Work of dividing the integers of two decimals. */
const QUOTIENT_COST = 200;

function quotientOf(evaluation: Evaluation, left: number, right: number): number {
  charge(evaluation, QUOTIENT_COST);
  return divideWritten(left, right);
}

/** Work of finding out how many digits two doubles have. */
const DIGITS_COST = 60;
/** Work of an exact operation, for each pair of digits. */
const CALCULATION_COST = 1;

function calculateDigits(
  evaluation: Evaluation,
  location: SourceLocation,
  op: ExactOperator,
  left: ExactNumber,
  right: ExactNumber,
): ExactNumber {
  chargeDigits(evaluation, left, right);
  charge(evaluation, CALCULATION_COST * (1 + String(left).length) * (1 + String(right).length));
  return assertWritable(location, calculateExactly(op, left, right));
}

/** A double has at most this many digits that are certainly those of a decimal. (IEEE 754: DBL_DIG) */
const DECIMAL_DIGITS = 15;
/** Numbers beyond it have many zeros instead of digits. */
const MAX_WRITTEN = 1e21;
const MIN_WRITTEN = 1e-21;

/** Whether a double stands for a decimal of few digits, and not for a fraction such as a third. */
const isWritten = (value: number): boolean =>
  Number.isSafeInteger(value) ||
  (Math.abs(value) < MAX_WRITTEN &&
    Math.abs(value) > MIN_WRITTEN &&
    Number(value.toPrecision(DECIMAL_DIGITS)) === value);

const MAX_DECIMALS = 6;
const POWERS = Array.from({ length: 2 * MAX_DECIMALS + 1 }, (_, index) => 10 ** index);
/** Integers below it, divided by a power of ten, give the double of the decimal that they write. */
const MAX_SHORT = 10 ** DECIMAL_DIGITS;

/** Number of decimals of a double, if there are few. */
function decimalsOf(value: number): number | undefined {
  for (let decimals = 0; decimals <= MAX_DECIMALS; decimals += 1) {
    const power = POWERS[decimals]!;
    const scaled = Math.round(value * power);
    if (Math.abs(scaled) >= MAX_SHORT) return undefined;
    if (scaled / power === value) return decimals;
  }
  return undefined;
}

/** Calculates exactly with amounts of few digits, as integers. @returns undefined where it needs more digits */
function calculateShort(op: ExactOperator, left: number, right: number): number | undefined {
  const [of, by] = [decimalsOf(left), decimalsOf(right)];
  if (of === undefined || by === undefined) return undefined;
  const scaleBy = (decimals: number): number => POWERS[op === "*" ? decimals : Math.max(of, by)]!;
  const [a, b] = [Math.round(left * scaleBy(of)), Math.round(right * scaleBy(by))];
  const result = calculateDouble(op, a, b);
  if (op === "/") return Math.max(Math.abs(a), Math.abs(b)) < MAX_SHORT ? result : undefined;
  if (Math.max(Math.abs(a), Math.abs(b), Math.abs(result)) >= MAX_SHORT) return undefined;
  return result / (op === "*" ? scaleBy(of) * scaleBy(by) : scaleBy(of));
}

function calculateDouble(op: ExactOperator, left: number, right: number): number {
  switch (op) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      return left / right;
    case "%":
      return left % right;
  }
}

function combine(
  evaluation: Evaluation,
  location: SourceLocation,
  op: BinaryOperator,
  left: unknown,
  right: unknown,
): unknown {
  switch (resultKind(op, kindOf(left), kindOf(right))) {
    case "string":
      return joinTexts(evaluation, left as string, right as string);
    case "list":
      limitList(evaluation, (left as unknown[]).length + (right as unknown[]).length);
      charge(evaluation, (left as unknown[]).length + (right as unknown[]).length);
      return [...(left as unknown[]), ...(right as unknown[])];
    case "timestamp":
      return createTimestamp(location, addSpan(op, left, right));
    case "duration":
      return createDuration(location, addSpan(op, left, right));
    default:
      return throwMismatch(location, op, left, right);
  }
}

export function joinTexts(evaluation: Evaluation, left: string, right: string): string {
  chargeText(evaluation, left.length + right.length);
  return left + right;
}

const addSpan = (op: BinaryOperator, left: unknown, right: unknown) =>
  addTimes(exactTime(left as Date | Duration), exactTime(right as Date | Duration), op === "+" ? 1 : -1);

function ordered(
  evaluation: Evaluation,
  location: SourceLocation,
  op: BinaryOperator,
  left: unknown,
  right: unknown,
): boolean {
  const areDoubles = typeof left === "number" && typeof right === "number";
  const kind = areDoubles ? "number" : orderOf(evaluation, [left, right]);
  if (kind === undefined) return throwMismatch(location, op, left, right);
  const order = compare(evaluation, kind, left, right);
  if (op === "<") return order < 0;
  if (op === "<=") return order <= 0;
  return op === ">" ? order > 0 : order >= 0;
}

function isIn(evaluation: Evaluation, location: SourceLocation, item: unknown, container: unknown): boolean {
  if (Array.isArray(container))
    return container.some((other) => (charge(evaluation, 2), equals(evaluation, item, other)));
  if (resultKind("in", kindOf(item), kindOf(container)) === undefined)
    return throwMismatch(location, "in", item, container);
  if (typeof container === "string") return boundedIncludes(evaluation, container, item as string);
  const name = mapKey(item)!;
  chargeComparison(evaluation, name.length);
  return Object.hasOwn(container as object, name);
}

function throwMismatch(location: SourceLocation, op: BinaryOperator, left: unknown, right: unknown): never {
  const { message, ...fix } = operatorMismatch(op, kindOf(left), kindOf(right));
  return throwFailed(location, message, fix);
}

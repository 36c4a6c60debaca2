/** The operators. Except for equality and `in`, callers have ruled out null. */
import { calculateExactly, isExactNumber } from "../../../core/long-number-arithmetic.ts";
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
      if (isExactNumber(left) && isExactNumber(right))
        return calculate(evaluation, location, op, left, right);
      return combine(evaluation, location, op, left, right);
  }
}

/**
 * Calculates with doubles, as JSON's numbers are, and with all digits where that would lose some: with long numbers, and where the
 * result of integers is larger than a double holds exactly.
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
    const isRounded =
      op !== "/" &&
      !Number.isSafeInteger(result) &&
      Number.isSafeInteger(left) &&
      Number.isSafeInteger(right);
    if (!isRounded) return assertFinite(location, result);
  }
  chargeDigits(evaluation, left, right);
  charge(evaluation, CALCULATION_COST * (1 + String(left).length) * (1 + String(right).length));
  return assertWritable(location, calculateExactly(op, left, right));
}

/** Work of an exact operation, for each pair of digits. */
const CALCULATION_COST = 1;

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
  const kind = areDoubles ? "number" : orderOf([left, right]);
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

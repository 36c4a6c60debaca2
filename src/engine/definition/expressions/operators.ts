/** The operators. Except for equality and `in`, callers have ruled out null. */
import type { BinaryOperator } from "./cel-parser.ts";
import { throwFailed } from "./failures.ts";
import type { SourceLocation } from "./cel-parser.ts";
import { charge, chargeComparison, chargeText, limitList } from "./evaluation-context.ts";
import type { Evaluation } from "./evaluation-context.ts";
import { boundedIncludes } from "./text-search.ts";
import { createTimestamp, createDuration } from "./time-functions.ts";
import { compare, equals, assertFinite, mapKey, kindOf, Duration, describeKind } from "./values.ts";
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
      if (typeof left === "number" && typeof right === "number") return calculate(location, op, left, right);
      return combine(evaluation, location, op, left, right);
  }
}

function calculate(location: SourceLocation, op: BinaryOperator, left: number, right: number): number {
  switch (op) {
    case "+":
      return assertFinite(location, left + right);
    case "-":
      return assertFinite(location, left - right);
    case "*":
      return assertFinite(location, left * right);
    default:
      if (right === 0) throwFailed(location, "divides by zero");
      return assertFinite(location, op === "/" ? left / right : left % right);
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
      chargeText(evaluation, (left as string).length + (right as string).length);
      return (left as string) + (right as string);
    case "list":
      limitList(evaluation, (left as unknown[]).length + (right as unknown[]).length);
      charge(evaluation, (left as unknown[]).length + (right as unknown[]).length);
      return [...(left as unknown[]), ...(right as unknown[])];
    case "timestamp":
      return createTimestamp(location, op === "+" ? ms(left) + ms(right) : ms(left) - ms(right));
    case "duration":
      return createDuration(location, op === "+" ? ms(left) + ms(right) : ms(left) - ms(right));
    default:
      return throwMismatch(location, op, left, right);
  }
}

const ms = (value: unknown): number => (value instanceof Duration ? value.ms : (value as Date).getTime());

function ordered(
  evaluation: Evaluation,
  location: SourceLocation,
  op: BinaryOperator,
  left: unknown,
  right: unknown,
): boolean {
  const order = compare(evaluation, left, right);
  if (order === undefined) return throwMismatch(location, op, left, right);
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

/** The operators, on values that are not null. */
import type { BinaryOperator } from "./cel-parser.ts";
import { throwFailed } from "./failures.ts";
import type { SourceLocation } from "./cel-parser.ts";
import { charge, chargeComparison, chargeText } from "./evaluation-context.ts";
import type { Evaluation } from "./evaluation-context.ts";
import { boundedIncludes } from "./text-search.ts";
import { createTimestamp, createDuration } from "./time-functions.ts";
import { compare, equals, assertFinite, mapKey, kindOf, Duration, describeKind } from "./values.ts";
import type { Kind } from "./values.ts";

/** Operators that take null too. */
export const isEquality = (op: BinaryOperator): boolean => op === "==" || op === "!=";

const ARITHMETIC = new Set<BinaryOperator>(["+", "-", "*", "/", "%"]);

/**
 * What an operator gives for two kinds; undefined where it takes them not. The one rule for the checker, which knows
 * kinds, and for running, which has values.
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

/** Why an operator takes two kinds not, and what to write. */
export function operatorMismatch(
  op: BinaryOperator,
  left: Kind,
  right: Kind,
): { message: string; fix?: string } {
  const message = `uses ${op} with ${describeKind(left)} and ${describeKind(right)}`;
  const kinds = new Set([left, right]);
  if (kinds.has("string") && (kinds.has("timestamp") || kinds.has("duration"))) {
    return { message, fix: "Make the text a time first: timestamp(…) or duration(…)." };
  }
  if (op === "+" && kinds.has("string")) return { message, fix: "Make both text: string(…) + …." };
  if (kinds.has("string") && kinds.has("number")) {
    return { message, fix: "Make the text a number first: double(…)." };
  }
  return { message };
}

/** Whether two values of these kinds can ever be equal. */
export const areComparable = (left: Kind, right: Kind): boolean =>
  left === right || left === "null" || right === "null";

/** @throws StepError expression_failed */
export function applyOperator(
  run: Evaluation,
  place: SourceLocation,
  op: BinaryOperator,
  left: unknown,
  right: unknown,
): unknown {
  switch (op) {
    case "==":
      return equals(run, left, right);
    case "!=":
      return !equals(run, left, right);
    case "in":
      return within(run, place, left, right);
    case "<":
    case "<=":
    case ">":
    case ">=":
      return ordered(run, place, op, left, right);
    default:
      if (typeof left === "number" && typeof right === "number") return calculate(place, op, left, right);
      return combine(run, place, op, left, right);
  }
}

function calculate(place: SourceLocation, op: BinaryOperator, left: number, right: number): number {
  switch (op) {
    case "+":
      return assertFinite(place, left + right);
    case "-":
      return assertFinite(place, left - right);
    case "*":
      return assertFinite(place, left * right);
    default:
      if (right === 0) throwFailed(place, "divides by zero");
      return assertFinite(place, op === "/" ? left / right : left % right);
  }
}

function combine(
  run: Evaluation,
  place: SourceLocation,
  op: BinaryOperator,
  left: unknown,
  right: unknown,
): unknown {
  switch (resultKind(op, kindOf(left), kindOf(right))) {
    case "string":
      chargeText(run, (left as string).length + (right as string).length);
      return (left as string) + (right as string);
    case "list":
      charge(run, (left as unknown[]).length + (right as unknown[]).length);
      return [...(left as unknown[]), ...(right as unknown[])];
    case "timestamp":
      return createTimestamp(place, op === "+" ? ms(left) + ms(right) : ms(left) - ms(right));
    case "duration":
      return createDuration(place, op === "+" ? ms(left) + ms(right) : ms(left) - ms(right));
    default:
      return refuse(place, op, left, right);
  }
}

const ms = (value: unknown): number => (value instanceof Duration ? value.ms : (value as Date).getTime());

function ordered(
  run: Evaluation,
  place: SourceLocation,
  op: BinaryOperator,
  left: unknown,
  right: unknown,
): boolean {
  const order = compare(run, left, right);
  if (order === undefined) return refuse(place, op, left, right);
  if (op === "<") return order < 0;
  if (op === "<=") return order <= 0;
  return op === ">" ? order > 0 : order >= 0;
}

function within(run: Evaluation, place: SourceLocation, item: unknown, where: unknown): boolean {
  if (Array.isArray(where)) return where.some((other) => (charge(run, 1), equals(run, item, other)));
  if (resultKind("in", kindOf(item), kindOf(where)) === undefined) return refuse(place, "in", item, where);
  if (typeof where === "string") return boundedIncludes(run, where, item as string);
  const name = mapKey(item)!;
  chargeComparison(run, name.length);
  return Object.hasOwn(where as object, name);
}

function refuse(place: SourceLocation, op: BinaryOperator, left: unknown, right: unknown): never {
  const { message, ...fix } = operatorMismatch(op, kindOf(left), kindOf(right));
  return throwFailed(place, message, fix);
}

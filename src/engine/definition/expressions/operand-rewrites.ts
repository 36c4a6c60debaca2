/** Converts an operand whose type does not fit the other one. */
import type { IssueDetails } from "./failures.ts";
import { replacement } from "./name-suggestions.ts";
import type { Expr } from "./tree.ts";
import type { Type } from "./typing.ts";
import type { Kind } from "./values.ts";

/** The status of a step is text; that of its response, which is compared with a number, is `status_code`. */
export function statusCode(
  left: readonly [Expr, Kind],
  right: readonly [Expr, Kind],
  typeOf: (expr: Expr) => Type,
): IssueDetails | undefined {
  return responseStatus(left[0], right[1], typeOf) ?? responseStatus(right[0], left[1], typeOf);
}

function responseStatus(expr: Expr, other: Kind, typeOf: (expr: Expr) => Type): IssueDetails | undefined {
  if (expr.kind !== "field" || expr.name !== "status" || other !== "number") return undefined;
  const of = typeOf(expr.of);
  if (of.kind !== "object" || !Object.hasOwn(of.fields, "status_code")) return undefined;
  const { start, end, input } = expr.at;
  const text = input.slice(start, end).replace(/status$/, "status_code");
  return { ...replacement(expr.at, text), did_you_mean: "status_code" };
}

/** Converts a literal to the kind that it is compared with. */
export function convertedLiteral(expr: Expr, other: Kind): IssueDetails | undefined {
  if (expr.kind !== "literal") return undefined;
  const { value, at } = expr;
  if (other === "string" && (typeof value === "number" || typeof value === "boolean"))
    return replacement(at, `"${value}"`);
  if (typeof value !== "string") return undefined;
  const isNumber = other === "number" && value.trim() !== "" && Number.isFinite(Number(value));
  const isTruth = other === "boolean" && (value === "true" || value === "false");
  return isNumber || isTruth ? replacement(at, value.trim()) : undefined;
}

/** Converts the operand that does not fit the other: to text beside text, to a number for any other operator. */
export function convertedOperand(
  op: string,
  left: readonly [Expr, Kind],
  right: readonly [Expr, Kind],
): IssueDetails | undefined {
  const operands = [left, right];
  const text = operands.find(([, kind]) => kind === "string");
  const [other, kind] = operands.find(([, operandKind]) => operandKind !== "string") ?? [];
  if (text === undefined || other === undefined) return undefined;
  if (op === "+" && (kind === "number" || kind === "boolean")) return wrapped(other, "string");
  if (kind !== "number" || op === "+" || op === "in") return undefined;
  return convertedLiteral(text[0], "number") ?? wrapped(text[0], "double");
}

function wrapped({ at }: Expr, name: string): IssueDetails {
  const text = `${name}(${at.input.slice(at.start, at.end)})`;
  const edit = { start: at.outerStart, end: at.outerEnd, text };
  return { fix: `Write ${text}.`, rewrite: { source: at.input, edits: [edit] } };
}

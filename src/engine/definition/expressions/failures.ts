/** How expressions tell what is wrong: always with the expression, cut, and the place in it; never with a value. */
import type { ASTNode } from "@marcbachmann/cel-js";
import { serialize } from "@marcbachmann/cel-js";
import { StepError } from "../../../core/step-errors.ts";
import type { StepErrorCode } from "../../../core/step-errors.ts";
import type { ExpressionIssue } from "./types.ts";

const LONGEST_QUOTE = 200;

/** A place in an expression: its whole text and a position in it, from 0. */
export interface SourceLocation {
  readonly input: string;
  readonly pos: number;
}

export const truncate = (text: string): string =>
  text.length <= LONGEST_QUOTE ? text : `${text.slice(0, LONGEST_QUOTE).toWellFormed()}…`;

/** The position as people count: `character 5`, `line 2, character 3`. */
function position({ input, pos }: SourceLocation): string {
  const before = input.slice(0, pos).split("\n");
  const character = `character ${before.at(-1)!.length + 1}`;
  return before.length === 1 ? character : `line ${before.length}, ${character}`;
}

const located = (message: string, place: SourceLocation): string =>
  `${message} (in \`${truncate(place.input)}\`, ${position(place)})`;

/** A part of an expression as text, for a message. */
export const formatNode = (node: ASTNode): string => truncate(serialize(node));

/** The fault at a place, with what is allowed there and what to do. */
export const issueAt = (
  code: string,
  place: SourceLocation,
  message: string,
  more: Pick<ExpressionIssue, "allowed" | "did_you_mean" | "fix"> = {},
): ExpressionIssue => ({ code, message: located(message, place), ...more });

/** The error with which an expression ends. */
export function expressionError(
  code: Extract<StepErrorCode, "expression_failed" | "expression_limit" | "null_value">,
  place: SourceLocation,
  message: string,
  { fix, ...details }: { fix?: string | undefined; [detail: string]: unknown } = {},
): StepError {
  const sentence = fix === undefined ? "" : ` ${fix}`;
  return new StepError(code, `${located(message, place)}.${sentence}`, {
    ...(fix !== undefined && { fix }),
    details: { expression: truncate(place.input), position: place.pos, ...details },
  });
}

/** @throws StepError expression_failed */
export function throwFailed(
  place: SourceLocation,
  message: string,
  more: { fix?: string; [detail: string]: unknown } = {},
): never {
  throw expressionError("expression_failed", place, message, more);
}

/** @throws StepError null_value that names the part that is null */
export function throwNullValue(place: SourceLocation, name: string): never {
  const fix = `Say what to do then, for example ${truncate(name)} == null ? … : ….`;
  throw expressionError("null_value", place, `${name} is null`, { fix, null_value: name });
}

/** Whether nothing may make up for it: a bound that was hit, or a fault of ours. */
export const isFatal = (error: unknown): boolean =>
  !(error instanceof StepError) || error.code === "expression_limit";

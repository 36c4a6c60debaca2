/**
 * Makes the issues and errors of expressions. They quote the expression, cut if it is long, and the position in it, but
 * never a value, which may be a secret. (Texts that consist of dates and times only are shown.)
 */
import { type SourceLocation, type SyntaxNode, writeSyntax } from "./cel-parser.ts";
import { MAX_EXPRESSION_ISSUES } from "./limits.ts";
import { StepError } from "../../../core/step-errors.ts";
import type { StepErrorCode, StepErrorOptions } from "../../../core/step-errors.ts";
import type { ExpressionIssue } from "./types.ts";

/** Maximum length of quoted source, in characters. */
const MAX_QUOTE_LENGTH = 200;

export const truncate = (text: string): string =>
  text.length <= MAX_QUOTE_LENGTH ? text : `${text.slice(0, MAX_QUOTE_LENGTH).toWellFormed()}…`;

/** Writes a position for people: `character 5`, `line 2, character 3`. */
function formatPosition({ input, pos }: SourceLocation): string {
  const before = input.slice(0, pos).split("\n");
  const character = `character ${before.at(-1)!.length + 1}`;
  return before.length === 1 ? character : `line ${before.length}, ${character}`;
}

const withLocation = (message: string, location: SourceLocation): string =>
  `${message} (in \`${truncate(location.input)}\`, ${formatPosition(location)})`;

/** Writes a part of an expression as text, for a message. */
export const formatNode = (node: SyntaxNode): string => truncate(writeSyntax(node));

export type IssueDetails = Pick<
  ExpressionIssue,
  "allowed" | "did_you_mean" | "fix" | "severity" | "rewrite" | "subject"
>;

/** Adds an issue, unless there are as many of its severity as are reported for one value. */
export function addIssue(issues: ExpressionIssue[], issue: ExpressionIssue): void {
  const alike = issues.filter(({ severity }) => severity === issue.severity);
  if (alike.length < MAX_EXPRESSION_ISSUES) issues.push(issue);
}

/** Makes an issue of the checker. The message is a predicate: its subject is the path of the value. */
export const issueAt = (
  code: string,
  location: SourceLocation,
  message: string,
  more: IssueDetails = {},
): ExpressionIssue => ({
  code,
  message: withLocation(message, location),
  place: { source: location.input, offset: location.pos },
  ...more,
});

/** The error of a failed evaluation. */
export class ExpressionError extends StepError {
  /** What is wrong, as a predicate of the expression or a sentence, with the place but without a fix. */
  readonly summary: string;
  /** The work of the whole evaluation until it failed. */
  cost = 0;
  constructor(code: StepErrorCode, message: string, summary: string, options: StepErrorOptions) {
    super(code, message, options);
    this.summary = summary;
  }
}

/** Makes the error of a failed evaluation. The message is a whole sentence without its period. */
export function expressionError(
  code: Extract<StepErrorCode, "expression_failed" | "expression_limit" | "input_invalid" | "null_value">,
  location: SourceLocation,
  message: string,
  { fix, ...details }: { fix?: string | undefined; [detail: string]: unknown } = {},
): ExpressionError {
  const sentence = fix === undefined ? "" : ` ${fix}`;
  const summary = withLocation(message, location);
  return new ExpressionError(code, `${summary}.${sentence}`, summary.replace(/^The expression /, ""), {
    ...(fix !== undefined && { fix }),
    details: { expression: truncate(location.input), position: location.pos, ...details },
  });
}

/**
 * @param message a predicate of the expression, such as "divides by zero"
 * @throws StepError expression_failed
 */
export function throwFailed(
  location: SourceLocation,
  message: string,
  more: { fix?: string; [detail: string]: unknown } = {},
): never {
  throw expressionError("expression_failed", location, `The expression ${message}`, more);
}

/** @throws StepError null_value that names the part that is null */
export function throwNullValue(location: SourceLocation, name: string): never {
  const fix = `Handle null first, for example ${truncate(name)} == null ? … : ….`;
  throw expressionError("null_value", location, `${name} is null`, { fix, null_value: name });
}

/** @throws StepError null_value that names the item of a list, or its key, that is null */
export function throwNullItem(location: SourceLocation, name: string): never {
  const fix = "Leave null out with filter, or replace it with x ?? y.";
  throw expressionError("null_value", location, `${name} is null`, { fix, null_value: name });
}

/** Whether the rest of the expression must not recover from the error: a limit was exceeded, or it is a bug. */
export const isFatal = (error: unknown): boolean =>
  !(error instanceof StepError) || error.code === "expression_limit";

/**
 * Reads JSON text without losing what it says: a number that a double can't hold becomes a long number (`long-numbers.ts`). What
 * no value can hold is reported: a key that occurs twice, and a number that is too long (RFC 8259, sections 4 and 6).
 */
import type { Issue } from "../../schemas/problem.ts";
import { formatPath } from "./issues.ts";
import { isNestedDeeper } from "./json-nesting.ts";
import { type JsonLoss, LONG_NUMBER, mayRepeatKeys, scanJson, type ScanOptions } from "./json-scan.ts";
import { MAX_LONG_NUMBER_CHARS } from "../../schemas/long-numbers.ts";

const SHOWN_DIGITS = 60;

/** Describes a loss to the author of the text. */
export function describeLoss({ kind, text }: Pick<JsonLoss, "kind" | "text">): {
  code: string;
  message: string;
  fix: string;
} {
  if (kind === "duplicate_key")
    return {
      code: kind,
      message: "occurs twice in the same object, so one of the values would be lost",
      fix: "Keep one of them.",
    };
  const shown = text.length > SHOWN_DIGITS ? `${text.slice(0, SHOWN_DIGITS)}…` : text;
  if (kind === "too_expanded")
    return {
      code: "not_finite",
      message: `must be written with fewer digits: those of all numbers make the text too large, got ${shown}`,
      fix: `Write fewer numbers with large exponents, or text: "${shown}".`,
    };
  return {
    code: kind,
    message: `must be a number with at most ${MAX_LONG_NUMBER_CHARS} digits, got ${shown}`,
    fix: `Write a shorter number, or text: "${shown}".`,
  };
}

/** Describes losses as issues, with their paths. */
export const lossIssues = (losses: readonly JsonLoss[]): Issue[] =>
  losses.map((loss): Issue => Object.assign({ path: formatPath(loss.path) }, describeLoss(loss)));

/**
 * Parses JSON that a person wrote: long numbers are text with their digits.
 * @returns the value, and what it does not hold as it is written
 * @throws SyntaxError for invalid JSON
 */
export function readJson(text: string): { value: unknown; issues: Issue[] } {
  const value: unknown = JSON.parse(text);
  const { losses, exact } = scanJson(text, { keys: true });
  return { value: exact === text ? value : JSON.parse(exact), issues: lossIssues(losses) };
}

/** JSON that no value can hold as it is written: a number in it is too long, or a key occurs twice. */
export class JsonLossError extends Error {
  readonly kind: JsonLoss["kind"];
  /** Where the number or the key is, such as `rows[0].n`. */
  readonly path: string;
  /** Offset in the text, in UTF-16 code units. */
  readonly offset: number;
  /** The message without the full stop. */
  readonly problem: string;

  constructor(loss: JsonLoss) {
    const path = formatPath(loss.path);
    const problem = problemOf(loss.kind, path);
    super(`${problem}.`);
    this.kind = loss.kind;
    this.path = path;
    this.offset = loss.offset;
    this.problem = problem;
  }
}

function problemOf(kind: JsonLoss["kind"], path: string): string {
  switch (kind) {
    case "duplicate_key":
      return `The key ${path} occurs twice in the same object`;
    case "too_expanded":
      return `The digits of the numbers up to ${path} make the text too large`;
    case "not_finite":
      return `The number at ${path || "the top"} has more than ${MAX_LONG_NUMBER_CHARS} digits`;
  }
}

/** JSON that is nested too deep. */
export class JsonTooDeepError extends Error {
  constructor(maxDepth: number) {
    super(`The JSON is nested deeper than ${maxDepth} levels.`);
  }
}

/**
 * Parses JSON of another system: long numbers are text with their digits.
 * @param maxDepth maximum nesting, in levels
 * @throws SyntaxError for invalid JSON; JsonTooDeepError, JsonLossError
 */
export function parseExactJson(text: string, maxDepth: number): unknown {
  if (isNestedDeeper(text, maxDepth)) throw new JsonTooDeepError(maxDepth);
  // Also where it is parsed again: the scan needs valid JSON.
  const value: unknown = JSON.parse(text);
  const keys = mayRepeatKeys(text, value);
  if (!keys && !LONG_NUMBER.test(text)) return value;
  const { losses, exact } = scanJson(text, { keys });
  if (losses[0] !== undefined) throw new JsonLossError(losses[0]);
  return exact === text ? value : JSON.parse(exact);
}

/** Returns JSON that `JSON.stringify` has written, with its long numbers as text. */
export const withLongNumbers = (text: string): string =>
  LONG_NUMBER.test(text) ? scanJson(text, { keys: false }).exact : text;

/**
 * Returns JSON with its long numbers as text, for a parser that would round them.
 * @param isRead whether a place is read so; the rest stays as it is
 * @returns the text itself if it has no long number, or is not valid JSON
 * @throws JsonLossError
 */
export function exactJsonText(text: string, isRead: NonNullable<ScanOptions["isRead"]>): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  const keys = mayRepeatKeys(text, value);
  if (!keys && !LONG_NUMBER.test(text)) return text;
  const { losses, exact } = scanJson(text, { keys, isRead });
  if (losses[0] !== undefined) throw new JsonLossError(losses[0]);
  return exact;
}

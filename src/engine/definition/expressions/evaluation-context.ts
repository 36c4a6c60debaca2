/** One evaluation: the scope, the loop variables, and the work that was charged to it. */
import { MAX_EXPRESSION_COST, MAX_EXPRESSION_LIST, MAX_EXPRESSION_TEXT } from "./limits.ts";
import { expressionError, type ExpressionError } from "./failures.ts";
import type { SourceLocation } from "./cel-parser.ts";
import type { Pattern } from "./patterns.ts";
import type { TimeZone } from "../../../core/time-zone.ts";
import type { Scope } from "./types.ts";

export interface Evaluation {
  readonly scope: Scope;
  /** The values of the loop variables, by slot. */
  readonly locals: unknown[];
  /** The current expression, for errors that belong to none of its parts. */
  location: SourceLocation;
  /** The work so far, in units of 10 ns of processor time. */
  cost: number;
  readonly maxCost: number;
  /** Work at which the limits are checked next. */
  nextCheckAt: number;
  /** Ends an evaluation whose result is not wanted any more. */
  readonly throwIfInterrupted: (() => void) | undefined;
  /** Remaining size of the output, in bytes of JSON. */
  remainingOutputBytes: number;
  readonly maxOutputBytes: number;
  /** Regular expressions and time zones that are computed at run time, compiled once per evaluation. */
  readonly patterns: Map<string, Pattern>;
  readonly timeZones: Map<string, TimeZone>;
  /** Makes a more helpful version of an error. It is costly, so only the error that is reported gets it. */
  readonly detailedErrors: WeakMap<Error, () => Error>;
}

/** The work after which an evaluation finds out whether it was interrupted: 10 ms of processor time. */
const INTERRUPT_COST = 1_000_000;

export const startEvaluation = (
  scope: Scope,
  location: SourceLocation,
  maxOutputBytes: number,
  maxCost: number = MAX_EXPRESSION_COST,
  throwIfInterrupted?: () => void,
): Evaluation => ({
  scope,
  locals: [],
  location,
  cost: 0,
  maxCost,
  nextCheckAt: throwIfInterrupted === undefined ? maxCost : Math.min(maxCost, INTERRUPT_COST),
  throwIfInterrupted,
  remainingOutputBytes: maxOutputBytes,
  maxOutputBytes,
  patterns: new Map(),
  timeZones: new Map(),
  detailedErrors: new WeakMap(),
});

/**
 * Charges work to the evaluation, before it is done. Work alone decides whether an evaluation ends: the clock would fail
 * correct expressions on a busy machine.
 * @param work in units of 10 ns of processor time on a common machine; `calibration.test.ts` compares them
 * @throws StepError expression_limit
 */
export function charge(evaluation: Evaluation, work: number): void {
  evaluation.cost += work;
  if (evaluation.cost > evaluation.nextCheckAt) checkLimits(evaluation);
}

function checkLimits(evaluation: Evaluation): void {
  if (evaluation.cost > evaluation.maxCost) throw workExceeded(evaluation);
  evaluation.throwIfInterrupted?.();
  evaluation.nextCheckAt = Math.min(evaluation.maxCost, evaluation.cost + INTERRUPT_COST);
}

/** The name of the limit of work in the details of its error. */
const WORK = "work";

function workExceeded(evaluation: Evaluation): Error {
  const limit = evaluation.maxCost;
  const message = `needs more work than is allowed: ${limit.toLocaleString("en-US")} units of 10 ns of processor time`;
  return limitExceeded(evaluation, message, WORK, limit);
}

/** Whether an evaluation ended because it needed more work than it was allowed. */
export const isWorkExceeded = ({ code, options: { details } }: ExpressionError): boolean =>
  code === "expression_limit" && details?.["bound"] === WORK;

/** Work of writing or reading one character of a text. */
const CHARACTER_COST = 1 / 4;

/**
 * Charges for a text before it is created.
 * @param perCharacter work for each character
 */
export function chargeText(evaluation: Evaluation, length: number, perCharacter = CHARACTER_COST): void {
  if (length > MAX_EXPRESSION_TEXT) {
    const message = `creates text of ${length.toLocaleString("en-US")} characters, the maximum is ${MAX_EXPRESSION_TEXT.toLocaleString("en-US")}`;
    throw limitExceeded(evaluation, message, "text", MAX_EXPRESSION_TEXT);
  }
  charge(evaluation, length * perCharacter);
}

/**
 * Limits a list before it is created, or before it grows. A set of texts counts as two items for each, and an object
 * that grows as four for each field, because they take so much more memory at once.
 */
export function limitList(evaluation: Evaluation, length: number): void {
  if (length <= MAX_EXPRESSION_LIST) return;
  const message = `creates a list or an object that is too large, the maximum is ${MAX_EXPRESSION_LIST.toLocaleString("en-US")} items`;
  throw limitExceeded(evaluation, message, "list", MAX_EXPRESSION_LIST);
}

/** Charges for an error that the rest of the expression may recover from, because errors are costly to create. */
export const chargeFailure = (evaluation: Evaluation): void => charge(evaluation, 1_000);

/** Charges for a text that is only compared or hashed, which costs far less than to create one. */
export function chargeComparison(evaluation: Evaluation, length: number): void {
  if (length >= 64) charge(evaluation, length / 32);
}

/**
 * Makes the error of an exceeded limit.
 * @param message a predicate of the expression
 * @param bound the name of the limit in the error's details
 */
export const limitExceeded = (evaluation: Evaluation, message: string, bound: string, limit: number): Error =>
  expressionError("expression_limit", evaluation.location, `The expression ${message}`, {
    fix: "Move the heavy part into a sql step, or process fewer rows.",
    bound,
    limit,
  });

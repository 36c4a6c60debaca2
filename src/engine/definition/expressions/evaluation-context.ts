/** One evaluation: the scope, the loop variables, and the work that was charged to it. */
import { MAX_EXPRESSION_MS, MAX_EXPRESSION_TEXT, MAX_EXPRESSION_COST } from "./limits.ts";
import { expressionError } from "./failures.ts";
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
  cost: number;
  /** The cost at which the clock is read next. */
  nextClockCheckCost: number;
  /** Number of further calls of `charge` until the backstop reads the clock. */
  chargesUntilClockCheck: number;
  /** In milliseconds of performance.now(). */
  readonly deadline: number;
  /** Remaining size of the output, in bytes of JSON. */
  remainingOutputBytes: number;
  readonly maxOutputBytes: number;
  /** Regular expressions and time zones that are computed at run time, compiled once per evaluation. */
  readonly patterns: Map<string, Pattern>;
  readonly timeZones: Map<string, TimeZone>;
  /** Makes a more helpful version of an error. It is costly, so only the error that is reported gets it. */
  readonly detailedErrors: WeakMap<Error, () => Error>;
}

/**
 * Cost between two reads of the clock. Cheaper expressions never read it: they are fast, and must not fail because a busy
 * machine suspended them.
 */
const CLOCK_CHECK_COST = 50_000;

/**
 * Calls of `charge` between two reads of the clock by the backstop: every loop charges, so an evaluation whose cost was
 * underestimated still ends. A timeout of V8 would cost 0.1 ms and could not interrupt a native call either.
 */
const BACKSTOP_CHARGES = 100;
/** Time over the deadline at which the backstop ends an evaluation. */
const GRACE_MS = 4 * MAX_EXPRESSION_MS;

export const startEvaluation = (
  scope: Scope,
  location: SourceLocation,
  maxOutputBytes: number,
): Evaluation => ({
  scope,
  locals: [],
  location,
  cost: 0,
  nextClockCheckCost: CLOCK_CHECK_COST,
  chargesUntilClockCheck: BACKSTOP_CHARGES,
  deadline: performance.now() + MAX_EXPRESSION_MS,
  remainingOutputBytes: maxOutputBytes,
  maxOutputBytes,
  patterns: new Map(),
  timeZones: new Map(),
  detailedErrors: new WeakMap(),
});

/**
 * Charges work to the evaluation. Every loop calls this before it does the work.
 * @param work in elements visited or created
 * @throws StepError expression_limit
 */
export function charge(evaluation: Evaluation, work: number): void {
  evaluation.cost += work;
  if (evaluation.cost >= evaluation.nextClockCheckCost) checkLimits(evaluation);
  evaluation.chargesUntilClockCheck -= 1;
  if (evaluation.chargesUntilClockCheck > 0) return;
  evaluation.chargesUntilClockCheck = BACKSTOP_CHARGES;
  if (performance.now() > evaluation.deadline + GRACE_MS) throw timeLimitExceeded(evaluation);
}

function checkLimits(evaluation: Evaluation): void {
  evaluation.nextClockCheckCost = evaluation.cost + CLOCK_CHECK_COST;
  if (evaluation.cost > MAX_EXPRESSION_COST) {
    throw limitExceeded(
      evaluation,
      `visits or creates more than ${MAX_EXPRESSION_COST.toLocaleString("en-US")} elements`,
      "work",
      MAX_EXPRESSION_COST,
    );
  }
  if (performance.now() > evaluation.deadline) throw timeLimitExceeded(evaluation);
}

export const timeLimitExceeded = (evaluation: Evaluation): Error =>
  limitExceeded(evaluation, `takes longer than ${MAX_EXPRESSION_MS} ms`, "milliseconds", MAX_EXPRESSION_MS);

/** Charges for a text before it is created. */
export function chargeText(evaluation: Evaluation, length: number): void {
  if (length > MAX_EXPRESSION_TEXT) {
    const message = `creates text of ${length.toLocaleString("en-US")} characters, the maximum is ${MAX_EXPRESSION_TEXT.toLocaleString("en-US")}`;
    throw limitExceeded(evaluation, message, "text", MAX_EXPRESSION_TEXT);
  }
  charge(evaluation, length / 4);
}

/** Charges for an error that the rest of the expression may recover from, because errors are costly to create. */
export const chargeFailure = (evaluation: Evaluation): void => charge(evaluation, 100);

/** Charges for a text that is only compared or hashed, which costs far less than to create one. */
export function chargeComparison(evaluation: Evaluation, length: number): void {
  if (length >= 64) charge(evaluation, length / 64);
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

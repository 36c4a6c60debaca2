/** One evaluation: the scope, the variables of its loops, and how much it has done. */
import { MAX_EXPRESSION_MS, MAX_EXPRESSION_TEXT, MAX_EXPRESSION_COST } from "./limits.ts";
import { expressionError } from "./failures.ts";
import type { SourceLocation } from "./cel-parser.ts";
import type { Pattern } from "./patterns.ts";
import type { Scope } from "./types.ts";

export interface Evaluation {
  readonly scope: Scope;
  /** By slot: what the loops' variables hold now. */
  readonly locals: unknown[];
  /** The expression that is being evaluated, for errors that belong to no part of it. */
  location: SourceLocation;
  cost: number;
  /** How much work there may be before the clock is read again. */
  nextClockCheckCost: number;
  /** How many times work may be counted, however little, before the clock is read for the backstop. */
  chargesUntilClockCheck: number;
  readonly deadline: number;
  /** Bytes of JSON that may still come out. */
  remainingOutputBytes: number;
  readonly maxOutputBytes: number;
  /** Regular expressions and time zones that only this run knows, made once. */
  readonly patterns: Map<string, Pattern>;
  readonly timeZoneFormats: Map<string, Intl.DateTimeFormat>;
  /** Errors that can say more, at a cost that only the one that is told is worth. */
  readonly detailedErrors: WeakMap<Error, () => Error>;
}

/**
 * Reading the clock is not for ordinary expressions: below so much work none takes long, and one that was only
 * suspended by a busy machine doesn't fail.
 */
const LOOK_EVERY = 50_000;

/**
 * What counts as little may still take long, should a cost be forgotten somewhere. No loop goes round without counting,
 * so the clock is read every so many times too, and what is far beyond its time ends. A time-out of V8's costs 0.1 ms
 * each and can't end a single native call either.
 */
const CALLS = 100;
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
  nextClockCheckCost: LOOK_EVERY,
  chargesUntilClockCheck: CALLS,
  deadline: performance.now() + MAX_EXPRESSION_MS,
  remainingOutputBytes: maxOutputBytes,
  maxOutputBytes,
  patterns: new Map(),
  timeZoneFormats: new Map(),
  detailedErrors: new WeakMap(),
});

/**
 * Counts work; every loop, of ours and inside functions, passes through here before it does it.
 * @throws StepError expression_limit
 */
export function charge(run: Evaluation, work: number): void {
  run.cost += work;
  if (run.cost >= run.nextClockCheckCost) inspect(run);
  run.chargesUntilClockCheck -= 1;
  if (run.chargesUntilClockCheck > 0) return;
  run.chargesUntilClockCheck = CALLS;
  if (performance.now() > run.deadline + GRACE_MS) throw timeLimitExceeded(run);
}

function inspect(run: Evaluation): void {
  run.nextClockCheckCost = run.cost + LOOK_EVERY;
  if (run.cost > MAX_EXPRESSION_COST) {
    throw limitExceeded(
      run,
      `visits or makes more than ${MAX_EXPRESSION_COST.toLocaleString("en-US")} elements`,
      "work",
      MAX_EXPRESSION_COST,
    );
  }
  if (performance.now() > run.deadline) throw timeLimitExceeded(run);
}

export const timeLimitExceeded = (run: Evaluation): Error =>
  limitExceeded(run, `takes longer than ${MAX_EXPRESSION_MS} ms`, "milliseconds", MAX_EXPRESSION_MS);

/** Counts a text before it is made. */
export function chargeText(run: Evaluation, length: number): void {
  if (length > MAX_EXPRESSION_TEXT) {
    const message = `makes a text of ${length.toLocaleString("en-US")} characters; ${MAX_EXPRESSION_TEXT.toLocaleString("en-US")} is the most`;
    throw limitExceeded(run, message, "text", MAX_EXPRESSION_TEXT);
  }
  charge(run, length / 4);
}

/** What to make an error costs, should another part of the expression make up for it. */
export const chargeFailure = (run: Evaluation): void => charge(run, 100);

/** Counts a text that is only compared or hashed: far less than to make one. */
export function chargeComparison(run: Evaluation, length: number): void {
  if (length >= 64) charge(run, length / 64);
}

/** The error of a bound: which, and how large. */
export const limitExceeded = (run: Evaluation, message: string, bound: string, size: number): Error =>
  expressionError("expression_limit", run.location, `The expression ${message}`, {
    fix: "Let a sql step do the heavy part, or take fewer rows.",
    bound,
    limit: size,
  });

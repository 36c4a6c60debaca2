/** One evaluation: the scope, the variables of its loops, and how much it has done. */
import { MAX_EXPRESSION_MS, MAX_EXPRESSION_TEXT, MAX_EXPRESSION_WORK } from "./bounds.ts";
import { stepError } from "./failures.ts";
import type { Place } from "./failures.ts";
import type { Pattern } from "./patterns.ts";
import type { Scope } from "./types.ts";

export interface Run {
  readonly scope: Scope;
  /** By slot: what the loops' variables hold now. */
  readonly locals: unknown[];
  /** The expression that is being evaluated, for errors that belong to no part of it. */
  place: Place;
  work: number;
  /** How much work there may be before the clock is read again. */
  look: number;
  /** How many times work may be counted, however little, before the clock is read for the backstop. */
  calls: number;
  readonly deadline: number;
  /** Bytes of JSON that may still come out. */
  outputLeft: number;
  readonly maxOutput: number;
  /** Regular expressions and time zones that only this run knows, made once. */
  readonly patterns: Map<string, Pattern>;
  readonly zones: Map<string, Intl.DateTimeFormat>;
  /** Errors that can say more, at a cost that only the one that is told is worth. */
  readonly fuller: WeakMap<Error, () => Error>;
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

export const startRun = (scope: Scope, place: Place, maxOutput: number): Run => ({
  scope,
  locals: [],
  place,
  work: 0,
  look: LOOK_EVERY,
  calls: CALLS,
  deadline: performance.now() + MAX_EXPRESSION_MS,
  outputLeft: maxOutput,
  maxOutput,
  patterns: new Map(),
  zones: new Map(),
  fuller: new WeakMap(),
});

/**
 * Counts work; every loop, of ours and inside functions, passes through here before it does it.
 * @throws StepError expression_limit
 */
export function charge(run: Run, work: number): void {
  run.work += work;
  if (run.work >= run.look) inspect(run);
  run.calls -= 1;
  if (run.calls > 0) return;
  run.calls = CALLS;
  if (performance.now() > run.deadline + GRACE_MS) throw outOfTime(run);
}

function inspect(run: Run): void {
  run.look = run.work + LOOK_EVERY;
  if (run.work > MAX_EXPRESSION_WORK) {
    throw limit(
      run,
      `visits or makes more than ${MAX_EXPRESSION_WORK.toLocaleString("en-US")} elements`,
      "work",
      MAX_EXPRESSION_WORK,
    );
  }
  if (performance.now() > run.deadline) throw outOfTime(run);
}

export const outOfTime = (run: Run): Error =>
  limit(run, `takes longer than ${MAX_EXPRESSION_MS} ms`, "milliseconds", MAX_EXPRESSION_MS);

/** Counts a text before it is made. */
export function chargeText(run: Run, length: number): void {
  if (length > MAX_EXPRESSION_TEXT) {
    const message = `makes a text of ${length.toLocaleString("en-US")} characters; ${MAX_EXPRESSION_TEXT.toLocaleString("en-US")} is the most`;
    throw limit(run, message, "text", MAX_EXPRESSION_TEXT);
  }
  charge(run, length / 4);
}

/** What to make an error costs, should another part of the expression make up for it. */
export const chargeFailure = (run: Run): void => charge(run, 100);

/** Counts a text that is only compared or hashed: far less than to make one. */
export function chargeCompared(run: Run, length: number): void {
  if (length >= 64) charge(run, length / 64);
}

/** The error of a bound: which, and how large. */
export const limit = (run: Run, message: string, bound: string, size: number): Error =>
  stepError("expression_limit", run.place, `The expression ${message}`, {
    fix: "Let a sql step do the heavy part, or take fewer rows.",
    bound,
    limit: size,
  });

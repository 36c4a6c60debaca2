/** The states that a step of a run can be in, and the states of all steps of a run as one value. */
import type { StepStatus } from "../../schemas/run.ts";

/**
 * - `pending`: has no job yet.
 * - `queued`: has a job of its own, claimed or not.
 * - `running`: has none of its own, but is running: a fan-out with active items, or a step with a child run.
 * - `waiting`: waits for a time or for a decision.
 * - `failed_continued`: failed under `on_error: continue`, so the run continues.
 */
export type StepState =
  | "pending"
  | "queued"
  | "running"
  | "waiting"
  | "succeeded"
  | "skipped"
  | "failed_continued"
  | "failed"
  | "cancelled";

const STATUSES: Readonly<Record<StepState, StepStatus>> = {
  pending: "pending",
  queued: "running",
  running: "running",
  waiting: "waiting",
  succeeded: "succeeded",
  skipped: "skipped",
  failed_continued: "failed",
  failed: "failed",
  cancelled: "cancelled",
};

/** The status that the API and expressions show. A queued step counts as running; only its job says more. */
export const toStepStatus = (state: StepState): StepStatus => STATUSES[state];

const ENDED: ReadonlySet<StepState> = new Set([
  "succeeded",
  "skipped",
  "failed_continued",
  "failed",
  "cancelled",
]);

export const hasStepEnded = (state: StepState): boolean => ENDED.has(state);

/** The states of a run's steps, by position in its definition. Immutable: a change returns a new value. */
export class StepStates {
  readonly list: readonly StepState[];

  constructor(list: readonly StepState[]) {
    this.list = list;
  }

  static allPending(count: number): StepStates {
    return new StepStates(Array.from({ length: count }, () => "pending"));
  }

  at(position: number): StepState {
    return this.list[position]!;
  }

  with(position: number, state: StepState): StepStates {
    return new StepStates(this.list.with(position, state));
  }

  /** Replaces every state that is one of `from`. */
  replaceAll(from: readonly StepState[], to: StepState): StepStates {
    return new StepStates(this.list.map((state) => (from.includes(state) ? to : state)));
  }

  /** Whether a step is in one of these states. */
  includes(...states: StepState[]): boolean {
    return this.list.some((state) => states.includes(state));
  }

  /** Whether a step failed so that the run must end. */
  anyFailed(): boolean {
    return this.includes("failed");
  }

  equals(other: StepStates): boolean {
    return this.list.length === other.list.length && this.list.every((state, at) => state === other.list[at]);
  }

  /** The positions of the steps in a state. */
  positionsOf(state: StepState): number[] {
    return this.list.flatMap((current, position) => (current === state ? [position] : []));
  }
}

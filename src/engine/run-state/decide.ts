/** Decides what happens next in a run: a pure function of its graph and the states of its steps. */
import type { StepState, StepStates } from "../../core/step-states.ts";
import type { Graph } from "../definition/graph.ts";

export interface Decision {
  /** The states of the steps after the decision. */
  states: StepStates;
  /** Positions of the steps that get a job. */
  start: number[];
  /**
   * - `continue`: a step is running or queued.
   * - `wait`: only waits and approvals are left.
   * - `finish`: every step has ended without stopping the run; its output is evaluated next.
   * - `end`: a step failed or the run was stopped, and nothing is active any more.
   */
  next: "continue" | "wait" | "finish" | "end";
}

/** States in which a step no longer holds up the steps that need it. */
const SATISFIED: ReadonlySet<StepState> = new Set(["succeeded", "skipped", "failed_continued"]);

/**
 * @param stopping whether the run was stopped; a failed step ends the run too, and is seen in `states`
 * @param activeCount number of active attempts and child runs, which end before the run does
 */
export function decide(
  graph: Graph,
  states: StepStates,
  { stopping, activeCount }: { stopping: boolean; activeCount: number },
): Decision {
  if (stopping || states.anyFailed()) {
    return {
      states: states.replaceAll(["pending", "waiting"], "cancelled"),
      start: [],
      next: activeCount > 0 ? "continue" : "end",
    };
  }
  const start = states
    .positionsOf("pending")
    .filter((position) => graph.needs[position]!.every((needed) => SATISFIED.has(states.at(needed))));
  let nextStates = states;
  for (const position of start) nextStates = nextStates.with(position, "queued");
  return {
    states: nextStates,
    start,
    next: nextStates.includes("queued", "running")
      ? "continue"
      : nextStates.includes("waiting")
        ? "wait"
        : "finish",
  };
}

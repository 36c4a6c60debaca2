/** The decider: a pure function from where the steps of a run are to what happens next. Knows no expressions. */
import type { StepState } from "../../core/run-ports.ts";
import type { Graph } from "../definition/graph.ts";

export interface Decision {
  /** Where the steps are now. */
  states: string;
  /** Positions of the steps that get a job. */
  start: number[];
  /**
   * `go_on`: something runs or will. `wait`: only waits and approvals are left. `finish`: every step has ended well,
   * the output is due. `end`: a step failed for good, or the run was stopped, and nothing is under way any more.
   */
  next: "go_on" | "wait" | "finish" | "end";
}

/** Ends that let what follows go on. */
const DONE: ReadonlySet<string> = new Set<StepState>(["s", "k", "e"]);

/**
 * What happens next in a run.
 * @param states one letter a step, by position (core/run-ports.ts)
 * @param stopping the run is to end: it was stopped. A step that failed for good says so itself.
 * @param underWay how many attempts and runs of other workflows go on; they finish first
 */
export function decide(
  graph: Graph,
  states: string,
  { stopping, activeCount }: { stopping: boolean; activeCount: number },
): Decision {
  if (stopping || states.includes("f")) {
    return {
      states: states.replaceAll(/[pw]/g, "c"),
      start: [],
      next: activeCount > 0 ? "go_on" : "end",
    };
  }
  const letters = states.split("");
  const start: number[] = [];
  for (let position = states.indexOf("p"); position !== -1; position = states.indexOf("p", position + 1)) {
    if (!graph.needs[position]!.every((before) => DONE.has(states[before]!))) continue;
    start.push(position);
    letters[position] = "q" satisfies StepState;
  }
  const after = letters.join("");
  return {
    states: after,
    start,
    next: /[qr]/.test(after) ? "go_on" : after.includes("w") ? "wait" : "finish",
  };
}

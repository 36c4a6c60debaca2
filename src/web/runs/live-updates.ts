/**
 * Merges a run's event stream with the last fetched state. The two are stored separately: a response that was in flight
 * while events arrived may be older than the events, and must not overwrite them.
 */
import type { Run, RunStep, RunSummary } from "../../../schemas/run.ts";

/** A run as its events report it: without inputs and output. */
export type LiveRunSummary = RunSummary & Pick<Run, "progress"> & { stopping?: boolean };
/** A fetched run, merged with its live updates. */
export type LiveRun = Run & { steps: RunStep[]; stopping?: boolean };

export type RunEvent = { event: "run" | "end"; data: LiveRunSummary } | { event: "step"; data: RunStep };

export interface LiveUpdates {
  summary?: LiveRunSummary;
  steps: ReadonlyMap<string, RunStep>;
}

export const NO_UPDATES: LiveUpdates = { steps: new Map() };

export const hasEnded = ({ status }: Pick<Run, "status">): boolean =>
  status === "succeeded" || status === "failed" || status === "cancelled";

/** Whether nothing changes any more: the run has ended, and the run of its `on_failure` has started, or can't. */
export const isSettled = (run: Pick<Run, "status" | "on_failure">): boolean =>
  hasEnded(run) &&
  (run.on_failure === undefined || run.on_failure.run_id !== undefined || run.on_failure.error !== undefined);

export function applyEvents(updates: LiveUpdates, events: readonly RunEvent[]): LiveUpdates {
  const steps = new Map(updates.steps);
  let { summary } = updates;
  for (const { event, data } of events) {
    if (event === "step") steps.set(data.id, data);
    else summary = data;
  }
  return { ...(summary !== undefined && { summary }), steps };
}

/** The current state of the run. A run that was fetched after its end is final, so no updates apply. */
export function mergeLiveUpdates(run: Run, updates: LiveUpdates): LiveRun {
  const steps = run.steps ?? [];
  if (hasEnded(run)) return { ...run, steps };
  // The fetched error is complete; the one in events is truncated.
  const { error, ...summary } = updates.summary ?? { error: null };
  return {
    ...run,
    ...summary,
    // Left out when there are none: then the fetched number does not count.
    open_interruptions: (updates.summary ?? run).open_interruptions,
    error: run.error ?? error,
    steps: [
      ...steps.map((step) => updates.steps.get(step.id) ?? step),
      // Steps that undo others appear when they start.
      ...[...updates.steps.values()].filter(({ id }) => !steps.some((step) => step.id === id)),
    ],
  };
}

/** Whether something changed that events don't contain: the run's status, its approvals, or its interruptions. */
export function needsRefetch(before: LiveRun, after: LiveRun): boolean {
  if (before.status !== after.status || before.open_interruptions !== after.open_interruptions) return true;
  if (waitingInterrupted(before) !== waitingInterrupted(after)) return true;
  const waiting = ({ steps }: LiveRun): RunStep[] =>
    steps.filter(({ type, status }) => type === "approval" && status === "waiting");
  const [old, current] = [waiting(before), waiting(after)];
  // An event of a step that goes on waiting reports a decision that was not the last one.
  return old.length !== current.length || current.some((step, index) => step !== old[index]);
}

/** The waiting steps with open interruptions: each may have begun to wait for a person's answer, or no longer wait for it. */
const waitingInterrupted = ({ steps, interruptions = [] }: LiveRun): string =>
  steps
    .filter(
      ({ id, status }) =>
        status === "waiting" && interruptions.some(({ step_id: interrupted }) => interrupted === id),
    )
    .map(({ id }) => id)
    .join(" ");

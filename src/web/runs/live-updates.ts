/**
 * What a run's stream of events has told, laid over what was last fetched. The two are kept apart: an answer that was
 * under way while events came in may be the older one, and must not undo them.
 */
import type { Run, RunStep, RunSummary } from "../../../schemas/run.ts";

/** A run as its events tell it: without what it took and gave. */
export type LiveRunSummary = RunSummary & Pick<Run, "progress"> & { stopping?: boolean };
/** A run as the page shows it. */
export type ShownRun = Run & { steps: RunStep[]; stopping?: boolean };

export type RunEvent = { event: "run" | "end"; data: LiveRunSummary } | { event: "step"; data: RunStep };

export interface LiveUpdates {
  summary?: LiveRunSummary;
  steps: ReadonlyMap<string, RunStep>;
}

export const NO_UPDATES: LiveUpdates = { steps: new Map() };

export const hasEnded = ({ status }: Pick<Run, "status">): boolean =>
  status === "succeeded" || status === "failed" || status === "cancelled";

export function applyEvents(told: LiveUpdates, events: readonly RunEvent[]): LiveUpdates {
  const steps = new Map(told.steps);
  let { summary } = told;
  for (const { event, data } of events) {
    if (event === "step") steps.set(data.id, data);
    else summary = data;
  }
  return { ...(summary !== undefined && { summary }), steps };
}

/** The run as it is now. What has ended stays as it was fetched: nothing newer can come. */
export function mergeLiveUpdates(run: Run, told: LiveUpdates): ShownRun {
  const steps = run.steps ?? [];
  if (hasEnded(run)) return { ...run, steps };
  // The fetched error is whole, the told one cut short.
  const { error, ...card } = told.summary ?? { error: null };
  return {
    ...run,
    ...card,
    error: run.error ?? error,
    steps: steps.map((step) => told.steps.get(step.id) ?? step),
  };
}

/** What the events leave out changed with them: the run's end, or somebody is asked or has answered. */
export function needsRefetch(before: ShownRun, after: ShownRun): boolean {
  if (before.status !== after.status) return true;
  const asked = ({ steps }: ShownRun): string =>
    steps
      .filter(({ type, status }) => type === "approval" && status === "waiting")
      .map(({ id, items }) => `${id}:${items?.done ?? 0}`)
      .join();
  return asked(before) !== asked(after);
}

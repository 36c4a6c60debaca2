/** Progress notifications for a caller that waits for a run. */
import type { RunRecord } from "../../src/core/model.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { hasStepEnded, type StepStates, toStepStatus } from "../../src/core/step-states.ts";
import { hasEnded, progressOf } from "./run-response.ts";

/** Minimum time between two notifications, in milliseconds. */
const INTERVAL_MS = 100;
/** Maximum number of ended steps, and of running steps, that a notification names. */
const MAX_NAMED_STEPS = 5;

/**
 * Creates a function that reports which steps have ended since its last call and which are running: "revenue succeeded;
 * summary running". A fan-out counts by its items, a loop by its iterations.
 * @returns a function that takes the run as it was just read, and returns after how many milliseconds to call it again; 0
 *   to wait for the next change
 */
export function progressReporter(
  ctx: ToolContext,
  id: string,
): (current: Pick<RunRecord, "seq" | "status">) => Promise<number> {
  const { progress } = ctx;
  if (progress === undefined) return async () => 0;
  let states: StepStates | undefined;
  let lastReport = { seq: -1, at: -INTERVAL_MS };
  return async (summary) => {
    if (summary.seq <= lastReport.seq) return 0;
    const delayMs = lastReport.at + INTERVAL_MS - performance.now();
    if (delayMs > 0 && !hasEnded(summary)) return delayMs;
    const run = await ctx.read.runs.find(id);
    if (run === undefined) return 0;
    const { steps } = await ctx.engine.getDefinition(run);
    const { done, total, current } = progressOf(run, steps);
    const ended = steps.flatMap(({ id: stepId }, index) => {
      const state = run.stepStates.at(index);
      return hasStepEnded(state) && states?.at(index) !== state ? [`${stepId} ${toStepStatus(state)}`] : [];
    });
    const active = await Promise.all(
      current.slice(0, MAX_NAMED_STEPS).map(async (stepId) => {
        const position = steps.findIndex((step) => step.id === stepId);
        const state = run.stepStates.at(position);
        const max = steps[position]!.repeat?.max;
        const items =
          state === "queued" ? null : (await ctx.read.runs.step({ runId: id, stepId, item: null }))?.items;
        return {
          text: `${stepId} ${toStepStatus(state)}${items ? ` (${items.done} of ${max === undefined ? items.total : `at most ${max}`})` : ""}`,
          fraction: items ? items.done / (max ?? items.total) : 0,
        };
      }),
    );
    const activeDone = active.reduce((sum, { fraction }) => sum + fraction, 0);
    const message = [ended.slice(-MAX_NAMED_STEPS).join(", "), active.map(({ text }) => text).join(", ")];
    progress({
      done: hasEnded(run) ? total : Math.floor((done + activeDone) * 1_000) / 1_000,
      total,
      message: message.filter(Boolean).join("; ") || `the run is ${run.status}`,
    });
    states = run.stepStates;
    lastReport = { seq: run.seq, at: performance.now() };
    return 0;
  };
}

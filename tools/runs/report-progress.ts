/** How far a run is, told to who waits for it. */
import type { RunRecord } from "../../src/core/run-ports.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { hasStepEnded, type StepStates, toStepStatus } from "../../src/core/step-states.ts";
import { hasEnded, progressOf } from "./run-response.ts";

/** Not oftener, in milliseconds. */
const EVERY_MS = 100;
const MOST_NAMED = 5;

/**
 * Tells what has ended since it was last called, and what goes on: "revenue succeeded; summary running". A fan-out
 * counts by its items.
 * @returns a function that takes the run as it was just seen, and gives in how many milliseconds it wants to be called
 *   again; 0 for not before a change
 */
export function progressReporter(
  ctx: ToolContext,
  id: string,
): (seen: Pick<RunRecord, "seq" | "status">) => Promise<number> {
  const { progress } = ctx;
  if (progress === undefined) return async () => 0;
  let states: StepStates | undefined;
  let told = { seq: -1, at: -EVERY_MS };
  return async (seen) => {
    if (seen.seq <= told.seq) return 0;
    const early = told.at + EVERY_MS - performance.now();
    if (early > 0 && !hasEnded(seen)) return early;
    const run = await ctx.read.runs.find(id);
    if (run === undefined) return 0;
    const { steps } = await ctx.engine.getDefinition(run);
    const { done, total, current } = progressOf(run, steps);
    const ended = steps.flatMap(({ id: stepId }, index) => {
      const state = run.stepStates.at(index);
      return hasStepEnded(state) && states?.at(index) !== state ? [`${stepId} ${toStepStatus(state)}`] : [];
    });
    const going = await Promise.all(
      current.slice(0, MOST_NAMED).map(async (stepId) => {
        const state = run.stepStates.at(steps.findIndex((step) => step.id === stepId));
        const items =
          state === "queued" ? null : (await ctx.read.runs.step({ runId: id, stepId, item: null }))?.items;
        return {
          text: `${stepId} ${toStepStatus(state)}${items ? ` (${items.done} of ${items.total})` : ""}`,
          part: items ? items.done / items.total : 0,
        };
      }),
    );
    const parts = going.reduce((sum, { part }) => sum + part, 0);
    const message = [ended.slice(-MOST_NAMED).join(", "), going.map(({ text }) => text).join(", ")];
    progress({
      done: hasEnded(run) ? total : Math.floor((done + parts) * 1_000) / 1_000,
      total,
      message: message.filter(Boolean).join("; ") || `the run is ${run.status}`,
    });
    states = run.stepStates;
    told = { seq: run.seq, at: performance.now() };
    return 0;
  };
}

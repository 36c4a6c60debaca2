import type { RunRecord, StepRef } from "../../core/model.ts";
import type { RunReader } from "../../core/run-ports.ts";
import { undoStepId } from "../../core/undo-step-id.ts";

/**
 * Finds the first of a run and the runs that it retries, one after the other, in which a step can have had the effect that
 * it still has: the effects of earlier ones were undone. Its id is the first part of the step's idempotency key, so that
 * systems recognize a repeated call, but not one whose effect was undone.
 */
export async function firstRunWithEffect(
  runs: Pick<RunReader, "find" | "step">,
  run: Pick<RunRecord, "id" | "firstRunId" | "retryOf">,
  { stepId, item }: Pick<StepRef, "stepId" | "item">,
): Promise<string> {
  let { id, retryOf } = run;
  while (retryOf !== null) {
    if (await wasUndone(runs, { runId: retryOf, stepId, item })) return id;
    id = retryOf;
    retryOf = (await runs.find(retryOf))?.retryOf ?? null;
  }
  return run.firstRunId;
}

/** Whether a step, or an item of its fan-out, was undone in a run, or whether that was tried. */
export const wasUndone = async (
  runs: Pick<RunReader, "step">,
  { runId, stepId, item }: StepRef,
): Promise<boolean> => (await runs.step({ runId, stepId: undoStepId(stepId), item })) !== undefined;

/** Begins to undo the steps of a run that does not succeed, before it ends (see undo.ts). */
import type { RunError } from "../../../schemas/run.ts";
import type { RunStop, StepRef } from "../../core/model.ts";
import { undoStepId } from "../../core/undo-step-id.ts";
import { newJob } from "./run-context.ts";
import type { RunUpdate } from "./run-update.ts";

/** The error of a run that failed without one. */
const NO_ERROR: RunError = { code: "step_failed", message: "The run failed." };

/**
 * Begins to undo the steps of a run, or waits for what must end before.
 * @param end how the run ends afterwards
 * @returns false when nothing is to be undone, and the run can end now
 */
export async function beginUndo(
  { tx, run, compiled, seq, states: stepStates }: RunUpdate,
  end: { status: "failed" | "cancelled"; error: RunError | null },
): Promise<boolean> {
  // A trial has had no effect, also where a run that it started has succeeded.
  if (compiled.undo.size === 0 || run.isTrial) return false;
  const stop = stopOf(run.stop, end);
  const running = { seq, stepStates, status: "running" as const };
  // What its child runs have done is undone first. The end of each of them advances this run again, because it is stopped:
  // its own steps may all have ended well, such as when its output is invalid.
  if (await tx.runs.hasUnfinishedChildren(run.id)) {
    await tx.runs.update(run.id, { ...running, stop });
    return true;
  }
  const next = await tx.runs.nextToUndo(run.id, [...compiled.undo.keys()]);
  if (next === undefined) return false;
  await tx.runs.update(run.id, { ...running, stop: { ...stop, undoing: true } });
  await addUndoJob({ tx, run, compiled }, next);
  return true;
}

const stopOf = (
  stop: RunStop | null,
  { status, error }: { status: "failed" | "cancelled"; error: RunError | null },
): RunStop =>
  status === "cancelled"
    ? { status, by: stop?.status === "cancelled" ? stop.by : "" }
    : { status, error: error ?? NO_ERROR };

/** Adds the job that undoes a step, or an item of its fan-out. */
export function addUndoJob(
  { tx, run, compiled }: Pick<RunUpdate, "tx" | "run" | "compiled">,
  { runId, stepId, item }: StepRef,
): Promise<void> {
  const { resource } = compiled.undo.get(stepId)!;
  return tx.jobs.add(newJob({ runId, stepId: undoStepId(stepId), item }, "undo", run.priority, { resource }));
}

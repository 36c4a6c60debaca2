/**
 * Records how the steps of a run are undone: one at a time, the last one that succeeded first. The rows of the undo steps
 * say how far it is, so after a crash at any point it continues with the next one.
 */
import type { EncodedJson } from "../../core/encoded-json.ts";
import type { RunError } from "../../../schemas/run.ts";
import type { StepRef } from "../../core/model.ts";
import type { EngineWriters } from "../../core/run-ports.ts";
import { undoneStepId, undoStepId } from "../../core/undo-step-id.ts";
import { addUndoJob } from "./begin-undo.ts";
import { endRun } from "./end-run.ts";
import type { AttemptStart } from "./record-outcome.ts";
import type { RunContext } from "./run-context.ts";
import { beginUpdate } from "./run-update.ts";

interface UndoTimes {
  startedAt: string;
  finishedAt: string;
  attempts: number;
}

/** Records that an attempt to undo has started, before it has any effect. */
export async function recordUndoStart(
  tx: EngineWriters,
  ref: StepRef,
  attempt: AttemptStart,
): Promise<boolean> {
  const run = await tx.runs.lock(ref.runId);
  if (run === undefined || run.finishedAt !== null) return false;
  const seq = run.seq + 1;
  await tx.runs.update(run.id, { seq });
  const { startedAt } = attempt;
  await tx.runs.saveStep(ref, { seq, state: "queued", attempts: attempt.attempt, startedAt });
  if (ref.item !== null) await saveProgress(tx, ref, seq, { startedAt });
  await tx.runs.saveAttempt(ref, {
    ...attempt,
    status: "running",
    finishedAt: null,
    usage: null,
    error: null,
  });
  return true;
}

/** Records the end of an undo step, and begins the next one or ends the run. */
export async function recordUndo(
  context: RunContext,
  tx: EngineWriters,
  ref: StepRef,
  result: { output: EncodedJson } | { error: RunError },
  { startedAt, finishedAt, attempts }: UndoTimes,
): Promise<void> {
  const update = await beginUpdate(context, tx, ref.runId);
  const stop = update?.run.stop;
  if (update === undefined || stop?.undoing !== true) return;
  const { run, seq, compiled, states: stepStates } = update;
  const state = "error" in result ? "failed" : "succeeded";
  await tx.runs.saveStep(ref, { seq, state, startedAt, finishedAt, attempts, ...result });
  if (ref.item !== null) await saveProgress(tx, ref, seq, { startedAt, ended: { state, finishedAt } });
  const next = await tx.runs.nextToUndo(run.id, [...compiled.undo.keys()]);
  if (next !== undefined) {
    await tx.runs.update(run.id, { seq });
    await addUndoJob(update, next);
    return;
  }
  const failed = await tx.runs.failedUndos(run.id);
  const error = withFailures(stop.status === "failed" ? stop.error : null, failed);
  await endRun(context, tx, run, { seq, stepStates, status: stop.status, error });
}

/** Saves how many items of a step are undone. */
async function saveProgress(
  tx: EngineWriters,
  { runId, stepId }: StepRef,
  seq: number,
  { startedAt, ended }: { startedAt: string; ended?: { state: "succeeded" | "failed"; finishedAt: string } },
): Promise<void> {
  const step = { runId, stepId, item: null };
  const saved = await tx.runs.step(step);
  const items = saved?.items ?? {
    total: await tx.runs.countToUndo(runId, undoneStepId(stepId)!),
    started: 0,
    done: 0,
    failed: 0,
    bytes: 0,
  };
  if (ended === undefined) {
    items.started = Math.min(items.done + 1, items.total);
    await tx.runs.saveStep(step, { seq, state: "running", startedAt: saved?.startedAt ?? startedAt, items });
    return;
  }
  items.done += 1;
  if (ended.state === "failed") items.failed += 1;
  const isLast = items.done >= items.total;
  const state = !isLast ? "running" : items.failed > 0 ? "failed" : "succeeded";
  await tx.runs.saveStep(step, { seq, state, items, ...(isLast && { finishedAt: ended.finishedAt }) });
}

/** Adds the undos that failed to the error of a run. @returns null for a cancelled run whose steps are all undone */
function withFailures(
  error: RunError | null,
  failed: readonly { ref: StepRef; error: RunError }[],
): RunError | null {
  if (failed.length === 0) return error;
  const listed = failed.map(({ ref: { stepId, item }, error: { code, message } }) => ({
    step_id: undoneStepId(stepId)!,
    ...(item !== null && { item }),
    code,
    message,
  }));
  const ids = [...new Set(listed.map(({ step_id }) => `"${step_id}"`))].join(", ");
  const fix = `Undo them by hand: get_run with step_id "${undoStepId(listed[0]!.step_id)}" shows what happened.`;
  if (error === null)
    return {
      code: "undo_failed",
      message: `The run was cancelled, and ${ids} could not be undone.`,
      fix,
      details: { undo_failed: listed },
    };
  return {
    ...error,
    message: `${error.message} In addition, ${ids} could not be undone.`,
    details: { ...error.details, undo_failed: listed },
  };
}

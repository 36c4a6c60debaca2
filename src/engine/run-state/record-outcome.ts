/** Records the result of a step, or of an item of its fan-out, in the transaction that advances the run. */
import type { EncodedJson } from "../../core/encoded-json.ts";
import type { StepRef } from "../../core/model.ts";
import type { EngineWriters } from "../../core/run-ports.ts";
import type { StepState } from "../../core/step-states.ts";
import { definedStep } from "../definition/compiled-definition.ts";
import { advanceRun } from "./advance-run.ts";
import { recordFanOut, recordItemOutcome } from "./fan-out.ts";
import { endRepeat, startIteration } from "./repeat.ts";
import type { RunContext } from "./run-context.ts";
import { beginUpdate, isEnding, type RunUpdate } from "./run-update.ts";
import { saveResult, type StepTimes } from "./save-result.ts";
import { limitRunBytes } from "./run-bytes.ts";
import { isEnded, type StepResult } from "./step-result.ts";

/** Records a result and advances the run. @returns whether the run has ended */
export async function recordOutcome(
  context: RunContext,
  tx: EngineWriters,
  { runId, stepId, item }: StepRef,
  result: StepResult,
  times: StepTimes,
): Promise<{ ended: boolean }> {
  const update = await beginUpdate(context, tx, runId);
  if (update === undefined) return { ended: true };
  const { run, compiled } = update;
  // Waits and fan-outs don't begin in a run that is ending.
  const recorded: StepResult =
    isEnding(run) && !isEnded(result)
      ? { kind: "cancelled" }
      : limitRunBytes(context, run, { runId, stepId, item }, result);
  const started = run.status === "queued" ? { status: "running" as const, startedAt: times.startedAt } : {};
  update.run = { ...run, ...started };
  const position = compiled.position.get(stepId)!;
  const state =
    item === null
      ? await recordStepOutcome(context, update, { runId, stepId, item }, recorded, times)
      : await recordItemOutcome(context, update, { runId, stepId, item }, recorded, times);
  update.states = update.states.with(position, state);
  return { ended: await advanceRun(context, update) };
}

async function recordStepOutcome(
  context: RunContext,
  update: RunUpdate,
  ref: StepRef,
  result: StepResult,
  times: StepTimes,
): Promise<StepState> {
  if (result.kind === "fan_out") return recordFanOut(update, ref, result.items, times);
  if (result.kind === "iteration") return startIteration(update, ref, result, times);
  if (result.kind === "repeated") return endRepeat(update, ref, result, times);
  const { for_each: forEach, repeat } = definedStep(update.compiled, ref.stepId);
  const mayHaveItems = isEnded(result) && (forEach !== undefined || repeat !== undefined);
  const items = mayHaveItems ? ((await update.tx.runs.step(ref))?.items ?? null) : null;
  return isEnded(result) && items !== null
    ? endRepeat(update, ref, result, times)
    : saveResult(context, update, ref, result, times);
}

/** Sets a step whose wait failed back to queued. The caller adds the job of its next attempt. */
export async function requeueStep(context: RunContext, tx: EngineWriters, ref: StepRef): Promise<void> {
  const update = await beginUpdate(context, tx, ref.runId);
  if (update === undefined) return;
  await tx.runs.saveStep(ref, { seq: update.seq, state: "queued", childRun: null, waitUntil: null });
  if (ref.item === null) {
    update.states = update.states.with(update.compiled.position.get(ref.stepId)!, "queued");
  }
  await advanceRun(context, update);
}

/**
 * Records that an attempt has started, before it has any effect.
 * @param position the position of its step in the definition
 * @returns false when the run is ending or has ended, so that the attempt must not start
 */
export async function recordAttemptStart(
  tx: EngineWriters,
  ref: StepRef,
  position: number,
  attempt: { attempt: number; executor: string; startedAt: string; input: EncodedJson },
): Promise<boolean> {
  const run = (await tx.runs.lock(ref.runId))!;
  if (isEnding(run) || run.finishedAt !== null) return false;
  const seq = run.seq + 1;
  // The pause before an iteration is over.
  const resumed = ref.item !== null && run.stepStates.at(position) === "waiting";
  if (resumed) await tx.runs.saveStep({ ...ref, item: null }, { seq, state: "running", waitUntil: null });
  await tx.runs.update(ref.runId, {
    seq,
    ...(resumed && { stepStates: run.stepStates.with(position, "running") }),
    ...(run.status !== "running" && { status: "running" as const }),
    ...(run.startedAt === null && { startedAt: attempt.startedAt }),
  });
  await tx.runs.saveStep(ref, {
    seq,
    state: "queued",
    attempts: attempt.attempt,
    startedAt: attempt.startedAt,
  });
  await tx.runs.saveAttempt(ref, {
    ...attempt,
    status: "running",
    finishedAt: null,
    usage: null,
    error: null,
  });
  return true;
}

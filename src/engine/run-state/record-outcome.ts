/** Records the result of a step, or of an item of its fan-out, in the transaction that advances the run. */
import type { EncodedJson } from "../../core/encoded-json.ts";
import type { StepRef } from "../../core/model.ts";
import type { EngineWriters } from "../../core/run-ports.ts";
import type { StepState, StepStates } from "../../core/step-states.ts";
import { definedStep } from "../definition/compiled-definition.ts";
import { advanceRun } from "./advance-run.ts";
import type { FinishResult } from "./end-run.ts";
import { recordFanOut, recordItemOutcome } from "./fan-out.ts";
import { endRepeat, startIteration } from "./repeat.ts";
import type { RunContext } from "./run-context.ts";
import { beginUpdate, isEnding, type RunUpdate } from "./run-update.ts";
import { saveResult, type StepTimes } from "./save-result.ts";
import { limitRunBytes } from "./run-bytes.ts";
import { type EndedResult, isEnded, type StepResult } from "./step-result.ts";

/** A step that has ended before the result of the step before it was recorded. */
export interface StepAhead {
  ref: StepRef;
  result: EndedResult;
  times: StepTimes;
  saveAttempt(tx: EngineWriters): Promise<void>;
}

/** What has followed a step before its result was recorded. */
export interface StepsAhead {
  /** The states of the run's steps that it rests on. */
  from: StepStates;
  steps: readonly StepAhead[];
  /** The result of the run, if it is over. */
  finish?: FinishResult;
}

/**
 * Records a result and advances the run.
 * @param ahead is recorded too, unless the run has changed
 * @returns whether the run has ended, and whether the result was recorded as it is: a run that is ending begins nothing
 */
export async function recordOutcome(
  context: RunContext,
  tx: EngineWriters,
  { runId, stepId, item }: StepRef,
  result: StepResult,
  times: StepTimes,
  ahead?: StepsAhead,
): Promise<{ ended: boolean; isRecorded: boolean }> {
  const update = await beginUpdate(context, tx, runId);
  if (update === undefined) return { ended: true, isRecorded: false };
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
  // A stop has cancelled the steps that were pending, so the states differ.
  const isRecorded = recorded === result;
  const holds = ahead !== undefined && isRecorded && run.stepStates.equals(ahead.from);
  if (!holds) return { ended: await advanceRun(context, update), isRecorded };
  for (const step of ahead.steps) await recordAhead(context, update, step);
  return { ended: await advanceRun(context, update, ahead.finish), isRecorded };
}

async function recordAhead(
  context: RunContext,
  update: RunUpdate,
  { ref, result, times, saveAttempt }: StepAhead,
): Promise<void> {
  await saveAttempt(update.tx);
  const state = await saveResult(context, update, ref, result, times);
  update.states = update.states.with(update.compiled.position.get(ref.stepId)!, state);
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
  const position = update.compiled.position.get(ref.stepId)!;
  if (ref.item === null) update.states = update.states.with(position, "queued");
  else if (update.states.at(position) === "waiting") {
    // An item of the step does not wait any more.
    await tx.runs.saveStep({ ...ref, item: null }, { seq: update.seq, state: "running" });
    update.states = update.states.with(position, "running");
  }
  await advanceRun(context, update);
}

/** What is recorded of an attempt before it has any effect. */
export interface AttemptStart {
  attempt: number;
  executor: string;
  startedAt: string;
  input: EncodedJson;
  /** See `AttemptRecord`. */
  effectKey: string | undefined;
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
  attempt: AttemptStart,
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

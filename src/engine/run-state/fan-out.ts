/** Fan-outs: a step runs once for each item of a list, a few items at a time. */
import type { RunError } from "../../../schemas/run.ts";
import type { StepRecord, StepRef } from "../../core/model.ts";
import { CHUNK_ITEMS, type EngineWriters } from "../../core/run-ports.ts";
import type { StepState } from "../../core/step-states.ts";
import { newJob, newStepJob, type RunContext } from "./run-context.ts";
import type { RunUpdate } from "./run-update.ts";
import { saveResult, type StepTimes } from "./save-result.ts";
import { type EndedResult, isEnded, isWait, type StepResult } from "./step-result.ts";

/** Number of items that run at a time unless the step says otherwise. */
const DEFAULT_CONCURRENCY = 4;
/** Maximum total size of the items' outputs, in characters of JSON. */
const MAX_OUTPUT_CHARS = 16 * 1024 * 1024;

/** Saves the list of a fan-out, and starts its first items. @returns the state of the step */
export async function recordFanOut(
  { tx, run, compiled, seq }: RunUpdate,
  ref: StepRef,
  items: readonly unknown[],
  { startedAt, finishedAt }: StepTimes,
): Promise<StepState> {
  const position = compiled.position.get(ref.stepId)!;
  for (let chunk = 0; chunk * CHUNK_ITEMS < items.length; chunk += 1) {
    const part = items.slice(chunk * CHUNK_ITEMS, (chunk + 1) * CHUNK_ITEMS);
    await tx.runs.saveChunk(ref, chunk, part);
  }
  const { concurrency = DEFAULT_CONCURRENCY } = compiled.definition.steps[position]!;
  const started = Math.min(items.length, concurrency);
  for (let item = 0; item < started; item += 1) {
    await tx.jobs.add(newStepJob(compiled, { ...ref, item }, run));
  }
  const empty = items.length === 0;
  const state = empty ? "succeeded" : "running";
  await tx.runs.saveStep(ref, {
    seq,
    state,
    startedAt,
    ...(empty && { finishedAt }),
    items: { total: items.length, started, done: 0, failed: 0, bytes: 0 },
  });
  return state;
}

/**
 * Saves the result of one item or iteration, and starts what follows or ends the step.
 * @returns the state of the step that the item belongs to
 */
export async function recordItemOutcome(
  context: RunContext,
  update: RunUpdate,
  ref: StepRef & { item: number },
  result: StepResult,
  times: StepTimes,
): Promise<StepState> {
  if (!isEnded(result) && !isWait(result)) throw new Error(`the result of an item can't be ${result.kind}`);
  const { tx, run, compiled, seq } = update;
  const step: StepRef = { ...ref, item: null };
  const position = compiled.position.get(ref.stepId)!;
  const definition = compiled.definition.steps[position]!;
  const itemState = await saveResult(context, update, ref, result, times);
  const items = (await tx.runs.step(step))!.items!;
  if (isWait(result)) {
    const state = itemState === "running" || (await hasActiveItems(tx, ref)) ? "running" : "waiting";
    await tx.runs.saveStep(step, { seq, state, waitUntil: null });
    return state;
  }
  items.done += 1;
  if (itemState === "failed" || itemState === "failed_continued") items.failed += 1;
  if (result.kind === "succeeded") items.bytes += result.output.text.length;
  const previous = update.states.at(position);
  const stopping = run.stop !== null || update.states.anyFailed();
  const failure = stopping ? undefined : failureOf(ref, result, itemState, items);
  const fields: Partial<StepRecord> & { state: StepState } = { state: "running" };
  if (failure !== undefined) {
    Object.assign(fields, { state: "failed", finishedAt: times.finishedAt, error: failure });
  } else if (definition.repeat !== undefined) {
    const ended = afterIteration(ref, result, itemState, { stopping });
    if (ended === undefined) await tx.jobs.add(newJob(step, "step", run.priority));
    else Object.assign(fields, { ...ended, finishedAt: times.finishedAt });
  } else if (items.done === items.total) {
    const continues = definition.on_error === "continue";
    // A fan-out that has failed already keeps its error.
    const allFailed = continues && previous !== "failed" && items.failed === items.total;
    // An item that failed while the run was already ending still makes the step a failed one.
    const failed = items.failed > 0 && !continues;
    const state = itemState === "cancelled" ? "cancelled" : "succeeded";
    fields.state = failed ? "failed" : allFailed ? "failed_continued" : state;
    fields.finishedAt = times.finishedAt;
    if (failed && result.kind === "failed") fields.error = { ...result.error, item: ref.item };
    if (allFailed) fields.error = await allItemsFailed(tx, step, items.total);
  } else if (!stopping && items.started < items.total) {
    await tx.jobs.add(newStepJob(compiled, { ...ref, item: items.started }, run));
    items.started += 1;
  }
  // Items that end after it, and succeed, don't make up for it.
  if (fields.state === "running" && itemState === "cancelled") fields.state = "cancelled";
  if (fields.state === "running" && !(await hasActiveItems(tx, ref))) fields.state = "waiting";
  // A fan-out that has failed stays failed while its other active items end, and one with a cancelled item does not succeed.
  if (previous === "failed" || (previous === "cancelled" && fields.state !== "failed"))
    fields.state = previous;
  await tx.runs.saveStep(step, { ...fields, seq, items });
  return fields.state;
}

/** How a loop ends with its iteration; undefined when its condition is to be evaluated. */
function afterIteration(
  { item }: StepRef,
  result: EndedResult,
  state: StepState,
  { stopping }: { stopping: boolean },
): { state: StepState; error?: RunError } | undefined {
  // An iteration that failed while the run was already ending still makes the step a failed one.
  if (state === "failed" && result.kind === "failed") {
    return { state, error: { ...result.error, ...(item !== null && { item }) } };
  }
  return stopping || state === "cancelled" ? { state: "cancelled" } : undefined;
}

/** The error that the fan-out ends with because of this item, if any. */
function failureOf(
  { stepId, item }: StepRef & { item: number },
  result: StepResult,
  itemState: StepState,
  { bytes }: { bytes: number },
): RunError | undefined {
  if (bytes > MAX_OUTPUT_CHARS) {
    return {
      code: "output_too_large",
      message:
        `The outputs of the items of "${stepId}" have ${bytes} characters of JSON; ` +
        `at most ${MAX_OUTPUT_CHARS} are allowed.`,
      fix: "Return less per item, or process fewer items.",
      step_id: stepId,
    };
  }
  return itemState === "failed" && result.kind === "failed" ? { ...result.error, item } : undefined;
}

/** The error of a fan-out in which every item failed, so that it does not look like one that succeeded. */
async function allItemsFailed(tx: EngineWriters, step: StepRef, total: number): Promise<RunError> {
  const first = (await tx.runs.step({ ...step, item: 0 }))?.error;
  const items = total === 1 ? "The only item" : `All ${total} items`;
  return {
    code: "all_items_failed",
    message: `${items} of "${step.stepId}" failed${first ? `, the first one with: ${first.message}` : "."}`,
    fix: first?.fix ?? `Read the error of each item in steps.${step.stepId}.items.`,
    step_id: step.stepId,
    ...(first && { details: { first_error: first } }),
  };
}

/** Whether items have a job or an active child run; without any, only waits and approvals are left. */
const hasActiveItems = async (tx: EngineWriters, { runId, stepId }: StepRef): Promise<boolean> =>
  (await tx.jobs.hasJobForStep(runId, stepId)) ||
  (await tx.runs.children(runId)).some(({ ref }) => ref.stepId === stepId);

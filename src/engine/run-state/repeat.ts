/**
 * Repeated steps: a step runs again until its condition is true, one iteration at a time. Iterations are recorded like the
 * items of a fan-out. Between two of them the step has a job of its own, whose handler evaluates the condition.
 */
import type { StepRef } from "../../core/model.ts";
import type { StepState } from "../../core/step-states.ts";
import { newStepJob } from "./run-context.ts";
import type { RunUpdate } from "./run-update.ts";
import { type StepTimes, endStateOf } from "./save-result.ts";
import type { EndedResult, RepeatResult } from "./step-result.ts";

/** Saves the variables of an iteration, and adds its job. @returns the state of the step */
export async function startIteration(
  { tx, run, compiled, seq }: RunUpdate,
  ref: StepRef,
  { index, loop, dueAt }: Extract<RepeatResult, { kind: "iteration" }>,
  { startedAt }: StepTimes,
): Promise<StepState> {
  await tx.runs.saveChunk(ref, index, [loop]);
  await tx.jobs.add(newStepJob(compiled, { ...ref, item: index }, run, { dueAt }));
  const before = index === 0 ? null : (await tx.runs.step(ref))!.items;
  const items = before ?? { total: 0, started: 0, done: 0, failed: 0, bytes: 0 };
  const state = dueAt === null ? "running" : "waiting";
  await tx.runs.saveStep(ref, {
    seq,
    state,
    ...(index === 0 && { startedAt }),
    waitUntil: dueAt,
    // Nobody knows how many follow: the total counts those that have started.
    items: { ...items, total: index + 1, started: index + 1 },
  });
  return state;
}

/** Ends a loop. Its output is that of its iterations. @returns the state of the step */
export async function endRepeat(
  { tx, compiled, seq }: RunUpdate,
  ref: StepRef,
  result: EndedResult | { kind: "repeated" },
  { finishedAt }: StepTimes,
): Promise<StepState> {
  const step = compiled.definition.steps[compiled.position.get(ref.stepId)!]!;
  const state = result.kind === "repeated" ? "succeeded" : endStateOf(result, step);
  const error = result.kind === "failed" ? result.error : null;
  await tx.runs.saveStep(ref, { seq, state, finishedAt, ...(error !== null && { error }) });
  return state;
}

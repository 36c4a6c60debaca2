/** Saves the result of one step, or of one item, in its record; a wait with its rows and jobs. */
import type { StepDefinition } from "../../../schemas/workflow-definition.ts";
import type { StepRef } from "../../core/model.ts";
import type { StepState } from "../../core/step-states.ts";
import type { RunContext } from "./run-context.ts";
import type { RunUpdate } from "./run-update.ts";
import { type EndedResult, isWait, type Wait } from "./step-result.ts";
import { beginWait } from "./waits/index.ts";

export interface StepTimes {
  startedAt: string;
  finishedAt: string;
  attempts: number;
}

/** @returns the state that the step, or item, is in now */
export async function saveResult(
  context: RunContext,
  update: RunUpdate,
  ref: StepRef,
  result: EndedResult | Wait,
  { startedAt, finishedAt, attempts }: StepTimes,
): Promise<StepState> {
  const { tx, compiled, seq } = update;
  if (isWait(result)) {
    const { state, ...waitFields } = await beginWait({ context, update, ref, attempt: attempts }, result);
    await tx.runs.saveStep(ref, {
      seq,
      startedAt,
      attempts,
      state,
      ...waitFields,
      inputHash: result.inputHash,
    });
    return state;
  }
  const state = endStateOf(result, compiled.definition.steps[compiled.position.get(ref.stepId)!]!);
  await tx.runs.saveStep(ref, {
    seq,
    startedAt,
    attempts,
    finishedAt,
    state,
    ...(result.kind === "failed" && { error: result.error }),
    ...(result.kind === "succeeded" && {
      output: result.output,
      inputHash: result.inputHash,
      ...(result.reusedFrom !== undefined && { reusedFrom: result.reusedFrom }),
    }),
  });
  if (result.kind === "succeeded" && result.cache !== undefined) {
    await tx.runs.saveCachedOutput(result.cache.key, result.cache.expiresAt, result.output);
  }
  return state;
}

/** The state that a step ends in. One whose child run a person cancelled fails its run, whatever its `on_error` says. */
export const endStateOf = (
  result: EndedResult,
  { on_error: onError }: Pick<StepDefinition, "on_error">,
): StepState =>
  result.kind === "failed" && onError === "continue" && result.error.code !== "child_cancelled"
    ? "failed_continued"
    : result.kind;

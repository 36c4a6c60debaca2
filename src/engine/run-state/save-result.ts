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

/** Errors that fail the run whatever the `on_error` of the step says. */
const FATAL: ReadonlySet<string> = new Set(["child_cancelled", "not_given", "run_too_large"]);

/** The state that a step ends in. */
export const endStateOf = (
  result: EndedResult,
  { on_error: onError }: Pick<StepDefinition, "on_error">,
): StepState =>
  result.kind === "failed" && onError === "continue" && !FATAL.has(result.error.code)
    ? "failed_continued"
    : result.kind;

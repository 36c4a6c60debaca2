/** Converts a thrown value to the error that a run records: its place, its message and its fix. */
import type { RunError } from "../../../schemas/run.ts";
import type { StepRef } from "../../core/model.ts";
import { StepError } from "../../core/step-errors.ts";

/** Maximum length of a recorded message, in characters. */
const MAX_MESSAGE_CHARS = 2_000;

/** Anything but a `StepError` is a bug, of ours or of a library; its message may still help. */
export function toRunError(thrown: unknown, { stepId, item }: Pick<StepRef, "stepId" | "item">): RunError {
  const error =
    thrown instanceof StepError
      ? thrown
      : new StepError(
          "step_failed",
          `Unexpected error: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
        );
  const { fix, details } = error.options;
  return {
    code: error.code,
    message: error.message.slice(0, MAX_MESSAGE_CHARS),
    ...(fix !== undefined && { fix }),
    ...(stepId !== "" && { step_id: stepId }),
    ...(item !== null && { item }),
    ...(details !== undefined && { details: { ...details } }),
  };
}

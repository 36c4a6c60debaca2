/** From whatever was thrown to what a run records: where, what, and what to do. */
import type { RunError } from "../../../schemas/run.ts";
import type { StepRef } from "../../core/run-ports.ts";
import { StepError } from "../../core/step-errors.ts";

const MAX_MESSAGE = 2_000;

/** The error of a unit. What is not a StepError is a bug of ours or of a library: its words may still help. */
export function toRunError(thrown: unknown, { stepId, item }: Pick<StepRef, "stepId" | "item">): RunError {
  const known =
    thrown instanceof StepError
      ? thrown
      : new StepError(
          "step_failed",
          `It failed unexpectedly: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
        );
  const { fix, details } = known.options;
  return {
    code: known.code,
    message: known.message.slice(0, MAX_MESSAGE),
    ...(fix !== undefined && { fix }),
    ...(stepId !== "" && { step_id: stepId }),
    ...(item !== null && { item }),
    ...(details !== undefined && { details: { ...details } }),
  };
}

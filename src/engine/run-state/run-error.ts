/** Converts a thrown value to the error that a run records: its place, its message and its fix. */
import type { RunError } from "../../../schemas/run.ts";
import type { StepRef } from "../../core/model.ts";
import { StepError, type StepErrorCode } from "../../core/step-errors.ts";
import { shortenText } from "../../core/shorten-text.ts";
import type { PlannedStep } from "../definition/plan.ts";

/** Maximum length of a recorded message, in characters. */
const MAX_MESSAGE_CHARS = 2_000;

/** What other systems report of themselves, so that another attempt may find them in another state. */
const OF_OTHER_SYSTEMS: ReadonlySet<StepErrorCode> = new Set([
  "http_failed",
  "http_status",
  "model_failed",
  "model_rate_limited",
]);

/**
 * Anything but a `StepError` is a bug, of ours or of a library; its message may still help.
 * @param retry the `retry` of the step; left out where no step failed
 */
export function toRunError(
  thrown: unknown,
  { stepId, item }: Pick<StepRef, "stepId" | "item">,
  retry?: PlannedStep["retry"],
): RunError {
  const error =
    thrown instanceof StepError
      ? thrown
      : new StepError(
          "step_failed",
          `Unexpected error: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
        );
  const { details } = error.options;
  const hint = retry === undefined ? undefined : retryHint(error, retry);
  const fix = [error.options.fix, hint].filter((part) => part !== undefined).join(" ");
  return {
    code: error.code,
    message: shortenText(error.message, MAX_MESSAGE_CHARS),
    ...(fix !== "" && { fix }),
    ...(stepId !== "" && { step_id: stepId }),
    ...(item !== null && { item }),
    ...(details !== undefined && { details: { ...details } }),
  };
}

/** What the step's `retry` should be for this error; undefined if it is so already. */
function retryHint({ code, transient }: StepError, retry: PlannedStep["retry"]): string | undefined {
  if (!transient || !OF_OTHER_SYSTEMS.has(code)) return undefined;
  if (retry === null) return "Add retry to the step.";
  return retry.on === undefined || retry.on.includes(code)
    ? `The step had ${retry.attempts} attempts: raise retry.attempts or retry.initial if that is too soon.`
    : `Add ${code} to retry.on of the step.`;
}

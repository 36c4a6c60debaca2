/** Limits the bytes that a run stores: its inputs, and the inputs and outputs of its steps, items and attempts. */
import type { RunRecord } from "../../core/model.ts";
import { StepError } from "../../core/step-errors.ts";
import type { StepRef } from "../../core/model.ts";
import type { RunContext } from "./run-context.ts";
import { toRunError } from "./run-error.ts";
import type { StepResult } from "./step-result.ts";

/** Results after which a run stores more. */
const GROWING: ReadonlySet<StepResult["kind"]> = new Set(["succeeded", "failed", "fan_out", "iteration"]);

/**
 * Refuses a result with which the run would store more than it may: its step fails, and the run with it, also with
 * `on_error: continue`. What the active steps have stored by then can exceed the limit.
 * @param run as it is now, with everything that this transaction has stored for it
 */
export function limitRunBytes(
  { maxRunBytes }: Pick<RunContext, "maxRunBytes">,
  run: Pick<RunRecord, "storedBytes">,
  ref: StepRef,
  result: StepResult,
): StepResult {
  const output = result.kind === "succeeded" ? Buffer.byteLength(result.output.text) : 0;
  const total = run.storedBytes + output;
  if (total <= maxRunBytes || !GROWING.has(result.kind)) return result;
  const error = new StepError(
    "run_too_large",
    `With "${ref.stepId}" the run stores ${total} bytes of inputs and outputs; at most ${maxRunBytes} are allowed ` +
      "(limits.run_bytes).",
    {
      fix: "Return less from its steps, or process the data in several runs. The operator can allow more.",
    },
  );
  return { kind: "failed", error: toRunError(error, ref) };
}

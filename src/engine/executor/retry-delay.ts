import { durationMs } from "../../core/duration.ts";
import type { Job } from "../../core/model.ts";
import { StepError } from "../../core/step-errors.ts";
import type { PlannedStep } from "../definition/plan.ts";

/**
 * Computes the pause before the next attempt of a failed step. It is constant or doubles with each retry, as the step's
 * `backoff` says. Jitter shortens it by up to half. It is never shorter than the vendor's `Retry-After`.
 * @returns milliseconds; undefined when the step is not retried
 */
export function retryDelay(
  { step: { retry } }: PlannedStep,
  { retryCount }: Pick<Job, "retryCount">,
  thrown: unknown,
): number | undefined {
  if (retry === undefined || retryCount + 1 >= retry.attempts || !(thrown instanceof StepError)) {
    return undefined;
  }
  // A person has decided that the child run must not continue.
  if (thrown.code === "child_cancelled") return undefined;
  const retryable = retry.on === undefined ? thrown.transient : retry.on.includes(thrown.code);
  if (!retryable) return undefined;
  const initial = durationMs(retry.initial);
  const backoff = retry.backoff === "exponential" ? initial * 2 ** retryCount : initial;
  const pause = Math.min(backoff, durationMs(retry.max)) * (0.5 + Math.random() / 2);
  return Math.max(pause, thrown.options.retryAfterMs ?? 0);
}

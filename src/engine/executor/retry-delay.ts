import type { Job } from "../../core/model.ts";
import { StepError, type StepErrorCode } from "../../core/step-errors.ts";
import type { PlannedStep } from "../definition/plan.ts";

/**
 * Errors that no `retry` repeats. A person has decided that the child run must not continue. What a trial is not given, another attempt
 * is not given either. An effect that was left open in a child run would happen again in another one, with another key.
 */
const FINAL: ReadonlySet<StepErrorCode> = new Set(["child_cancelled", "interrupted", "not_given"]);

/**
 * Computes the pause before the next attempt of a failed step. It is constant or doubles with each retry, as the step's
 * `backoff` says. Jitter shortens it by up to half. It is never shorter than the vendor's `Retry-After`.
 * @returns milliseconds; undefined when the step is not retried
 */
export function retryDelay(
  { retry }: Pick<PlannedStep, "retry">,
  { retryCount }: Pick<Job, "retryCount">,
  thrown: unknown,
): number | undefined {
  if (retry === null || retryCount + 1 >= retry.attempts || !(thrown instanceof StepError)) {
    return undefined;
  }
  if (FINAL.has(thrown.code)) return undefined;
  const retryable = retry.on === undefined ? thrown.transient : retry.on.includes(thrown.code);
  if (!retryable) return undefined;
  const backoff = retry.backoff === "exponential" ? retry.initialMs * 2 ** retryCount : retry.initialMs;
  const pause = Math.min(backoff, retry.maxMs) * (0.5 + Math.random() / 2);
  return Math.max(pause, thrown.options.retryAfterMs ?? 0);
}

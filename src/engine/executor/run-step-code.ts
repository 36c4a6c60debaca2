/** Runs the code of a step type until it ends, its time is over, or it is aborted. */
import { SECOND } from "../../core/clock.ts";
import type { Connections } from "../../core/connections.ts";
import { StepError } from "../../core/step-errors.ts";
import { usageSubjectOf } from "../../core/usage-limits.ts";
import type { StepOutcome } from "../../core/step-type.ts";
import { isWaitingStepType } from "../../../schemas/waiting-step-types.ts";
import type { JobContext } from "../../queue/types.ts";
import type { RunContext } from "../run-state/run-context.ts";
import { type Attempt, idempotencyKeyOf } from "./attempt.ts";

/** Longest delay of a timer, 24 days in milliseconds. A longer timeout ends there. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** Grace period before an unresponsive step is abandoned, in milliseconds. */
const UNRESPONSIVE_MS = 2 * SECOND;

/** @throws the value that the code throws; when it was aborted, the reason of the abort */
export async function runStepCode(
  attempt: Attempt,
  { context, connections }: { context: RunContext; connections: Connections },
  jobContext: JobContext,
): Promise<StepOutcome> {
  const { run, job, planned, input, facts } = attempt;
  const timeout = startTimeout(attempt);
  const signal = AbortSignal.any([jobContext.signal, timeout.signal]);
  const abandoned = rejectAfterGrace(signal);
  try {
    const running = planned.type.run(input as never, {
      connections,
      owner: usageSubjectOf(run.actor),
      signal,
      step: planned.step,
      idempotencyKey: idempotencyKeyOf(attempt),
      now: () => context.clock.now(),
      facts,
      trace: context.spans.propagationHeaders(run, job, job.attempt),
    });
    return await Promise.race([running, abandoned]);
  } catch (thrown) {
    // After an abort, the error of the code says less than the reason of the abort.
    throw signal.aborted ? signal.reason : thrown;
  } finally {
    timeout.clear();
    abandoned.catch(() => {});
  }
}

/** Starts the timer of an attempt. A step that waits has none: its timeout is a job. */
function startTimeout({ planned: { step, type, timeoutMs } }: Attempt): {
  signal: AbortSignal;
  clear(): void;
} {
  const controller = new AbortController();
  const limit = type.timeoutMs === null && step.timeout === undefined ? null : timeoutMs;
  if (limit === null || isWaitingStepType(type.type)) return { signal: controller.signal, clear: () => {} };
  const timer = setTimeout(
    () => controller.abort(timeoutError(step.id, limit)),
    Math.min(limit, MAX_TIMER_MS),
  );
  return { signal: controller.signal, clear: () => clearTimeout(timer) };
}

/** Rejects with the reason of an abort once the grace period is over. */
const rejectAfterGrace = (signal: AbortSignal): Promise<never> =>
  new Promise<never>((_, reject) => {
    const startGrace = (): void => {
      setTimeout(() => reject(signal.reason as Error), UNRESPONSIVE_MS).unref();
    };
    if (signal.aborted) startGrace();
    else signal.addEventListener("abort", startGrace, { once: true });
  });

const timeoutError = (stepId: string, limit: number): StepError =>
  new StepError("timeout", `"${stepId}" took longer than ${limit / SECOND} s and was stopped.`, {
    fix: "Set a longer timeout, or give the step less to do.",
  });

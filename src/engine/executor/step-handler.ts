/** Handles the jobs of kind `step`: one attempt of a step, or of an item of its fan-out. */
import type { RunError } from "../../../schemas/run.ts";
import { iso } from "../../core/clock.ts";
import { type AttemptOutcome, secondsSince } from "../../core/meter.ts";
import type { RunRecord } from "../../core/model.ts";
import type { EngineWriters } from "../../core/run-ports.ts";
import { StepError } from "../../core/step-errors.ts";
import type { JobContext, JobHandler, JobResult } from "../../queue/types.ts";
import type { Plan } from "../definition/plan.ts";
import { endIfStopping } from "../run-state/advance-run.ts";
import { childRefused, LimitRefusal, refusalFor } from "../run-state/limit-refusal.ts";
import { openInterruption } from "../run-state/interruptions.ts";
import { recordOutcome, type StepsAhead } from "../run-state/record-outcome.ts";
import { toRunError } from "../run-state/run-error.ts";
import { isEnding } from "../run-state/run-update.ts";
import { isWait, type StepResult } from "../run-state/step-result.ts";
import type { Attempt } from "./attempt.ts";
import { executeAttempt } from "./execute-attempt.ts";
import { heldUntil } from "./held-mail.ts";
import { adopt, attemptsOf, interruptionOf, LookupFailure, saveFound } from "./interrupted-effect.ts";
import { withoutChange } from "./job-results.ts";
import { assertNotPoisoned } from "./poisoned-job.ts";
import { attemptOutcome, reportAttempt } from "./report-attempt.ts";
import { retryDelay } from "./retry-delay.ts";
import { runsAgain } from "./runs-again.ts";
import { saveAttempt, saveHeldAttempt } from "./save-attempt.ts";
import { type AheadOptions, evaluateAhead, type SavedAttempt } from "./steps-ahead.ts";

export interface StepHandlerOptions extends Omit<AheadOptions, "savingAttempt"> {
  planOf(run: RunRecord): Promise<Plan>;
}

export function stepHandler(options: StepHandlerOptions): JobHandler {
  const { context, runs, usageLimits } = options;

  return async (job, jobContext) => {
    const run = await runs.find(job.runId);
    if (run === undefined || run.finishedAt !== null) return withoutChange();
    const plan = await options.planOf(run);
    const planned = plan.steps[plan.compiled.position.get(job.stepId)!]!;
    const attempt: Attempt = { run, job, planned, startedAt: iso(context.clock.now()) };
    try {
      if (isEnding(run)) throw new StepError("cancelled", "The run is ending.");
      assertNotPoisoned(job, job.stepId);
      const result = await executeAttempt(options, plan, attempt, jobContext);
      if (result.kind === "child")
        return { kind: "deferred", decide: (tx) => startChild(tx, attempt, jobContext, result) };
      const saveAttemptLater = savingAttempt(attempt, jobContext, result);
      const ahead = await evaluateAhead({ ...options, savingAttempt }, plan, attempt, result, jobContext);
      return resultOf(attempt, result, saveAttemptLater, ahead);
    } catch (thrown) {
      if (runsAgain(thrown, job)) throw thrown;
      return failureOf(attempt, jobContext, thrown);
    }
  };

  /** Counts the run that the step starts. Where it may not start, the step fails or is retried. */
  async function startChild(
    tx: EngineWriters,
    attempt: Attempt,
    jobContext: JobContext,
    result: Extract<StepResult, { kind: "child" }>,
  ): Promise<JobResult> {
    let takeBack: () => Promise<void>;
    try {
      takeBack = await context.startLimits.count(tx, result.run);
    } catch (error) {
      if (!(error instanceof LimitRefusal)) throw error;
      return failureOf(attempt, jobContext, childRefused(refusalFor(attempt.run, result.run, error)));
    }
    const { change, ...rest } = resultOf(attempt, result, savingAttempt(attempt, jobContext, result));
    return {
      ...rest,
      // Limits are locked before runs, so the start was counted before it is known whether the parent is ending.
      async change(changing) {
        const progress = await change(changing);
        if (!progress.isRecorded) await takeBack();
        return progress;
      },
    };
  }

  function resultOf(
    attempt: Attempt,
    result: StepResult,
    { finishedAt, save }: SavedAttempt,
    ahead?: StepsAhead,
  ) {
    const { job, startedAt } = attempt;
    return {
      kind: "complete" as const,
      size: sizeOf(result) + (ahead?.steps ?? []).reduce((sum, step) => sum + sizeOf(step.result), 0),
      async change(tx: EngineWriters) {
        if (attempt.codeStartedAt === undefined) await tx.jobs.returnRateSlots(job);
        await save(tx);
        const times = { startedAt, finishedAt, attempts: job.attempt };
        return recordOutcome(context, tx, job, result, times, ahead);
      },
    };
  }

  /**
   * An attempt that ends now, and how to save it: first of all, because if the run ends with its result, it cancels the attempts
   * that are still open.
   */
  function savingAttempt(attempt: Attempt, jobContext: JobContext, result: StepResult): SavedAttempt {
    const finishedAt = iso(context.clock.now());
    const error = result.kind === "failed" ? result.error : null;
    const report = reporter(attempt, jobContext, attemptOutcome(result), error);
    return {
      finishedAt,
      async save(tx) {
        report(tx);
        if (attempt.input === undefined) return;
        await saveFound(tx, attempt);
        await adopt(tx, attempt);
        await recordUsage(tx, attempt);
        // It has asked a person, and done nothing: the next attempt has its number.
        if (result.kind === "interruption") return;
        const end = { usage: attempt.usage ?? null, error };
        // The attempt of a wait stays open without an executor. The job that ends the wait ends it.
        await (isWait(result)
          ? saveAttempt(context, tx, attempt, { executor: null }, { ...end, status: "running" }, null)
          : saveAttempt(
              context,
              tx,
              attempt,
              jobContext,
              { ...end, status: attemptStatus(result) },
              finishedAt,
            ));
      },
    };
  }

  function failureOf(attempt: Attempt, jobContext: JobContext, thrown: unknown): JobResult {
    const { run, job, planned, startedAt } = attempt;
    const error = attemptError(attempt, jobContext, thrown);
    if (thrown instanceof StepError) attempt.usage ??= thrown.options.usage;
    if (thrown instanceof LookupFailure) attempt.found = thrown.found;
    const finishedAt = iso(context.clock.now());
    const status =
      error.code === "cancelled" ? "cancelled" : error.code === "interrupted" ? "interrupted" : "failed";
    const interruption = interruptionOf(attempt, status, thrown);
    const until = status === "failed" ? heldUntil(thrown) : undefined;
    const report = reporter(attempt, jobContext, status, error);
    const record = async (tx: EngineWriters): Promise<void> => {
      report(tx);
      if (attempt.codeStartedAt === undefined) await tx.jobs.returnRateSlots(job);
      await saveFound(tx, attempt);
      if (interruption !== undefined)
        await openInterruption(context, tx, run, {
          ...interruption,
          ref: job,
          attempt: job.attempt,
          at: finishedAt,
        });
      await recordUsage(tx, attempt);
      const end = { status, usage: attempt.usage ?? null, error } as const;
      await (until === undefined
        ? saveAttempt(context, tx, attempt, jobContext, end, finishedAt)
        : saveHeldAttempt(tx, attempt, jobContext.executor, error, finishedAt));
    };
    const retry = (dueAt: string | null, retryCount: number, next = job.attempt + 1): JobResult => ({
      kind: "retry",
      dueAt,
      attempt: next,
      retryCount,
      async change(tx) {
        await record(tx);
        await endIfStopping(context, tx, job.runId);
      },
    });
    // An interruption does not count as one of the step's retries.
    if (status === "interrupted") return retry(null, job.retryCount);
    // Nor does a mail that waits for the limit of its owner.
    if (until !== undefined) return retry(iso(until), job.retryCount, job.attempt);
    // In a backtest only what really ran can succeed the next time.
    const mayRepeat = status === "failed" && (run.replay === null || attempt.codeStartedAt !== undefined);
    const delay = mayRepeat ? retryDelay(planned, job, thrown) : undefined;
    const next = delay === undefined ? null : iso(context.clock.now() + delay);
    // Another attempt asks the lookup or a person, or fails. Without a retry that is left it sends nothing.
    if (interruption !== undefined && status === "failed") {
      if (planned.lookup !== null)
        return retry(next, next === null ? attemptsOf(planned) : job.retryCount + 1);
      if (attempt.onInterrupted !== "retry") return retry(null, job.retryCount + 1);
    }
    if (next !== null) return retry(next, job.retryCount + 1);
    const result: StepResult = status === "cancelled" ? { kind: "cancelled" } : { kind: "failed", error };
    return {
      kind: "complete",
      async change(tx) {
        await record(tx);
        await recordOutcome(context, tx, job, result, { startedAt, finishedAt, attempts: job.attempt });
      },
    };
  }

  /** @returns a function that reports the end of the attempt once its transaction has committed */
  function reporter(
    { run, job, planned, codeStartedAt }: Attempt,
    { executor }: JobContext,
    outcome: AttemptOutcome,
    error: RunError | null = null,
  ): (tx: EngineWriters) => void {
    const hasRun = codeStartedAt !== undefined && (outcome === "succeeded" || outcome === "failed");
    const seconds = hasRun ? secondsSince(codeStartedAt) : undefined;
    const { type } = planned.type;
    return (tx) => reportAttempt(context, tx, { run, job, type, executor, outcome, error, seconds });
  }

  function recordUsage(tx: EngineWriters, { run, usage, rows }: Attempt): Promise<void> {
    return usageLimits.recordUsage(tx, run, {
      ...(usage !== undefined && { model_tokens: usage.input_tokens + usage.output_tokens }),
      ...(rows !== undefined && { rows }),
    });
  }
}

/** The status of an attempt whose step has ended. The result of a recorded step may be its failure. */
const attemptStatus = ({ kind }: StepResult): "succeeded" | "failed" | "cancelled" =>
  kind === "failed" || kind === "cancelled" ? kind : "succeeded";

const sizeOf = (result: StepResult): number => (result.kind === "succeeded" ? result.output.text.length : 0);

/**
 * The error of a failed attempt. A step's code may throw any code; `cancelled` and `interrupted` count only when the
 * attempt really was aborted, or was refused its start.
 */
function attemptError(
  { run, job, planned, startRecorded }: Attempt,
  { signal }: JobContext,
  thrown: unknown,
): RunError {
  const error = toRunError(thrown, job, planned.retry);
  const aborted = startRecorded === false || signal.aborted || isEnding(run);
  return !aborted && ["cancelled", "interrupted"].includes(error.code)
    ? { ...error, code: "step_failed" }
    : error;
}

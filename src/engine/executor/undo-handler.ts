/** Handles the jobs of kind `undo`: one attempt to undo a step, or an item of its fan-out. */
import { canonicalJson } from "../../core/canonical-json.ts";
import { iso } from "../../core/clock.ts";
import { encodeJson, type EncodedJson } from "../../core/encoded-json.ts";
import { type AttemptOutcome, secondsSince } from "../../core/meter.ts";
import type { StepRef } from "../../core/model.ts";
import type { EngineWriters } from "../../core/run-ports.ts";
import { shortHash } from "../../core/short-hash.ts";
import { StepError } from "../../core/step-errors.ts";
import { undoneStepId } from "../../core/undo-step-id.ts";
import { usageSubjectOf } from "../../core/usage-limits.ts";
import type { JobContext, JobHandler, JobResult } from "../../queue/types.ts";
import { parseInput } from "../definition/parse-input.ts";
import { type Plan, resolveFields } from "../definition/plan.ts";
import { toRunError } from "../run-state/run-error.ts";
import { openInterruption } from "../run-state/interruptions.ts";
import { recordUndo, recordUndoStart } from "../run-state/undo.ts";
import type { Attempt } from "./attempt.ts";
import { firstRunWithEffect } from "./first-run-with-effect.ts";
import { countStepMails, heldUntil } from "./held-mail.ts";
import { canBeInterrupted, interruptionOf, prepareForInterruption } from "./interrupted-effect.ts";
import { withoutChange } from "./job-results.ts";
import { assertNotPoisoned } from "./poisoned-job.ts";
import { reportAttempt } from "./report-attempt.ts";
import { retryDelay } from "./retry-delay.ts";
import { runStepCode } from "./run-step-code.ts";
import { secretUseRecorder } from "./secret-uses.ts";
import { runsAgain } from "./runs-again.ts";
import { saveAttempt, saveHeldAttempt } from "./save-attempt.ts";
import type { StepHandlerOptions } from "./step-handler.ts";
import { encodeOutput } from "./step-values.ts";

export function undoHandler(options: StepHandlerOptions): JobHandler {
  const { context, runs, scopes, usageLimits, evaluator } = options;

  return async (job, jobContext) => {
    const run = await runs.find(job.runId);
    if (run === undefined || run.finishedAt !== null) return withoutChange();
    const plan = await options.planOf(run);
    const planned = plan.undo.get(undoneStepId(job.stepId)!)!;
    const attempt: Attempt = { run, job, planned, startedAt: iso(context.clock.now()) };
    try {
      assertNotPoisoned(job, job.stepId);
      return succeeded(attempt, jobContext, await execute(plan, attempt, jobContext));
    } catch (thrown) {
      if (runsAgain(thrown, job)) throw thrown;
      return failed(attempt, jobContext, thrown);
    }
  };

  async function execute(plan: Plan, attempt: Attempt, jobContext: JobContext): Promise<EncodedJson> {
    const { run, job, planned, startedAt } = attempt;
    const undone: StepRef = { ...job, stepId: undoneStepId(job.stepId)! };
    const scope = await scopes.loadScope(plan, run, planned.fieldReads, undone);
    const { value: result } = await scopes.resultOf(plan, undone);
    const evaluate = evaluator.forJob(usageSubjectOf(run.actor), jobContext.signal);
    const fields = await resolveFields(planned, (field) => evaluate(field, { ...scope, result }));
    attempt.input = parseInput(planned, fields);
    attempt.inputJson = encodeJson(attempt.input);
    attempt.inputHash = shortHash(canonicalJson([planned.type.type, job.resource, attempt.input]));
    attempt.effectRunId = await firstRunWithEffect(runs, run, undone);
    const metered = planned.type.meteredResource?.(planned.step) ?? null;
    if (metered !== null) await usageLimits.assertRemaining(run, metered);
    attempt.startRecorded = false;
    const { connections } = await options.views.of(run.project);
    if (canBeInterrupted(planned)) prepareForInterruption(attempt, connections);
    const start = {
      attempt: job.attempt,
      executor: jobContext.executor,
      startedAt,
      input: attempt.inputJson,
      effectKey: attempt.effectKey,
    };
    const recordUses = await secretUseRecorder(context, connections, attempt);
    let held: StepError | undefined;
    await jobContext.record(async (tx) => {
      held = await countStepMails(tx, usageLimits, attempt);
      if (held !== undefined) return;
      attempt.startRecorded = await recordUndoStart(tx, job, start);
      if (attempt.startRecorded) await recordUses(tx);
    }, start.input.text.length);
    if (held !== undefined) {
      delete attempt.startRecorded;
      throw held;
    }
    if (!attempt.startRecorded) throw new StepError("interrupted", "Another executor has claimed the job.");
    attempt.codeStartedAt = performance.now();
    const outcome = await runStepCode(attempt, { context, connections }, jobContext);
    if (outcome.kind !== "done")
      throw new StepError("step_failed", "A step that waits can't undo another one.");
    attempt.usage = outcome.usage;
    attempt.rows = outcome.rows;
    return encodeOutput(job.stepId, outcome.output);
  }

  function succeeded(attempt: Attempt, jobContext: JobContext, output: EncodedJson): JobResult {
    return {
      kind: "complete",
      size: output.text.length,
      async change(tx) {
        const finishedAt = await save(tx, attempt, jobContext, "succeeded", null);
        const times = { startedAt: attempt.startedAt, finishedAt, attempts: attempt.job.attempt };
        await recordUndo(context, tx, attempt.job, { output }, times);
      },
    };
  }

  function failed(attempt: Attempt, jobContext: JobContext, thrown: unknown): JobResult {
    const { run, job, planned } = attempt;
    const error = toRunError(thrown, job, planned.retry);
    if (thrown instanceof StepError) attempt.usage ??= thrown.options.usage;
    // Only the end of the executor interrupts an undo: a cancellation does not.
    const status = jobContext.signal.aborted || attempt.startRecorded === false ? "interrupted" : "failed";
    const until = status === "failed" ? heldUntil(thrown) : undefined;
    const interruption = interruptionOf(attempt, status, thrown);
    const saveEnd = async (tx: EngineWriters, held = false): Promise<string> => {
      const finishedAt = await save(tx, attempt, jobContext, status, error, held);
      if (interruption !== undefined)
        await openInterruption(context, tx, run, {
          ...interruption,
          ref: job,
          attempt: job.attempt,
          at: finishedAt,
        });
      return finishedAt;
    };
    const retry = (dueAt: string | null, retryCount: number, next = job.attempt + 1): JobResult => ({
      kind: "retry",
      dueAt,
      attempt: next,
      retryCount,
      change: async (tx) => void (await saveEnd(tx, until !== undefined)),
    });
    if (status === "interrupted") return retry(null, job.retryCount);
    if (until !== undefined) return retry(iso(until), job.retryCount, job.attempt);
    const delay = retryDelay(planned, job, thrown);
    if (delay !== undefined) return retry(iso(context.clock.now() + delay), job.retryCount + 1);
    return {
      kind: "complete",
      async change(tx) {
        const finishedAt = await saveEnd(tx);
        const times = { startedAt: attempt.startedAt, finishedAt, attempts: job.attempt };
        await recordUndo(context, tx, job, { error }, times);
      },
    };
  }

  /** Saves the end of an attempt with its usage, and reports it. @returns when it ended */
  async function save(
    tx: EngineWriters,
    attempt: Attempt,
    { executor }: JobContext,
    outcome: Extract<AttemptOutcome, "succeeded" | "failed" | "interrupted">,
    error: ReturnType<typeof toRunError> | null,
    held = false,
  ): Promise<string> {
    const { run, job, planned, codeStartedAt, usage, rows } = attempt;
    const finishedAt = iso(context.clock.now());
    const seconds =
      codeStartedAt === undefined || outcome === "interrupted" ? undefined : secondsSince(codeStartedAt);
    const { type } = planned.type;
    reportAttempt(context, tx, { run, job, type, executor, outcome, error, seconds });
    await usageLimits.recordUsage(tx, run, {
      ...(usage !== undefined && { model_tokens: usage.input_tokens + usage.output_tokens }),
      ...(rows !== undefined && { rows }),
    });
    const end = { status: outcome, usage: usage ?? null, error };
    await (held
      ? saveHeldAttempt(tx, attempt, executor, error!, finishedAt)
      : saveAttempt(context, tx, attempt, { executor }, end, finishedAt));
    return finishedAt;
  }
}

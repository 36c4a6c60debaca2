/** Handles the jobs that belong to a run as a whole: its output, timeout, cancellation, `on_failure`, and mail to assignees. */
import type { Logger } from "pino";
import { visibleText } from "../../../schemas/hidden-characters.ts";
import type { RunError } from "../../../schemas/run.ts";
import { iso, SECOND } from "../../core/clock.ts";
import type { ConnectionViews } from "../../core/connection-views.ts";
import type { RemainingWork } from "../../core/engine-port.ts";
import { formatPlan } from "../../core/format-plan.ts";
import { isStorageUnavailable, toAppError } from "../../core/errors.ts";
import type { Job, RunRecord } from "../../core/model.ts";
import type { ApprovalReader } from "../../core/approval-ports.ts";
import type { RunReader } from "../../core/run-ports.ts";
import { usageSubjectOf } from "../../core/usage-limits.ts";
import type { JobHandler } from "../../queue/types.ts";
import type { Plan } from "../definition/plan.ts";
import { stopRun } from "../run-state/advance-run.ts";
import { type FinishResult, finishRun } from "../run-state/end-run.ts";
import { LimitRefusal, refusalFor } from "../run-state/limit-refusal.ts";
import type { PrepareRun } from "../run-state/prepare-run.ts";
import { lowPriority, type RunContext } from "../run-state/run-context.ts";
import { toRunError } from "../run-state/run-error.ts";
import { startRun } from "../run-state/start-run.ts";
import { evaluateAssertions, evaluateCommit, evaluateOutput } from "./evaluate-result.ts";
import type { Evaluate, Evaluator } from "./evaluator.ts";
import type { ExpressionScopes } from "./expression-scopes.ts";
import { withChange, withoutChange } from "./job-results.ts";
import { assertNotPoisoned } from "./poisoned-job.ts";
import { runsAgain } from "./runs-again.ts";

/** Maximum number of retries of a mail to assignees that was not sent. */
const MAX_MAIL_RETRIES = 2;
/** Pause before such a retry, in milliseconds. */
const MAIL_RETRY_MS = 30 * SECOND;

interface Options {
  context: RunContext;
  runs: RunReader;
  approvals: ApprovalReader;
  planOf(run: RunRecord): Promise<Plan>;
  scopes: ExpressionScopes;
  evaluator: Evaluator;
  prepareRun: PrepareRun;
  /** What can run after a step of a run, such as an approval. */
  remainingAfter(run: RunRecord, stepId: string): Promise<RemainingWork>;
  views: ConnectionViews;
  log: Logger;
}

/** Evaluates the output of a run whose steps have all ended, and ends the run. */
export function finishHandler({ context, runs, planOf, scopes, evaluator }: Options): JobHandler {
  return async (job) => {
    const run = await runs.find(job.runId);
    if (run === undefined || run.finishedAt !== null) return withoutChange();
    const result = await evaluateResult(run, job, evaluator.forJob(usageSubjectOf(run.actor)));
    return withChange((tx) => finishRun(context, tx, run.id, result));
  };

  async function evaluateResult(run: RunRecord, job: Job, evaluate: Evaluate): Promise<FinishResult> {
    const tools = { scopes, evaluate, validation: context.validation };
    const output = await evaluateField("output", job, async () =>
      evaluateOutput(run, await planOf(run), tools),
    );
    if ("error" in output) return output;
    const asserted = await evaluateField("assert", job, async () =>
      evaluateAssertions(run, await planOf(run), output.value, { ...tools, runs }),
    );
    if ("error" in asserted) return asserted;
    const commit = await evaluateField("commit", job, async () =>
      evaluateCommit(run, await planOf(run), tools),
    );
    return "error" in commit ? commit : { output: output.value, committed: commit.value };
  }

  async function evaluateField<T>(
    field: string,
    job: Job,
    work: () => Promise<T>,
  ): Promise<{ value: T } | { error: RunError }> {
    try {
      assertNotPoisoned(job, field);
      return { value: await work() };
    } catch (thrown) {
      if (runsAgain(thrown, job)) throw thrown;
      const error = toRunError(thrown, job);
      if (error.code === "poisoned") context.meter.jobPoisoned();
      return { error: { ...error, message: `${field}: ${error.message}` } };
    }
  }
}

/** Cancels a run because the run that started it has stopped. */
export function cancelHandler({ context }: Options): JobHandler {
  return async (job) =>
    withChange(async (tx) => {
      await stopRun(context, tx, job.runId, { status: "cancelled", by: "the run that started it" });
    });
}

/** Stops a run whose timeout is over. */
export function runTimeoutHandler({ context, runs, planOf }: Options): JobHandler {
  return async (job) => {
    const run = await runs.find(job.runId);
    if (run === undefined || run.finishedAt !== null) return withoutChange();
    const { timeoutMs } = (await planOf(run)).compiled;
    const error: RunError = {
      code: "run_timeout",
      message: `The run took longer than ${(timeoutMs ?? 0) / SECOND} s and was stopped.`,
      fix: "Set a longer timeout at the top of the definition.",
    };
    return withChange(async (tx) => {
      await stopRun(context, tx, job.runId, { status: "failed", error });
    });
  };
}

/** Starts the workflow that the definition of a failed run names in `on_failure`. */
export function onFailureHandler({ context, runs, planOf, prepareRun, log }: Options): JobHandler {
  return async (job) => {
    const run = await runs.find(job.runId);
    if (run === undefined) return withoutChange();
    const workflowId = (await planOf(run)).compiled.definition.on_failure!;
    const request: Parameters<PrepareRun>[0] = {
      workflowId,
      caller: null,
      inputs: { run_id: run.id, workflow_id: run.workflowId, error: run.error },
      ignoreUnknownInputs: true,
      actor: run.actor,
      trigger: "on_failure",
      depth: run.depth + 1,
      pins: run.pins,
      ...lowPriority(run),
      calledFrom: run.project,
      trace: context.spans.childTrace(run),
    };
    // Not retried, because the same definition would fail again. The failed run keeps its own error.
    const notStarted = (err: unknown): { runId: null; error: RunError } => {
      const error = handlerError(err);
      log.warn(
        { err, workflow_id: run.workflowId, run_id: run.id, on_failure: workflowId },
        "on_failure run not started",
      );
      return { runId: null, error };
    };
    const prepared = await prepareRun(request).catch((err: unknown) => {
      if (isStorageUnavailable(err)) throw err;
      return notStarted(err);
    });
    return withChange(async (tx) => {
      const started =
        "runId" in prepared
          ? prepared
          : await startRun(context, tx, prepared).then(
              () => ({ runId: prepared.id, error: null }),
              (err: unknown) => {
                if (!(err instanceof LimitRefusal)) throw err;
                return notStarted(refusalFor(run, prepared, err));
              },
            );
      const { seq } = (await tx.runs.lock(run.id))!;
      await tx.runs.update(run.id, { seq: seq + 1, onFailure: { workflowId, ...started } });
    });
  };
}

/** Why the run of `on_failure` can't start. Clients never see the messages of unexpected errors. */
function handlerError(thrown: unknown): RunError {
  const { code, message, details } = toAppError(thrown);
  return { code, message, ...(details.errors && { details: { errors: details.errors.slice(0, 20) } }) };
}

/** Mails the assignees of an approval. Without the mail they still find it in the list of approvals. */
export function notifyHandler({ context, runs, approvals, remainingAfter, views, log }: Options): JobHandler {
  return async (job, { signal }) => {
    const [run, approval] = [await runs.find(job.runId), await approvals.findByStep(job)];
    if (run === undefined || approval?.status !== "pending") return withoutChange();
    const { workflows } = await remainingAfter(run, approval.stepId);
    try {
      const { mailer } = (await views.of(run.project)).connections;
      await mailer.send(
        {
          to: approval.assignees,
          subject: `Approval needed: ${run.workflowId ?? "a single step"}`,
          text:
            `${visibleText(approval.message)}\n\n${formatPlan(approval.id, workflows)}\n\n` +
            `Approval ${approval.id}, run ${run.id} of ${run.workflowId ?? "a single step"}.\n` +
            `Decide it with decide_approval or POST /approvals/${approval.id}.\n`,
          idempotencyKey: `${run.id}:${job.stepId}:${job.item ?? "-"}:notify`,
        },
        signal,
      );
      return withoutChange();
    } catch (err) {
      log.warn(
        {
          err,
          workflow_id: run.workflowId,
          run_id: run.id,
          step_id: job.stepId,
          approval_id: approval.id,
          attempt: job.attempt,
        },
        "approval mail not sent",
      );
      if (job.retryCount >= MAX_MAIL_RETRIES) return withoutChange();
      return {
        kind: "retry",
        dueAt: iso(context.clock.now() + MAIL_RETRY_MS),
        attempt: job.attempt + 1,
        retryCount: job.retryCount + 1,
        change: () => Promise.resolve(),
      };
    }
  };
}

/** Handles the jobs that belong to a run as a whole: its output, timeout, cancellation and `on_failure`. */
import type { Logger } from "pino";
import type { RunError } from "../../../schemas/run.ts";
import { inputsCause } from "../../core/authored-work.ts";
import { SECOND } from "../../core/clock.ts";
import { isStorageUnavailable, toAppError } from "../../core/errors.ts";
import type { Job, RunRecord } from "../../core/model.ts";
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

interface Options {
  context: RunContext;
  runs: RunReader;
  planOf(run: RunRecord): Promise<Plan>;
  scopes: ExpressionScopes;
  evaluator: Evaluator;
  prepareRun: PrepareRun;
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
      causes: [...run.causes, await inputsCause(runs, run)],
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

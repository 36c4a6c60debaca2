/** The jobs of a run as a whole: its output, its stop, and what follows when it failed. */
import type { Logger } from "pino";
import type { RunError } from "../../../schemas/run.ts";
import { iso, SECOND } from "../../core/clock.ts";
import { isStorageUnavailable } from "../../core/errors.ts";
import type { Mailer } from "../../core/connections.ts";
import { type ApprovalReader, type Job, type RunReader, type RunRecord } from "../../core/run-ports.ts";
import { StepError } from "../../core/step-errors.ts";
import type { JobHandler } from "../../queue/types.ts";
import type { Plan } from "../definition/plan.ts";
import type { PrepareRun } from "../run-state/prepare-run.ts";
import { toRunError } from "../run-state/run-error.ts";
import type { ExpressionScopes } from "./expression-scopes.ts";
import { finishRun, type RunContext, startRun, stopRun } from "../run-state/transitions.ts";
import { MAX_CRASHES, noChange, poisonedError } from "./step-handler.ts";

const MAX_OUTPUT_CHARS = 4 * 1024 * 1024;
/** Retries of a mail to assignees that was not accepted. */
const MAX_MAIL_RETRIES = 2;
const MAIL_PAUSE_MS = 30 * SECOND;

interface Options {
  context: RunContext;
  runs: RunReader;
  approvals: ApprovalReader;
  planOf(run: RunRecord): Promise<Plan>;
  scopes: ExpressionScopes;
  prepareRun: PrepareRun;
  mailer: Mailer;
  log: Logger;
}

/** Every step has ended well: the output is worked out. */
export function finishHandler({ context, runs, planOf, scopes }: Options): JobHandler {
  return async (job) => {
    const run = await runs.find(job.runId);
    if (run === undefined || run.finishedAt !== null) return noChange();
    const result = await worked(run, job).catch((thrown: unknown) => {
      if (isStorageUnavailable(thrown)) throw thrown;
      const error = toRunError(thrown, job);
      return { error: { ...error, message: `output: ${error.message}` } };
    });
    return { kind: "complete", change: (tx) => finishRun(context, tx, run.id, result) };
  };

  async function worked(run: RunRecord, job: Job): Promise<{ output: unknown }> {
    if (job.crashCount >= MAX_CRASHES) {
      context.meter.jobPoisoned();
      throw poisonedError("output", job.crashCount);
    }
    return { output: await outputOf(run, await planOf(run), scopes) };
  }
}

async function outputOf(run: RunRecord, plan: Plan, scopes: ExpressionScopes): Promise<unknown> {
  const output =
    plan.output === null
      ? await lastStep(run, plan, scopes)
      : plan.output.evaluate(await scopes.loadScope(plan, run, plan.output.stepIds));
  const chars = JSON.stringify(output ?? null).length;
  if (chars > MAX_OUTPUT_CHARS) {
    throw new StepError(
      "output_too_large",
      `The run's output came to ${chars} characters of JSON; at most ${MAX_OUTPUT_CHARS} are kept.`,
      { fix: "Say in output which parts are wanted." },
    );
  }
  return output;
}

/** What the last step of the list gave, without what every step has. */
async function lastStep(run: RunRecord, plan: Plan, scopes: ExpressionScopes): Promise<unknown> {
  const { id } = plan.steps.at(-1)!.step;
  const { status: _status, error: _error, ...output } = await scopes.stepValue(plan, run, id);
  return output;
}

/** Stops a run that another one had started. */
export function cancelHandler({ context }: Options): JobHandler {
  return (job) =>
    Promise.resolve({
      kind: "complete",
      async change(tx) {
        await stopRun(context, tx, job.runId, { status: "cancelled", by: "the run that started it" });
      },
    });
}

/** A run's time is up. */
export function runTimeoutHandler({ context, runs, planOf }: Options): JobHandler {
  return async (job) => {
    const run = await runs.find(job.runId);
    if (run === undefined || run.finishedAt !== null) return noChange();
    const { timeoutMs } = (await planOf(run)).compiled;
    const error: RunError = {
      code: "run_timeout",
      message: `The run took longer than ${(timeoutMs ?? 0) / SECOND} s and was stopped.`,
      fix: "Give it more time with timeout at the top of the definition.",
    };
    return {
      kind: "complete",
      async change(tx) {
        await stopRun(context, tx, job.runId, { status: "failed", error });
      },
    };
  };
}

/** A run failed, and its workflow names another one for that. */
export function onFailureHandler({ context, runs, planOf, prepareRun, log }: Options): JobHandler {
  return async (job) => {
    const run = await runs.find(job.runId);
    if (run === undefined) return noChange();
    const workflow = (await planOf(run)).compiled.definition.on_failure!;
    const request = {
      workflowId: workflow,
      inputs: { run_id: run.id, workflow_id: run.workflowId, error: run.error },
      ignoreUnknownInputs: true,
      actor: run.actor,
      trigger: "on_failure",
      depth: run.depth + 1,
      trace: context.spans.childTrace(run),
    } as const;
    const prepared = await prepareRun(request).catch((err: unknown) => {
      if (isStorageUnavailable(err)) throw err;
      // The failed run says why it failed in any case; nobody would be helped by trying this for ever.
      const line = { workflow_id: run.workflowId, run_id: run.id, on_failure: workflow };
      log.warn({ err, ...line }, "the workflow for failures can't run");
    });
    if (prepared === undefined) return noChange();
    return { kind: "complete", change: (tx) => startRun(context, tx, prepared) };
  };
}

/** Tells the assignees of an approval by mail; after a few tries it stands in the list all the same. */
export function notifyHandler({ context, runs, approvals, mailer, log }: Options): JobHandler {
  return async (job, { signal }) => {
    const [run, approval] = [await runs.find(job.runId), await approvals.findByStep(job)];
    if (run === undefined || approval?.status !== "pending") return noChange();
    try {
      await mailer.send(
        {
          to: approval.assignees,
          subject: `Approval wanted: ${run.workflowId}`,
          text: `${approval.message}\n\nApproval ${approval.id}, run ${run.id} of ${run.workflowId}.\nDecide it with decide_approval or POST /approvals/${approval.id}.\n`,
          idempotencyKey: `${run.id}:${job.stepId}:${job.item ?? "-"}:notify`,
        },
        signal,
      );
      return noChange();
    } catch (err) {
      const line = {
        workflow_id: run.workflowId,
        run_id: run.id,
        step_id: job.stepId,
        approval_id: approval.id,
      };
      log.warn({ err, ...line }, "the assignees of an approval could not be told by mail");
      if (job.retryCount >= MAX_MAIL_RETRIES) return noChange();
      return {
        kind: "retry",
        dueAt: iso(context.clock.now() + MAIL_PAUSE_MS),
        attempt: job.attempt + 1,
        retryCount: job.retryCount + 1,
        change: () => Promise.resolve(),
      };
    }
  };
}

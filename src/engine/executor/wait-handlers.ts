/** Handles the jobs that end a wait: its timer is due, a person has decided, an event was received, or the child run has ended. */
import { encodeJson } from "../../core/encoded-json.ts";
import type { RunError } from "../../../schemas/run.ts";
import { iso } from "../../core/clock.ts";
import type { Job, NewJob, RunCause, RunRecord, StepRecord } from "../../core/model.ts";
import { distinctCauses } from "../../core/run-causes.ts";
import type { EngineWriters, RunReader } from "../../core/run-ports.ts";
import { stepRefLogFields } from "../../core/step-ref-log-fields.ts";
import type { JobHandler, JobResult } from "../../queue/types.ts";
import type { Plan } from "../definition/plan.ts";
import { endIfStopping } from "../run-state/advance-run.ts";
import { recordOutcome, requeueStep } from "../run-state/record-outcome.ts";
import { newStepJob, type RunContext } from "../run-state/run-context.ts";
import { toRunError } from "../run-state/run-error.ts";
import { isEnding } from "../run-state/run-update.ts";
import type { WaitEnd } from "../run-state/step-result.ts";
import { decidedResult } from "../run-state/waits/approval.ts";
import { childFailure, foreignFailure } from "../run-state/waits/child-run.ts";
import { endTimedWait } from "../run-state/waits/index.ts";
import { withChange } from "./job-results.ts";
import { retryDelay } from "./retry-delay.ts";
import { endWaitingAttempt } from "./save-attempt.ts";

/** Maximum number of attempts of a step that are examined. A step is retried at most 20 times. */
const MAX_ATTEMPTS = 1_000;

interface Options {
  context: RunContext;
  runs: RunReader;
}

/** Ends a wait whose timer is due. */
export function wakeHandler({ context }: Options): JobHandler {
  return async (job) => endWait(context, job, (tx, step) => endTimedWait(context, tx, step, job));
}

/** Ends the wait for an approval that a person has decided. */
export function decidedHandler({ context }: Options): JobHandler {
  return async (job) => endWait(context, job, (tx) => decidedResult(tx, job));
}

/** Ends the wait for a child run that has ended: the step succeeds, is retried or fails. */
export function childDoneHandler({
  context,
  runs,
  planOf,
}: Options & { planOf(run: RunRecord): Promise<Plan> }): JobHandler {
  return async (job) => {
    const step = await runs.step(job);
    const child = step === undefined || step.childRun === null ? undefined : await runs.find(step.childRun);
    // The step no longer waits for the child run, but the run may wait for this job before it can end.
    if (step === undefined || child === undefined || child.finishedAt === null) {
      return endWait(context, job, async () => undefined);
    }
    if (child.status === "succeeded") {
      const output = encodeJson({ output: await runs.runOutput(child.id), run_id: child.id });
      const settled = child.causes.filter(({ kind }) => kind === "settled");
      return endWait(context, job, async (tx) => {
        await tx.jobs.dropStepJobs(job);
        await inheritCauses(tx, job.runId, settled);
        return { kind: "succeeded", output, inputHash: step.inputHash };
      });
    }
    const run = await runs.find(job.runId);
    const failure = run?.project === child.project ? childFailure(child) : foreignFailure(child);
    const error = toRunError(failure, job);
    const plan = run === undefined || isEnding(run) ? undefined : await planOf(run);
    const planned = plan?.steps[plan.compiled.position.get(job.stepId)!];
    const retryCount = await countFailedAttempts(runs, job, step.attempts);
    const delay = planned === undefined ? undefined : retryDelay(planned, { retryCount }, failure);
    if (delay !== undefined) {
      const retry = { error, delay, retryCount: retryCount + 1 };
      return withChange((tx) => retryStep(context, tx, job, retry));
    }
    return endWait(context, job, async (tx) => {
      await tx.jobs.dropStepJobs(job);
      return { kind: "failed", error };
    });
  };
}

/** A run goes on with what somebody said that a step of its child run returned. Requires `runs.lock`. */
async function inheritCauses(tx: EngineWriters, runId: string, causes: readonly RunCause[]): Promise<void> {
  const run = causes.length === 0 ? undefined : await tx.runs.find(runId);
  if (run !== undefined)
    await tx.runs.update(runId, { seq: run.seq, causes: distinctCauses([...run.causes, ...causes]) });
}

/** The failed attempts before the one with this number. One that was interrupted is not one of the step's retries. */
async function countFailedAttempts(
  runs: Pick<RunReader, "lastAttempts">,
  job: Job,
  before: number,
): Promise<number> {
  const attempts = await runs.lastAttempts(job, MAX_ATTEMPTS);
  return attempts.filter(({ status, attempt }) => status === "failed" && attempt < before).length;
}

/** Records the result of a wait, unless another job ended it first. */
export function endWait(
  context: RunContext,
  job: Job,
  resultOf: (tx: EngineWriters, step: StepRecord) => Promise<WaitEnd | undefined>,
): JobResult {
  const finishedAt = iso(context.clock.now());
  return withChange(async (tx) => {
    // Several jobs can end one wait: the lock lets the first do it.
    await tx.runs.lock(job.runId);
    const step = await tx.runs.step(job);
    const isWaiting = step?.state === "waiting" || step?.state === "running";
    const result = isWaiting ? await resultOf(tx, step) : undefined;
    if (step === undefined || result === undefined) {
      await endIfStopping(context, tx, job.runId);
      return;
    }
    if (result.kind === "again") {
      const retryCount = await countFailedAttempts(tx.runs, job, step.attempts);
      // The attempt that asked has done nothing, so the next one has its number.
      await addAttempt(context, tx, job, { attempt: step.attempts, retryCount, dueAt: null });
      return;
    }
    const error = result.kind === "failed" ? result.error : null;
    if (error !== null) {
      tx.onCommit(() => context.log.info({ ...stepRefLogFields(job), code: error.code }, "step failed"));
    }
    // First the attempt: if the run ends with this result, it cancels the attempts that are still open.
    const status = error === null ? "succeeded" : "failed";
    await endWaitingAttempt(context, tx, job, step, { status, error, finishedAt });
    const startedAt = step.startedAt ?? finishedAt;
    await recordOutcome(context, tx, job, result, { startedAt, finishedAt, attempts: step.attempts });
  });
}

/** Adds the job of the next attempt of a step whose child run failed. */
async function retryStep(
  context: RunContext,
  tx: EngineWriters,
  job: Job,
  { error, delay, retryCount }: { error: RunError; delay: number; retryCount: number },
): Promise<void> {
  await tx.runs.lock(job.runId);
  const step = await tx.runs.step(job);
  if (step?.state !== "running") {
    await endIfStopping(context, tx, job.runId);
    return;
  }
  const now = context.clock.now();
  await endWaitingAttempt(context, tx, job, step, { status: "failed", error, finishedAt: iso(now) });
  await addAttempt(context, tx, job, { attempt: step.attempts + 1, retryCount, dueAt: iso(now + delay) });
}

/** Adds the job of another attempt of a step that waits, in place of its other jobs. Requires `runs.lock`. */
async function addAttempt(
  context: RunContext,
  tx: EngineWriters,
  { runId, stepId, item }: Job,
  next: Pick<NewJob, "attempt" | "retryCount" | "dueAt">,
): Promise<void> {
  const run = (await tx.runs.find(runId))!;
  const compiled = await context.definitionCache.get(run, tx.runs);
  const ref = { runId, stepId, item };
  await tx.jobs.dropStepJobs(ref);
  await tx.jobs.add(newStepJob(compiled, ref, run, next));
  await requeueStep(context, tx, ref);
}

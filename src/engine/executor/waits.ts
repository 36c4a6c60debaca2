/** The jobs that end a wait: its time has come, a person has decided, or the run of another workflow has ended. */
import type { RunError } from "../../../schemas/run.ts";
import { iso } from "../../core/clock.ts";
import {
  type ApprovalRecord,
  type EngineWriters,
  type Job,
  type RunReader,
  type RunRecord,
  type StepRecord,
  type StepRef,
} from "../../core/run-ports.ts";
import { StepError } from "../../core/step-errors.ts";
import { stepRefLogFields } from "../../core/step-ref-log-fields.ts";
import type { JobResult, JobHandler } from "../../queue/types.ts";
import { toRunError } from "../run-state/run-error.ts";
import type { Plan } from "../definition/plan.ts";
import { requeueStep, recordOutcome, type StepResult } from "../run-state/record-outcome.ts";
import { isEnding, type RunContext, endIfStopping } from "../run-state/transitions.ts";
import { retryDelay } from "./step-handler.ts";

interface Options {
  context: RunContext;
  runs: RunReader;
}

/** Lets a unit that waited in vain be tried again. */
async function repeatUnit(
  mover: RunContext,
  tx: EngineWriters,
  job: Job,
  { error, delay }: { error: RunError; delay: number },
): Promise<void> {
  await tx.runs.lock(job.runId);
  const step = await tx.runs.step(job);
  if (step?.state !== "running") {
    await endIfStopping(mover, tx, job.runId);
    return;
  }
  const now = mover.clock.now();
  await tx.jobs.dropStepJobs(job);
  await closeAttempt(mover, tx, job, step, { status: "failed", error, finishedAt: iso(now) });
  const again = { attempt: step.attempts + 1, retryCount: step.attempts, dueAt: iso(now + delay) };
  await tx.jobs.add({ ...unitOf(job), ...again, kind: "step", priority: job.priority, resource: null });
  await requeueStep(mover, tx, job);
}

const unitOf = ({ runId, stepId, item }: StepRef): StepRef => ({ runId, stepId, item });

async function closeAttempt(
  { spans, definitionCache }: RunContext,
  tx: EngineWriters,
  unit: StepRef,
  step: StepRecord,
  end: { status: "succeeded" | "failed"; error: RunError | null; finishedAt: string },
): Promise<void> {
  const attempt = {
    ...end,
    attempt: step.attempts,
    startedAt: step.startedAt ?? end.finishedAt,
    usage: null,
  };
  await tx.runs.saveAttempt(unit, { ...attempt, executor: null });
  const run = spans.enabled ? await tx.runs.find(unit.runId) : undefined;
  if (run === undefined) return;
  const { definition, position } = await definitionCache.get(run, tx.runs);
  const written = definition.steps[position.get(unit.stepId)!]!;
  tx.onCommit(() => spans.recordAttempt(run, written, unit, attempt));
}

/** Ends a unit that waited, unless it was ended in the meantime. */
function ending(
  mover: RunContext,
  job: Job,
  resultOf: (tx: EngineWriters) => Promise<StepResult | undefined>,
): JobResult {
  const finishedAt = iso(mover.clock.now());
  return {
    kind: "complete",
    async change(tx) {
      // Several jobs can end one wait: the lock lets the first do it.
      await tx.runs.lock(job.runId);
      const step = await tx.runs.step(job);
      const waits = step !== undefined && ["waiting", "running"].includes(step.state);
      const result = waits ? await resultOf(tx) : undefined;
      if (step === undefined || result === undefined) {
        await endIfStopping(mover, tx, job.runId);
        return;
      }
      const startedAt = step.startedAt ?? finishedAt;
      const error = result.kind === "failed" ? result.error : null;
      if (error !== null)
        tx.onCommit(() => mover.log.info({ ...stepRefLogFields(job), code: error.code }, "step failed"));
      // Before the run may end with it, which would close what is open as cancelled.
      const status = error === null ? "succeeded" : "failed";
      await closeAttempt(mover, tx, job, step, { status, error, finishedAt });
      await recordOutcome(mover, tx, job, result, { startedAt, finishedAt, attempts: step.attempts });
    },
  };
}

/** A moment has come: a wait is over, or an approval was not decided in time. */
export function wakeHandler({ context }: Options): JobHandler {
  return (job) =>
    Promise.resolve(
      ending(context, job, async (tx) => {
        const approval = await tx.approvals.findByStep(job);
        const step = await tx.runs.step(job);
        const now = iso(context.clock.now());
        if (step !== undefined && step.childRun !== null) {
          const child = { runId: step.childRun, stepId: "", item: null };
          await tx.jobs.add({
            ...child,
            kind: "cancel",
            priority: 0,
            dueAt: null,
            resource: null,
            attempt: 1,
            retryCount: 0,
          });
          return { kind: "failed", error: toRunError(childTooSlow(job, step.childRun), job) };
        }
        if (approval === undefined) {
          const output = { waited_until: step?.waitUntil ?? now };
          return { kind: "succeeded", output, inputHash: step?.inputHash ?? null };
        }
        const expired = {
          status: "expired",
          decidedAt: now,
          decidedBy: null,
          comment: null,
          answer: null,
        } as const;
        if (!(await tx.approvals.decide(approval.id, expired))) return undefined;
        return { kind: "failed", error: toRunError(undecided(job), job) };
      }),
    );
}

const childTooSlow = (job: Job, child: string): StepError =>
  new StepError(
    "timeout",
    `The run ${child} that "${job.stepId}" started took longer than its timeout and was stopped.`,
    {
      fix: "Give the step a longer timeout.",
    },
  );

const undecided = (job: Job): StepError =>
  new StepError("approval_timeout", `Nobody decided "${job.stepId}" in time.`, {
    fix: "Retry the run to ask again, or give the step a longer timeout.",
  });

/** A person has decided. */
export function decidedHandler({ context }: Options): JobHandler {
  return (job) =>
    Promise.resolve(
      ending(context, job, async (tx) => {
        const approval = await tx.approvals.findByStep(job);
        if (approval === undefined) return undefined;
        await tx.jobs.dropStepJobs(job);
        const step = await tx.runs.step(job);
        return { kind: "succeeded", output: decisionOf(approval), inputHash: step?.inputHash ?? null };
      }),
    );
}

const decisionOf = (approval: ApprovalRecord): Record<string, unknown> => ({
  approved: approval.status === "approved",
  by: approval.decidedBy,
  comment: approval.comment,
  form: approval.answer,
});

/** The run of another workflow, which a step waited for, has ended. */
export function childDoneHandler({
  context,
  runs,
  planOf,
}: Options & { planOf(run: RunRecord): Promise<Plan> }): JobHandler {
  return async (job) => {
    const step = await runs.step(job);
    const child = step === undefined || step.childRun === null ? undefined : await runs.find(step.childRun);
    // Without its run to look at there is nothing to settle; the run may still be waiting for just this.
    if (step === undefined || child === undefined || child.finishedAt === null) {
      return ending(context, job, () => Promise.resolve(undefined));
    }
    if (child.status === "succeeded") {
      const output = { output: await runs.runOutput(child.id), run_id: child.id };
      return ending(context, job, async (tx) => {
        await tx.jobs.dropStepJobs(job);
        return { kind: "succeeded", output, inputHash: step.inputHash };
      });
    }
    const failure = childFailed(child);
    const error = toRunError(failure, job);
    const run = await runs.find(job.runId);
    const plan = run === undefined || isEnding(run) ? undefined : await planOf(run);
    const planned = plan?.steps[plan.compiled.position.get(job.stepId)!];
    const delay =
      planned === undefined ? undefined : retryDelay(planned, { retryCount: step.attempts - 1 }, failure);
    if (run === undefined || delay === undefined) {
      return ending(context, job, async (tx) => {
        await tx.jobs.dropStepJobs(job);
        return { kind: "failed", error };
      });
    }
    return { kind: "complete", change: (tx) => repeatUnit(context, tx, job, { error, delay }) };
  };
}

const childFailed = (child: NonNullable<Awaited<ReturnType<RunReader["find"]>>>): StepError =>
  new StepError(
    "child_failed",
    child.status === "cancelled"
      ? `The run ${child.id} of "${child.workflowId}" was cancelled.`
      : `The run ${child.id} of "${child.workflowId}" failed: ${child.error?.message ?? "it does not say why."}`,
    {
      ...(child.error?.fix !== undefined && { fix: child.error.fix }),
      details: { run_id: child.id, status: child.status, error: child.error },
    },
  );

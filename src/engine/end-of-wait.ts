/** The jobs that end a wait: its time has come, a person has decided, or the run of another workflow has ended. */
import { iso } from "../core/clock.ts";
import { type ApprovalRecord, type EngineWriters, type Job, type RunReader } from "../core/run-ports.ts";
import { StepError } from "../core/step-errors.ts";
import type { Settled, Work } from "../queue/types.ts";
import { runErrorOf } from "./run-error.ts";
import { type Mover, moveOn, settleUnit, type UnitResult } from "./transitions.ts";
import { nothing } from "./work.ts";

interface Options {
  mover: Mover;
  runs: RunReader;
}

/** Ends a unit that waited, unless it was ended in the meantime. */
function ending(
  mover: Mover,
  job: Job,
  resultOf: (tx: EngineWriters) => Promise<UnitResult | undefined>,
): Settled {
  const finishedAt = iso(mover.clock.now());
  return {
    kind: "done",
    async change(tx) {
      const step = await tx.runs.step(job);
      const waits = step !== undefined && ["w", "r"].includes(step.state);
      const result = waits ? await resultOf(tx) : undefined;
      if (step === undefined || result === undefined) {
        await moveOn(mover, tx, job.runId);
        return;
      }
      const startedAt = step.startedAt ?? finishedAt;
      const attempts = step.attempts;
      await settleUnit(mover, tx, job, result, { startedAt, finishedAt, attempts });
      await tx.runs.saveAttempt(job, {
        attempt: attempts,
        status: result.kind === "failed" ? "failed" : "succeeded",
        executor: null,
        startedAt,
        finishedAt,
        usage: null,
        error: result.kind === "failed" ? result.error : null,
      });
    },
  };
}

/** A moment has come: a wait is over, or an approval was not decided in time. */
export function wakeWork({ mover }: Options): Work {
  return (job) =>
    Promise.resolve(
      ending(mover, job, async (tx) => {
        const approval = await tx.approvals.ofUnit(job);
        const now = iso(mover.clock.now());
        if (approval === undefined) {
          const step = await tx.runs.step(job);
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
        return { kind: "failed", error: runErrorOf(undecided(job), job) };
      }),
    );
}

const undecided = (job: Job): StepError =>
  new StepError("approval_timeout", `Nobody decided "${job.stepId}" in time.`, {
    fix: "Retry the run to ask again, or give the step a longer timeout.",
  });

/** A person has decided. */
export function decidedWork({ mover }: Options): Work {
  return (job) =>
    Promise.resolve(
      ending(mover, job, async (tx) => {
        const approval = await tx.approvals.ofUnit(job);
        if (approval === undefined) return undefined;
        await tx.jobs.dropUnit(job);
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
export function childDoneWork({ mover, runs }: Options): Work {
  return async (job) => {
    const step = await runs.step(job);
    if (step === undefined || step.childRun === null) return nothing();
    const child = await runs.find(step.childRun);
    if (child === undefined || child.finishedAt === null) return nothing();
    const { inputHash } = step;
    const result: UnitResult =
      child.status === "succeeded"
        ? {
            kind: "succeeded",
            output: { output: await runs.runOutput(child.id), run_id: child.id },
            inputHash,
          }
        : { kind: "failed", error: runErrorOf(childFailed(child), job) };
    return ending(mover, job, () => Promise.resolve(result));
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

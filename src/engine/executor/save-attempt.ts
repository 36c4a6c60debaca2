/** Saves attempts. After the commit it reports the span of each attempt that has ended. */
import type { AttemptStatus, RunError } from "../../../schemas/run.ts";
import type { StepRecord, StepRef, Usage } from "../../core/model.ts";
import type { EngineWriters } from "../../core/run-ports.ts";
import { definedStep } from "../definition/compiled-definition.ts";
import type { RunContext } from "../run-state/run-context.ts";
import type { Attempt } from "./attempt.ts";

/** @param finishedAt null for the attempt of a step that waits */
export async function saveAttempt(
  { spans }: RunContext,
  tx: EngineWriters,
  { run, job, planned, startedAt, inputJson, startRecorded }: Attempt,
  { executor }: { executor: string | null },
  end: { status: AttemptStatus; usage: Usage | null; error: RunError | null },
  finishedAt: string | null,
): Promise<void> {
  const { attempt } = job;
  await tx.runs.saveAttempt(job, {
    ...end,
    attempt,
    executor,
    startedAt,
    finishedAt,
    // If the start was recorded, the attempt already has its input.
    ...(startRecorded !== true && inputJson !== undefined && { input: inputJson }),
  });
  if (finishedAt === null) return;
  tx.onCommit(() => spans.recordAttempt(run, planned.step, job, { ...end, attempt, startedAt, finishedAt }));
}

/**
 * Saves why an attempt waits for its mail. It starts again under the same number, so that neither attempts, inputs nor spans pile up
 * with each hour that it waits.
 */
export const saveHeldAttempt = (
  tx: EngineWriters,
  { job, startedAt }: Attempt,
  executor: string,
  error: RunError,
  finishedAt: string,
): Promise<void> =>
  tx.runs.saveAttempt(job, {
    attempt: job.attempt,
    status: "failed",
    usage: null,
    error,
    executor,
    startedAt,
    finishedAt,
  });

/** Ends the attempt of a step that waited. */
export async function endWaitingAttempt(
  { spans, definitionCache }: RunContext,
  tx: EngineWriters,
  ref: StepRef,
  { attempts, startedAt }: StepRecord,
  end: { status: "succeeded" | "failed"; error: RunError | null; finishedAt: string },
): Promise<void> {
  const ended = { ...end, attempt: attempts, startedAt: startedAt ?? end.finishedAt, usage: null };
  await tx.runs.saveAttempt(ref, { ...ended, executor: null });
  const run = spans.enabled ? await tx.runs.find(ref.runId) : undefined;
  if (run === undefined) return;
  const step = definedStep(await definitionCache.get(run, tx.runs), ref.stepId);
  tx.onCommit(() => spans.recordAttempt(run, step, ref, ended));
}

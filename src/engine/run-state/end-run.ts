/** Ends runs: with an output, with an error, or cancelled. */
import { announceEnds } from "./announce-ends.ts";
import type { RunError } from "../../../schemas/run.ts";
import { iso } from "../../core/clock.ts";
import type { AbandonedAttempt, RunRecord } from "../../core/model.ts";
import type { EngineWriters } from "../../core/run-ports.ts";
import type { StepStates } from "../../core/step-states.ts";
import { definedStep } from "../definition/compiled-definition.ts";
import { beginUndo } from "./begin-undo.ts";
import { interruptAbandoned } from "./interruptions.ts";
import { recordRunEnd } from "./outgoing-events.ts";
import { correlationFields, newJob, type RunContext, runRef } from "./run-context.ts";
import { toRunError } from "./run-error.ts";
import { beginUpdate, type RunUpdate } from "./run-update.ts";
import { admitQueuedRuns } from "./start-run.ts";
import { commitState } from "./workflow-state.ts";

export interface RunEnd {
  seq: number;
  stepStates: StepStates;
  status: "succeeded" | "failed" | "cancelled";
  error: RunError | null;
  output?: unknown;
  /** What it commits to the state of its workflow. */
  committed?: Readonly<Record<string, unknown>>;
}

/** What evaluating `output` and `commit` has returned; `committed` is null without `commit`. */
export type FinishResult =
  { output: unknown; committed: Readonly<Record<string, unknown>> | null } | { error: RunError };

/** Ends a run whose steps have all ended. It succeeds only together with its commit. */
export async function finishRun(
  context: RunContext,
  tx: EngineWriters,
  runId: string,
  result: FinishResult,
): Promise<void> {
  const update = await beginUpdate(context, tx, runId);
  if (update === undefined || update.run.stop?.undoing === true) return;
  await finishUpdate(context, update, result);
}

/** Ends a run whose steps have all ended, in an update that has begun. @returns whether the run has ended */
export async function finishUpdate(
  context: RunContext,
  update: RunUpdate,
  result: FinishResult,
): Promise<boolean> {
  const { tx, run } = update;
  // The run can be stopped between the end of its last step and the evaluation of its output.
  const stopped =
    run.stop === null
      ? undefined
      : { status: run.stop.status, error: run.stop.status === "failed" ? run.stop.error : null };
  return concludeRun(context, update, stopped ?? (await finish(context, tx, run, result)));
}

/**
 * Ends a run, or begins to undo its steps first.
 * @returns whether the run has ended
 */
export async function concludeRun(
  context: RunContext,
  update: RunUpdate,
  end: Omit<RunEnd, "seq" | "stepStates">,
): Promise<boolean> {
  const { status, error } = end;
  if (status !== "succeeded" && (await beginUndo(update, { status, error }))) return false;
  const { tx, run, seq, states: stepStates } = update;
  await endRun(context, tx, run, { seq, stepStates, ...end });
  return true;
}

/** Commits to the state of the workflow, if the run does. @returns how the run ends */
async function finish(
  { clock }: RunContext,
  tx: EngineWriters,
  run: RunRecord,
  result: FinishResult,
): Promise<Omit<RunEnd, "seq" | "stepStates">> {
  if ("error" in result) return { status: "failed", error: result.error };
  const { output, committed } = result;
  if (committed === null) return { status: "succeeded", error: null, output };
  if (run.replay !== null) return { status: "succeeded", error: null, output, committed };
  const conflict = await commitState(tx, run, committed, iso(clock.now()));
  if (conflict !== undefined) return { status: "failed", error: toRunError(conflict, runRef(run.id)) };
  return { status: "succeeded", error: null, output, ...(run.stateRevision !== null && { committed }) };
}

/** Ends a run, adds the jobs of the runs that depend on its end, and admits the next queued run. */
export async function endRun(
  context: RunContext,
  tx: EngineWriters,
  run: RunRecord,
  end: RunEnd,
): Promise<void> {
  const now = iso(context.clock.now());
  const startedAt = run.startedAt ?? now;
  const compiled = await context.definitionCache.get(run, tx.runs);
  if (end.status !== "succeeded") {
    const abandoned = await tx.runs.closeOpenSteps(run.id, now);
    await recordAbandoned(context, tx, abandoned, { status: "cancelled", at: now });
  }
  const hasHandler = end.status === "failed" && run.trigger !== "on_failure" && !run.isTrial;
  const handlerId = hasHandler ? compiled.definition.on_failure : undefined;
  const onFailure = handlerId === undefined ? null : { workflowId: handlerId, runId: null, error: null };
  await tx.runs.update(run.id, { ...end, finishedAt: now, startedAt, onFailure });
  if (await tx.approvals.cancelForRun(run.id, now)) await announceEnds(tx, run);
  await tx.jobs.dropUnclaimed(run.id, { ended: true });
  if (run.parent !== null) await tx.jobs.add(newJob(run.parent, "child_done", run.priority));
  if (onFailure !== null) await tx.jobs.add(newJob(runRef(run.id), "on_failure", run.priority));
  await recordRunEnd(tx, run, { ...end, startedAt, finishedAt: now });
  await admitQueuedRuns(context, tx, run, compiled);
  await reportRunEnd(context, tx, run, end, { startedAt, finishedAt: now });
}

/** Reports the end of a run after the commit: its span, its metrics and its log line. */
async function reportRunEnd(
  context: RunContext,
  tx: EngineWriters,
  run: RunRecord,
  { status, error }: RunEnd,
  { startedAt, finishedAt }: { startedAt: string; finishedAt: string },
): Promise<void> {
  const { spans, meter, log } = context;
  const retried = spans.enabled && run.retryOf !== null ? await tx.runs.find(run.retryOf) : undefined;
  const ms = Date.parse(finishedAt) - Date.parse(run.createdAt);
  tx.onCommit(() => {
    const { id, workflowId, trigger } = run;
    spans.recordRun(run, { status, startedAt, finishedAt, error }, retried);
    meter.runEnded({ status, trigger, code: error?.code ?? null, seconds: ms / 1_000 });
    log.info(
      {
        workflow_id: workflowId,
        run_id: id,
        trigger,
        status,
        ms,
        ...(error !== null && { code: error.code, step_id: error.step_id }),
        ...correlationFields(context, tx, run),
      },
      `run ${status}`,
    );
  });
}

/**
 * Opens the interruptions of abandoned attempts, and reports their spans after the commit.
 * @param options.at when the attempts ended (ISO 8601)
 */
export async function recordAbandoned(
  { spans, definitionCache, log }: Pick<RunContext, "spans" | "definitionCache" | "log">,
  tx: EngineWriters,
  abandoned: readonly AbandonedAttempt[],
  { status, at }: { status: "cancelled" | "interrupted"; at: string },
): Promise<void> {
  const reason = status === "cancelled" ? status : "executor_ended";
  await interruptAbandoned({ log }, tx, abandoned, { reason, at });
  if (!spans.enabled) return;
  for (const { attempt, startedAt, effectKey: _, ...ref } of abandoned) {
    const run = await tx.runs.find(ref.runId);
    if (run === undefined) continue;
    const step = definedStep(await definitionCache.get(run, tx.runs), ref.stepId);
    const ended = { attempt, status, startedAt, finishedAt: at, usage: null, error: null };
    tx.onCommit(() => spans.recordAttempt(run, step, ref, ended));
  }
}

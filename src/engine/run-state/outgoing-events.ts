/** Records what runs report to subscriptions, in the transaction of the change. It holds names, and no values of runs. */
import type { StepRef, RunRecord } from "../../core/model.ts";
import type { EngineWriters } from "../../core/run-ports.ts";
import type { OutgoingEvent } from "../../core/subscription-ports.ts";
import type { RunEnd } from "./end-run.ts";

/** What all events of a run have in common. A run that another run started is a part of that one. */
const eventOf = (
  { id, project, workflowId, version, trigger, parent, createdAt, scheduledFor }: RunRecord,
  event: Pick<OutgoingEvent, "type" | "at"> & { data?: Record<string, unknown> },
): OutgoingEvent => ({
  ...event,
  project,
  workflowId,
  runId: id,
  onlyNamed: parent !== null,
  data: { version, trigger, created_at: createdAt, scheduled_for: scheduledFor, ...event.data },
});

/** Records the end of a run; that a workflow has succeeded begins its time again. Trials count for nothing. */
export async function recordRunEnd(
  tx: EngineWriters,
  run: RunRecord,
  { status, error, startedAt, finishedAt }: RunEnd & { startedAt: string; finishedAt: string },
): Promise<void> {
  if (run.isTrial || run.workflowId === null) return;
  if (status === "succeeded") await tx.expectations.restart(run.workflowId, finishedAt, true);
  if (status === "cancelled") return;
  const failure = error && {
    code: error.code,
    ...(error.step_id !== undefined && { step_id: error.step_id }),
  };
  await tx.outbox.record(
    eventOf(run, {
      type: status === "succeeded" ? "run.succeeded" : "run.failed",
      at: finishedAt,
      data: { status, started_at: startedAt, finished_at: finishedAt, error: failure },
    }),
  );
}

/** Records that a run can't continue before a time, a person, an event or another run. */
export async function recordWaiting(tx: EngineWriters, run: RunRecord, at: string): Promise<void> {
  if (run.isTrial) return;
  await tx.outbox.record(eventOf(run, { type: "run.waiting", at, data: { status: "waiting" } }));
}

/** Records that an attempt with effects ended without an answer. */
export async function recordInterruption(
  tx: EngineWriters,
  run: RunRecord,
  { id, ref, attempt, reason, at }: { id: string; ref: StepRef; attempt: number; reason: string; at: string },
): Promise<void> {
  const { stepId, item } = ref;
  const data = { interruption_id: id, step_id: stepId, ...(item !== null && { item }), attempt, reason };
  // A person may have to settle it, whichever run it is.
  await tx.outbox.record({ ...eventOf(run, { type: "run.interrupted", at, data }), onlyNamed: false });
}

/** Records that a person is asked. */
export async function recordApproval(
  tx: EngineWriters,
  run: RunRecord,
  { id, ref, at, expiresAt }: { id: string; ref: StepRef; at: string; expiresAt: string | null },
): Promise<void> {
  if (run.isTrial) return;
  const data = { approval_id: id, step_id: ref.stepId, expires_at: expiresAt };
  // A person must decide it, whichever run asks.
  await tx.outbox.record({ ...eventOf(run, { type: "approval.requested", at, data }), onlyNamed: false });
}

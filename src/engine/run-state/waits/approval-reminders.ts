/**
 * What happens to an approval while nobody decides: reminders, and escalations to others. Each is a job that is due later. It
 * records an event in the transaction that completes the job, so it happens once, whichever executors end or reclaim the job.
 */
import { MAX_REMINDERS } from "../../../../schemas/approval-rules.ts";
import { iso } from "../../../core/clock.ts";
import { remindersAt } from "../../../core/approval-rules.ts";
import { assignmentOf, currentAssignees } from "../../../core/approval-assignment.ts";
import type { ApprovalEventRecord } from "../../../core/approval-rules.ts";
import type { ApprovalRecord, StepRef } from "../../../core/model.ts";
import type { EngineWriters } from "../../../core/run-ports.ts";
import { newJob } from "../run-context.ts";

/** What people are notified of. */
export type Notice = Pick<ApprovalEventRecord, "kind" | "at" | "to"> &
  Partial<Pick<ApprovalEventRecord, "by" | "note">>;

/**
 * Records events, and adds the job that mails those whom they concern. An approval has one such job at a time: while people are
 * not notified of, it has one, which looks for further ones under the lock of the approval. Requires `approvals.lock`.
 */
export async function notifyAssignees(
  tx: EngineWriters,
  { id, runId, stepId, item, events }: Pick<ApprovalRecord, "id" | "events" | keyof StepRef>,
  priority: number,
  notices: readonly Notice[],
): Promise<void> {
  if (notices.length === 0) return;
  if (events.every(({ notified }) => notified))
    await tx.jobs.add(newJob({ runId, stepId, item }, "notify", priority));
  for (const event of notices)
    await tx.approvals.addEvent(id, { by: null, note: null, notified: false, ...event });
}

/** Records that events were notified, and adds a job for those that came meanwhile. */
export async function endNotifying(
  tx: EngineWriters,
  { id, runId, stepId, item }: Pick<ApprovalRecord, "id" | keyof StepRef>,
  priority: number,
  seqs: readonly number[],
): Promise<void> {
  const approval = await tx.approvals.lock(id);
  await tx.approvals.setNotified(id, seqs);
  const isLeft = approval?.events.some(({ seq, notified }) => !notified && !seqs.includes(seq)) === true;
  if (isLeft && approval.status === "pending")
    await tx.jobs.add(newJob({ runId, stepId, item }, "notify", priority));
}

type Timed = Pick<ApprovalRecord, "rules" | "createdAt" | keyof StepRef>;

/** Adds the jobs of the next reminder and the next escalation. @param now in milliseconds since 1970 */
export async function addReminders(
  tx: EngineWriters,
  approval: Timed,
  priority: number,
  now: number,
): Promise<void> {
  const elapsed = now - Date.parse(approval.createdAt);
  await addNext(
    tx,
    approval,
    priority,
    "remind",
    remindersAt(approval.rules.remind, elapsed, MAX_REMINDERS).next,
  );
  await addNext(tx, approval, priority, "escalate", approval.rules.escalate[0]?.after ?? null);
}

async function addNext(
  tx: EngineWriters,
  { runId, stepId, item, createdAt }: Timed,
  priority: number,
  kind: "remind" | "escalate",
  after: number | null,
): Promise<void> {
  if (after === null) return;
  await tx.jobs.add(
    newJob({ runId, stepId, item }, kind, priority, { dueAt: iso(Date.parse(createdAt) + after) }),
  );
}

/**
 * Reminds those who have not decided. Of several reminders that are due, such as after a stop of all executors, one is sent.
 * @param now in milliseconds since 1970
 */
export async function remind(tx: EngineWriters, ref: StepRef, priority: number, now: number): Promise<void> {
  const approval = await lockPending(tx, ref, now);
  if (approval === undefined) return;
  const { due, next } = remindersAt(
    approval.rules.remind,
    now - Date.parse(approval.createdAt),
    MAX_REMINDERS,
  );
  await addNext(tx, approval, priority, "remind", next);
  if (due === 0) return;
  const to = currentAssignees(assignmentOf(approval));
  await notifyAssignees(tx, approval, priority, [{ kind: "reminded", at: iso(now), to }]);
}

/** Adds those to whom it escalates by now. @param now in milliseconds since 1970 */
export async function escalate(
  tx: EngineWriters,
  ref: StepRef,
  priority: number,
  now: number,
): Promise<void> {
  const approval = await lockPending(tx, ref, now);
  if (approval === undefined) return;
  const { escalate: rules } = approval.rules;
  const done = approval.events.filter(({ kind }) => kind === "escalated").length;
  const due = rules.filter(({ after }) => Date.parse(approval.createdAt) + after <= now).length;
  await addNext(tx, approval, priority, "escalate", rules[due]?.after ?? null);
  const notices = rules.slice(done, due).map(({ to }) => ({ kind: "escalated" as const, at: iso(now), to }));
  await notifyAssignees(tx, approval, priority, notices);
}

/** @returns undefined for one that has ended, or ends with its timer, which may be late */
async function lockPending(
  tx: EngineWriters,
  ref: StepRef,
  now: number,
): Promise<ApprovalRecord | undefined> {
  const found = await tx.approvals.findByStep(ref);
  const approval = found && (await tx.approvals.lock(found.id));
  if (approval?.status !== "pending") return undefined;
  return approval.expiresAt !== null && Date.parse(approval.expiresAt) <= now ? undefined : approval;
}

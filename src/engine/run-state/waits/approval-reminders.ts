/**
 * What happens to an approval while nobody decides: reminders, and escalations to others. Each is a job that is due later. It
 * records an event in the transaction that completes the job, so it happens once, whichever executors end or reclaim the job.
 */
import { MAX_REMINDERS } from "../../../../schemas/approval-rules.ts";
import { iso } from "../../../core/clock.ts";
import { remindersAt } from "../../../core/approval-rules.ts";
import { assignmentOf, undecidedAssignees } from "../../../core/approval-assignment.ts";
import type { ApprovalEventRecord } from "../../../core/approval-rules.ts";
import type { ApprovalRecord, RunRecord, StepRef } from "../../../core/model.ts";
import type { EngineWriters } from "../../../core/run-ports.ts";
import { newJob } from "../run-context.ts";

/** What people are notified of. */
export type Notice = Pick<ApprovalEventRecord, "kind" | "at" | "to"> &
  Partial<Pick<ApprovalEventRecord, "by" | "note" | "notified" | "hadMailServer">>;

/**
 * Records events, and adds the job that mails those whom they concern. An approval has one such job at a time: while people are
 * not notified of, it has one, which looks for further ones under the lock of the approval. Requires `runs.lock` and `approvals.lock`.
 */
export async function notifyAssignees(
  tx: EngineWriters,
  run: Pick<RunRecord, "id" | "seq" | "priority">,
  approval: Pick<ApprovalRecord, "id" | "events" | keyof StepRef>,
  notices: readonly Notice[],
): Promise<void> {
  if (notices.length === 0) return;
  await recordNotices(tx, approval, run.priority, notices);
  await touchStep(tx, run, approval.stepId);
}

/** Saves a step as it is with a new number, so that those who follow the run read its approvals again. Requires `runs.lock`. */
export async function touchStep(
  tx: EngineWriters,
  { id: runId, seq }: Pick<RunRecord, "id" | "seq">,
  stepId: string,
): Promise<void> {
  const ref = { runId, stepId, item: null };
  const { state } = (await tx.runs.step(ref))!;
  await tx.runs.update(runId, { seq: seq + 1 });
  await tx.runs.saveStep(ref, { seq: seq + 1, state });
}

/** Records events, with the job that mails them, of an approval whose step changes anyway. */
export async function recordNotices(
  tx: EngineWriters,
  { id, runId, stepId, item, events }: Pick<ApprovalRecord, "id" | "events" | keyof StepRef>,
  priority: number,
  notices: readonly Notice[],
): Promise<void> {
  const isNew = notices.some(({ notified = false }) => !notified);
  if (isNew && events.every(({ notified }) => notified))
    await tx.jobs.add(newJob({ runId, stepId, item }, "notify", priority));
  for (const event of notices)
    await tx.approvals.addEvent(id, { by: null, note: null, notified: false, hadMailServer: true, ...event });
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

/** What a reminder or an escalation depends on, read before its transaction. */
export interface Surroundings {
  /** In milliseconds since 1970. */
  now: number;
  /** The digest of what can still run: decisions for other plans don't count. */
  planDigest: string;
  hasMailServer: boolean;
}

/**
 * Reminds those who have not decided. Of several reminders that are due, such as after a stop of all executors, one is sent; none
 * where nobody is left. Without a mail server it is only recorded: nobody gets it later.
 */
export async function remind(
  tx: EngineWriters,
  ref: StepRef,
  priority: number,
  { now, planDigest, hasMailServer }: Surroundings,
): Promise<void> {
  const pending = await lockPending(tx, ref, now);
  if (pending === undefined) return;
  const { run, approval } = pending;
  const { due, next } = remindersAt(
    approval.rules.remind,
    now - Date.parse(approval.createdAt),
    MAX_REMINDERS,
  );
  await addNext(tx, approval, priority, "remind", next);
  if (due === 0) return;
  const counted = approval.decisions.filter((decision) => decision.planDigest === planDigest);
  const to = undecidedAssignees(assignmentOf(approval), counted);
  if (to.length === 0) return;
  const notice = { kind: "reminded" as const, at: iso(now), to, hadMailServer: hasMailServer };
  await notifyAssignees(tx, run, approval, [{ ...notice, notified: !hasMailServer }]);
}

/** Adds those to whom it escalates by now. */
export async function escalate(
  tx: EngineWriters,
  ref: StepRef,
  priority: number,
  { now, hasMailServer }: Omit<Surroundings, "planDigest">,
): Promise<void> {
  const pending = await lockPending(tx, ref, now);
  if (pending === undefined) return;
  const { run, approval } = pending;
  const { escalate: rules } = approval.rules;
  const done = approval.events.filter(({ kind }) => kind === "escalated").length;
  const due = rules.filter(({ after }) => Date.parse(approval.createdAt) + after <= now).length;
  await addNext(tx, approval, priority, "escalate", rules[due]?.after ?? null);
  const at = iso(now);
  const notices = rules
    .slice(done, due)
    .map(({ to }) => ({ kind: "escalated" as const, at, to, hadMailServer: hasMailServer }));
  await notifyAssignees(tx, run, approval, notices);
}

/** @returns undefined for one that has ended, or ends with its timer, which may be late */
async function lockPending(
  tx: EngineWriters,
  ref: StepRef,
  now: number,
): Promise<{ run: RunRecord; approval: ApprovalRecord } | undefined> {
  const run = await tx.runs.lock(ref.runId);
  const found = await tx.approvals.findByStep(ref);
  const approval = found && (await tx.approvals.lock(found.id));
  if (run === undefined || approval?.status !== "pending") return undefined;
  return approval.expiresAt !== null && Date.parse(approval.expiresAt) <= now ? undefined : { run, approval };
}

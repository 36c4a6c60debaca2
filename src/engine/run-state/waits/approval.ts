/** An `approval` step waits until a person decides, or fails when its timeout is over. */
import { encodeJson } from "../../../core/encoded-json.ts";
import { shortHash } from "../../../core/short-hash.ts";
import { iso } from "../../../core/clock.ts";
import { planDigest, type PersonDecision, tally } from "../../../core/approval-rules.ts";
import type { ApprovalRecord, RunRecord, StepRef } from "../../../core/model.ts";
import type { ApprovalDecision } from "../../../core/approval-ports.ts";
import type { EngineWriters } from "../../../core/run-ports.ts";
import { StepError } from "../../../core/step-errors.ts";
import { announceEnds } from "../announce-ends.ts";
import { recordApproval } from "../outgoing-events.ts";
import { newJob } from "../run-context.ts";
import { toRunError } from "../run-error.ts";
import type { EndedResult } from "../step-result.ts";
import { addReminders, notifyAssignees } from "./approval-reminders.ts";
import type { OutcomeWait } from "./wait-kind.ts";

export const approvalWait: OutcomeWait<"approval"> = {
  state: "waiting",

  async prepare(
    { message, form, assignees, rules, evidence, delivery },
    { run, job, inputHash, now, timeoutMs, planLevels },
  ) {
    const id = `apr_${shortHash(`${job.runId} ${job.stepId} ${job.item ?? "-"}`)}`;
    const expiresAt = timeoutMs === null ? null : iso(now + timeoutMs);
    const plan = await planLevels(run, job.stepId);
    return {
      kind: "approval",
      approval: { id, message, form, assignees, plan, rules, evidence, delivery },
      expiresAt,
      inputHash,
    };
  },

  async begin({ context, update: { tx, run }, ref, attempt }, { approval, expiresAt }) {
    const createdAt = iso(context.clock.now());
    await tx.approvals.insert({
      ...ref,
      ...approval,
      workflowId: run.workflowId,
      status: "pending",
      createdAt,
      expiresAt,
      decidedAt: null,
      decidedBy: null,
      comment: null,
      answer: null,
      decidedVia: null,
    });
    await recordApproval(tx, run, {
      id: approval.id,
      ref,
      at: iso(context.clock.now()),
      expiresAt,
    });
    if (expiresAt !== null) {
      await tx.jobs.add(newJob(ref, "wake", run.priority, { dueAt: expiresAt, attempt }));
    }
    await addReminders(tx, { ...ref, ...approval, createdAt }, run.priority, context.clock.now());
    if (approval.assignees.length > 0) {
      const asked = { kind: "asked" as const, at: createdAt, to: approval.assignees };
      await notifyAssignees(tx, { ...ref, id: approval.id, events: [] }, run.priority, [asked]);
    } else if (approval.delivery.chat.length > 0) {
      await tx.jobs.add(newJob(ref, "notify", run.priority));
    }
    return { waitUntil: expiresAt };
  },

  matches: async (tx, _step, ref) => (await tx.approvals.findByStep(ref)) !== undefined,

  async onTimer(context, tx, _step, ref) {
    const approval = (await tx.approvals.findByStep(ref))!;
    const expired: ApprovalDecision = {
      status: "expired",
      decidedAt: iso(context.clock.now()),
      decidedBy: null,
      comment: null,
      answer: null,
    };
    if (!(await tx.approvals.decide(approval.id, expired))) return undefined;
    if (approval.delivery.chat.length > 0) await announceEnds(tx, (await tx.runs.find(ref.runId))!);
    return { kind: "failed", error: toRunError(approvalTimeout(ref.stepId), ref) };
  },
};

/** What a person decided. `via` says how, if not over the API or in the interface. */
export type RecordedDecision = Omit<PersonDecision, "planDigest"> & { via?: ApprovalRecord["decidedVia"] };

/** What a decision of a person led to. */
export type DecisionEffect = { status: "pending" | "approved" | "declined" } | { refused: "ended" | "taken" };

/**
 * Records what one person decided, for the plan that holds now. If it is the last decision that was needed, it ends the approval
 * and adds the job that ends the wait. This is the only function that decides an approval.
 *
 * Locks: the run, then the approval, until the transaction ends.
 * @param levels what can still run: decisions for other plans don't count
 * @returns `refused` when the approval has ended, or the person has decided or the place is taken; nothing is written then
 */
export async function recordDecision(
  tx: EngineWriters,
  { id, runId, stepId, item }: Pick<ApprovalRecord, "id" | keyof StepRef>,
  { via = null, ...decision }: RecordedDecision,
  levels: readonly string[],
): Promise<DecisionEffect> {
  const run = (await tx.runs.lock(runId))!;
  const approval = await tx.approvals.lock(id);
  if (approval?.status !== "pending") return { refused: "ended" };
  const digest = planDigest(levels);
  if (!(await tx.approvals.addDecision(id, { ...decision, planDigest: digest }))) return { refused: "taken" };
  const all = [...approval.decisions, { ...decision, planDigest: digest }];
  const { outcome } = tally(approval.rules, all, digest);
  if (outcome === null) {
    await touchStep(tx, run, stepId);
    return { status: "pending" };
  }
  const { decidedAt, name, comment, answer } = decision;
  const end = { status: outcome, decidedAt, decidedBy: name, comment, answer, plan: levels, decidedVia: via };
  if (!(await tx.approvals.decide(id, end))) return { refused: "ended" };
  await tx.jobs.add(newJob({ runId, stepId, item }, "decided", run.priority));
  if (approval.delivery.chat.length > 0) await announceEnds(tx, run);
  return { status: outcome };
}

/** Saves a step as it is with a new number, so that those who follow the run read its approvals again. */
async function touchStep(tx: EngineWriters, { id: runId, seq }: RunRecord, stepId: string): Promise<void> {
  const ref = { runId, stepId, item: null };
  const { state } = (await tx.runs.step(ref))!;
  await tx.runs.update(runId, { seq: seq + 1 });
  await tx.runs.saveStep(ref, { seq: seq + 1, state });
}

/** Ends the wait of a decided approval. @returns undefined without an approval */
export async function decidedResult(tx: EngineWriters, ref: StepRef): Promise<EndedResult | undefined> {
  const approval = await tx.approvals.findByStep(ref);
  if (approval === undefined) return undefined;
  // Drops the timer that would let the approval expire.
  await tx.jobs.dropStepJobs(ref);
  const step = await tx.runs.step(ref);
  const output = {
    approved: approval.status === "approved",
    by: approval.decidedBy,
    comment: approval.comment,
    form: approval.answer,
    decisions: countedDecisions(approval).map((decision) => ({
      by: decision.name,
      approved: decision.approved,
      comment: decision.comment,
      form: decision.answer,
      at: decision.decidedAt,
    })),
  };
  return { kind: "succeeded", output: encodeJson(output), inputHash: step?.inputHash ?? null };
}

/** The decisions for the plan that holds at the end. One that an older release recorded has none. */
const countedDecisions = ({ decisions, plan }: ApprovalRecord): PersonDecision[] =>
  decisions.filter((decision) => plan !== null && decision.planDigest === planDigest(plan));

const approvalTimeout = (stepId: string): StepError =>
  new StepError("approval_timeout", `"${stepId}" was not decided in time.`, {
    fix: "Retry the run to ask again, or give the step a longer timeout.",
  });

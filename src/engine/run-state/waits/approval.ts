/** An `approval` step waits until a person decides, or fails when its timeout is over. */
import { encodeJson } from "../../../core/encoded-json.ts";
import { shortHash } from "../../../core/short-hash.ts";
import { iso } from "../../../core/clock.ts";
import type { ApprovalRecord, StepRef } from "../../../core/model.ts";
import type { ApprovalDecision } from "../../../core/approval-ports.ts";
import type { EngineWriters } from "../../../core/run-ports.ts";
import { StepError } from "../../../core/step-errors.ts";
import type { Applied } from "../../../core/transactions.ts";
import { newJob } from "../run-context.ts";
import { toRunError } from "../run-error.ts";
import type { EndedResult } from "../step-result.ts";
import type { WaitKind } from "./wait-kind.ts";

export const approvalWait: WaitKind<"approval"> = {
  state: "waiting",

  async prepare({ message, form, assignees }, { run, job, inputHash, now, timeoutMs, planLevels }) {
    const id = `apr_${shortHash(`${job.runId} ${job.stepId} ${job.item ?? "-"}`)}`;
    const expiresAt = timeoutMs === null ? null : iso(now + timeoutMs);
    const plan = await planLevels(run, job.stepId);
    return { kind: "approval", approval: { id, message, form, assignees, plan }, expiresAt, inputHash };
  },

  async begin({ context, update: { tx, run }, ref, attempt }, { approval, expiresAt }) {
    await tx.approvals.insert({
      ...ref,
      ...approval,
      workflowId: run.workflowId,
      status: "pending",
      createdAt: iso(context.clock.now()),
      expiresAt,
      decidedAt: null,
      decidedBy: null,
      comment: null,
      answer: null,
    });
    if (expiresAt !== null) {
      await tx.jobs.add(newJob(ref, "wake", run.priority, { dueAt: expiresAt, attempt }));
    }
    if (approval.assignees.length > 0) await tx.jobs.add(newJob(ref, "notify", run.priority));
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
    return { kind: "failed", error: toRunError(approvalTimeout(ref.stepId), ref) };
  },
};

/**
 * Records a decision, and adds the job that ends the wait.
 * @returns false when the approval was no longer pending, because it was decided or expired; nothing is written then
 */
export async function recordDecision(
  tx: EngineWriters,
  { id, runId, stepId, item }: ApprovalRecord,
  decision: ApprovalDecision,
): Promise<Applied> {
  if (!(await tx.approvals.decide(id, decision))) return false;
  const run = (await tx.runs.find(runId))!;
  await tx.jobs.add(newJob({ runId, stepId, item }, "decided", run.priority));
  return true;
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
  };
  return { kind: "succeeded", output: encodeJson(output), inputHash: step?.inputHash ?? null };
}

const approvalTimeout = (stepId: string): StepError =>
  new StepError("approval_timeout", `"${stepId}" was not decided in time.`, {
    fix: "Retry the run to ask again, or give the step a longer timeout.",
  });

import type { Approval } from "../../schemas/approval.ts";
import { projectField } from "../../schemas/project.ts";
import type { RemainingWork } from "../../src/core/engine-port.ts";
import { AppError } from "../../src/core/errors.ts";
import type { ApprovalRecord } from "../../src/core/model.ts";
import type { ApprovalReader } from "../../src/core/approval-ports.ts";
import type { ToolContext } from "../../src/core/tool.ts";

/** An approval as the API returns it. @param remaining what can still run; left out, it is not shown */
export const serializeApproval = (approval: ApprovalRecord, remaining?: RemainingWork): Approval => ({
  id: approval.id,
  run_id: approval.runId,
  workflow_id: approval.workflowId,
  ...projectField(approval.project),
  step_id: approval.stepId,
  ...(approval.item !== null && { item: approval.item }),
  status: approval.status,
  message: approval.message,
  form: approval.form,
  assignees: approval.assignees,
  created_at: approval.createdAt,
  expires_at: approval.expiresAt,
  decided_at: approval.decidedAt,
  decided_by: approval.decidedBy,
  comment: approval.comment,
  answer: approval.answer,
  ...(remaining !== undefined && { plan: serializePlan(approval, remaining) }),
});

const serializePlan = (approval: ApprovalRecord, { digest, levels, workflows }: RemainingWork) => ({
  digest,
  changed: hasPlanChanged(approval, levels),
  workflows,
});

/** Whether what can still run differs from what the approval is bound to. One of an older release is bound to nothing. */
export const hasPlanChanged = ({ plan }: ApprovalRecord, levels: readonly string[]): boolean =>
  plan !== null && plan.join(" ") !== levels.join(" ");

/** A pending approval with what can still run, any other one without. */
export const withPlan = async (ctx: ToolContext, approval: ApprovalRecord): Promise<Approval> =>
  serializeApproval(
    approval,
    approval.status === "pending" ? await ctx.engine.remainingWork(ctx.read, approval) : undefined,
  );

/** @throws AppError approval_not_found */
export async function findApproval(
  approvals: Pick<ApprovalReader, "find">,
  id: string,
): Promise<ApprovalRecord> {
  const found = await approvals.find(id);
  if (found !== undefined) return found;
  throw new AppError(
    "approval_not_found",
    `There is no approval "${id.slice(0, 100)}". list_approvals (GET /approvals) shows the pending ones.`,
    { errors: [{ path: "approval_id", code: "not_found", message: "is not the id of an approval" }] },
  );
}

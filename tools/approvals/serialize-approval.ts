import type { Approval } from "../../schemas/run.ts";
import { AppError } from "../../src/core/errors.ts";
import type { ApprovalRecord } from "../../src/core/model.ts";
import type { ApprovalReader } from "../../src/core/run-ports.ts";

/** An approval as the API returns it. */
export const serializeApproval = (approval: ApprovalRecord): Approval => ({
  id: approval.id,
  run_id: approval.runId,
  workflow_id: approval.workflowId,
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
});

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

import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import { iso } from "../../src/core/clock.ts";
import type { Writers } from "../../src/core/ports.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { deciderName } from "../approvals/decider-name.ts";
import { decidedError } from "./find-decidable.ts";
import { findReview } from "./serialize-review.ts";
import { planPublication } from "./review-plan.ts";
import { isReviewed } from "./review-rule.ts";

/**
 * Ends the pending request for a version that somebody publishes without a decision on it. In a project with review this is
 * another person, who approves it by that.
 * @param workflow as it was before
 * @throws AppError workflow_not_runnable when the version calls what nobody has reviewed, in a project with review
 */
export async function endPublishedReview(
  ctx: ToolContext,
  tx: Writers,
  workflow: WorkflowWithDefinition,
  version: number,
): Promise<void> {
  const isApproval = await isReviewed(tx, workflow);
  const pending = await tx.reviews.findPending(workflow.id);
  const breakCallers = pending?.version === version ? pending.plan.break_callers : [];
  const planned = isApproval ? await planPublication(ctx, tx, workflow, version, breakCallers) : undefined;
  if (pending?.version !== version) return;
  const end = {
    status: isApproval ? ("approved" as const) : ("outdated" as const),
    decidedAt: iso(ctx.now()),
    decidedBy: deciderName(ctx.actor.principal),
    comment: null,
  };
  if (!(await tx.reviews.endPending(pending.id, end, planned)))
    throw decidedError(await findReview(tx.reviews, pending.id));
}

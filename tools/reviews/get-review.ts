import { z } from "zod";
import { Review, ReviewId } from "../../schemas/review.ts";
import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import { AppError } from "../../src/core/errors.ts";
import type { ReviewRecord } from "../../src/core/review-ports.ts";
import { unscoped } from "../../src/core/scoped-readers.ts";
import { defineTool, type ToolContext } from "../../src/core/tool.ts";
import { sightOfCaller, visiblePlan } from "../../src/core/visible-plan.ts";
import { whyNotDecidable, workflowOf } from "./find-decidable.ts";
import { planPublication } from "./review-plan.ts";
import { findReview, serializeReview } from "./serialize-review.ts";
import { versionDifference } from "./version-difference.ts";

export const getReview = defineTool({
  name: "get_review",
  title: "Get a change request",
  description:
    "Returns one change request: the difference to the published version, what its runs can do, its examples, and the decision.",
  route: "GET /reviews/:review_id",
  mcpList: "admin",
  scope: "read",
  effect: "read",
  errors: ["review_not_found"],
  input: z.strictObject({ review_id: ReviewId }),
  output: Review,
  async run({ review_id }, ctx) {
    const review = await findReview(ctx.read.reviews, review_id);
    return withDetails(ctx, review, await workflowOf(ctx.read, review));
  },
});

/** A pending request with what would go live now, any other one with what was decided on. */
async function withDetails(
  ctx: ToolContext,
  review: ReviewRecord,
  workflow: WorkflowWithDefinition,
): Promise<Review> {
  const isPending = review.status === "pending";
  const now = isPending ? await currentPlan(ctx, review, workflow) : review;
  const whyNot = isPending
    ? await whyNotDecidable(ctx.read, ctx.actor.principal, review, workflow)
    : "It is no longer pending.";
  return {
    ...(await serializeReview(ctx, review)),
    digest: now.digest,
    changed: now.digest !== review.digest,
    difference: await versionDifference(
      unscoped(ctx.read).workflows,
      workflow.id,
      now.baseVersion,
      review.version,
    ),
    compared_with: now.baseVersion,
    plan: { ...now.plan, workflows: await visiblePlan(now.plan.workflows, sightOfCaller(ctx.read)) },
    examples: review.examples,
    ...(review.backtest !== null && { backtest: review.backtest }),
    decidable: whyNot === undefined ? { by_you: true } : { by_you: false, why_not: whyNot },
  };
}

/** What would go live now. Where nothing can, such as when a called workflow was unpublished, what was asked for. */
async function currentPlan(
  ctx: ToolContext,
  review: ReviewRecord,
  workflow: WorkflowWithDefinition,
): Promise<Pick<ReviewRecord, "digest" | "plan" | "baseVersion">> {
  try {
    return await planPublication(ctx, ctx.read, workflow, review.version, review.plan.break_callers);
  } catch (error) {
    if (error instanceof AppError && error.code === "workflow_not_runnable") return review;
    throw error;
  }
}

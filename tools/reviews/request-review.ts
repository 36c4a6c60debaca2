/** Asks another person to publish a version. */
import type { PassedBacktest } from "../../schemas/backtest-rule.ts";
import { projectOf } from "../../schemas/project.ts";
import { DEFAULT_PROJECT } from "../../schemas/project.ts";
import type { RequestedReview, ReviewExample } from "../../schemas/review.ts";
import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import { iso } from "../../src/core/clock.ts";
import { isContributor } from "../../src/core/authorship.ts";
import { coveringName, normalName } from "../../schemas/difference-names.ts";
import { newReviewId } from "../../src/core/ids.ts";
import type { Principal, Readers, Writers } from "../../src/core/ports.ts";
import type { ReviewRecord } from "../../src/core/review-ports.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { usageSubjectOf } from "../../src/core/usage-limits.ts";
import { isBacktested } from "../backtests/backtest-rule.ts";
import { planPublication } from "./review-plan.ts";
import { decidedError } from "./find-decidable.ts";
import { findReview, reviewUrl } from "./serialize-review.ts";

/** What is asked for. */
interface Requested {
  workflow: WorkflowWithDefinition;
  version: number;
  breakCallers: readonly string[];
}

/** With how the version did in what ran before it was asked. */
interface TestedRequest extends Requested {
  reason: string | null;
  examples: ReviewExample[];
  /** Null where none was needed. */
  backtest: PassedBacktest | null;
}

/**
 * Returns the pending request for exactly this, if somebody has asked already.
 * @param requested.accepted the names of differences that the caller accepts
 */
export async function findSameRequest(
  ctx: Pick<ToolContext, "engine" | "now">,
  read: Pick<Readers, "reviews" | "workflows" | "runs" | "projects">,
  { workflow, version, breakCallers, accepted }: Requested & { accepted: readonly string[] },
): Promise<ReviewRecord | undefined> {
  const pending = await read.reviews.findPending(workflow.id);
  if (pending?.version !== version) return undefined;
  const { backtest } = pending;
  const names = accepted.map(normalName);
  const isAccepted = (name: string): boolean => coveringName(name, names) !== undefined;
  if (!(await isBacktested(read, workflow, version, backtest))) return undefined;
  // It accepts more than the caller does.
  if (accepted.length > 0 && backtest?.accepted.every(isAccepted) === false) return undefined;
  const { digest } = await planPublication(ctx, read, workflow, version, breakCallers);
  return pending.digest === digest ? pending : undefined;
}

/** Whether a caller is who asked, with any of their keys and sessions. */
export const isRequester = (
  principal: Principal,
  { requestedBy: owner, keyName, subject }: ReviewRecord,
): boolean => isContributor(principal, { owner, keyName, subject });

/**
 * Gives the pending request of the caller another reason. What is decided on stays the same.
 * @throws AppError review_decided
 */
export async function changeReason(tx: Writers, review: ReviewRecord, reason: string): Promise<ReviewRecord> {
  if (!(await tx.reviews.setReason(review.id, reason)))
    throw decidedError(await findReview(tx.reviews, review.id));
  await tx.recordAudit(review.workflowId, "review_reason_changed");
  return { ...review, reason };
}

/**
 * Records a request to publish a version, in place of an earlier one for the workflow.
 * @throws AppError workflow_not_runnable
 */
export async function requestReview(
  ctx: ToolContext,
  tx: Writers,
  { workflow, version, breakCallers, reason, examples, backtest }: TestedRequest,
): Promise<ReviewRecord> {
  const requestedAt = iso(ctx.now());
  const planned = await planPublication(ctx, tx, workflow, version, breakCallers);
  const pending = await tx.reviews.findPending(workflow.id);
  const replaced = { status: "replaced" as const, decidedAt: requestedAt, decidedBy: null, comment: null };
  if (pending !== undefined && !(await tx.reviews.endPending(pending.id, replaced)))
    throw decidedError(await findReview(tx.reviews, pending.id));
  const { owner, keyName, lineage } = ctx.actor.principal;
  const review: ReviewRecord = {
    id: newReviewId(),
    project: projectOf(workflow),
    workflowId: workflow.id,
    version,
    ...planned,
    status: "pending",
    examples,
    backtest,
    reason,
    requestedAt,
    requestedBy: owner,
    keyName,
    lineage,
    subject: usageSubjectOf({ owner, lineage }),
    decidedAt: null,
    decidedBy: null,
    comment: null,
  };
  await tx.reviews.insert(review);
  await tx.recordAudit(workflow.id, "review_requested");
  return review;
}

/** The workflow as it is, with what happens next. */
export const withRequest = async (
  ctx: Pick<ToolContext, "accounts">,
  workflow: WorkflowWithDefinition,
  review: ReviewRecord,
): Promise<WorkflowWithDefinition & { review: RequestedReview }> => ({
  ...workflow,
  review: await describeRequest(ctx, review, workflow),
});

async function describeRequest(
  ctx: Pick<ToolContext, "accounts">,
  { id, version, project }: ReviewRecord,
  { id: workflowId, published_version: published }: WorkflowWithDefinition,
): Promise<RequestedReview> {
  const url = await reviewUrl(ctx, id);
  const place = project === DEFAULT_PROJECT ? "" : ` in the project "${project}"`;
  const live =
    published === null ? `"${workflowId}" stays unpublished` : `version ${published} stays the published one`;
  return {
    id,
    status: "pending",
    url,
    detail:
      `Nothing was published: another person reviews a version before it goes live${place}. ` +
      `A change request for version ${version} waits for them at ${url}; until then ${live}. ` +
      `Tell the person you work for. get_workflow with include: ["last_review"], or GET /reviews/${id}, shows the decision, with a comment if it is rejected.`,
  };
}

/** Change requests as operations return them. */
import { projectField } from "../../schemas/project.ts";
import type { Review } from "../../schemas/review.ts";
import { AppError } from "../../src/core/errors.ts";
import type { ReviewReader, ReviewRecord } from "../../src/core/review-ports.ts";
import type { ToolContext } from "../../src/core/tool.ts";

/** The address of the page on which a change request is decided. */
export const reviewUrl = ({ accounts }: Pick<ToolContext, "accounts">, id: string): Promise<string> =>
  accounts.pageUrl(`/reviews/${id}`);

/** A change request without what it is about. */
export const serializeReview = async (
  ctx: Pick<ToolContext, "accounts">,
  review: ReviewRecord,
): Promise<Review> => ({
  id: review.id,
  ...projectField(review.project),
  workflow_id: review.workflowId,
  version: review.version,
  base_version: review.baseVersion,
  status: review.status,
  reason: review.reason,
  requested_at: review.requestedAt,
  requested_by: review.requestedBy,
  key_name: review.keyName,
  decided_at: review.decidedAt,
  decided_by: review.decidedBy,
  comment: review.comment,
  url: await reviewUrl(ctx, review.id),
});

/** @throws AppError review_not_found */
export async function findReview(reviews: Pick<ReviewReader, "find">, id: string): Promise<ReviewRecord> {
  const found = await reviews.find(id);
  if (found !== undefined) return found;
  throw new AppError(
    "review_not_found",
    `There is no change request "${id.slice(0, 100)}". list_reviews (GET /reviews) shows the pending ones.`,
    { errors: [{ path: "review_id", code: "not_found", message: "is not the id of a change request" }] },
  );
}

import { z } from "zod";
import { Review, ReviewId } from "../../schemas/review.ts";
import { IdempotencyKey } from "../../schemas/workflow.ts";
import { iso } from "../../src/core/clock.ts";
import { AppError } from "../../src/core/errors.ts";
import { defineTool } from "../../src/core/tool.ts";
import { deciderName } from "../approvals/decider-name.ts";
import { decidedError } from "./find-decidable.ts";
import { isRequester } from "./request-review.ts";
import { findReview, serializeReview } from "./serialize-review.ts";

export const withdrawReview = defineTool({
  name: "withdraw_review",
  title: "Withdraw a change request",
  description: "Withdraws a change request. Only who asked can, with any of their keys and sessions.",
  route: "POST /reviews/:review_id/withdraw",
  mcpList: "admin",
  scope: "publish",
  effect: "act",
  errors: ["review_not_found", "review_not_yours", "review_decided", "idempotency_key_reused"],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({ review_id: ReviewId, idempotency_key: IdempotencyKey.optional() }),
  output: Review,
  run: ({ review_id }, ctx) =>
    ctx.write(async (tx) => {
      const review = await findReview(tx.reviews, review_id);
      const { principal } = ctx.actor;
      if (!isRequester(principal, review))
        throw new AppError(
          "review_not_yours",
          `Only who asked for ${review_id} can withdraw it. A person who may decide it can reject it instead.`,
        );
      const end = {
        status: "withdrawn" as const,
        decidedAt: iso(ctx.now()),
        decidedBy: deciderName(principal),
        comment: null,
      };
      if (!(await tx.reviews.endPending(review.id, end)))
        throw decidedError(await findReview(tx.reviews, review.id));
      await tx.recordAudit(review.id);
      return serializeReview(ctx, { ...review, ...end });
    }),
});

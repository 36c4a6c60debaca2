/** Requests to publish: decided, withdrawn, and whether a project requires them. */
import type { Company } from "./company.ts";
import { answerTo } from "./conditions.ts";
import type { Review } from "./made.ts";
import type { Makers, Pick } from "./request.ts";
import { publish } from "./things.ts";

export const REVIEW_OPERATIONS: Makers = [
  [
    8,
    "decide_review",
    async (company, pick) => {
      const review = await choosePendingReview(company, pick);
      if (review === undefined) return undefined;
      const { id, workflow, version } = review;
      const { digest } = (await company.instance.read.reviews.find(id))!;
      const isApproval = pick.chance(0.7);
      const decision = isApproval ? { decision: "approve", digest } : { decision: "reject", comment: "No." };
      return {
        operation: "decide_review",
        input: { review_id: id, ...decision },
        expected(actor) {
          const answer = answerTo(company, actor, "decide_review", { review });
          // The published version may be another one since.
          return isApproval && answer === "ok" ? "ok|review_changed" : answer;
        },
        async after(actor) {
          if (isApproval) await publish(company, { workflow, version, by: actor, startsFor: review.by });
        },
      };
    },
  ],
  [
    1,
    "withdraw_review",
    async (company, pick) => {
      const review = await choosePendingReview(company, pick);
      if (review === undefined) return undefined;
      return {
        operation: "withdraw_review",
        input: { review_id: review.id },
        expected: (actor) => answerTo(company, actor, "withdraw_review", { review }),
      };
    },
  ],
  [
    1,
    "update_project",
    (company, pick) => {
      const project = pick.one(company.ownProjects)!;
      const review = pick.chance(0.4);
      return {
        operation: "update_project",
        input: { project, review },
        expected: (actor) => answerTo(company, actor, "update_project", { project, requiresReview: review }),
        after: () => void (review ? company.reviewed.add(project) : company.reviewed.delete(project)),
      };
    },
  ],
];

async function choosePendingReview({ reviews, instance }: Company, pick: Pick): Promise<Review | undefined> {
  while (reviews.length > 0) {
    const review = pick.one(reviews)!;
    if ((await instance.read.reviews.find(review.id))?.status === "pending") return review;
    reviews.splice(reviews.indexOf(review), 1);
  }
  return undefined;
}

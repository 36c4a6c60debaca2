import type { z } from "zod";
import type { LastReview } from "../../schemas/review.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { serializeReview } from "./serialize-review.ts";

/** The newest change request of a workflow, as a part of the workflow; null for none. */
export async function lastReviewOf(
  ctx: ToolContext,
  workflowId: string,
): Promise<z.infer<typeof LastReview> | null> {
  const { items } = await ctx.read.reviews.page({ filter: { workflowId }, after: null, limit: 1 });
  const [newest] = items;
  if (newest === undefined) return null;
  const { id, version, status, decided_by, comment, url } = await serializeReview(ctx, newest);
  return { id, version, status, decided_by, comment, url };
}

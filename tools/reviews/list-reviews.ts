import { z } from "zod";
import { Cursor, Limit, pageOf } from "../../schemas/page.ts";
import { ProjectFilter } from "../../schemas/project.ts";
import { Review, ReviewStatus } from "../../schemas/review.ts";
import { WorkflowIdRef } from "../../schemas/workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { assertProjectFilter } from "../projects/find-project.ts";
import { serializeReview } from "./serialize-review.ts";

export const listReviews = defineTool({
  name: "list_reviews",
  title: "List change requests",
  description: "Lists requests to publish a version that another person decides, newest first.",
  route: "GET /reviews",
  mcpList: "admin",
  scope: "read",
  effect: "read",
  errors: ["invalid_cursor", "project_not_found"],
  page: { item: Review, mcpLimit: 20 },
  input: z.strictObject({
    status: ReviewStatus.default("pending"),
    workflow_id: WorkflowIdRef.optional(),
    project: ProjectFilter,
    limit: Limit.optional(),
    cursor: Cursor.optional(),
  }),
  output: pageOf(Review),
  async run({ status, workflow_id: workflowId, project, limit, cursor }, ctx) {
    await assertProjectFilter(ctx, project);
    const filter = { status, workflowId, project };
    const query = JSON.stringify(["list_reviews", filter]);
    const after = cursor === undefined ? null : ctx.cursors.decode(query, cursor);
    const pageSize = limit ?? listReviews.page!.mcpLimit;
    const { items, next } = await ctx.read.reviews.page({ filter, after, limit: pageSize });
    return {
      items: await Promise.all(items.map((review) => serializeReview(ctx, review))),
      ...(await ctx.total(() => ctx.read.reviews.count(filter))),
      next_cursor: next && ctx.cursors.encode(query, next),
    };
  },
});

import { z } from "zod";
import { BulkActionSummary } from "../../schemas/bulk-action.ts";
import { Cursor, Limit, pageOf } from "../../schemas/page.ts";
import { ProjectFilter } from "../../schemas/project.ts";
import { WorkflowIdRef } from "../../schemas/workflow.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { assertProjectFilter } from "../projects/find-project.ts";
import { toBulkActionSummary } from "./serialize-bulk-action.ts";

export const listBulkActions = defineTool({
  name: "list_bulk_actions",
  title: "List bulk actions",
  description: "Lists bulk actions, newest first, with how far each is.",
  route: "GET /bulk-actions",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  errors: ["workflow_not_found", "project_not_found", "invalid_cursor"],
  page: { item: BulkActionSummary, mcpLimit: 20 },
  input: z.strictObject({
    workflow_id: WorkflowIdRef.optional().meta({
      description: "Only those whose runs are all of this workflow.",
      example: "weekly-revenue",
    }),
    project: ProjectFilter,
    limit: Limit.optional(),
    cursor: Cursor.optional(),
  }),
  output: pageOf(BulkActionSummary),
  async run({ workflow_id, project, limit, cursor }, ctx) {
    await assertProjectFilter(ctx, project);
    const workflowId =
      workflow_id === undefined ? undefined : (await findWorkflow(ctx.read.workflows, workflow_id)).id;
    const filter = { project, workflowId };
    const query = JSON.stringify(["list_bulk_actions", filter]);
    const after = cursor === undefined ? null : ctx.cursors.decode(query, cursor);
    const pageSize = limit ?? listBulkActions.page!.mcpLimit;
    const { items, next } = await ctx.read.bulkActions.page({ filter, after, limit: pageSize });
    const serialized: BulkActionSummary[] = [];
    for (const item of items) serialized.push(await toBulkActionSummary(item, ctx.read));
    return {
      items: serialized,
      ...(await ctx.total(() => ctx.read.bulkActions.count(filter))),
      next_cursor: next && ctx.cursors.encode(query, next),
    };
  },
});

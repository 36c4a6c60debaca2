import { z } from "zod";
import { Backfill } from "../../schemas/backfill.ts";
import { Cursor, Limit, pageOf } from "../../schemas/page.ts";
import { WorkflowIdRef } from "../../schemas/workflow.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { toBackfill } from "./serialize-backfill.ts";

export const listBackfills = defineTool({
  name: "list_backfills",
  title: "List a workflow's backfills",
  description: "Lists the backfills of a workflow, newest first, with how far each is.",
  route: "GET /workflows/:workflow_id/backfills",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  errors: ["workflow_not_found", "invalid_cursor"],
  page: { item: Backfill, mcpLimit: 20 },
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    limit: Limit.optional(),
    cursor: Cursor.optional(),
  }),
  output: pageOf(Backfill),
  async run({ workflow_id, limit, cursor }, ctx) {
    const { id } = await findWorkflow(ctx.read.workflows, workflow_id);
    const filter = { workflowId: id };
    const query = JSON.stringify(["list_backfills", id]);
    const after = cursor === undefined ? null : ctx.cursors.decode(query, cursor);
    const pageSize = limit ?? listBackfills.page!.mcpLimit;
    const { items, next } = await ctx.read.backfills.page({ filter, after, limit: pageSize });
    const serialized: Backfill[] = [];
    for (const item of items) serialized.push(await toBackfill(ctx.read.backfills, item));
    return {
      items: serialized,
      ...(await ctx.total(() => ctx.read.backfills.count(filter))),
      next_cursor: next && ctx.cursors.encode(query, next),
    };
  },
});

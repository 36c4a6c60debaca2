import { z } from "zod";
import { Backtest } from "../../schemas/backtest.ts";
import { Cursor, Limit, pageOf } from "../../schemas/page.ts";
import { Version, WorkflowIdRef } from "../../schemas/workflow.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { toBacktest } from "./serialize-backtest.ts";

export const listBacktests = defineTool({
  name: "list_backtests",
  title: "List a workflow's backtests",
  description: "Lists the backtests of a workflow, newest first, with what each has found.",
  route: "GET /workflows/:workflow_id/backtests",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  readsValues: true,
  errors: ["workflow_not_found", "invalid_cursor"],
  page: { item: Backtest, mcpLimit: 20 },
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    version: Version.optional().meta({
      description: "Only those that test this version as it is saved.",
      example: 3,
    }),
    limit: Limit.optional(),
    cursor: Cursor.optional(),
  }),
  output: pageOf(Backtest),
  async run({ workflow_id, version, limit, cursor }, ctx) {
    const { id } = await findWorkflow(ctx.read.workflows, workflow_id);
    const filter = { workflowId: id, version };
    const query = JSON.stringify(["list_backtests", id, version ?? null]);
    const after = cursor === undefined ? null : ctx.cursors.decode(query, cursor);
    const pageSize = limit ?? listBacktests.page!.mcpLimit;
    const { items, next } = await ctx.read.backtests.page({ filter, after, limit: pageSize });
    const serialized: Backtest[] = [];
    for (const item of items) serialized.push(await toBacktest(ctx, item));
    return {
      items: serialized,
      ...(await ctx.total(() => ctx.read.backtests.count(filter))),
      next_cursor: next && ctx.cursors.encode(query, next),
    };
  },
});

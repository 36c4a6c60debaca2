import { z } from "zod";
import { BulkActionId, BulkActionResult, BulkActionRun } from "../../schemas/bulk-action.ts";
import { Cursor, Limit, pageOf } from "../../schemas/page.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findBulkAction, toBulkActionRun } from "./serialize-bulk-action.ts";

/** Number of runs of a page, unless the caller asks for another one. */
const PAGE_SIZE = 50;

export const listBulkActionRuns = defineTool({
  name: "list_bulk_action_runs",
  title: "List the runs of a bulk action",
  description: "Lists the runs of a bulk action in their order, with what happened with each.",
  route: "GET /bulk-actions/:bulk_action_id/runs",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  errors: ["bulk_action_not_found", "invalid_cursor"],
  page: { item: BulkActionRun, mcpLimit: PAGE_SIZE },
  input: z.strictObject({
    bulk_action_id: BulkActionId,
    result: BulkActionResult.optional().meta({
      description: "Only runs with this result.",
      example: "skipped",
    }),
    limit: Limit.optional(),
    cursor: Cursor.optional(),
  }),
  output: pageOf(BulkActionRun),
  async run({ bulk_action_id, result, limit, cursor }, ctx) {
    const { id, total } = await findBulkAction(ctx.read, bulk_action_id);
    const query = JSON.stringify(["list_bulk_action_runs", id, result ?? null]);
    const position = cursor === undefined ? null : ctx.cursors.decode(query, cursor);
    const pageSize = limit ?? PAGE_SIZE;
    const found = await ctx.read.bulkActions.runs(id, {
      result,
      after: position && Number(position[0]),
      limit: pageSize + 1,
    });
    const shown = found.slice(0, pageSize);
    const items: BulkActionRun[] = [];
    for (const run of shown) items.push(await toBulkActionRun(ctx.read, run));
    const last = shown.at(-1);
    return {
      items,
      ...(await ctx.total(async () =>
        result === undefined ? total : ((await ctx.read.bulkActions.resultCounts(id))[result] ?? 0),
      )),
      next_cursor:
        found.length > pageSize ? ctx.cursors.encode(query, [String(last!.position), last!.run]) : null,
    };
  },
});

import { z } from "zod";
import { BacktestId, BacktestResult, BacktestRun } from "../../schemas/backtest.ts";
import { Cursor, Limit, pageOf } from "../../schemas/page.ts";
import { WorkflowIdRef } from "../../schemas/workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findBacktest, toBacktestRun } from "./serialize-backtest.ts";

/** Number of runs of a page, unless the caller asks for another one. */
const PAGE_SIZE = 50;

export const listBacktestRuns = defineTool({
  name: "list_backtest_runs",
  title: "List the runs of a backtest",
  description: "Lists the runs of a backtest, newest first, with what differs in each.",
  route: "GET /workflows/:workflow_id/backtests/:backtest_id/runs",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  readsValues: true,
  errors: ["workflow_not_found", "backtest_not_found", "invalid_cursor"],
  page: { item: BacktestRun, mcpLimit: PAGE_SIZE },
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    backtest_id: BacktestId,
    result: BacktestResult.optional().meta({
      description: "Only runs with this result.",
      example: "different",
    }),
    limit: Limit.optional(),
    cursor: Cursor.optional(),
  }),
  output: pageOf(BacktestRun),
  async run({ workflow_id, backtest_id, result, limit, cursor }, ctx) {
    const backtest = await findBacktest(ctx.read, workflow_id, backtest_id);
    const query = JSON.stringify(["list_backtest_runs", backtest.id, result ?? null]);
    const position = cursor === undefined ? null : ctx.cursors.decode(query, cursor);
    const pageSize = limit ?? PAGE_SIZE;
    const found = await ctx.read.backtests.runs(backtest.id, {
      ...(result !== undefined && { results: [result] }),
      after: position && Number(position[0]),
      limit: pageSize + 1,
    });
    const shown = found.slice(0, pageSize);
    const items: BacktestRun[] = [];
    for (const run of shown) items.push(await toBacktestRun(ctx.read, run));
    const last = shown.at(-1);
    return {
      items,
      ...(await ctx.total(async () =>
        result === undefined
          ? backtest.total
          : ((await ctx.read.backtests.resultCounts(backtest.id))[result] ?? 0),
      )),
      next_cursor:
        found.length > pageSize ? ctx.cursors.encode(query, [String(last!.position), last!.run ?? ""]) : null,
    };
  },
});

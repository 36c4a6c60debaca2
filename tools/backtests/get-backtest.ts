import { z } from "zod";
import { Backtest, BacktestId } from "../../schemas/backtest.ts";
import { WaitSeconds } from "../../schemas/run.ts";
import { WorkflowIdRef } from "../../schemas/workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { resolveWaitSeconds } from "../runs/wait-for-run.ts";
import { findBacktest, toBacktest } from "./serialize-backtest.ts";
import { waitForBacktest } from "./wait-for-backtest.ts";

export const getBacktest = defineTool({
  name: "get_backtest",
  title: "Get a backtest",
  description:
    "Returns what a backtest has found; wait waits for its end. Over MCP: backtest_workflow with backtest_id.",
  route: "GET /workflows/:workflow_id/backtests/:backtest_id",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  readsValues: true,
  errors: ["workflow_not_found", "backtest_not_found"],
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    backtest_id: BacktestId,
    wait: WaitSeconds.optional(),
  }),
  output: Backtest,
  async run({ workflow_id, backtest_id, wait }, ctx) {
    const found = await findBacktest(ctx.read, workflow_id, backtest_id);
    await waitForBacktest(ctx, found, resolveWaitSeconds(ctx, wait));
    return toBacktest(ctx, await findBacktest(ctx.read, found.workflowId, found.id));
  },
});

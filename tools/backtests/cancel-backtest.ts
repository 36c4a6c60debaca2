import { z } from "zod";
import { Backtest, BacktestId } from "../../schemas/backtest.ts";
import { IdempotencyKey, WorkflowIdRef } from "../../schemas/workflow.ts";
import { iso } from "../../src/core/clock.ts";
import { AppError } from "../../src/core/errors.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findBacktest, toBacktest } from "./serialize-backtest.ts";

export const cancelBacktest = defineTool({
  name: "cancel_backtest",
  title: "Cancel a backtest",
  description: "Ends a backtest: its replays are cancelled, and what it has compared stays.",
  route: "POST /workflows/:workflow_id/backtests/:backtest_id/cancel",
  surfaces: ["rest"],
  scope: "run",
  effect: "act",
  readsValues: true,
  errors: ["workflow_not_found", "backtest_not_found", "backtest_finished", "idempotency_key_reused"],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    backtest_id: BacktestId,
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: Backtest,
  async run({ workflow_id, backtest_id }, ctx) {
    const cancelledBy = ctx.actor.principal.owner;
    const backtest = await ctx.write(async (tx) => {
      const { id, workflowId } = await findBacktest(tx, workflow_id, backtest_id);
      const finishedAt = iso(ctx.now());
      const end = { status: "cancelled", message: null, summary: null, finishedAt, cancelledBy } as const;
      if (!(await tx.backtests.endRunning(id, end))) {
        const { status } = (await tx.backtests.find(id))!;
        throw new AppError(
          "backtest_finished",
          `The backtest ${id} has already ended (${status}), so there is nothing to cancel.`,
        );
      }
      for (const { run } of await tx.backtests.open(id))
        await ctx.engine.stopRun(tx, run!, { status: "cancelled", by: cancelledBy });
      await tx.recordAudit(workflowId, undefined, { details: { backtest: id } });
      return toBacktest(ctx, (await tx.backtests.find(id))!, tx);
    });
    ctx.engine.wake();
    return backtest;
  },
});

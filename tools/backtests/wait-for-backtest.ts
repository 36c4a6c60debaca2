import type { BacktestRecord } from "../../src/core/backtest-ports.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { waitForEnd } from "../runs/wait-for-end.ts";

/** @param seconds see `waitForEnd` */
export const waitForBacktest = (
  ctx: ToolContext,
  { id, total }: Pick<BacktestRecord, "id" | "total">,
  seconds: number,
): Promise<void> => {
  const { backtests } = ctx.read;
  return waitForEnd(
    ctx,
    {
      isRunning: async () => (await backtests.status(id)) === "running",
      total,
      countDone: async () =>
        Object.values(await backtests.resultCounts(id)).reduce((sum, count) => sum + count, 0),
      verb: "compared",
    },
    seconds,
  );
};

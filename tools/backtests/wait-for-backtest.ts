import { setTimeout as delay } from "node:timers/promises";
import { MAX_WAIT_SECONDS } from "../../schemas/run.ts";
import type { BacktestRecord } from "../../src/core/backtest-ports.ts";
import { SECOND } from "../../src/core/clock.ts";
import type { ToolContext } from "../../src/core/tool.ts";

/** How often the backtest is read while a caller waits, in milliseconds. */
const INTERVAL_MS = 200;

/**
 * Resolves when the backtest has ended, when the time is up, when the caller has gone, and when this process shuts down.
 * @param seconds maximum time to wait; more than `MAX_WAIT_SECONDS` stands for that
 */
export async function waitForBacktest(
  ctx: ToolContext,
  { id, total }: Pick<BacktestRecord, "id" | "total">,
  seconds: number,
): Promise<void> {
  const deadline = performance.now() + Math.min(seconds, MAX_WAIT_SECONDS) * SECOND;
  const signal = AbortSignal.any([ctx.signal, ctx.engine.shutdownSignal]);
  for (;;) {
    const ms = deadline - performance.now();
    if (ms <= 0 || signal.aborted) return;
    if ((await ctx.read.backtests.status(id)) !== "running") return;
    if (ctx.progress !== undefined) {
      const counts = await ctx.read.backtests.resultCounts(id);
      const done = Object.values(counts).reduce((sum, count) => sum + count, 0);
      ctx.progress({ done, total, message: `${done} of ${total} runs compared` });
    }
    await delay(Math.min(INTERVAL_MS, ms), undefined, { signal }).catch(() => undefined);
  }
}

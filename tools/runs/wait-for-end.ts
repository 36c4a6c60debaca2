import { setTimeout as delay } from "node:timers/promises";
import { MAX_WAIT_SECONDS } from "../../schemas/run.ts";
import { SECOND } from "../../src/core/clock.ts";
import type { ToolContext } from "../../src/core/tool.ts";

/** How often it is read while a caller waits, in milliseconds. */
const INTERVAL_MS = 200;

/** What a caller waits for: work that executors go on with. */
interface Work {
  isRunning(): Promise<boolean>;
  /** Number of runs. */
  total: number;
  countDone(): Promise<number>;
  /** What happens with the runs, in the past tense, for messages: `compared`. */
  verb: string;
}

/**
 * Resolves when the work has ended, when the time is up, when the caller has gone, and when this process shuts down.
 * @param seconds maximum time to wait; more than `MAX_WAIT_SECONDS` stands for that
 */
export async function waitForEnd(ctx: ToolContext, work: Work, seconds: number): Promise<void> {
  const deadline = performance.now() + Math.min(seconds, MAX_WAIT_SECONDS) * SECOND;
  const signal = AbortSignal.any([ctx.signal, ctx.engine.shutdownSignal]);
  for (;;) {
    const ms = deadline - performance.now();
    if (ms <= 0 || signal.aborted) return;
    if (!(await work.isRunning())) return;
    if (ctx.progress !== undefined) {
      const { total, verb } = work;
      const done = await work.countDone();
      ctx.progress({ done, total, message: `${done} of ${total} runs ${verb}` });
    }
    await delay(Math.min(INTERVAL_MS, ms), undefined, { signal }).catch(() => undefined);
  }
}

import { SECOND } from "../../src/core/clock.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { earliestWaitEnd } from "./earliest-wait-end.ts";
import { hasEnded } from "./run-response.ts";
import { progressReporter } from "./report-progress.ts";

/** How long agents wait unless they say so, in seconds: most runs have ended by then, and no client gives up before. */
const WAIT_OVER_MCP = 20;

/** How long this caller waits unless it says so, in seconds. */
export const resolveWaitSeconds = (ctx: ToolContext, wait: number | undefined): number =>
  wait ?? (ctx.actor.client.surface === "mcp" ? WAIT_OVER_MCP : 0);

/**
 * Resolves when the run has ended, waits for a person, or the time is up, and when this process is about to end. A
 * caller who goes away ends the waiting, not the run.
 */
export async function waitForRun(ctx: ToolContext, id: string, seconds: number): Promise<void> {
  const until = performance.now() + seconds * SECOND;
  const signal = AbortSignal.any([ctx.signal, ctx.engine.shutdownSignal]);
  const tell = progressReporter(ctx, id);
  for (;;) {
    const ms = until - performance.now();
    if (ms <= 0 || signal.aborted) return;
    const [seen] = await ctx.read.runs.getStatusSummaries([id]);
    if (seen === undefined) return;
    const early = await tell(seen);
    if (hasEnded(seen)) return;
    if (seen.status === "waiting" && (await waitsLonger(ctx, id, ms))) {
      // A wait that has ended meanwhile looked as if it had no end.
      const [now] = await ctx.read.runs.getStatusSummaries([id]);
      if (now?.seq === seen.seq) return;
    }
    const again = early > 0 ? Math.min(early, ms) : ms;
    await ctx.engine.waitForChange(id, seen.seq, { ms: again, signal });
  }
}

/** Whether it waits for a person, or for a moment that is farther away than `ms`. */
async function waitsLonger(ctx: ToolContext, id: string, ms: number): Promise<boolean> {
  if ((await ctx.read.approvals.count({ runId: id, status: "pending" })) > 0) return true;
  const next = await earliestWaitEnd(ctx.read.runs, id);
  return next === undefined || Date.parse(next) > ctx.now() + ms;
}

import { SECOND } from "../../src/core/clock.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { earliestWaitEnd } from "./earliest-wait-end.ts";
import { hasEnded } from "./run-response.ts";
import { progressReporter } from "./report-progress.ts";

/** Default wait over MCP, in seconds: long enough for most runs, and shorter than the timeout of every client. */
const DEFAULT_MCP_WAIT = 20;

/** The requested wait, or the default of the caller's surface, in seconds. */
export const resolveWaitSeconds = (ctx: ToolContext, wait: number | undefined): number =>
  wait ?? (ctx.actor.client.surface === "mcp" ? DEFAULT_MCP_WAIT : 0);

/**
 * Resolves when the run has ended or waits for a person, when the time is up, when the caller has gone, and when this
 * process shuts down. The run itself is not affected.
 * @param seconds maximum time to wait
 */
export async function waitForRun(ctx: ToolContext, id: string, seconds: number): Promise<void> {
  const deadline = performance.now() + seconds * SECOND;
  const signal = AbortSignal.any([ctx.signal, ctx.engine.shutdownSignal]);
  const reportProgress = progressReporter(ctx, id);
  for (;;) {
    const ms = deadline - performance.now();
    if (ms <= 0 || signal.aborted) return;
    const [summary] = await ctx.read.runs.getStatusSummaries([id]);
    if (summary === undefined) return;
    const reportAfter = await reportProgress(summary);
    if (hasEnded(summary)) return;
    if (summary.status === "waiting" && (await waitsLonger(ctx, id, ms))) {
      // If the wait ended between the two reads, the run has changed, and its end time was missing only for that reason.
      const [current] = await ctx.read.runs.getStatusSummaries([id]);
      if (current?.seq === summary.seq) return;
    }
    const waitMs = reportAfter > 0 ? Math.min(reportAfter, ms) : ms;
    await ctx.engine.waitForChange(id, summary.seq, { ms: waitMs, signal });
  }
}

/** Whether the run waits for a person, or for a time that is more than `ms` milliseconds ahead. */
async function waitsLonger(ctx: ToolContext, id: string, ms: number): Promise<boolean> {
  if ((await ctx.read.approvals.count({ runId: id, status: "pending" })) > 0) return true;
  const end = await earliestWaitEnd(ctx.read.runs, id);
  return end === undefined || Date.parse(end) > ctx.now() + ms;
}

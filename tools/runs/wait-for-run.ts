import { MAX_WAIT_SECONDS } from "../../schemas/run.ts";
import { SECOND } from "../../src/core/clock.ts";
import type { RunSummary } from "../../src/core/run-ports.ts";
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
 * @param seconds maximum time to wait; more than `MAX_WAIT_SECONDS` stands for that
 */
export async function waitForRun(ctx: ToolContext, id: string, seconds: number): Promise<void> {
  const deadline = performance.now() + Math.min(seconds, MAX_WAIT_SECONDS) * SECOND;
  const signal = AbortSignal.any([ctx.signal, ctx.engine.shutdownSignal]);
  const reportProgress = progressReporter(ctx, id);
  // Without progress to report, most changes of the run wake nobody.
  const until = ctx.progress === undefined ? endsOrWaits : undefined;
  for (let changed: RunSummary | undefined; ;) {
    const ms = deadline - performance.now();
    if (ms <= 0 || signal.aborted) return;
    const [summary] = changed === undefined ? await ctx.read.runs.getStatusSummaries([id]) : [changed];
    if (summary === undefined) return;
    const reportAfter = await reportProgress(summary);
    if (hasEnded(summary)) return;
    if (summary.status === "waiting" && (await waitsLonger(ctx, id, ms))) {
      // If the wait ended between the two reads, the run has changed, and its end time was missing only for that reason.
      const [current] = await ctx.read.runs.getStatusSummaries([id]);
      if (current?.seq === summary.seq) return;
    }
    const waitMs = reportAfter > 0 ? Math.min(reportAfter, ms) : ms;
    changed = await ctx.engine.waitForChange(id, summary.seq, { ms: waitMs, signal, until });
  }
}

const endsOrWaits = (run: RunSummary): boolean => hasEnded(run) || run.status === "waiting";

/** Whether the run waits for a person, or for a time that is more than `ms` milliseconds ahead. */
async function waitsLonger(ctx: ToolContext, id: string, ms: number): Promise<boolean> {
  if ((await ctx.read.approvals.count({ runId: id, status: "pending" })) > 0) return true;
  const end = await earliestWaitEnd(ctx.read.runs, id);
  return end === undefined || Date.parse(end) > ctx.now() + ms;
}

/** Taking a run in, once for each idempotency key, and answering with how it stands. */
import type { Run } from "../../schemas/run.ts";
import type { PreparedRun } from "../../src/core/engine-port.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { findRun } from "./find-run.ts";
import { buildRunResponse } from "./run-response.ts";
import { waitForRun, resolveWaitSeconds } from "./wait-for-run.ts";

/** As long may an output be, in characters of JSON, before it is cut. */
const OUTPUT_CHARS = 20_000;

/**
 * Starts the run that `prepare` makes ready, or finds the one that was started before with the same idempotency key,
 * and waits for it.
 * @throws whatever `prepare` throws, unless the run was started before
 */
export async function startAndWait(
  ctx: ToolContext,
  prepare: () => Promise<PreparedRun>,
  { wait, repeatable }: { wait: number | undefined; repeatable: boolean },
): Promise<Run> {
  const prepared = await prepare().catch((error: unknown) => {
    // What was started before counts, even where the workflow could not run any more.
    if (!repeatable) throw error;
    return { error };
  });
  const id = await ctx.write(async (tx) => {
    if ("error" in prepared) throw prepared.error;
    await ctx.engine.startRun(tx, prepared);
    await tx.recordAudit(prepared.id);
    return prepared.id;
  });
  ctx.engine.wake();
  await waitForRun(ctx, id, resolveWaitSeconds(ctx, wait));
  return buildRunResponse(ctx, await findRun(ctx.read.runs, id), OUTPUT_CHARS);
}

/** Where a run that goes on can be asked for. */
export const runLocation = ({ id, finished_at }: Run): string | undefined =>
  finished_at === null ? `/runs/${id}` : undefined;

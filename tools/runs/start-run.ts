/** Starts a run, once for each idempotency key, and returns its state. */
import type { Run } from "../../schemas/run.ts";
import type { PreparedRun } from "../../src/core/engine-port.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { findRun } from "./find-run.ts";
import { buildRunResponse } from "./run-response.ts";
import { waitForRun, resolveWaitSeconds } from "./wait-for-run.ts";

/** Maximum size of the output in the answer, in characters of JSON; a longer one is truncated. */
const OUTPUT_CHARS = 20_000;
/** The same over MCP, where a model reads all of it. */
export const MCP_OUTPUT_CHARS = 4_000;

/** The maximum of the caller's surface. */
export const outputChars = ({ actor }: Pick<ToolContext, "actor">): number =>
  actor.client.surface === "mcp" ? MCP_OUTPUT_CHARS : OUTPUT_CHARS;

/**
 * Starts the run that `prepare` returns, or finds the one that was started before with the same idempotency key, and
 * waits for it.
 * @param wait maximum wait, in seconds
 * @param repeatable whether the request has an idempotency key
 * @throws the error of `prepare`, unless the run was started before
 */
export async function startAndWait(
  ctx: ToolContext,
  prepare: () => Promise<PreparedRun>,
  { wait, repeatable }: { wait: number | undefined; repeatable: boolean },
): Promise<Run> {
  const prepared = await prepare().catch((error: unknown) => {
    // A repeated request returns its run even if the workflow can no longer be run.
    if (!repeatable) throw error;
    return { error };
  });
  const id = await ctx.write(async (tx) => {
    if ("error" in prepared) throw prepared.error;
    await ctx.engine.startRun(tx, prepared);
    await tx.recordAudit(prepared.id, undefined, prepared.isTrial ? { details: { trial: true } } : {});
    return prepared.id;
  });
  ctx.engine.wake();
  await waitForRun(ctx, id, resolveWaitSeconds(ctx, wait));
  return buildRunResponse(ctx, await findRun(ctx.read.runs, id), outputChars(ctx));
}

/** The path to poll for the end of a run; undefined when it has ended. */
export const runLocation = ({ id, finished_at }: Run): string | undefined =>
  finished_at === null ? `/runs/${id}` : undefined;

import { z } from "zod";
import { Run, RunId } from "../../schemas/run.ts";
import { IdempotencyKey } from "../../schemas/workflow.ts";
import { AppError } from "../../src/core/errors.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findRun } from "./find-run.ts";
import { hasEnded, buildRunResponse } from "./run-response.ts";
import { waitForRun } from "./wait-for-run.ts";

/** How long the answer waits for the run to stop, in seconds. Stopping takes at most one. */
const WAIT_SECONDS = 2;
/** Maximum size of the output in the answer, in characters of JSON. */
const OUTPUT_CHARS = 2_000;

export const cancelRun = defineTool({
  name: "cancel_run",
  title: "Cancel a run",
  description:
    "Stops an unfinished run and the runs that it started. Finished steps stay, unless they have undo.",
  route: "POST /runs/:run_id/cancel",
  scope: "run",
  effect: "act",
  selectable: true,
  readsValues: true,
  errors: ["run_not_found", "run_finished", "idempotency_key_reused"],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({ run_id: RunId, idempotency_key: IdempotencyKey.optional() }),
  output: Run,
  async run({ run_id }, ctx) {
    const id = await ctx.write(async (tx) => {
      const run = await findRun(tx.runs, run_id);
      if (hasEnded(run)) {
        throw new AppError(
          "run_finished",
          `The run ${run.id} has already ended (${run.status}), so there is nothing to cancel. ` +
            `get_run (GET /runs/${run.id}) shows the result.`,
        );
      }
      // For a run that is already stopping this changes nothing, and the audit log gets no second entry.
      const stop = { status: "cancelled", by: ctx.actor.principal.owner } as const;
      if (await ctx.engine.stopRun(tx, run.id, stop)) await tx.recordAudit(run.id);
      return run.id;
    });
    ctx.engine.wake();
    await waitForRun(ctx, id, WAIT_SECONDS);
    return buildRunResponse(ctx, await findRun(ctx.read.runs, id), OUTPUT_CHARS);
  },
});

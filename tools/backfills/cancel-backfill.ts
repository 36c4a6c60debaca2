import { z } from "zod";
import { Backfill, BackfillId } from "../../schemas/backfill.ts";
import { IdempotencyKey, WorkflowIdRef } from "../../schemas/workflow.ts";
import { iso } from "../../src/core/clock.ts";
import { AppError } from "../../src/core/errors.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findBackfill, toBackfill } from "./serialize-backfill.ts";

export const cancelBackfill = defineTool({
  name: "cancel_backfill",
  title: "Cancel a backfill",
  description:
    "Ends a backfill: it starts no more runs. Those that have started go on, unless running is true: then they are cancelled.",
  route: "POST /workflows/:workflow_id/backfills/:backfill_id/cancel",
  surfaces: ["rest"],
  scope: "run",
  effect: "act",
  errors: ["workflow_not_found", "backfill_not_found", "backfill_finished", "idempotency_key_reused"],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    backfill_id: BackfillId,
    running: z.boolean().default(false).meta({
      description: "Whether its runs that have not ended are cancelled too.",
      example: false,
    }),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: Backfill,
  async run({ workflow_id, backfill_id, running }, ctx) {
    const cancelledBy = ctx.actor.principal.owner;
    const backfill = await ctx.write(async (tx) => {
      const { id, workflowId } = await findBackfill(tx, workflow_id, backfill_id);
      const end = { status: "cancelled", message: null, finishedAt: iso(ctx.now()), cancelledBy } as const;
      if (!(await tx.backfills.endRunning(id, end))) {
        const { status } = (await tx.backfills.find(id))!;
        throw new AppError(
          "backfill_finished",
          `The backfill ${id} has already ended (${status}), so there is nothing to cancel. Its runs are listed with ` +
            `GET /workflows/${workflowId}/runs?backfill=${id}; cancel_run cancels one of them.`,
        );
      }
      const runs = running ? await tx.backfills.unfinishedRuns(id) : [];
      for (const run of runs) await ctx.engine.stopRun(tx, run, { status: "cancelled", by: cancelledBy });
      await tx.recordAudit(workflowId, undefined, { details: { backfill: id, runs: runs.length } });
      return toBackfill(tx.backfills, (await tx.backfills.find(id))!);
    });
    ctx.engine.wake();
    return backfill;
  },
});

import { z } from "zod";
import { BulkAction, BulkActionId } from "../../schemas/bulk-action.ts";
import { IdempotencyKey } from "../../schemas/workflow.ts";
import { iso } from "../../src/core/clock.ts";
import { AppError } from "../../src/core/errors.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findBulkAction, toBulkAction } from "./serialize-bulk-action.ts";

export const cancelBulkAction = defineTool({
  name: "cancel_bulk_action",
  title: "Cancel a bulk action",
  description:
    "Ends a bulk action: nothing happens with the runs that come next. Its retries go on, unless running is true: then they are " +
    "cancelled.",
  route: "POST /bulk-actions/:bulk_action_id/cancel",
  surfaces: ["rest"],
  scope: "run",
  effect: "act",
  errors: ["bulk_action_not_found", "bulk_action_finished", "idempotency_key_reused"],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({
    bulk_action_id: BulkActionId,
    running: z.boolean().default(false).meta({
      description: "Whether its retries that have not ended are cancelled too.",
      example: false,
    }),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: BulkAction,
  async run({ bulk_action_id, running }, ctx) {
    const cancelledBy = ctx.actor.principal.owner;
    const bulkAction = await ctx.write(async (tx) => {
      const { id, project } = await findBulkAction(tx, bulk_action_id);
      const end = { status: "cancelled", message: null, finishedAt: iso(ctx.now()), cancelledBy } as const;
      if (!(await tx.bulkActions.endRunning(id, end)))
        throw new AppError(
          "bulk_action_finished",
          `The bulk action ${id} has already ended, so there is nothing to cancel. GET /bulk-actions/${id}/runs lists its runs.`,
        );
      const retries = running ? await tx.bulkActions.unfinishedRetries(id) : [];
      for (const run of retries) await ctx.engine.stopRun(tx, run, { status: "cancelled", by: cancelledBy });
      await tx.recordAudit(id, undefined, { project, details: { runs: retries.length } });
      return toBulkAction(ctx, (await tx.bulkActions.find(id))!, tx);
    });
    ctx.engine.wake();
    return bulkAction;
  },
});

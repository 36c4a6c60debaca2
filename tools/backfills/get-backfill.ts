import { z } from "zod";
import { Backfill, BackfillId } from "../../schemas/backfill.ts";
import { WorkflowIdRef } from "../../schemas/workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findBackfill, toBackfill } from "./serialize-backfill.ts";

export const getBackfill = defineTool({
  name: "get_backfill",
  title: "Get a backfill",
  description: "Returns how far a backfill is. list_workflow_runs with its id lists its runs.",
  route: "GET /workflows/:workflow_id/backfills/:backfill_id",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  errors: ["workflow_not_found", "backfill_not_found"],
  input: z.strictObject({ workflow_id: WorkflowIdRef, backfill_id: BackfillId }),
  output: Backfill,
  run: async ({ workflow_id, backfill_id }, ctx) =>
    toBackfill(ctx.read.backfills, await findBackfill(ctx.read, workflow_id, backfill_id)),
});

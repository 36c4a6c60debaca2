import { z } from "zod";
import { BulkAction, BulkActionId } from "../../schemas/bulk-action.ts";
import { WaitSeconds } from "../../schemas/run.ts";
import { defineTool } from "../../src/core/tool.ts";
import { resolveWaitSeconds } from "../runs/wait-for-run.ts";
import { findBulkAction, toBulkAction } from "./serialize-bulk-action.ts";
import { waitForBulkAction } from "./wait-for-bulk-action.ts";

export const getBulkAction = defineTool({
  name: "get_bulk_action",
  title: "Get a bulk action",
  description:
    "Returns how far a bulk action is; wait waits for its end. Over MCP: start_bulk_action with bulk_action_id.",
  route: "GET /bulk-actions/:bulk_action_id",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  errors: ["bulk_action_not_found"],
  input: z.strictObject({ bulk_action_id: BulkActionId, wait: WaitSeconds.optional() }),
  output: BulkAction,
  async run({ bulk_action_id, wait }, ctx) {
    const found = await findBulkAction(ctx.read, bulk_action_id);
    await waitForBulkAction(ctx, found, resolveWaitSeconds(ctx, wait ?? 0));
    return toBulkAction(ctx, await findBulkAction(ctx.read, found.id), ctx.read);
  },
});

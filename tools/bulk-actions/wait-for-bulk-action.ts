import type { BulkActionRecord } from "../../src/core/bulk-action-ports.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { waitForEnd } from "../runs/wait-for-end.ts";

/** @param seconds see `waitForEnd` */
export const waitForBulkAction = (
  ctx: ToolContext,
  { id, total }: Pick<BulkActionRecord, "id" | "total">,
  seconds: number,
): Promise<void> => {
  const { bulkActions } = ctx.read;
  return waitForEnd(
    ctx,
    {
      isRunning: async () => (await bulkActions.status(id)) === "running",
      total,
      countDone: async () =>
        Object.values(await bulkActions.resultCounts(id)).reduce((sum, count) => sum + count, 0),
      verb: "handled",
    },
    seconds,
  );
};

import type { ItemReuse } from "../../src/core/run-ports.ts";
import { oncePer } from "../../src/core/once-per.ts";
import type { ToolContext } from "../../src/core/tool.ts";

type Read = Pick<ToolContext, "read">;

const counted = oncePer((_ctx: Read) => new Map<string, Promise<Map<string, ItemReuse>>>());

/**
 * Counts what an ended run did with the items of its fan-outs, once in a call: its summary and its steps say it, and counting reads
 * every item.
 * @returns the counts by step
 */
export function itemReuse(ctx: Read, runId: string): Promise<Map<string, ItemReuse>> {
  const known = counted(ctx);
  const counts = known.get(runId) ?? ctx.read.runs.itemReuse(runId);
  known.set(runId, counts);
  return counts;
}

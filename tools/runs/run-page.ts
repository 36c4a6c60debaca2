/** A page of runs, newest first. */
import { z } from "zod";
import { Cursor, Limit } from "../../schemas/page.ts";
import { TimestampInput, RunStatus, RunTrigger } from "../../schemas/run.ts";
import { iso } from "../../src/core/clock.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { toRunSummary } from "./run-response.ts";

export const MCP_PAGE_SIZE = 20;

/** What runs can be picked by. */
export const runFilter = {
  status: z
    .array(RunStatus)
    .min(1)
    .max(6)
    .optional()
    .meta({ description: "Only those in one of these.", example: ["failed"] }),
  trigger: RunTrigger.optional().meta({ description: "Only those started by this.", example: "schedule" }),
  since: TimestampInput.optional().meta({
    description: "Created then or later: a moment or a day.",
    example: "2026-11-21",
  }),
  until: TimestampInput.optional().meta({ description: "Created before.", example: "2026-11-22T08:00:00Z" }),
  limit: Limit.optional(),
  cursor: Cursor.optional(),
};

type Wanted = z.output<z.ZodObject<typeof runFilter>> & { workflow_id: string | undefined };

const momentOf = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : iso(Date.parse(text));

/** The page of the list that `operation` gives. */
export async function runPage(
  ctx: ToolContext,
  operation: string,
  { limit, cursor, workflow_id: workflowId, ...wanted }: Wanted,
) {
  const { status, trigger } = wanted;
  const filter = {
    workflowId,
    status,
    trigger,
    since: momentOf(wanted.since),
    until: momentOf(wanted.until),
  };
  const query = JSON.stringify([operation, filter]);
  const after = cursor === undefined ? null : ctx.cursors.decode(query, cursor);
  const { items, next } = await ctx.read.runs.page({ filter, after, limit: limit ?? MCP_PAGE_SIZE });
  return {
    items: items.map(toRunSummary),
    total: await ctx.total(() => ctx.read.runs.count(filter)),
    next_cursor: next && ctx.cursors.encode(query, next),
  };
}

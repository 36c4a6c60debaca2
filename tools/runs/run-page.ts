import { z } from "zod";
import { Cursor, Limit } from "../../schemas/page.ts";
import { RunStatus, RunTrigger } from "../../schemas/run-status.ts";
import { TimestampInput } from "../../schemas/run-request.ts";
import { MAX_SEARCH_WORDS, SearchWords } from "../../schemas/text.ts";
import { iso } from "../../src/core/clock.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { nameOf, toRunSummary, workflowNames } from "./run-response.ts";

export const MCP_PAGE_SIZE = 20;

/** Input fields of the operations that list runs. */
export const runFilter = {
  status: z
    .array(RunStatus)
    .min(1)
    .max(6)
    .optional()
    .meta({ description: "Only runs with one of these statuses.", example: ["failed"] }),
  trigger: RunTrigger.optional().meta({ description: "Only runs started by this.", example: "schedule" }),
  trial: z.boolean().optional().meta({ description: "Only trials, or none.", example: false }),
  since: TimestampInput.optional().meta({
    description: "Created at or after this time or date.",
    example: "2026-11-21",
  }),
  until: TimestampInput.optional().meta({
    description: "Created before this time or date.",
    example: "2026-11-22T08:00:00Z",
  }),
  search: SearchWords.optional().meta({
    description: `Up to ${MAX_SEARCH_WORDS} words in the id, inputs, output or error. next_cursor continues after 10,000 runs.`,
    example: "no such column",
  }),
  limit: Limit.optional(),
  cursor: Cursor.optional(),
};

type ListOptions = z.output<z.ZodObject<typeof runFilter>> & {
  workflow_id: string | undefined;
  project?: string | undefined;
  backfill?: string | undefined;
};

const toIso = (time: string | undefined): string | undefined =>
  time === undefined ? undefined : iso(Date.parse(time));

/** A page of runs, newest first. @param operation the name of the operation, to which the cursor is bound */
export async function runPage(
  ctx: ToolContext,
  operation: string,
  { limit, cursor, workflow_id: workflowId, ...options }: ListOptions,
) {
  const { status, trigger } = options;
  const filter = {
    workflowId,
    project: options.project,
    status,
    trigger,
    isTrial: options.trial,
    backfill: options.backfill,
    since: toIso(options.since),
    until: toIso(options.until),
  };
  const { search } = options;
  const query = JSON.stringify([operation, filter, ...(search === undefined ? [] : [search])]);
  const after = cursor === undefined ? null : ctx.cursors.decode(query, cursor);
  const read = () =>
    ctx.read.runs.page({ filter: { ...filter, search }, after, limit: limit ?? MCP_PAGE_SIZE });
  const { items, next } = await (search === undefined ? read() : ctx.limitSearch(read));
  const names = await workflowNames(ctx, items);
  return {
    items: items.map((run) => Object.assign(toRunSummary(run), nameOf(names, run))),
    ...(search === undefined
      ? await ctx.total(async () =>
          after === null && next === null ? items.length : ctx.read.runs.count(filter),
        )
      : // All runs would have to be read to count them.
        { total: items.length, ...(after === null && next === null ? {} : { total_capped: true as const }) }),
    next_cursor: next && ctx.cursors.encode(query, next),
  };
}

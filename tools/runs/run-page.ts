import { z } from "zod";
import { Cursor, Limit } from "../../schemas/page.ts";
import { TimestampInput, RunStatus, RunTrigger } from "../../schemas/run.ts";
import { text } from "../../schemas/text.ts";
import { iso } from "../../src/core/clock.ts";
import type { RunFilter } from "../../src/core/model.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { listedPaths, readListedValues } from "./listed-values.ts";
import { toRunSummary } from "./run-response.ts";

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
  values: z
    .array(text(200, 1))
    .min(1)
    .max(10)
    .optional()
    .meta({
      description:
        "Values to show of each run, as paths: inputs.region, output.rows[0].id, steps.load.count.",
      example: ["output.total"],
    }),
  limit: Limit.optional(),
  cursor: Cursor.optional(),
};

type ListOptions = z.output<z.ZodObject<typeof runFilter>> & {
  workflow_id: string | undefined;
  project?: string | undefined;
  backfill?: string | undefined;
};

/** A time or date of a filter as it is compared. */
export const toIso = (time: string | undefined): string | undefined =>
  time === undefined ? undefined : iso(Date.parse(time));

/** The filter of the store for the fields of `runFilter`. */
export const toRunFilter = ({
  workflow_id: workflowId,
  project,
  status,
  trigger,
  trial,
  backfill,
  since,
  until,
}: Partial<ListOptions>): RunFilter => ({
  workflowId,
  project,
  status,
  trigger,
  isTrial: trial,
  backfill,
  since: toIso(since),
  until: toIso(until),
});

/** A page of runs, newest first. @param operation the name of the operation, to which the cursor is bound */
export async function runPage(
  ctx: ToolContext,
  operation: string,
  { limit, cursor, values: names = [], ...options }: ListOptions,
) {
  const filter = toRunFilter(options);
  const query = JSON.stringify([operation, filter]);
  const after = cursor === undefined ? null : ctx.cursors.decode(query, cursor);
  const paths = listedPaths(names);
  const { items, next } = await ctx.read.runs.page({ filter, after, limit: limit ?? MCP_PAGE_SIZE });
  const ids = items.map(({ id }) => id);
  const open = await ctx.read.interruptions.openCounts(ids);
  const values = paths.length === 0 ? [] : await readListedValues(ctx.read.runs, ids, paths);
  return {
    items: items.map((run, index) => ({
      ...toRunSummary(run, open.get(run.id)),
      ...(paths.length > 0 && { values: values[index]! }),
    })),
    ...(await ctx.total(async () =>
      after === null && next === null ? items.length : ctx.read.runs.count(filter),
    )),
    next_cursor: next && ctx.cursors.encode(query, next),
  };
}

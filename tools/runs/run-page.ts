import { z } from "zod";
import { Cursor, Limit } from "../../schemas/page.ts";
import type { Issue } from "../../schemas/problem.ts";
import { TimestampInput, RunStatus, RunTrigger } from "../../schemas/run.ts";
import { shortSchemas } from "../../schemas/short-schemas.ts";
import { MAX_WORDS, SearchWords, text } from "../../schemas/text.ts";
import { iso } from "../../src/core/clock.ts";
import type { EngineApi } from "../../src/core/engine-port.ts";
import { invalidInput } from "../../src/core/issues.ts";
import type { ListPosition, RunFilter, RunRecord } from "../../src/core/model.ts";
import type { RunExpression } from "../../src/core/run-expressions.ts";
import type { ListTotal, ToolContext } from "../../src/core/tool.ts";
import { compileNamed } from "./group-query.ts";
import { listedPaths, readListedValues } from "./listed-values.ts";
import { matchingRuns, type RunSearch } from "./matching-runs.ts";
import { toRunSummary } from "./run-response.ts";

export const MCP_PAGE_SIZE = 20;

/** An expression over recorded runs. */
export const Expression = text(500, 1);

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
  search: SearchWords.optional()
    .meta({
      description:
        `Words that the id, workflow, error, inputs or output contain, ignoring case; at most ${MAX_WORDS}. ` +
        "Names of fields, and values of more than 262,144 characters of JSON, are not searched.",
      example: "INV-2041",
    })
    .register(shortSchemas, {
      type: "string",
      description: "Words in id, workflow, error, inputs or output.",
    }),
  where: Expression.optional()
    .meta({
      description:
        "Only runs for which this is true: an expression, as in group_runs. Runs of which it has no value are left out.",
      example: "output.total > 1000",
    })
    .register(shortSchemas, { type: "string", description: "Condition, as in group_runs." }),
  limit: Limit.optional(),
  cursor: Cursor.optional(),
};

/** Whether a page needs the values of runs, so that the whole list may take long. */
export const isSearch = ({
  search,
  where,
}: {
  search?: string | undefined;
  where?: string | undefined;
}): boolean => search !== undefined || where !== undefined;

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
  { limit = MCP_PAGE_SIZE, cursor, values: names = [], search, where, ...options }: ListOptions,
) {
  const filter = toRunFilter(options);
  const query = JSON.stringify([operation, filter, ...(isSearch({ search, where }) ? [search, where] : [])]);
  const after = cursor === undefined ? null : ctx.cursors.decode(query, cursor);
  const paths = listedPaths(names);
  const condition = where === undefined ? undefined : await compileCondition(ctx.engine, where);
  const { items, next, total } = isSearch({ search, where })
    ? await searchedPage(ctx, filter, { search, where: condition }, { after, limit })
    : await filteredPage(ctx, filter, { after, limit });
  const ids = items.map(({ id }) => id);
  const open = await ctx.read.interruptions.openCounts(ids);
  const values = paths.length === 0 ? [] : await readListedValues(ctx.read.runs, ids, paths);
  return {
    items: items.map((run, index) => {
      const summary = toRunSummary(run, open.get(run.id));
      return paths.length === 0 ? summary : Object.assign(summary, { values: values[index]! });
    }),
    ...total,
    next_cursor: next && ctx.cursors.encode(query, next),
  };
}

interface PagePosition {
  after: ListPosition | null;
  limit: number;
}

interface PageOfRuns {
  items: RunRecord[];
  next: ListPosition | null;
  total: ListTotal;
}

async function filteredPage(
  ctx: ToolContext,
  filter: RunFilter,
  { after, limit }: PagePosition,
): Promise<PageOfRuns> {
  const { items, next } = await ctx.read.runs.page({ filter, after, limit });
  const total = await ctx.total(async () =>
    after === null && next === null ? items.length : ctx.read.runs.count(filter),
  );
  return { items, next, total };
}

/** The runs of a search: those of the part that one request reads. Their number is known if that is all. */
async function searchedPage(
  { read, signal }: ToolContext,
  filter: RunFilter,
  search: RunSearch,
  { after, limit }: PagePosition,
): Promise<PageOfRuns> {
  const { ids, next } = await matchingRuns({ runs: read.runs, signal }, read.workflows, filter, search, {
    after,
    limit,
  });
  const found: RunRecord[] = [];
  for (const id of ids) {
    const run = await read.runs.find(id);
    // It may have been purged meanwhile.
    if (run !== undefined) found.push(run);
  }
  const isAll = after === null && next === null;
  return { items: found, next, total: { total: found.length, ...(!isAll && { total_capped: true }) } };
}

/** @throws AppError invalid_input with the issues of `where` */
async function compileCondition(
  engine: Pick<EngineApi, "compileForRuns">,
  where: string,
): Promise<RunExpression> {
  const issues: Issue[] = [];
  const condition = await compileNamed(engine, where, ["where"], issues);
  if (condition === undefined) throw invalidInput(issues);
  return condition.expression;
}

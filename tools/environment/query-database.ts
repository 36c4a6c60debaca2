import { z } from "zod";
import { ProjectInput } from "../../schemas/project.ts";
import { FINAL_STATUSES, RunError, RunInputs, RunStatus, WaitSeconds } from "../../schemas/run.ts";
import { text } from "../../schemas/text.ts";
import type { RunRecord } from "../../src/core/model.ts";
import { defineTool, type ToolContext } from "../../src/core/tool.ts";
import { DEFAULT_MAX_ROWS } from "../../src/steps/sql.ts";
import { projectFor } from "../projects/project-for.ts";
import { findRun } from "../runs/find-run.ts";
import { prepareSingleStep } from "../runs/single-step.ts";
import { truncateError } from "../runs/truncate.ts";
import { waitForRun } from "../runs/wait-for-run.ts";
import { assertDatabaseExists } from "./find-database.ts";
import { showRows } from "./show-rows.ts";

/** Default wait, in seconds: a query takes at most 30 s. */
const DEFAULT_WAIT = 20;
/** Maximum size of the rows in the answer, in characters of JSON. */
const ROWS_CHARS = 8_000;
/** Maximum size of an error in the answer, in characters. */
const ERROR_CHARS = 1_600;
/** The place of the output of the run, for get_run_value. */
const REF = "output";

const Output = z
  .strictObject({
    run_id: z.string().meta({ description: "The recorded run of the query.", example: "run_8dkq2m0sfj3a" }),
    status: RunStatus,
    columns: z
      .array(z.strictObject({ name: z.string(), type: z.string() }))
      .optional()
      .meta({ example: [{ name: "region", type: "TEXT" }] }),
    rows: z
      .array(z.record(z.string(), z.unknown()))
      .optional()
      .meta({ example: [{ region: "north" }] }),
    row_count: z.int().optional().meta({ description: "Number of rows that were recorded.", example: 1 }),
    truncated: z
      .literal(true)
      .optional()
      .meta({ description: "The query has more rows than were recorded." }),
    shortened: z
      .literal(true)
      .optional()
      .meta({ description: "Long texts in the rows are cut, because not even one row fits." }),
    ref: z.string().optional().meta({
      description: "Of the whole recorded output, for get_run_value, if rows are missing or cut here.",
      example: REF,
    }),
    error: RunError.optional().meta({ description: "Why the query failed." }),
    next: z.string().optional().meta({
      description: "What to do next.",
      example: "It is still running. get_run (GET /runs/run_8dkq2m0sfj3a) returns its output.",
    }),
  })
  .meta({ id: "QueryResult", description: "The rows of a query, or why there are none." });

export const queryDatabase = defineTool({
  name: "query_database",
  title: "Query a database",
  description: "Runs one read-only query and returns its first rows, at most 8 KB.",
  route: "POST /environment/databases/:database/query",
  // Not read, because rows are data. It changes nothing but the list of runs.
  scope: "write",
  effect: "read",
  readsValues: true,
  openWorld: true,
  errors: [
    "project_not_found",
    "database_not_found",
    "too_many_runs",
    "storage_limit_reached",
    "storage_full",
    "upgrade_unfinished",
  ],
  input: z.strictObject({
    database: text(63, 1).meta({ description: "Its name.", example: "shop" }),
    sql: text(100_000, 1).meta({
      description: "One statement; values as :name.",
      example: "SELECT id, ordered_on FROM orders WHERE status = :status",
    }),
    params: RunInputs.default({}).meta({ description: "Values for :name.", example: { status: "paid" } }),
    project: ProjectInput,
    // The step sets no max_rows, so that is how many it records.
    max_rows: z
      .int()
      .min(1)
      .max(DEFAULT_MAX_ROWS)
      .default(20)
      .meta({ description: "Rows in the answer.", example: 20 }),
    wait: WaitSeconds.optional(),
  }),
  output: Output,
  pollLocation: ({ run_id: id, status }) => (FINAL_STATUSES.has(status) ? undefined : `/runs/${id}`),
  async run(
    { database, sql: query, params, project: requested, wait = DEFAULT_WAIT, max_rows: maxRows },
    ctx,
  ) {
    const project = await projectFor(ctx, "write", requested);
    const { databases } = await ctx.engine.connectionsOf(project, ctx.actor.principal.access.keyLimits);
    assertDatabaseExists(
      database,
      databases.list().map(({ name }) => name),
    );
    const { written, inputs } = asWritten(params);
    const step = {
      id: "query",
      type: "sql",
      database,
      query,
      ...(Object.keys(written).length > 0 && { params: written }),
      on_truncate: "keep",
    };
    const prepared = await prepareSingleStep(ctx, { project, step, inputs }, inputPathOf);
    await ctx.write(async (tx) => {
      await ctx.engine.startRun(tx, prepared);
      await tx.recordAudit(prepared.id);
    });
    ctx.engine.wake();
    await waitForRun(ctx, prepared.id, wait);
    return answerOf(ctx, await findRun(ctx.read.runs, prepared.id), maxRows);
  },
});

/** The parameters as a step has them: a text that looks like an expression is read from an input, so it is not evaluated. */
function asWritten(params: Readonly<Record<string, unknown>>) {
  const written: Record<string, unknown> = {};
  const inputs: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(params)) {
    if (JSON.stringify(value).includes("${{")) {
      inputs[name] = value;
      written[name] = `\${{ inputs.${name} }}`;
    } else written[name] = value;
  }
  return { written, inputs };
}

/** The field of the input that a field of the step comes from. */
const inputPathOf = (path: string): string => path.replace(/^query\b/, "sql");

async function answerOf(
  ctx: ToolContext,
  { id, status, error }: RunRecord,
  maxRows: number,
): Promise<z.input<typeof Output>> {
  const answer = { run_id: id, status };
  if (error !== null) return { ...answer, error: truncateError(error, ERROR_CHARS) };
  if (status === "cancelled") return answer;
  if (status !== "succeeded")
    return {
      ...answer,
      next: `It is still running. get_run (GET /runs/${id}) returns its output.`,
    };
  const { rows, columns, row_count, truncated } = (await ctx.read.runs.runOutput(id)) as RecordedRows;
  const shown = showRows(rows, { maxRows, maxChars: ROWS_CHARS });
  const all = `read all with get_run_value, run_id and ref "${REF}" (GET /runs/${id}/values/${REF}).`;
  const limit =
    shown.rows.length === maxRows && !shown.shortened
      ? `, as max_rows says. Raise it (${DEFAULT_MAX_ROWS} at most), or ${all}`
      : `: an answer holds ${ROWS_CHARS} characters of rows. Select fewer columns, or ${all}`;
  const isPart = shown.rows.length < rows.length;
  const next = [
    ...(isPart ? [`${shown.rows.length} of ${row_count} rows are shown${limit}`] : []),
    ...(shown.shortened && !isPart ? [`Long values are cut. Select fewer columns, or ${all}`] : []),
    ...(truncated
      ? [
          `The query has more rows than the ${row_count} that were recorded: filter or aggregate them, or add ORDER BY, LIMIT and OFFSET.`,
        ]
      : []),
  ];
  return {
    ...answer,
    columns,
    rows: shown.rows,
    row_count,
    ...(truncated && { truncated }),
    ...(shown.shortened && { shortened: true as const }),
    ...((isPart || shown.shortened) && { ref: REF }),
    ...(next.length > 0 && { next: next.join(" ") }),
  };
}

interface RecordedRows {
  rows: Record<string, unknown>[];
  columns: { name: string; type: string }[];
  row_count: number;
  truncated: true | false;
}

import { z } from "zod";
import { ProjectInput } from "../../schemas/project.ts";
import { shortSchemas } from "../../schemas/short-schemas.ts";
import { text } from "../../schemas/text.ts";
import { scopesIn } from "../../src/core/access.ts";
import { AppError } from "../../src/core/errors.ts";
import { invalidInput } from "../../src/core/issues.ts";
import type { TableDescription } from "../../src/core/connections.ts";
import { missingScope } from "../../src/core/scope-refusal.ts";
import { StepError } from "../../src/core/step-errors.ts";
import { callContextOf, defineTool, type ToolContext } from "../../src/core/tool.ts";
import { projectFor } from "../projects/project-for.ts";
import { truncateText } from "../runs/truncate.ts";
import { assertDatabaseExists } from "./find-database.ts";

/** Maximum number of tables in a response. */
const MAX_TABLES = 200;
/** Maximum number of sample rows of each table. */
const MAX_SAMPLES = 20;
/** Number of sample rows of `samples: true`. */
const SAMPLES = 3;
/** Maximum size of all sample rows together, in characters of JSON. */
const MAX_SAMPLE_CHARS = 50_000;
/** Maximum length of a text in a sample row, in characters. */
const MAX_TEXT_CHARS = 200;
/** Maximum size of all tables in an answer over MCP, in characters of JSON: a model reads all of it. */
const MCP_CHARS = 12_000;

const Table = z
  .strictObject({
    name: z.string().meta({ example: "orders" }),
    kind: z.string().meta({ description: "`table` or `view`.", example: "table" }),
    columns: z.array(
      z.strictObject({
        name: z.string().meta({ example: "region" }),
        type: z.string().meta({ description: "The database's own type name.", example: "TEXT" }),
        nullable: z.boolean(),
      }),
    ),
    row_count: z
      .number()
      .nullable()
      .meta({ description: "Counted or estimated; null when unknown.", example: 1200 }),
    sample: z.array(z.record(z.string(), z.unknown())).optional(),
  })
  .meta({ id: "Table", description: "A table or view of a database." });

export const describeDatabase = defineTool({
  name: "describe_database",
  title: "Describe a database",
  description:
    "Returns the tables of a database: columns, types, row counts; with samples (scope write) also some rows. " +
    "describe_environment has the columns in short.",
  route: "GET /environment/databases/:database",
  scope: "read",
  effect: "read",
  openWorld: true,
  errors: ["project_not_found", "database_not_found", "connection_failed"],
  input: z.strictObject({
    database: text(63, 1).meta({
      description: "The database's name, from describe_environment.",
      example: "shop",
    }),
    project: ProjectInput,
    table: text(300, 1).optional().meta({ description: "Only this table.", example: "orders" }),
    samples: z
      .union([z.int().min(0).max(MAX_SAMPLES), z.boolean()])
      .default(0)
      .meta({ description: `Sample rows of each table; true for ${SAMPLES}.`, example: SAMPLES })
      .register(shortSchemas, {
        type: "integer",
        maximum: MAX_SAMPLES,
        description: "Sample rows of each table.",
      }),
  }),
  output: z
    .strictObject({
      database: z.string().meta({ example: "shop" }),
      tables: z.array(Table),
      others: z
        .array(z.string())
        .optional()
        .meta({
          description: "Over MCP: further tables, of which only the names fit. Name one as table to see it.",
          example: ["audit_2024"],
        }),
      more: z
        .boolean()
        .optional()
        .meta({
          description: `Whether there are more than the ${MAX_TABLES} listed: name a table to see it.`,
        }),
    })
    .meta({ id: "Database", description: "A database's tables." }),
  async run({ database, project: requested, table, samples: wanted }, ctx) {
    const samples = typeof wanted === "number" ? wanted : wanted ? SAMPLES : 0;
    const { access } = ctx.actor.principal;
    const project = await projectFor(ctx, "read", requested);
    const { databases } = await ctx.engine.connectionsOf(project, access.keyLimits);
    assertDatabaseExists(
      database,
      databases.list().map(({ name }) => name),
    );
    if (samples > 0) assertWriteScope(ctx, project);
    const tables = await withConnectionErrors(database, () =>
      databases.describe(database, { table, samples, limit: MAX_TABLES + 1 }, callContextOf(ctx)),
    );
    const listed = tables.slice(0, MAX_TABLES);
    if (JSON.stringify(listed.map(({ sample }) => sample?.map(shortRow))).length > MAX_SAMPLE_CHARS) {
      const message = `would make the rows larger than ${MAX_SAMPLE_CHARS} characters`;
      throw invalidInput([
        { path: "samples", code: "too_large", message, fix: "Ask for fewer, or name one table." },
      ]);
    }
    const fitting = ctx.actor.client.surface === "mcp" ? countFitting(listed) : listed.length;
    return {
      database,
      tables: listed.slice(0, fitting).map(withShortTexts),
      ...(fitting < listed.length && { others: listed.slice(fitting).map(({ name }) => name) }),
      ...(tables.length > MAX_TABLES && { more: true }),
    };
  },
});

/** The number of tables that fit into an answer over MCP, at least one. */
function countFitting(tables: readonly TableDescription[]): number {
  let left = MCP_CHARS;
  const fitting = tables.findIndex((table) => (left -= JSON.stringify(withShortTexts(table)).length) < 0);
  return fitting === -1 ? tables.length : Math.max(1, fitting);
}

const withShortTexts = ({ sample, ...table }: TableDescription): TableDescription =>
  sample === undefined ? table : { ...table, sample: sample.map(shortRow) };

const shortRow = (row: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === "string" ? truncateText(value, MAX_TEXT_CHARS) : value,
    ]),
  );

/** The scope read covers what Millrace stores, not the rows of connected databases. */
function assertWriteScope({ actor }: ToolContext, project: string): void {
  if (scopesIn(actor.principal.access, project).has("write")) return;
  throw missingScope(actor.principal, {
    subject: "Reading samples, which are data,",
    scope: "write",
    project,
    instead: "Leave samples out.",
    path: "samples",
  });
}

/** @throws AppError connection_failed, or invalid_input for an unknown table */
async function withConnectionErrors<T>(database: string, describe: () => Promise<T>): Promise<T> {
  try {
    return await describe();
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    const { fix } = error.options;
    if (error.code === "input_invalid") {
      throw invalidInput([
        { path: "table", code: "not_found", message: `was not found: ${error.message}`, ...(fix && { fix }) },
      ]);
    }
    throw new AppError(
      "connection_failed",
      `The database "${database}" can't be described: ${error.message} ${fix ?? "Try again; if it keeps failing, tell the operator."}`,
      { cause: error },
    );
  }
}

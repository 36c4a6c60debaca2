import { z } from "zod";
import { text } from "../../schemas/text.ts";
import { AppError } from "../../src/core/errors.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { nearMatch } from "../../src/core/near-match.ts";
import { StepError } from "../../src/core/step-errors.ts";
import { callContextOf, defineTool, type ToolContext } from "../../src/core/tool.ts";

/** Maximum number of tables in a response. */
const MAX_TABLES = 200;
/** Maximum number of sample rows of each table. */
const MAX_SAMPLES = 20;
/** Maximum size of all sample rows together, in characters of JSON. */
const MAX_SAMPLE_CHARS = 50_000;

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
    "Returns the tables of a configured database: columns, types, row counts; with samples (scope write) also some rows. " +
    "Call it before you write a query.",
  route: "GET /environment/databases/:database",
  scope: "read",
  effect: "read",
  openWorld: true,
  errors: ["database_not_found", "connection_failed"],
  input: z.strictObject({
    database: text(63, 1).meta({
      description: "The database's name, from describe_environment.",
      example: "shop",
    }),
    table: text(300, 1).optional().meta({ description: "Only this table.", example: "orders" }),
    samples: z.int().min(0).max(MAX_SAMPLES).default(0).meta({
      description: "Number of sample rows of each table.",
      example: 3,
    }),
  }),
  output: z
    .strictObject({
      database: z.string().meta({ example: "shop" }),
      tables: z.array(Table),
      more: z
        .boolean()
        .optional()
        .meta({
          description: `Whether there are more than the ${MAX_TABLES} listed: name a table to see it.`,
        }),
    })
    .meta({ id: "Database", description: "A database's tables." }),
  async run({ database, table, samples }, ctx) {
    const { databases } = ctx.engine.connections;
    assertDatabaseExists(
      database,
      databases.list().map(({ name }) => name),
    );
    if (samples > 0) assertWriteScope(ctx);
    const tables = await withConnectionErrors(database, () =>
      databases.describe(database, { table, samples, limit: MAX_TABLES + 1 }, callContextOf(ctx)),
    );
    const listed = tables.slice(0, MAX_TABLES);
    if (JSON.stringify(listed.map(({ sample }) => sample)).length > MAX_SAMPLE_CHARS) {
      const message = `would make the rows larger than ${MAX_SAMPLE_CHARS} characters`;
      throw invalidInput([
        { path: "samples", code: "too_large", message, fix: "Ask for fewer, or name one table." },
      ]);
    }
    return { database, tables: listed, ...(tables.length > MAX_TABLES && { more: true }) };
  },
});

function assertDatabaseExists(name: string, names: readonly string[]): void {
  if (names.includes(name)) return;
  const near = nearMatch(name, names);
  throw new AppError(
    "database_not_found",
    `There is no database "${name}" in the configuration. ` +
      (near === undefined
        ? names.length === 0
          ? "No database is configured: the operator adds them under `databases`."
          : `Configured are ${names.join(", ")}.`
        : `Did you mean "${near}"?`),
    {
      errors: [
        {
          path: "database",
          code: "not_found",
          message: "is not the name of a database",
          allowed: [...names],
          ...(near !== undefined && { did_you_mean: near }),
        },
      ],
    },
  );
}

/** The scope read covers what Millrace stores, not the rows of connected databases. */
function assertWriteScope({ actor }: ToolContext): void {
  if (actor.principal.scopes.has("write")) return;
  throw new AppError(
    "missing_scope",
    'samples needs a key with the scope "write", because rows are data. Leave samples out, or use another key.',
    {
      errors: [{ path: "samples", code: "missing_scope", message: "needs the scope write", allowed: ["0"] }],
    },
  );
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

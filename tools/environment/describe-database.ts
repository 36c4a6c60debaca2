import { z } from "zod";
import { text } from "../../schemas/text.ts";
import { AppError } from "../../src/core/errors.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { nearMatch } from "../../src/core/near-match.ts";
import { StepError } from "../../src/core/step-errors.ts";
import { defineTool, type ToolContext } from "../../src/core/tool.ts";

const MOST_TABLES = 200;
const MOST_SAMPLES = 20;
/** As many characters of JSON may sample rows have together; beyond, none are given. */
const SAMPLE_CHARS = 50_000;

const Table = z
  .strictObject({
    name: z.string().meta({ example: "orders" }),
    kind: z.string().meta({ description: "table or view.", example: "table" }),
    columns: z.array(
      z.strictObject({
        name: z.string().meta({ example: "region" }),
        type: z.string().meta({ description: "In the database's own words.", example: "TEXT" }),
        nullable: z.boolean(),
      }),
    ),
    row_count: z
      .number()
      .nullable()
      .meta({ description: "Counted or estimated; null where not known.", example: 1200 }),
    sample: z.array(z.record(z.string(), z.unknown())).optional(),
  })
  .meta({ id: "Table", description: "A table or view of a database." });

export const describeDatabase = defineTool({
  name: "describe_database",
  title: "Describe a database",
  description:
    "Gives a configured database's tables: columns, types, row counts; with samples also some rows (needs the scope " +
    "write). Call it before you write a query.",
  route: "GET /environment/databases/:database",
  scope: "read",
  effect: "read",
  openWorld: true,
  errors: ["database_not_found", "connection_failed"],
  input: z.strictObject({
    database: text(63, 1).meta({
      description: "Its name, as describe_environment gives it.",
      example: "shop",
    }),
    table: text(300, 1).optional().meta({ description: "Only this table.", example: "orders" }),
    samples: z.int().min(0).max(MOST_SAMPLES).default(0).meta({
      description: "So many rows of each table are shown.",
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
        .meta({ description: `There are more than the ${MOST_TABLES} shown: name a table.` }),
    })
    .meta({ id: "Database", description: "A database's tables." }),
  async run({ database, table, samples }, ctx) {
    const { databases } = ctx.engine.connections;
    refuseUnknown(
      database,
      databases.list().map(({ name }) => name),
    );
    if (samples > 0) needWrite(ctx);
    const tables = await asked(database, () =>
      databases.describe(database, { table, samples, limit: MOST_TABLES + 1 }, ctx.signal),
    );
    const shown = tables.slice(0, MOST_TABLES);
    if (JSON.stringify(shown.map(({ sample }) => sample)).length > SAMPLE_CHARS) {
      const message = `would come to more than ${SAMPLE_CHARS} characters`;
      throw invalidInput([
        { path: "samples", code: "too_large", message, fix: "Ask for fewer, or name one table." },
      ]);
    }
    return { database, tables: shown, ...(tables.length > MOST_TABLES && { more: true }) };
  },
});

function refuseUnknown(name: string, names: readonly string[]): void {
  if (names.includes(name)) return;
  const near = nearMatch(name, names);
  throw new AppError(
    "database_not_found",
    `There is no database "${name}" in the configuration. ` +
      (near === undefined
        ? names.length === 0
          ? "It names none yet: the operator adds them under databases."
          : `There are ${names.join(", ")}.`
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

/** Rows are data: who may only read what is stored here does not get them. */
function needWrite({ actor }: ToolContext): void {
  if (actor.principal.scopes.has("write")) return;
  throw new AppError(
    "missing_scope",
    'samples need a key with the scope "write": rows are data. Leave samples out, or use another key.',
    {
      errors: [{ path: "samples", code: "missing_scope", message: "needs the scope write", allowed: ["0"] }],
    },
  );
}

async function asked<T>(database: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    const { fix } = error.options;
    if (error.code === "input_invalid") {
      throw invalidInput([
        { path: "table", code: "not_found", message: `is not there: ${error.message}`, ...(fix && { fix }) },
      ]);
    }
    throw new AppError(
      "connection_failed",
      `The database "${database}" can't be described: ${error.message} ${fix ?? "Try again; if it stays, tell the operator."}`,
      { cause: error },
    );
  }
}

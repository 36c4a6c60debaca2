/** Completion in the queries of a definition. `./sql-suggestions.ts` and the tables are loaded at the first query. */
import { asObject } from "./path.ts";
import { fieldsAt, parseShape } from "./shape.ts";
import type { SqlContext } from "./sql-context.ts";
import type { SqlSchema } from "./sql-suggestions.ts";
import type { CompletionData, Suggestions } from "./suggestions.ts";

/** The database in memory, which has the tables of its step. */
const SCRATCH = "scratch";

export interface SqlCompletionSettings {
  /** The tables of a database, of the default one for undefined; it fails where they can't be read. */
  tables: (database: string | undefined) => Promise<SqlSchema>;
  /** The output shape of each step, as validation reported it. */
  steps: () => CompletionData["steps"];
}

/** @param pos the cursor, in the whole text */
export async function completeSql(
  context: SqlContext,
  pos: number,
  explicit: boolean,
  settings: SqlCompletionSettings,
): Promise<Suggestions | undefined> {
  const [{ suggestSql }, schema] = await Promise.all([
    import("./sql-suggestions.ts"),
    context.database === SCRATCH
      ? scratchSchema(context.tables, settings.steps() ?? [])
      : // Keywords and parameters are completed without the tables too.
        settings.tables(context.database).catch((): SqlSchema => ({ type: undefined, tables: [] })),
  ]);
  return suggestSql(context, pos, schema, explicit);
}

/** The tables of a step on `scratch`, with the columns of the rows that they are loaded from. */
export function scratchSchema(
  tables: SqlContext["tables"],
  steps: NonNullable<CompletionData["steps"]>,
): SqlSchema {
  return {
    type: "duckdb",
    tables: Object.entries(asObject(tables)).map(([name, source]) => {
      const [, id = "", field = ""] = /\bsteps\.(\w+)\.(\w+)\s*\}\}/.exec(String(source)) ?? [];
      const shape = steps.find((step) => step.id === id)?.output;
      const fields = shape === undefined ? [] : fieldsAt(parseShape(shape), [`${field}[0]`]);
      const columns = fields.map(([column, type]) => ({
        name: column,
        type: type.replace(" or null", ""),
        nullable: type.endsWith(" or null"),
      }));
      return { name, kind: "table", columns, row_count: null };
    }),
  };
}

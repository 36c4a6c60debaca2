/** Converts rows of earlier steps to tables of `scratch`: checks names, infers types and limits the size. */
import type { SqlColumn } from "../../core/connections.ts";
import { StepError } from "../../core/step-errors.ts";
import type { ScratchTable } from "./child-protocol.ts";
import type { SqlValue } from "./driver.ts";

const MAX_TABLES = 50;
const MAX_COLUMNS = 1_000;
const MAX_BYTES = 32 * 1024 * 1024;

type LoadedType = ScratchTable["columns"][number]["type"];

/** The column of a table whose rows are no objects. */
const VALUE = "value";

/** @throws StepError input_invalid if a limit is exceeded */
export function buildScratchTables(tables: Readonly<Record<string, readonly unknown[]>>): ScratchTable[] {
  const entries = Object.entries(tables);
  if (entries.length > MAX_TABLES) throw tooMuch(`at most ${MAX_TABLES} tables`);
  let bytes = 0;
  return entries.map(([name, items]) => {
    const rows = items.map(asRow);
    const columns = new Map<string, LoadedType | undefined>();
    for (const row of rows) {
      for (const [key, value] of Object.entries(row)) {
        columns.set(key, widened(columns.get(key), value));
        bytes += key.length + sizeOf(value);
      }
      if (bytes > MAX_BYTES) throw tooMuch(`at most ${MAX_BYTES / 1024 / 1024} MiB in all`);
      if (columns.size > MAX_COLUMNS) throw tooMuch(`at most ${MAX_COLUMNS} columns in a table`);
    }
    // A table needs a column, and a list without items does not say which.
    if (columns.size === 0) columns.set(VALUE, undefined);
    const keys = uniqueNames(name, [...columns.keys()]);
    const typed = keys.map((key) => ({ name: key, type: columns.get(key) ?? ("VARCHAR" as const) }));
    return {
      name,
      columns: typed,
      rows: rows.map((row) => typed.map((column) => stored(column.type, row[column.name]))),
    };
  });
}

/** Tables without rows, to prepare a query on; undefined where the columns of one are not known. */
export function emptyScratchTables(
  tables: Readonly<Record<string, readonly SqlColumn[] | null>>,
): ScratchTable[] | undefined {
  const known = Object.entries(tables).map(([name, columns]) =>
    columns === null
      ? undefined
      : {
          name,
          columns: (columns.length === 0 ? [{ name: VALUE, type: "any" as const }] : columns).map(
            (column) => ({
              name: column.name,
              type: DECLARED[column.type],
            }),
          ),
          rows: [],
        },
  );
  return known.every((type) => type !== undefined) ? known : undefined;
}

const DECLARED: Readonly<Record<SqlColumn["type"], LoadedType>> = {
  string: "VARCHAR",
  number: "DOUBLE",
  boolean: "BOOLEAN",
  any: "JSON",
};

const asRow = (item: unknown): Readonly<Record<string, unknown>> =>
  typeof item === "object" && item !== null && !Array.isArray(item)
    ? (item as Record<string, unknown>)
    : { [VALUE]: item };

/** The narrowest type that holds all seen so far; what mixes kinds is JSON. */
function widened(before: LoadedType | undefined, value: unknown): LoadedType | undefined {
  const type = typeOf(value);
  if (type === undefined || before === undefined || type === before) return type ?? before;
  const both = new Set([before, type]);
  return both.has("BIGINT") && both.has("DOUBLE") ? "DOUBLE" : "JSON";
}

function typeOf(value: unknown): LoadedType | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === "boolean") return "BOOLEAN";
  if (typeof value === "string") return "VARCHAR";
  if (typeof value === "number") return Number.isSafeInteger(value) ? "BIGINT" : "DOUBLE";
  return "JSON";
}

const stored = (type: LoadedType, value: unknown): SqlValue =>
  value === null || value === undefined
    ? null
    : type === "JSON"
      ? JSON.stringify(value)
      : (value as SqlValue);

const sizeOf = (value: unknown): number =>
  typeof value === "string" ? value.length : typeof value === "object" ? JSON.stringify(value).length : 8;

/** Names of columns differ by more than case in DuckDB. */
function uniqueNames(table: string, names: string[]): string[] {
  const seen = new Map<string, string>();
  for (const name of names) {
    const other = seen.get(name.toLowerCase());
    if (other !== undefined)
      throw new StepError(
        "input_invalid",
        `The rows of table ${table} have both ${other} and ${name}, which are one column in SQL.`,
        {
          fix: "Rename one of them in the step that returns the rows.",
        },
      );
    seen.set(name.toLowerCase(), name);
  }
  return names;
}

const tooMuch = (bound: string): StepError =>
  new StepError("input_invalid", `tables must hold ${bound}.`, {
    fix: "Pass fewer rows or columns, or aggregate them in their own query first.",
  });

/** Converts lists of a run to tables of `scratch`: with the columns that the checker knows, and those of the rows. */
import type { SqlColumn } from "../../core/connections.ts";
import { StepError } from "../../core/step-errors.ts";
import type { ScratchTable } from "./child-protocol.ts";
import type { SqlValue } from "./driver.ts";
import {
  type LoadedColumn,
  loadedColumn,
  toLoadedValue,
  type ValueKinds,
  valueKinds,
} from "./scratch-types.ts";

const MAX_TABLES = 50;
const MAX_COLUMNS = 1_000;
const MAX_BYTES = 32 * 1024 * 1024;

/** The columns of each table as the checker knows them; null where it does not. */
export type KnownColumns = Readonly<Record<string, readonly SqlColumn[] | null>>;

/** The column of a table whose rows are no objects. */
const VALUE = "value";

/**
 * @param known the columns that the checker knows: a table has them even without rows, and with these types unless a value
 *   is of another one
 * @throws StepError input_invalid if a limit is exceeded
 */
export function buildScratchTables(
  tables: Readonly<Record<string, readonly unknown[]>>,
  known: KnownColumns = {},
): ScratchTable[] {
  const entries = Object.entries(tables);
  if (entries.length > MAX_TABLES) throw tooMuch(`at most ${MAX_TABLES} tables`);
  let bytes = 0;
  return entries.map(([name, items]) => {
    const rows = items.map(asRow);
    const declared = new Map((known[name] ?? []).map((column) => [column.name, column]));
    const seen = new Map<string, ValueKinds>([...declared.keys()].map((column) => [column, valueKinds()]));
    for (const row of rows) {
      for (const [key, value] of Object.entries(row)) {
        let kinds = seen.get(key);
        if (kinds === undefined) seen.set(key, (kinds = valueKinds()));
        kinds.add(value);
        bytes += key.length + sizeOf(value);
      }
      if (bytes > MAX_BYTES) throw tooMuch(`at most ${MAX_BYTES / 1024 / 1024} MiB in all`);
      if (seen.size > MAX_COLUMNS) throw tooMuch(`at most ${MAX_COLUMNS} columns in a table`);
    }
    // A table needs a column, and an unknown list without items does not say which.
    if (seen.size === 0) seen.set(VALUE, valueKinds());
    assertNamesOfSql(name, [...seen.keys()]);
    const columns = [...seen].map(([column, kinds]) =>
      loadedColumn({ table: name, name: column }, declared.get(column), kinds),
    );
    return { name, columns, rows: rows.map((row) => columns.map((column) => loadedValue(column, row))) };
  });
}

/** Tables without rows, to prepare a query on; undefined where the columns of one are not known. */
export function emptyScratchTables(tables: KnownColumns): ScratchTable[] | undefined {
  if (Object.values(tables).includes(null)) return undefined;
  return buildScratchTables(Object.fromEntries(Object.keys(tables).map((name) => [name, []])), tables);
}

const asRow = (item: unknown): Readonly<Record<string, unknown>> =>
  typeof item === "object" && item !== null && !Array.isArray(item)
    ? (item as Record<string, unknown>)
    : { [VALUE]: item };

const loadedValue = (column: LoadedColumn, row: Readonly<Record<string, unknown>>): SqlValue => {
  const value = Object.hasOwn(row, column.name) ? row[column.name] : null;
  return value === null || value === undefined ? null : toLoadedValue(column, value);
};

const sizeOf = (value: unknown): number =>
  typeof value === "string" ? value.length : typeof value === "object" ? JSON.stringify(value).length : 8;

/** Names of columns are not empty and differ by more than case in DuckDB. @throws StepError input_invalid */
function assertNamesOfSql(table: string, names: readonly string[]): void {
  if (names.includes(""))
    throw new StepError("input_invalid", `The rows of table ${table} have a column whose name is empty.`, {
      fix: "Name it in the step that returns the rows. With parse_csv, each column needs a heading in the first line, or header: false.",
    });
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
}

const tooMuch = (bound: string): StepError =>
  new StepError("input_invalid", `tables must hold ${bound}.`, {
    fix: "Pass fewer rows or columns, or aggregate them in their own query first.",
  });

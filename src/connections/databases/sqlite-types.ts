/**
 * The types of the JSON values of the columns of a SQLite query. SQLite reports the declared type of a column that a query passes on, but
 * only text columns and those of strict tables hold to it, and a compound query reports only its first part.
 * (sqlite.org/datatype3.html; children load this file.)
 */
import { constants, type DatabaseSync } from "node:sqlite";
import { scanQuery } from "./sql-scanner.ts";
import { type ColumnType, FLOAT, LARGE_INTEGER, LOOSE, TEXT } from "./values.ts";

/** A column of a prepared statement, as node:sqlite reports it. */
export interface SqliteColumn {
  name: string;
  /** The declared type, and the table of the column; null for an expression. */
  type: string | null;
  table: string | null;
}

const COMPOUND = ["union", "intersect", "except"];

/** Collects the tables and views that a statement reads while it is prepared. */
export interface ReadTables {
  /** For the authorizer. */
  add(action: number, table: string | null, view: string | null): void;
  names: ReadonlySet<string>;
}

export function readTables(): ReadTables {
  const names = new Set<string>();
  return {
    names,
    add(action, table, view) {
      if (action !== constants.SQLITE_READ) return;
      if (table !== null) names.add(table);
      if (view !== null) names.add(view);
    },
  };
}

/**
 * @param db without an authorizer
 * @param text the query
 * @param read the tables and views that the query reads
 * @returns the type of each column
 */
export function sqliteColumnTypes(
  db: DatabaseSync,
  text: string,
  read: ReadTables,
  columns: readonly SqliteColumn[],
): ColumnType[] {
  if (columns.every(({ type }) => type === null)) return columns.map(() => LOOSE);
  const viewSql = db.prepare("SELECT sql FROM sqlite_schema WHERE type = 'view' AND name = ? COLLATE NOCASE");
  const views = [...read.names].flatMap((name) => {
    const view = viewSql.get(name) as { sql: string } | undefined;
    return view === undefined ? [] : [view.sql];
  });
  const isCompound = [text, ...views].some((sql) => {
    const { words } = scanQuery(sql, "sqlite");
    return COMPOUND.some((word) => words.has(word));
  });
  const tableInfo = db.prepare(
    "SELECT type, strict FROM pragma_table_list WHERE schema = 'main' AND name = ? COLLATE NOCASE",
  );
  return columns.map(({ type, table }) => {
    if (type === null || table === null) return LOOSE;
    const info = tableInfo.get(table) as { type: string; strict: number } | undefined;
    const claim = info?.strict === 1 ? strictType(type) : looseType(type);
    // Virtual tables hold to no types.
    return isCompound || info?.type !== "table" ? { ...claim, type: "any" } : claim;
  });
}

const STRICT: Readonly<Record<string, ColumnType>> = {
  INT: LARGE_INTEGER,
  INTEGER: LARGE_INTEGER,
  REAL: FLOAT,
  TEXT,
  BLOB: TEXT,
};

const strictType = (declared: string): ColumnType => STRICT[declared.toUpperCase()] ?? LOOSE;

/** By the affinity of the declared type: only text affinity converts every value (bytes stay bytes, and arrive as text). */
function looseType(declared: string): ColumnType {
  if (/JSON|DATE|TIME/i.test(declared)) return LOOSE;
  if (/INT/i.test(declared)) return LARGE_INTEGER;
  if (/CHAR|CLOB|TEXT/i.test(declared)) return TEXT;
  return /REAL|FLOA|DOUB|NUMERIC|DEC/i.test(declared) ? { type: "any", sqlNumber: "float" } : LOOSE;
}

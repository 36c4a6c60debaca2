/** Compares what a database claims of its columns with the values that arrive. */
import type { SqlColumn, SqlResult } from "../../src/core/connections.ts";

const holds = (type: SqlColumn["type"], value: unknown): boolean => {
  if (value === null || type === "any") return true;
  return type === "number" ? Number.isFinite(value) : typeof value === type;
};

/** Returns the columns whose claim a value breaks, with the first such value. */
export const brokenClaims = ({ columns, rows }: Pick<SqlResult, "columns" | "rows">): object[] =>
  columns.flatMap(({ name, type, databaseType }) => {
    const row = rows.find((candidate) => !holds(type, candidate[name]));
    return row === undefined ? [] : [{ name, type, databaseType, value: row[name] }];
  });

/** The claimed type of each column by its name. */
export const claimsOf = (columns: readonly SqlColumn[]): Record<string, string> =>
  Object.fromEntries(
    columns.map(({ name, type, sqlNumber }) => [
      name,
      sqlNumber === undefined ? type : `${type} ${sqlNumber}`,
    ]),
  );

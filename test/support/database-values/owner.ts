/** The connection with which tests fill a database and read its own texts. */
import type { ColumnType } from "./types.ts";

export interface Owner {
  run(sql: string): Promise<unknown>;
  /** The rows of a query, whose columns are called i and t. */
  rows(sql: string): Promise<{ i: unknown; t: string | null }[]>;
  /** How a column is written as a text, where a type says nothing else. */
  castText(column: string): string;
}

/** The texts of a table's values, by their number. */
export async function textsOf(
  owner: Owner,
  table: string,
  { read, text }: ColumnType,
): Promise<Map<number, string | null>> {
  const value = read?.("v") ?? "v";
  const rows = await owner.rows(`SELECT i, ${(text ?? owner.castText)(value)} AS t FROM ${table}`);
  return new Map(rows.map(({ i, t }) => [Number(i), t]));
}

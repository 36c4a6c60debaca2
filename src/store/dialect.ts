/** SQL that differs between databases. A second dialect adds its branches here, and a driver beside this file. */
import { type Expression, type Kysely, type RawBuilder, sql, type SqlBool } from "kysely";

/** Column types whose names differ between databases. */
export function columnTypes(_db: Kysely<never>): { bytes: "blob"; serial: "integer" } {
  return { bytes: "blob", serial: "integer" };
}

/** Whether `column`, a JSON array of strings, contains `item`. */
export function arrayContains(column: Expression<string>, item: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`exists (select 1 from json_each(${column}) where value = ${item})`;
}

/** Whether `column` is one of `items`, a JSON array of strings. */
export function isOneOf(column: Expression<unknown>, items: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`${column} in (select value from json_each(${items}))`;
}

/** The number at the top-level `key` of `column`, a JSON object; null when it is null. */
export function jsonNumber(column: Expression<string | null>, key: string): RawBuilder<number | null> {
  return sql<number | null>`json_extract(${column}, ${sql.lit(`$.${key}`)})`;
}

/** Whether `column` contains `needle` exactly; unlike LIKE it has no wildcards to escape. */
export function contains(column: Expression<string>, needle: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`instr(${column}, ${needle}) > 0`;
}

/** All that differs between the databases; a second dialect adds its branch here and its driver beside. */
import { type Expression, type Kysely, type RawBuilder, sql, type SqlBool } from "kysely";

/** Column types without a common name. */
export function columnTypes(_db: Kysely<never>): { bytes: "blob"; serial: "integer" } {
  return { bytes: "blob", serial: "integer" };
}

/** Whether `column`, a JSON array of strings, holds exactly `item`. */
export function arrayContains(column: Expression<string>, item: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`exists (select 1 from json_each(${column}) where value = ${item})`;
}

/** The number under `key` at the top of `column`, a JSON object; null where that is null. */
export function jsonNumber(column: Expression<string | null>, key: string): RawBuilder<number | null> {
  return sql<number | null>`json_extract(${column}, ${sql.lit(`$.${key}`)})`;
}

/** Whether `column` holds `needle`, letter for letter: no wild cards to escape. */
export function contains(column: Expression<string>, needle: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`instr(${column}, ${needle}) > 0`;
}

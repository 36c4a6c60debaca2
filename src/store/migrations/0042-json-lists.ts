import { type Kysely, sql } from "kysely";
import { writesConcurrently } from "../dialect.ts";

/** PostgreSQL plans a function that is not strict together with the statement that calls it, and a strict one at each call. */
export async function up(db: Kysely<never>): Promise<void> {
  if (!writesConcurrently(db)) return;
  await sql`create or replace function json_each(text) returns table (value text) language sql immutable parallel safe
    as 'select * from json_array_elements_text($1::json)'`.execute(db);
}

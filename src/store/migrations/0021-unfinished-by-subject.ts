import { type Kysely, sql } from "kysely";

/** Counts the unfinished runs of an owner from an index alone: that of 0014 led to the rows. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`drop index runs_unfinished_by_owner`.execute(db);
  await sql`create index runs_unfinished_by_subject on runs (subject) where finished_at is null`.execute(db);
}

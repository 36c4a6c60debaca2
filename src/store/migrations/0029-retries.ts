import { type Kysely, sql } from "kysely";

/** Finds the retries of a run. Few runs are retries, so the index is small. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`create index runs_retries on runs (retry_of, created_at) where retry_of is not null`.execute(db);
}

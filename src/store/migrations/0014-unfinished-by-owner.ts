import { type Kysely, sql } from "kysely";

/** Finds the unfinished runs of an owner, which are counted whenever a run starts. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`create index runs_unfinished_by_owner on runs (owner, lineage) where finished_at is null`.execute(
    db,
  );
}

import { type Kysely, sql } from "kysely";

/** Stores the model usage of attempts, so that a run's sum does not read their other values. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`create index run_attempts_used on run_attempts (run_id, usage) where usage is not null`.execute(
    db,
  );
}

import { type Kysely, sql } from "kysely";

/** What a run's models used is summed without a look at what their attempts took, however many there are. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`create index run_attempts_used on run_attempts (run_id, usage) where usage is not null`.execute(
    db,
  );
}

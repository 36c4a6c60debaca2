import { type Kysely, sql } from "kysely";

/** A run shows the delivery that started it. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`create index trigger_deliveries_by_run on trigger_deliveries (run_id) where run_id is not null`.execute(
    db,
  );
}

import type { Kysely } from "kysely";

/** What each executor runs, as it says with its heartbeat, so that claims of which it knows nothing can be found. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable("executors").addColumn("running", "text").execute();
}

import type { Kysely } from "kysely";

/** What a trial run is given, as JSON. Runs from before are no trials. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable("runs").addColumn("trial", "text").execute();
}

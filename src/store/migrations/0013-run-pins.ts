import type { Kysely } from "kysely";

/** The versions of the workflows that a run calls. Runs that have started before call what is published at the time. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable("runs").addColumn("pins", "text").execute();
}

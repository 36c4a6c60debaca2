import type { Kysely } from "kysely";

/** The trace of a run, so that every process that executes it continues the same trace. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable("runs").addColumn("trace", "text").execute();
}

import type { Kysely } from "kysely";

/** The trace that a run belongs to, so that whichever process goes on with it stays in the same one. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable("runs").addColumn("trace", "text").execute();
}

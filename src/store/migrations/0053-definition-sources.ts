import type { Kysely } from "kysely";

/** The text that a definition was read from, with its comments. It counts in `stored_bytes`. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable("workflow_versions").addColumn("source", "text").execute();
}

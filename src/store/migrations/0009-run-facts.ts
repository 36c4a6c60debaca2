import type { Kysely } from "kysely";

/** What the check of a definition found and its steps need when they run, such as the columns of lists. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable("runs").addColumn("facts", "text").execute();
}

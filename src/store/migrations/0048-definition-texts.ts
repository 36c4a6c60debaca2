import type { Kysely } from "kysely";

/** The text of a definition as its author wrote it, with comments. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable("workflow_versions").addColumn("definition_text", "text").execute();
}

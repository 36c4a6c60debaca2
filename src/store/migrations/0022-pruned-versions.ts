import type { Kysely } from "kysely";

/** When the operator pruned the definition of a version. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable("workflow_versions").addColumn("pruned_at", "text").execute();
}

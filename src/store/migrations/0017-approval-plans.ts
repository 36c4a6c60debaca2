import type { Kysely } from "kysely";

/** Digests of what can run after an approval. Approvals from before have none, and are decided without the comparison. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable("approvals").addColumn("plan", "text").execute();
}

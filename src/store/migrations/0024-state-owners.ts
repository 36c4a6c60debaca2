import type { Kysely } from "kysely";

/** Who stores the state of a workflow, and its bytes. A state from before counts from the next time that it is written. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .alterTable("workflow_states")
    .addColumn("subject", "text", (c) => c.notNull().defaultTo(""))
    .execute();
  await db.schema
    .alterTable("workflow_states")
    .addColumn("stored_bytes", "bigint", (c) => c.notNull().defaultTo(0))
    .execute();
}

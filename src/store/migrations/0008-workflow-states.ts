import type { Kysely } from "kysely";

/** The state that runs of a workflow leave for later ones; and what each run has read and committed. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable("workflow_states")
    .addColumn("workflow_id", "text", (c) => c.primaryKey().notNull().references("workflows.id"))
    .addColumn("revision", "integer", (c) => c.notNull())
    .addColumn("body", "text", (c) => c.notNull())
    .addColumn("updated_at", "text", (c) => c.notNull())
    .addColumn("updated_by", "text", (c) => c.notNull())
    .execute();
  await db.schema.alterTable("runs").addColumn("state", "text").execute();
  await db.schema.alterTable("runs").addColumn("state_revision", "integer").execute();
  await db.schema.alterTable("runs").addColumn("committed", "text").execute();
}

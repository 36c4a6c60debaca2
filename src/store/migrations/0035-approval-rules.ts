import type { Kysely } from "kysely";

/**
 * Approvals that several people decide: their rules, what each person decided, what happened to them meanwhile, and who stands in
 * for people who are away. Approvals from before have no rules: one decision ends them.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable("approvals").addColumn("rules", "text").execute();
  await db.schema
    .createTable("approval_decisions")
    .addColumn("approval_id", "text", (c) => c.notNull())
    .addColumn("plan_digest", "text", (c) => c.notNull())
    .addColumn("person", "text", (c) => c.notNull())
    .addColumn("seat", "text", (c) => c.notNull())
    .addColumn("run_id", "text", (c) => c.notNull())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("approved", "integer", (c) => c.notNull())
    .addColumn("override", "integer", (c) => c.notNull())
    .addColumn("comment", "text")
    .addColumn("answer", "text")
    .addColumn("decided_at", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("approval_decisions_pk", ["approval_id", "plan_digest", "person"])
    .addUniqueConstraint("approval_decisions_seat", ["approval_id", "plan_digest", "seat"])
    .execute();
  await db.schema
    .createTable("approval_events")
    .addColumn("approval_id", "text", (c) => c.notNull())
    .addColumn("seq", "integer", (c) => c.notNull())
    .addColumn("run_id", "text", (c) => c.notNull())
    .addColumn("kind", "text", (c) => c.notNull())
    .addColumn("at", "text", (c) => c.notNull())
    .addColumn("by", "text")
    .addColumn("assignees", "text", (c) => c.notNull())
    .addColumn("note", "text")
    .addColumn("notified", "integer", (c) => c.notNull())
    .addPrimaryKeyConstraint("approval_events_pk", ["approval_id", "seq"])
    .execute();
  for (const table of ["approval_decisions", "approval_events"])
    await db.schema.createIndex(`${table}_by_run`).on(table).column("run_id").execute();
  await db.schema
    .createTable("absences")
    .addColumn("email", "text", (c) => c.primaryKey())
    .addColumn("starts_at", "text", (c) => c.notNull())
    .addColumn("ends_at", "text", (c) => c.notNull())
    .addColumn("substitute", "text", (c) => c.notNull())
    .addColumn("set_at", "text", (c) => c.notNull())
    .execute();
  await db.schema.createIndex("absences_by_end").on("absences").column("ends_at").execute();
}

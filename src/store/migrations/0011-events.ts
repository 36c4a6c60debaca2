import type { Kysely } from "kysely";

/** The events that steps of runs wait for, as they were received. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable("events")
    .addColumn("run_id", "text", (c) => c.notNull())
    .addColumn("step_id", "text", (c) => c.notNull())
    .addColumn("received_at", "text", (c) => c.notNull())
    .addColumn("body", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("events_pk", ["run_id", "step_id"])
    .execute();
}

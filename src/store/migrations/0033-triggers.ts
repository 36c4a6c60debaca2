import { type Kysely, sql } from "kysely";

/** The webhooks that start runs, and what they have received. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable("triggers")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("workflow_id", "text", (c) => c.notNull())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("version", "integer", (c) => c.notNull())
    .addColumn("removed", "integer", (c) => c.notNull())
    .addColumn("rotation", "integer", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("rotated_at", "text")
    .addColumn("owner", "text", (c) => c.notNull())
    .addColumn("key_name", "text", (c) => c.notNull())
    .addColumn("lineage", "text", (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex("triggers_by_workflow")
    .on("triggers")
    .columns(["workflow_id", "name"])
    .unique()
    .execute();
  await db.schema
    .createTable("trigger_deliveries")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("trigger_id", "text", (c) => c.notNull())
    .addColumn("workflow_id", "text", (c) => c.notNull())
    .addColumn("received_at", "text", (c) => c.notNull())
    .addColumn("status", "text", (c) => c.notNull())
    .addColumn("run_id", "text")
    .addColumn("key", "text")
    .addColumn("sender_id", "text")
    .addColumn("code", "text")
    .addColumn("reason", "text")
    .addColumn("event", "text")
    .addColumn("bytes", "integer", (c) => c.notNull())
    .addColumn("repeats", "integer", (c) => c.notNull())
    .addColumn("redelivery_of", "text")
    .addColumn("attempts", "integer", (c) => c.notNull())
    .addColumn("next_at", "text")
    .addColumn("ended_at", "text")
    .execute();
  await db.schema
    .createIndex("trigger_deliveries_by_key")
    .on("trigger_deliveries")
    .columns(["trigger_id", "key"])
    .unique()
    .execute();
  await db.schema
    .createIndex("trigger_deliveries_by_trigger")
    .on("trigger_deliveries")
    .columns(["trigger_id", "received_at", "id"])
    .execute();
  await db.schema
    .createIndex("trigger_deliveries_by_workflow")
    .on("trigger_deliveries")
    .columns(["workflow_id", "received_at", "id"])
    .execute();
  await db.schema
    .createIndex("trigger_deliveries_by_status")
    .on("trigger_deliveries")
    .columns(["trigger_id", "status", "received_at", "id"])
    .execute();
  await db.schema
    .createIndex("trigger_deliveries_by_time")
    .on("trigger_deliveries")
    .columns(["received_at"])
    .execute();
  // Small whatever the number of deliveries is: most have ended, and their bodies are not stored for long.
  await sql`create index trigger_deliveries_due on trigger_deliveries (next_at) where next_at is not null`.execute(
    db,
  );
  await sql`create index trigger_deliveries_unended on trigger_deliveries (trigger_id, bytes) where next_at is not null`.execute(
    db,
  );
  await sql`create index trigger_deliveries_with_body on trigger_deliveries (trigger_id, received_at, id, bytes)
    where event is not null`.execute(db);
  await sql`create index trigger_deliveries_by_age_of_body on trigger_deliveries (received_at) where event is not null`.execute(
    db,
  );
}

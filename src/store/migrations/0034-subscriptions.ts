import type { Kysely } from "kysely";

/** Subscriptions to events, the events with their deliveries, and within which time workflows must succeed. */
export async function up({ schema }: Kysely<never>): Promise<void> {
  await schema
    .createTable("subscriptions")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("project", "text", (c) => c.notNull())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("format", "text", (c) => c.notNull())
    .addColumn("url", "text")
    .addColumn("url_secret", "text")
    .addColumn("events", "text", (c) => c.notNull())
    .addColumn("workflows", "text")
    .addColumn("tags", "text")
    .addColumn("include_values", "integer", (c) => c.notNull())
    .addColumn("generation", "integer", (c) => c.notNull())
    .addColumn("previous_until", "text")
    .addColumn("paused_at", "text")
    .addColumn("pause_reason", "text")
    .addColumn("failing_since", "text")
    .addColumn("succeeded_at", "text")
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("created_by", "text", (c) => c.notNull())
    .addColumn("subject", "text", (c) => c.notNull())
    .execute();
  await schema
    .createIndex("subscriptions_by_project")
    .on("subscriptions")
    .columns(["project", "created_at", "id"])
    .execute();
  await schema
    .createTable("outgoing_events")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("type", "text", (c) => c.notNull())
    .addColumn("project", "text", (c) => c.notNull())
    .addColumn("workflow_id", "text")
    .addColumn("run_id", "text")
    .addColumn("at", "text", (c) => c.notNull())
    .addColumn("data", "text", (c) => c.notNull())
    .execute();
  await schema.createIndex("outgoing_events_by_time").on("outgoing_events").column("at").execute();
  await createDeliveries(schema);
  await schema
    .createTable("expectations")
    .addColumn("workflow_id", "text", (c) => c.primaryKey().notNull())
    .addColumn("version", "integer", (c) => c.notNull())
    .addColumn("every", "text", (c) => c.notNull())
    .addColumn("mail", "text", (c) => c.notNull())
    .addColumn("published_by", "text", (c) => c.notNull())
    .addColumn("since", "text", (c) => c.notNull())
    .addColumn("due_at", "text", (c) => c.notNull())
    .addColumn("succeeded_at", "text")
    .addColumn("overdue_since", "text")
    .execute();
  await schema
    .createIndex("expectations_by_due_time")
    .on("expectations")
    .columns(["overdue_since", "due_at"])
    .execute();
  await schema
    .createTable("key_notices")
    .addColumn("key_id", "text", (c) => c.notNull())
    .addColumn("expires_at", "text", (c) => c.notNull())
    .addColumn("days", "integer", (c) => c.notNull())
    .addPrimaryKeyConstraint("key_notices_pk", ["key_id", "expires_at", "days"])
    .execute();
}

async function createDeliveries(schema: Kysely<never>["schema"]): Promise<void> {
  await schema
    .createTable("deliveries")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("event_id", "text", (c) => c.notNull())
    .addColumn("queue", "text", (c) => c.notNull())
    .addColumn("project", "text", (c) => c.notNull())
    .addColumn("recipient", "text")
    .addColumn("state", "text", (c) => c.notNull())
    .addColumn("attempts", "integer", (c) => c.notNull())
    .addColumn("fence", "integer", (c) => c.notNull())
    .addColumn("due_at", "text")
    .addColumn("claimed_by", "text")
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("attempted_at", "text")
    .addColumn("ended_at", "text")
    .addColumn("status", "integer")
    .addColumn("response", "text")
    .addColumn("error", "text")
    .addColumn("ms", "integer")
    .execute();
  await schema
    .createIndex("deliveries_by_due_time")
    .on("deliveries")
    .columns(["queue", "state", "due_at"])
    .execute();
  await schema.createIndex("deliveries_by_claim").on("deliveries").column("claimed_by").execute();
  await schema
    .createIndex("deliveries_by_time")
    .on("deliveries")
    .columns(["queue", "created_at", "id"])
    .execute();
  await schema.createIndex("deliveries_by_end").on("deliveries").column("ended_at").execute();
  await schema.createIndex("deliveries_by_event").on("deliveries").column("event_id").execute();
}

import type { Kysely } from "kysely";
import { columnTypes } from "../dialect.ts";

/** What an approval shows and how it may be decided, links that decide it, and the messages that were sent about it. */
export async function up(db: Kysely<never>): Promise<void> {
  const { bytes } = columnTypes(db);
  await db.schema.alterTable("approvals").addColumn("evidence", "text").execute();
  await db.schema.alterTable("approvals").addColumn("delivery", "text").execute();
  await db.schema.alterTable("approvals").addColumn("decided_via", "text").execute();
  await db.schema
    .createTable("approval_links")
    .addColumn("digest", bytes, (c) => c.primaryKey())
    .addColumn("approval_id", "text", (c) => c.notNull())
    .addColumn("recipient", "text", (c) => c.notNull())
    .addColumn("plan_digest", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("used_at", "text")
    .execute();
  await db.schema
    .createIndex("approval_links_by_approval")
    .on("approval_links")
    .column("approval_id")
    .execute();
  await db.schema
    .createTable("approval_link_visits")
    .addColumn("digest", bytes, (c) => c.notNull())
    .addColumn("visitor", "text", (c) => c.notNull())
    .addColumn("address", "text", (c) => c.notNull())
    .addColumn("client", "text", (c) => c.notNull())
    .addColumn("at", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("approval_link_visits_pk", ["digest", "visitor"])
    .execute();
  await db.schema
    .createTable("approval_messages")
    .addColumn("approval_id", "text", (c) => c.notNull())
    .addColumn("channel", "text", (c) => c.notNull())
    .addColumn("recipient", "text", (c) => c.notNull())
    .addColumn("at", "text", (c) => c.notNull())
    .addColumn("status", "text", (c) => c.notNull())
    .addColumn("reference", "text")
    .addPrimaryKeyConstraint("approval_messages_pk", ["approval_id", "channel", "recipient"])
    .execute();
}

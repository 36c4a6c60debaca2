import type { Kysely } from "kysely";

/** The resources of which sessions of MCP clients are notified. They end with their session, also with one that an older release ends. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable("mcp_subscriptions")
    .addColumn("session_id", "text", (c) => c.notNull().references("mcp_sessions.id").onDelete("cascade"))
    .addColumn("uri", "text", (c) => c.notNull())
    .addColumn("owner", "text", (c) => c.notNull())
    .addColumn("mark", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("mcp_subscriptions_pk", ["session_id", "uri"])
    .execute();
  await db.schema.createIndex("mcp_subscriptions_by_owner").on("mcp_subscriptions").column("owner").execute();
}

import type { Kysely } from "kysely";

/** Which process holds each SSE stream, and the heartbeats of these processes. Streams of before have no holder on record. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable("mcp_holders")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("heartbeats", "integer", (c) => c.notNull())
    .execute();
  await db.schema.alterTable("mcp_sessions").addColumn("holder", "text").execute();
  await db.schema.createIndex("mcp_sessions_by_holder").on("mcp_sessions").column("holder").execute();
}

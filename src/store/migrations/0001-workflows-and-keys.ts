import { type Kysely, sql } from "kysely";
import { columnTypes } from "../dialect.ts";

/** The first tables: workflows and versions, API keys, idempotency records, the audit log and MCP sessions. */
export async function up(db: Kysely<never>): Promise<void> {
  const { bytes, serial } = columnTypes(db);

  await db.schema
    .createTable("workflows")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("name_key", "text", (c) => c.notNull())
    .addColumn("description", "text", (c) => c.notNull())
    .addColumn("tags", "text", (c) => c.notNull())
    .addColumn("search_text", "text", (c) => c.notNull())
    .addColumn("status", "text", (c) => c.notNull())
    .addColumn("version", "integer", (c) => c.notNull())
    .addColumn("published_version", "integer")
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("updated_at", "text", (c) => c.notNull())
    .addColumn("created_by", "text", (c) => c.notNull())
    .execute();
  // The index contains the status, so that counting the workflows that are not archived reads no descriptions.
  for (const column of ["created_at", "updated_at", "name_key"]) {
    await db.schema
      .createIndex(`workflows_by_${column}`)
      .on("workflows")
      .columns([column, "id", "status"])
      .execute();
  }

  await db.schema
    .createTable("workflow_versions")
    .addColumn("workflow_id", "text", (c) => c.notNull().references("workflows.id"))
    .addColumn("version", "integer", (c) => c.notNull())
    .addColumn("change", "text", (c) => c.notNull())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("description", "text", (c) => c.notNull())
    .addColumn("tags", "text", (c) => c.notNull())
    .addColumn("definition", "text")
    .addColumn("reason", "text")
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("created_by", "text", (c) => c.notNull())
    .addColumn("key_name", "text", (c) => c.notNull())
    .addColumn("surface", "text", (c) => c.notNull())
    .addColumn("client", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("workflow_versions_pk", ["workflow_id", "version"])
    .execute();

  await db.schema
    .createTable("counters")
    .addColumn("name", "text", (c) => c.primaryKey().notNull())
    .addColumn("value", "integer", (c) => c.notNull())
    .execute();
  await sql`insert into counters (name, value) values ('workflows', 0)`.execute(db);

  await db.schema
    .createTable("settings")
    .addColumn("name", "text", (c) => c.primaryKey().notNull())
    .addColumn("value", "text", (c) => c.notNull())
    .execute();

  await db.schema
    .createTable("api_keys")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("digest", bytes, (c) => c.notNull().unique())
    .addColumn("last_four", "text", (c) => c.notNull())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("owner", "text", (c) => c.notNull())
    .addColumn("scopes", "text", (c) => c.notNull())
    .addColumn("lineage", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("expires_at", "text")
    .addColumn("last_used_at", "text")
    .addColumn("revoked_at", "text")
    .execute();

  await db.schema
    .createTable("idempotency_keys")
    .addColumn("principal", "text", (c) => c.notNull())
    .addColumn("operation", "text", (c) => c.notNull())
    .addColumn("key", "text", (c) => c.notNull())
    .addColumn("request_hash", "text", (c) => c.notNull())
    .addColumn("result", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("idempotency_keys_pk", ["principal", "operation", "key"])
    .execute();
  await db.schema
    .createIndex("idempotency_keys_by_age")
    .on("idempotency_keys")
    .column("created_at")
    .execute();

  await db.schema
    .createTable("audit_log")
    .addColumn("id", serial, (c) => c.primaryKey())
    .addColumn("at", "text", (c) => c.notNull())
    .addColumn("operation", "text", (c) => c.notNull())
    .addColumn("target", "text")
    .addColumn("owner", "text", (c) => c.notNull())
    .addColumn("key_name", "text")
    .addColumn("surface", "text", (c) => c.notNull())
    .addColumn("client", "text", (c) => c.notNull())
    .addColumn("request_id", "text")
    .execute();

  await db.schema
    .createTable("mcp_sessions")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("key_id", "text", (c) => c.notNull())
    .addColumn("kind", "text", (c) => c.notNull())
    .addColumn("initialize", "text")
    .addColumn("seen_at", "text", (c) => c.notNull())
    .execute();
  await db.schema.createIndex("mcp_sessions_by_age").on("mcp_sessions").column("seen_at").execute();

  await db.schema
    .createTable("mcp_messages")
    .addColumn("id", serial, (c) => c.primaryKey())
    .addColumn("session_id", "text", (c) => c.notNull())
    .addColumn("body", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex("mcp_messages_by_session")
    .on("mcp_messages")
    .columns(["session_id", "id"])
    .execute();
}

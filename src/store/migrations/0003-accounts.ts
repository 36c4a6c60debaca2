import type { Kysely } from "kysely";
import { columnTypes } from "../dialect.ts";

/** Users, their sessions, account links and rate limit counts. */
export async function up(db: Kysely<never>): Promise<void> {
  const { bytes } = columnTypes(db);

  await db.schema
    .createTable("users")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("email", "text", (c) => c.notNull().unique())
    // 1 for the admin of the first visit and null for all others; the unique index prevents a second 1.
    .addColumn("first", "integer", (c) => c.unique())
    .addColumn("role", "text", (c) => c.notNull())
    .addColumn("status", "text", (c) => c.notNull())
    .addColumn("password_hash", "text")
    .addColumn("verified_at", "text")
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("created_by", "text", (c) => c.notNull())
    .addColumn("last_login_at", "text")
    .execute();

  await db.schema
    .createTable("sessions")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("digest", bytes, (c) => c.notNull().unique())
    .addColumn("user_id", "text", (c) => c.notNull().references("users.id"))
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("seen_at", "text", (c) => c.notNull())
    .addColumn("expires_at", "text", (c) => c.notNull())
    .addColumn("client", "text", (c) => c.notNull())
    .addColumn("address", "text", (c) => c.notNull())
    .execute();
  await db.schema.createIndex("sessions_by_user").on("sessions").column("user_id").execute();

  await db.schema
    .createTable("account_links")
    .addColumn("digest", bytes, (c) => c.primaryKey().notNull())
    .addColumn("kind", "text", (c) => c.notNull())
    .addColumn("user_id", "text", (c) => c.references("users.id"))
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("expires_at", "text")
    .addColumn("used_at", "text")
    .execute();
  await db.schema.createIndex("account_links_by_user").on("account_links").column("user_id").execute();

  await db.schema
    .createTable("attempt_counts")
    .addColumn("key", "text", (c) => c.primaryKey().notNull())
    .addColumn("count", "integer", (c) => c.notNull())
    .addColumn("ends_at", "bigint", (c) => c.notNull())
    .execute();
  await db.schema.createIndex("attempt_counts_by_end").on("attempt_counts").column("ends_at").execute();

  // For the keys of a user, newest first.
  await db.schema
    .createIndex("api_keys_by_owner")
    .on("api_keys")
    .columns(["owner", "created_at", "id"])
    .execute();
}

import type { Kysely } from "kysely";

/** Applications that people authorized (OAuth): their rows in the key table, and the state of the protocol. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable("api_keys").addColumn("application", "text").execute();
  await db.schema.alterTable("api_keys").addColumn("renewable_until", "text").execute();
  await db.schema
    .createTable("oauth_states")
    .addColumn("model", "text", (c) => c.notNull())
    .addColumn("digest", "blob", (c) => c.notNull())
    .addColumn("payload", "text", (c) => c.notNull())
    .addColumn("grant_id", "text")
    .addColumn("consumed_at", "bigint")
    .addColumn("expires_at", "bigint", (c) => c.notNull())
    .addPrimaryKeyConstraint("oauth_states_pk", ["model", "digest"])
    .execute();
  await db.schema.createIndex("oauth_states_by_grant").on("oauth_states").column("grant_id").execute();
  await db.schema.createIndex("oauth_states_by_end").on("oauth_states").column("expires_at").execute();
}

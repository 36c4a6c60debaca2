import { type Kysely, sql } from "kysely";
import { columnTypes } from "../dialect.ts";

/** Second factors with their recovery codes, what browsers have begun, and when a session last confirmed who uses it. */
export async function up(db: Kysely<never>): Promise<void> {
  const { bytes } = columnTypes(db);
  await db.schema
    .createTable("second_factors")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("user_id", "text", (c) => c.notNull().references("users.id"))
    .addColumn("kind", "text", (c) => c.notNull())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("last_used_at", "text")
    .addColumn("counter", "bigint", (c) => c.notNull())
    .addColumn("sealed", bytes)
    .addColumn("credential_id", "text", (c) => c.unique())
    .addColumn("public_key", bytes)
    .addColumn("transports", "text")
    .execute();
  await sql`create index second_factors_by_user on second_factors (user_id)`.execute(db);
  await db.schema
    .createTable("recovery_codes")
    .addColumn("digest", bytes, (c) => c.primaryKey())
    .addColumn("user_id", "text", (c) => c.notNull().references("users.id"))
    .addColumn("used_at", "text")
    .execute();
  await sql`create index recovery_codes_by_user on recovery_codes (user_id)`.execute(db);
  await db.schema
    .createTable("factor_challenges")
    .addColumn("digest", bytes, (c) => c.primaryKey())
    .addColumn("kind", "text", (c) => c.notNull())
    .addColumn("user_id", "text", (c) => c.notNull())
    .addColumn("holder", "text", (c) => c.notNull())
    .addColumn("sealed", bytes)
    .addColumn("expires_at", "text", (c) => c.notNull())
    .execute();
  await sql`create index factor_challenges_by_expiry on factor_challenges (expires_at)`.execute(db);
  await sql`create index factor_challenges_by_user on factor_challenges (user_id)`.execute(db);
  await db.schema.alterTable("sessions").addColumn("confirmed_at", "text").execute();
}

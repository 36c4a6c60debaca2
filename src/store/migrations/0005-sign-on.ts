import type { Kysely } from "kysely";
import { columnTypes } from "../dialect.ts";

/** Users of identity providers: their identities, the source of their roles, and logins of the provider. */
export async function up(db: Kysely<never>): Promise<void> {
  const { bytes } = columnTypes(db);

  await db.schema
    .createTable("identities")
    .addColumn("issuer", "text", (c) => c.notNull())
    .addColumn("subject", "text", (c) => c.notNull())
    .addColumn("user_id", "text", (c) => c.notNull().references("users.id"))
    .addColumn("created_at", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("identities_key", ["issuer", "subject"])
    .execute();
  // A user has one identity per issuer: another `sub` with the same address is another person.
  await db.schema
    .createIndex("identities_by_user")
    .on("identities")
    .columns(["user_id", "issuer"])
    .unique()
    .execute();

  await db.schema.alterTable("users").addColumn("role_by", "text").execute();
  await db.schema
    .alterTable("sessions")
    .addColumn("external", "integer", (c) => c.notNull().defaultTo(0))
    .execute();
  await db.schema.alterTable("sessions").addColumn("ended_at", "text").execute();
  await db.schema.alterTable("sessions").addColumn("sealed", bytes).execute();
  await db.schema.alterTable("sessions").addColumn("claims_at", "text").execute();
}

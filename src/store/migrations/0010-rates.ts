import { type Kysely, sql } from "kysely";

/** The rates of steps and connections: the next free slot of each, and the rate that a job is limited by. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable("rate_slots")
    .addColumn("key", "text", (c) => c.primaryKey().notNull())
    .addColumn("next_at", "bigint", (c) => c.notNull())
    .addColumn("interval_ms", "bigint", (c) => c.notNull())
    .execute();
  await db.schema.createIndex("rate_slots_by_time").on("rate_slots").column("next_at").execute();
  await sql`alter table jobs add column rate_key text`.execute(db);
  await sql`alter table jobs add column rate_ms bigint`.execute(db);
}

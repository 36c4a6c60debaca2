import { type Kysely, sql } from "kysely";

/** Usage counts of keys and users, and an index for their unfinished runs. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable("usage_counts")
    .addColumn("holder", "text", (c) => c.notNull())
    .addColumn("kind", "text", (c) => c.notNull())
    .addColumn("ends_at", "bigint", (c) => c.notNull())
    .addColumn("used", "bigint", (c) => c.notNull())
    .addPrimaryKeyConstraint("usage_counts_pk", ["holder", "kind", "ends_at"])
    .execute();
  await db.schema.createIndex("usage_counts_by_end").on("usage_counts").column("ends_at").execute();

  await sql`create index runs_unfinished_of on runs (owner, lineage, trigger) where finished_at is null`.execute(
    db,
  );
}

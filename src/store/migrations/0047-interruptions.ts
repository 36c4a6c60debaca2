import { type Kysely, sql } from "kysely";

/** Attempts of steps with effects that ended without an answer, and how that was settled. */
export async function up(db: Kysely<never>): Promise<void> {
  // The idempotency key of an attempt whose effect a repetition may double.
  await db.schema.alterTable("run_attempts").addColumn("effect_key", "text").execute();
  await db.schema
    .createTable("interruptions")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("run_id", "text", (c) => c.notNull())
    .addColumn("step_id", "text", (c) => c.notNull())
    .addColumn("item", "integer", (c) => c.notNull())
    .addColumn("attempt", "integer", (c) => c.notNull())
    .addColumn("project", "text", (c) => c.notNull())
    .addColumn("workflow_id", "text")
    .addColumn("reason", "text", (c) => c.notNull())
    .addColumn("idempotency_key", "text", (c) => c.notNull())
    .addColumn("started_at", "text", (c) => c.notNull())
    .addColumn("interrupted_at", "text", (c) => c.notNull())
    .addColumn("asked", "integer", (c) => c.notNull())
    .addColumn("lookup", "text")
    .addColumn("outcome", "text")
    .addColumn("output", "text")
    .addColumn("settled_at", "text")
    .addColumn("settled_by", "text")
    .addColumn("settler", "text")
    .addColumn("comment", "text")
    .execute();
  await sql`create unique index interruptions_by_attempt on interruptions (run_id, step_id, item, attempt)`.execute(
    db,
  );
  for (const column of ["project", "workflow_id"])
    await sql`create index ${sql.raw(`interruptions_by_${column}`)} on interruptions (${sql.ref(column)}, interrupted_at, id)`.execute(
      db,
    );
  await sql`create index interruptions_by_key on interruptions (idempotency_key)`.execute(db);
  await sql`create index interruptions_by_time on interruptions (interrupted_at, id)`.execute(db);
  await sql`create index interruptions_open on interruptions (interrupted_at, id) where outcome is null`.execute(
    db,
  );
}

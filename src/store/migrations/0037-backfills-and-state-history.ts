import { type Kysely, sql } from "kysely";
import { columnTypes } from "../dialect.ts";

/** Backfills, with the runs that they started, and what has changed the state of each workflow. */
export async function up(db: Kysely<never>): Promise<void> {
  const { serial } = columnTypes(db);
  await db.schema
    .createTable("backfills")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("workflow_id", "text", (c) => c.notNull().references("workflows.id"))
    .addColumn("project", "text", (c) => c.notNull())
    .addColumn("version", "integer", (c) => c.notNull())
    .addColumn("cron", "text", (c) => c.notNull())
    .addColumn("timezone", "text", (c) => c.notNull())
    .addColumn("from_at", "text", (c) => c.notNull())
    .addColumn("to_at", "text", (c) => c.notNull())
    .addColumn("concurrency", "integer", (c) => c.notNull())
    .addColumn("existing", "text", (c) => c.notNull())
    .addColumn("status", "text", (c) => c.notNull())
    .addColumn("next_at", "text")
    .addColumn("total", "integer", (c) => c.notNull())
    .addColumn("started", "integer", (c) => c.notNull())
    .addColumn("skipped", "integer", (c) => c.notNull())
    .addColumn("reason", "text")
    .addColumn("message", "text")
    .addColumn("owner", "text", (c) => c.notNull())
    .addColumn("key_name", "text", (c) => c.notNull())
    .addColumn("lineage", "text", (c) => c.notNull())
    .addColumn("surface", "text", (c) => c.notNull())
    .addColumn("client", "text", (c) => c.notNull())
    .addColumn("subject", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("finished_at", "text")
    .addColumn("cancelled_by", "text")
    .execute();
  await sql`create index backfills_by_workflow on backfills (workflow_id, created_at, id)`.execute(db);
  await sql`create index backfills_running on backfills (subject, created_at) where status = 'running'`.execute(
    db,
  );
  await db.schema.alterTable("runs").addColumn("backfill", "text").execute();
  // One run for each scheduled time of a backfill, however many processes start runs.
  await sql`create unique index runs_of_backfills on runs (backfill, scheduled_for) where backfill is not null`.execute(
    db,
  );
  await sql`create index runs_by_backfill on runs (backfill, created_at, id) where backfill is not null`.execute(
    db,
  );
  await sql`create index runs_by_slot on runs (workflow_id, scheduled_for, created_at) where scheduled_for is not null`.execute(
    db,
  );
  await db.schema
    .createTable("state_changes")
    .addColumn("id", serial, (c) => c.primaryKey())
    .addColumn("workflow_id", "text", (c) => c.notNull().references("workflows.id"))
    .addColumn("revision", "integer", (c) => c.notNull())
    .addColumn("kind", "text", (c) => c.notNull())
    .addColumn("at", "text", (c) => c.notNull())
    .addColumn("by", "text", (c) => c.notNull())
    .addColumn("key_name", "text")
    .addColumn("reason", "text")
    .addColumn("changes", "text", (c) => c.notNull())
    .addColumn("subject", "text", (c) => c.notNull())
    .addColumn("stored_bytes", "bigint", (c) => c.notNull())
    .execute();
  await sql`create unique index state_changes_by_workflow on state_changes (workflow_id, revision)`.execute(
    db,
  );
}

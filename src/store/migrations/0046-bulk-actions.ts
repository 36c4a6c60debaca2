import { type Kysely, sql } from "kysely";

/** Bulk actions, and the runs that each of them retries or cancels. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable("bulk_actions")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("action", "text", (c) => c.notNull())
    .addColumn("project", "text", (c) => c.notNull())
    .addColumn("workflow_id", "text")
    .addColumn("version", "integer")
    .addColumn("rate", "text")
    .addColumn("concurrency", "integer", (c) => c.notNull())
    .addColumn("status", "text", (c) => c.notNull())
    .addColumn("total", "integer", (c) => c.notNull())
    .addColumn("plan", "text", (c) => c.notNull())
    .addColumn("digest", "text", (c) => c.notNull())
    .addColumn("reason", "text")
    .addColumn("message", "text")
    .addColumn("next_at", "text", (c) => c.notNull())
    .addColumn("owner", "text", (c) => c.notNull())
    .addColumn("key_name", "text", (c) => c.notNull())
    .addColumn("lineage", "text", (c) => c.notNull())
    .addColumn("key_limits", "text")
    .addColumn("surface", "text", (c) => c.notNull())
    .addColumn("client", "text", (c) => c.notNull())
    .addColumn("subject", "text", (c) => c.notNull())
    .addColumn("stored_bytes", "bigint", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("finished_at", "text")
    .addColumn("cancelled_by", "text")
    .execute();
  await sql`create index bulk_actions_by_project on bulk_actions (project, created_at, id)`.execute(db);
  await sql`create index bulk_actions_running on bulk_actions (subject, created_at) where status = 'running'`.execute(
    db,
  );
  await sql`create index bulk_actions_finished on bulk_actions (finished_at) where finished_at is not null`.execute(
    db,
  );
  await db.schema
    .createTable("bulk_action_runs")
    .addColumn("bulk_action_id", "text", (c) => c.notNull().references("bulk_actions.id"))
    .addColumn("position", "integer", (c) => c.notNull())
    .addColumn("run", "text", (c) => c.notNull())
    .addColumn("plan_digest", "text")
    .addColumn("result", "text")
    .addColumn("retry", "text")
    .addColumn("reason", "text")
    .addColumn("message", "text")
    .addPrimaryKeyConstraint("bulk_action_runs_pk", ["bulk_action_id", "position"])
    .execute();
  // A retry belongs to one run of one bulk action.
  await sql`create unique index bulk_action_runs_by_retry on bulk_action_runs (retry) where retry is not null`.execute(
    db,
  );
  // Finding the run that comes next must not read those before it.
  await sql`create index bulk_action_runs_pending on bulk_action_runs (bulk_action_id, position) where result is null`.execute(
    db,
  );
}

import { type Kysely, sql } from "kysely";
import { columnTypes } from "../dialect.ts";

/** Runs and their execution: steps, attempts, values, jobs, executors, approvals, schedules and cached outputs. */
export async function up(db: Kysely<never>): Promise<void> {
  const { serial } = columnTypes(db);

  // Whether agents get the published version as a tool.
  await db.schema
    .alterTable("workflows")
    .addColumn("exposed", "integer", (c) => c.notNull().defaultTo(0))
    .execute();
  await sql`create index workflows_exposed on workflows (created_at, id) where exposed = 1`.execute(db);

  await db.schema
    .createTable("runs")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("workflow_id", "text", (c) => c.notNull().references("workflows.id"))
    .addColumn("version", "integer", (c) => c.notNull())
    .addColumn("definition", "text")
    .addColumn("status", "text", (c) => c.notNull())
    .addColumn("states", "text", (c) => c.notNull())
    .addColumn("seq", "integer", (c) => c.notNull())
    .addColumn("admitted", "integer", (c) => c.notNull())
    .addColumn("stop", "text")
    .addColumn("trigger", "text", (c) => c.notNull())
    .addColumn("priority", "integer", (c) => c.notNull())
    .addColumn("depth", "integer", (c) => c.notNull())
    .addColumn("first_run", "text", (c) => c.notNull())
    .addColumn("retry_of", "text")
    .addColumn("parent_run", "text")
    .addColumn("parent_step", "text")
    .addColumn("parent_item", "integer")
    .addColumn("scheduled_for", "text")
    .addColumn("owner", "text", (c) => c.notNull())
    .addColumn("key_name", "text", (c) => c.notNull())
    .addColumn("lineage", "text", (c) => c.notNull())
    .addColumn("surface", "text", (c) => c.notNull())
    .addColumn("client", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("started_at", "text")
    .addColumn("finished_at", "text")
    .addColumn("error", "text")
    .addColumn("inputs", "text", (c) => c.notNull())
    .addColumn("output", "text")
    .execute();
  // Lists show the newest first. Run ids do not sort by time, so they come second.
  await db.schema.createIndex("runs_by_created_at").on("runs").columns(["created_at", "id"]).execute();
  await db.schema
    .createIndex("runs_by_workflow")
    .on("runs")
    .columns(["workflow_id", "created_at", "id", "status"])
    .execute();
  await db.schema.createIndex("runs_by_status").on("runs").columns(["status", "created_at", "id"]).execute();
  await db.schema
    .createIndex("runs_by_trigger")
    .on("runs")
    .columns(["trigger", "created_at", "id"])
    .execute();
  await sql`create index runs_unfinished on runs (workflow_id, admitted, priority desc, created_at, id) where finished_at is null`.execute(
    db,
  );
  await sql`create index runs_finished on runs (finished_at) where finished_at is not null`.execute(db);
  // Only one of several processes that notice the time can create the run.
  await sql`create unique index runs_scheduled on runs (workflow_id, scheduled_for) where trigger = 'schedule'`.execute(
    db,
  );
  await sql`create index runs_by_parent on runs (parent_run) where parent_run is not null`.execute(db);

  await db.schema
    .createTable("run_steps")
    .addColumn("run_id", "text", (c) => c.notNull())
    .addColumn("step_id", "text", (c) => c.notNull())
    .addColumn("item", "integer", (c) => c.notNull())
    .addColumn("seq", "integer", (c) => c.notNull())
    .addColumn("state", "text", (c) => c.notNull())
    .addColumn("attempts", "integer", (c) => c.notNull())
    .addColumn("started_at", "text")
    .addColumn("finished_at", "text")
    .addColumn("input_hash", "text")
    .addColumn("reused_from", "text")
    .addColumn("child_run", "text")
    .addColumn("wait_until", "text")
    .addColumn("items_total", "integer")
    .addColumn("items_started", "integer")
    .addColumn("items_done", "integer")
    .addColumn("items_failed", "integer")
    .addColumn("items_bytes", "integer")
    .addColumn("error", "text")
    .addColumn("output", "text")
    .addPrimaryKeyConstraint("run_steps_pk", ["run_id", "step_id", "item"])
    .execute();

  await db.schema
    .createTable("run_attempts")
    .addColumn("run_id", "text", (c) => c.notNull())
    .addColumn("step_id", "text", (c) => c.notNull())
    .addColumn("item", "integer", (c) => c.notNull())
    .addColumn("attempt", "integer", (c) => c.notNull())
    .addColumn("status", "text", (c) => c.notNull())
    .addColumn("executor", "text")
    .addColumn("started_at", "text", (c) => c.notNull())
    .addColumn("finished_at", "text")
    .addColumn("usage", "text")
    .addColumn("error", "text")
    .addColumn("input", "text")
    .addPrimaryKeyConstraint("run_attempts_pk", ["run_id", "step_id", "item", "attempt"])
    .execute();
  await sql`create index run_attempts_open on run_attempts (executor) where finished_at is null`.execute(db);

  await db.schema
    .createTable("run_values")
    .addColumn("id", serial, (c) => c.primaryKey())
    .addColumn("run_id", "text", (c) => c.notNull())
    .addColumn("body", "text", (c) => c.notNull())
    .execute();
  await db.schema.createIndex("run_values_by_run").on("run_values").column("run_id").execute();

  await db.schema
    .createTable("fan_outs")
    .addColumn("run_id", "text", (c) => c.notNull())
    .addColumn("step_id", "text", (c) => c.notNull())
    .addColumn("chunk", "integer", (c) => c.notNull())
    .addColumn("items", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("fan_outs_pk", ["run_id", "step_id", "chunk"])
    .execute();

  await db.schema
    .createTable("jobs")
    // Job ids are never reused, so that a holder that was thought dead can't write to another job.
    .addColumn("id", serial, (c) => c.primaryKey().autoIncrement())
    .addColumn("kind", "text", (c) => c.notNull())
    .addColumn("state", "text", (c) => c.notNull())
    .addColumn("priority", "integer", (c) => c.notNull())
    .addColumn("due_at", "text")
    .addColumn("run_id", "text", (c) => c.notNull())
    .addColumn("step_id", "text", (c) => c.notNull())
    .addColumn("item", "integer", (c) => c.notNull())
    .addColumn("resource", "text")
    .addColumn("attempt", "integer", (c) => c.notNull())
    .addColumn("tries", "integer", (c) => c.notNull())
    .addColumn("fence", "integer", (c) => c.notNull())
    .addColumn("executor", "text")
    .addColumn("suspect", "integer", (c) => c.notNull())
    .addColumn("kills", "integer", (c) => c.notNull())
    .addColumn("alone", "integer", (c) => c.notNull())
    .execute();
  // Finished jobs are deleted, so the index contains only pending work.
  await sql`create index jobs_ready on jobs (priority desc, id) where state = 'ready'`.execute(db);
  await sql`create index jobs_suspect on jobs (id) where state = 'ready' and suspect = 1`.execute(db);
  await sql`create index jobs_later on jobs (due_at) where state = 'later'`.execute(db);
  await sql`create index jobs_claimed on jobs (executor) where state = 'claimed'`.execute(db);
  await db.schema.createIndex("jobs_by_run").on("jobs").columns(["run_id", "step_id", "item"]).execute();

  await db.schema
    .createTable("executors")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("beat", "integer", (c) => c.notNull())
    .addColumn("started_at", "text", (c) => c.notNull())
    .execute();

  await db.schema
    .createTable("approvals")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("run_id", "text", (c) => c.notNull())
    .addColumn("workflow_id", "text", (c) => c.notNull())
    .addColumn("step_id", "text", (c) => c.notNull())
    .addColumn("item", "integer", (c) => c.notNull())
    .addColumn("status", "text", (c) => c.notNull())
    .addColumn("message", "text", (c) => c.notNull())
    .addColumn("form", "text")
    .addColumn("assignees", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("expires_at", "text")
    .addColumn("decided_at", "text")
    .addColumn("decided_by", "text")
    .addColumn("comment", "text")
    .addColumn("answer", "text")
    .execute();
  await db.schema
    .createIndex("approvals_by_status")
    .on("approvals")
    .columns(["status", "created_at", "id"])
    .execute();
  await db.schema.createIndex("approvals_by_run").on("approvals").column("run_id").execute();

  await db.schema
    .createTable("schedules")
    .addColumn("workflow_id", "text", (c) => c.primaryKey().notNull())
    .addColumn("version", "integer", (c) => c.notNull())
    .addColumn("cron", "text", (c) => c.notNull())
    .addColumn("timezone", "text", (c) => c.notNull())
    .addColumn("overlap", "text", (c) => c.notNull())
    .addColumn("paused", "integer", (c) => c.notNull())
    .addColumn("next_at", "text")
    .addColumn("last_at", "text")
    .addColumn("skipped", "text")
    .addColumn("owner", "text", (c) => c.notNull())
    .addColumn("key_name", "text", (c) => c.notNull())
    .addColumn("lineage", "text", (c) => c.notNull())
    .execute();
  await sql`create index schedules_due on schedules (next_at) where paused = 0 and next_at is not null`.execute(
    db,
  );

  await db.schema
    .createTable("step_cache")
    .addColumn("key", "text", (c) => c.primaryKey().notNull())
    .addColumn("expires_at", "text", (c) => c.notNull())
    .addColumn("output", "text", (c) => c.notNull())
    .execute();
  await db.schema.createIndex("step_cache_by_age").on("step_cache").column("expires_at").execute();
}

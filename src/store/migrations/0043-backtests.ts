import { type Kysely, sql } from "kysely";

/** Backtests with their runs, and which run of the past a trial runs again. An older release starts and shows none of them. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable("backtests")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("workflow_id", "text", (c) => c.notNull().references("workflows.id"))
    .addColumn("project", "text", (c) => c.notNull())
    .addColumn("version", "integer", (c) => c.notNull())
    .addColumn("definition", "text")
    .addColumn("source_workflow_id", "text", (c) => c.notNull().references("workflows.id"))
    .addColumn("reads", "text", (c) => c.notNull())
    .addColumn("given", "text", (c) => c.notNull())
    .addColumn("concurrency", "integer", (c) => c.notNull())
    .addColumn("status", "text", (c) => c.notNull())
    .addColumn("total", "integer", (c) => c.notNull())
    .addColumn("message", "text")
    .addColumn("summary", "text")
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
  await sql`create index backtests_by_workflow on backtests (workflow_id, created_at, id)`.execute(db);
  await sql`create index backtests_running on backtests (subject, created_at) where status = 'running'`.execute(
    db,
  );
  await sql`create index backtests_finished on backtests (finished_at) where finished_at is not null`.execute(
    db,
  );
  await db.schema
    .createTable("backtest_runs")
    .addColumn("backtest_id", "text", (c) => c.notNull().references("backtests.id"))
    .addColumn("position", "integer", (c) => c.notNull())
    .addColumn("source_run", "text", (c) => c.notNull())
    .addColumn("run", "text")
    .addColumn("result", "text")
    .addColumn("details", "text")
    .addPrimaryKeyConstraint("backtest_runs_pk", ["backtest_id", "position"])
    .execute();
  await sql`create index backtest_runs_by_result on backtest_runs (backtest_id, result, run, position)`.execute(
    db,
  );
  // A replay belongs to one run of one backtest.
  await sql`create unique index backtest_runs_by_replay on backtest_runs (run) where run is not null`.execute(
    db,
  );
  await db.schema.alterTable("runs").addColumn("replay", "text").execute();
}

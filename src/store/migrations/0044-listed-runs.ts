import { type Kysely, sql } from "kysely";

/** As in the indexes by status, and in src/store/run-lists.ts. */
const IS_TRIAL = sql`(case when trial is null then 0 else 1 end)`;

/**
 * Indexes of the runs that lists show: a backtest adds up to 1,000 replays, which no list should have to skip. They have every
 * column that a list compares, so that no rows are read. An older release searches its lists in the indexes by status.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const name of ["runs_by_created_at", "runs_by_project", "runs_by_workflow", "runs_trials"])
    await db.schema.dropIndex(name).execute();
  await sql`create index runs_listed on runs (created_at, id, "trigger", ${IS_TRIAL})
    where "trigger" <> 'backtest'`.execute(db);
  await sql`create index runs_listed_by_project on runs (project, created_at, id, "trigger", ${IS_TRIAL})
    where "trigger" <> 'backtest'`.execute(db);
  await sql`create index runs_listed_by_workflow on runs (workflow_id, created_at, id, project, "trigger", ${IS_TRIAL})
    where "trigger" <> 'backtest'`.execute(db);
  await sql`create index runs_trials on runs (created_at, id) where trial is not null and "trigger" <> 'backtest'`.execute(
    db,
  );
}

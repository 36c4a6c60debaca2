import { type Kysely, sql } from "kysely";

/**
 * Indexes that return the runs of each combination of filters in order, and without reading rows. Those by status or trigger
 * alone became slower with every run of another project or workflow.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const name of ["runs_by_status", "runs_by_trigger", "runs_by_workflow"])
    await db.schema.dropIndex(name).execute();
  await sql`create index runs_by_workflow on runs (workflow_id, created_at, id, project)`.execute(db);
  await sql`create index runs_by_workflow_status on runs
    (workflow_id, status, "trigger", created_at, id, project, (case when trial is null then 0 else 1 end))`.execute(
    db,
  );
  await sql`create index runs_by_status on runs
    (project, status, "trigger", created_at, id, (case when trial is null then 0 else 1 end))`.execute(db);
  await sql`create index runs_trials on runs (created_at, id) where trial is not null`.execute(db);
}

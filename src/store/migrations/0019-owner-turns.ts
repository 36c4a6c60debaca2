import { type Kysely, sql } from "kysely";

/** Lets owners take turns where schedules are due, and where the runs of a workflow are queued. */
export async function up(db: Kysely<never>): Promise<void> {
  // The subject of core/usage-limits.ts.
  await sql`alter table schedules add column subject text
    generated always as (case when owner = 'operator' then lineage else owner end) virtual`.execute(db);
  await sql`drop index runs_unfinished`.execute(db);
  await sql`create index runs_unfinished on runs
    (workflow_id, admitted, subject, priority desc, created_at, id) where finished_at is null`.execute(db);
}

import { type Kysely, sql } from "kysely";

/**
 * Who a run and its jobs belong to, so that claims take turns over owners and their workflows. Executors of an older
 * release go on adding jobs without an owner; these take turns as one owner.
 */
export async function up(db: Kysely<never>): Promise<void> {
  // The subject of core/usage-limits.ts.
  await sql`alter table runs add column subject text
    generated always as (case when owner = 'operator' then lineage else owner end) virtual`.execute(db);
  await sql`alter table jobs add column subject text not null default '?'`.execute(db);
  await sql`alter table jobs add column workflow_id text not null default '?'`.execute(db);
  await sql`alter table jobs add column gate text
    generated always as (json_array(resource, rate_key)) virtual`.execute(db);
  await sql`update jobs set subject = runs.subject, workflow_id = runs.workflow_id
    from runs where runs.id = jobs.run_id`.execute(db);
  // Jobs that stop a run go before those that it stops.
  await sql`update jobs set priority = 100 where kind in ('cancel', 'run_timeout')`.execute(db);

  await sql`drop index jobs_ready`.execute(db);
  await sql`create index jobs_ready on jobs (suspect, priority, subject, workflow_id, gate, id)
    where state = 'ready'`.execute(db);
  await sql`drop index jobs_suspect`.execute(db);
  await sql`create index jobs_ready_by_resource on jobs (resource)
    where state = 'ready' and resource is not null`.execute(db);
  await sql`create index jobs_ready_by_rate on jobs (rate_key)
    where state = 'ready' and rate_key is not null`.execute(db);
  await sql`create index jobs_stopping on jobs (state, due_at) where priority = 100`.execute(db);
  await sql`create index jobs_later_by_subject on jobs (subject, due_at) where state = 'later'`.execute(db);
}

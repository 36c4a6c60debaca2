import { type Kysely, sql } from "kysely";

/** Whom deliveries belong to, so that owners take turns, and what they store. Deliveries from before count with their bodies. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const table of ["trigger_deliveries", "deliveries"]) {
    await db.schema
      .alterTable(table)
      .addColumn("subject", "text", (c) => c.notNull().defaultTo(""))
      .execute();
    await db.schema
      .alterTable(table)
      .addColumn("stored_bytes", "bigint", (c) => c.notNull().defaultTo(0))
      .execute();
  }
  await db.schema.alterTable("trigger_deliveries").addColumn("claimed_by", "text").execute();
  await db.schema
    .alterTable("trigger_deliveries")
    .addColumn("fence", "integer", (c) => c.notNull().defaultTo(0))
    .execute();
  await sql`create index trigger_deliveries_by_owner on trigger_deliveries (subject, next_at, id) where next_at is not null`.execute(
    db,
  );
  await sql`create index trigger_deliveries_by_claim on trigger_deliveries (claimed_by) where claimed_by is not null`.execute(
    db,
  );
  await sql`update trigger_deliveries set
    subject = coalesce((select case when t.owner = 'operator' then t.lineage else t.owner end
      from triggers t where t.id = trigger_deliveries.trigger_id), ''),
    stored_bytes = octet_length(event)
    where event is not null`.execute(db);
  await sql`update deliveries set
    subject = coalesce((select s.subject from subscriptions s where s.id = deliveries.queue), ''),
    stored_bytes = coalesce((select octet_length(e.data) from outgoing_events e where e.id = deliveries.event_id), 0)
      + coalesce(octet_length(response), 0) + coalesce(octet_length(error), 0)
    where queue <> 'mail'`.execute(db);
  await addToCounts(db);
}

/** What the deliveries store, by owner and by project. The default project has no count of its own. */
const addToCounts = (db: Kysely<never>) =>
  sql`insert into stored_bytes (subject, shard, bytes)
    select subject, 0, sum(bytes) from (
      select subject, stored_bytes as bytes from trigger_deliveries
      union all
      select subject, stored_bytes as bytes from deliveries
      union all
      select 'project:' || w.project as subject, d.stored_bytes as bytes
      from trigger_deliveries d join workflows w on w.id = d.workflow_id where w.project <> 'default'
      union all
      select 'project:' || project as subject, stored_bytes as bytes from deliveries where project <> 'default'
    ) as parts where true group by subject having sum(bytes) <> 0
    on conflict (subject, shard) do update set bytes = stored_bytes.bytes + excluded.bytes`.execute(db);

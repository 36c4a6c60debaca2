import { type Kysely, sql } from "kysely";

/** Who caused a run besides its actor, who delivered a delivery again, and whether it was signed; what the keys of backfills are limited to. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable("runs").addColumn("causes", "text").execute();
  await db.schema.alterTable("trigger_deliveries").addColumn("redelivered_by", "text").execute();
  await db.schema.alterTable("trigger_deliveries").addColumn("signed", "integer").execute();
  await db.schema.alterTable("backfills").addColumn("key_limits", "text").execute();
  await recordCauses(db);
}

interface Started {
  id: string;
  workflow_id: string | null;
  retry_of: string | null;
  parent_run: string | null;
  has_definition: number | string;
  owner: string;
  key_name: string;
  lineage: string;
}

const COLUMNS = sql`id, workflow_id, retry_of, parent_run, owner, key_name, lineage,
  case when definition is null then 0 else 1 end as has_definition`;

/**
 * Records who has started, changed or written what runs repeat, and what the runs follow that wait for them: they must not decide on
 * these. For unfinished runs, and for those with a definition of their own, which a retry keeps.
 */
async function recordCauses(db: Kysely<never>): Promise<void> {
  const { rows } = await sql<Started>`select ${COLUMNS} from runs
    where finished_at is null or definition is not null order by depth`.execute(db);
  const causesOf = new Map<string, readonly object[]>();
  for (const run of rows) {
    const causes: object[] = [...(causesOf.get(run.parent_run ?? "") ?? [])];
    for (let next: Started | undefined = run; next !== undefined;) {
      const { id: by, owner, key_name: keyName, lineage } = next;
      if (next !== run) causes.push({ kind: "started", owner, keyName, lineage, by });
      if (Number(next.has_definition) === 1)
        causes.push({ kind: next.workflow_id === null ? "step" : "patched", owner, keyName, lineage, by });
      if (next.retry_of === null) break;
      const retried: { rows: Started[] } =
        await sql<Started>`select ${COLUMNS} from runs where id = ${next.retry_of}`.execute(db);
      [next] = retried.rows;
    }
    if (causes.length === 0) continue;
    causesOf.set(run.id, causes);
    await sql`update runs set causes = ${JSON.stringify(causes)} where id = ${run.id}`.execute(db);
  }
}

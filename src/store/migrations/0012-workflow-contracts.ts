import { type Kysely, sql } from "kysely";

interface Row {
  id: string;
  definition: string | null;
  published: number;
}

/**
 * Which workflows run which, with those that exist already; the runs that `on_failure` of failed runs started, or why they
 * could not start; and paused schedules of workflows that are not published, which stay paused when they return.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .alterTable("schedules")
    .addColumn("removed", "integer", (c) => c.notNull().defaultTo(0))
    .execute();
  await db.schema.alterTable("runs").addColumn("on_failure", "text").execute();
  await db.schema
    .createTable("workflow_calls")
    .addColumn("caller", "text", (c) => c.notNull())
    .addColumn("callee", "text", (c) => c.notNull())
    .addColumn("published", "integer", (c) => c.notNull())
    .addPrimaryKeyConstraint("workflow_calls_pk", ["caller", "published", "callee"])
    .execute();
  await db.schema
    .createIndex("workflow_calls_by_callee")
    .on("workflow_calls")
    .columns(["callee", "published"])
    .execute();
  const { rows } = await sql<Row>`
    select w.id, v.definition, 0 as published from workflows w
    join workflow_versions v on v.workflow_id = w.id and v.version = w.version
    union all
    select w.id, v.definition, 1 as published from workflows w
    join workflow_versions v on v.workflow_id = w.id and v.version = w.published_version
  `.execute(db);
  for (const { id, definition, published } of rows)
    for (const callee of calleesOf(definition))
      await sql`insert into workflow_calls (caller, callee, published) values (${id}, ${callee}, ${published})`.execute(
        db,
      );
}

/** The workflows that a definition runs with its steps, and when a run failed. */
function calleesOf(json: string | null): Set<string> {
  const { steps, on_failure: onFailure } = (json === null ? {} : JSON.parse(json)) as Record<string, unknown>;
  const calls = (Array.isArray(steps) ? steps : []) as ({ type?: unknown; workflow?: unknown } | null)[];
  const ids = calls.map((step) => (step?.type === "workflow" ? step.workflow : undefined));
  return new Set([...ids, onFailure].filter((id) => typeof id === "string"));
}

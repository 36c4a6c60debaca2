import { type Kysely, sql } from "kysely";
import { columnTypes } from "../dialect.ts";

/** The bytes of a column over all rows of a run. */
const sumOf = (table: string, column: string) => sql`coalesce((
  select sum(octet_length(t.${sql.ref(column)})) from ${sql.table(table)} t where t.run_id = runs.id), 0)`;

/**
 * Equal values are stored once: a digest finds them, and references keep them. And what each owner stores is counted, with
 * what is there already. `octet_length` reads no value, only its length, so this takes little memory.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const { bytes } = columnTypes(db);
  await db.schema.alterTable("run_values").addColumn("digest", bytes).execute();
  await sql`create unique index run_values_by_digest on run_values (digest) where digest is not null`.execute(
    db,
  );
  await db.schema
    .createTable("value_refs")
    .addColumn("holder", "text", (c) => c.notNull())
    .addColumn("value_id", "integer", (c) => c.notNull())
    .addPrimaryKeyConstraint("value_refs_pk", ["holder", "value_id"])
    .execute();
  await db.schema.createIndex("value_refs_by_value").on("value_refs").column("value_id").execute();

  for (const table of ["runs", "workflow_versions"])
    await db.schema
      .alterTable(table)
      .addColumn("stored_bytes", "bigint", (c) => c.notNull().defaultTo(0))
      .execute();
  await db.schema
    .alterTable("workflow_versions")
    .addColumn("subject", "text", (c) => c.notNull().defaultTo(""))
    .execute();
  await db.schema
    .createTable("stored_bytes")
    .addColumn("subject", "text", (c) => c.notNull())
    .addColumn("shard", "integer", (c) => c.notNull())
    .addColumn("bytes", "bigint", (c) => c.notNull())
    .addPrimaryKeyConstraint("stored_bytes_pk", ["subject", "shard"])
    .execute();

  await sql`
    update runs set stored_bytes =
      octet_length(inputs) + coalesce(octet_length(output), 0) + coalesce(octet_length(definition), 0)
      + coalesce(octet_length(state), 0) + coalesce(octet_length(committed), 0)
      + ${sumOf("run_steps", "output")} + ${sumOf("run_attempts", "input")} + ${sumOf("run_values", "body")}
      + ${sumOf("fan_outs", "items")}`.execute(db);
  // Versions of the operator's keys do not say which key wrote them, and count for none of them.
  await sql`
    update workflow_versions
    set subject = created_by, stored_bytes = coalesce(octet_length(definition), 0) + octet_length(description)`.execute(
    db,
  );
  await sql`
    insert into stored_bytes (subject, shard, bytes)
    select subject, 0, sum(bytes) from (
      select case when owner = 'operator' then lineage else owner end as subject, stored_bytes as bytes from runs
      union all
      select subject, stored_bytes as bytes from workflow_versions
    ) as parts group by subject`.execute(db);
}

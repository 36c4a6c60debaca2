/** Reads the tables of PostgreSQL, with a few rows of each. */
import type { PoolClient } from "pg";
import type { TableDescription } from "../../core/connections.ts";
import type { DescribeOptions } from "./driver.ts";
import { describeStatement, fetchRows, type PgField } from "./cursor-query.ts";
import type { PgTypes } from "./postgres-types.ts";
import { pgSampleToJson, truncatePgColumn } from "./postgres-values.ts";
import { createRowCollector } from "./rows.ts";

const TABLES = `
  SELECT CASE WHEN pg_table_is_visible(c.oid) THEN c.relname ELSE n.nspname || '.' || c.relname END AS name,
         quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS quoted,
         CASE WHEN c.relkind IN ('v', 'm') THEN 'view' ELSE 'table' END AS kind,
         CASE WHEN c.relkind IN ('v', 'f') OR c.reltuples < 0 THEN NULL ELSE c.reltuples::float8 END AS rows,
         (SELECT json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
                                            'nullable', NOT a.attnotnull) ORDER BY a.attnum)
            FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
     AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
     AND has_table_privilege(c.oid, 'SELECT')`;

/** @param client in a read-only transaction */
export async function describePgTables(
  client: PoolClient,
  types: PgTypes,
  options: DescribeOptions,
): Promise<TableDescription[]> {
  const { rows } = await client.query<{
    name: string;
    quoted: string;
    kind: string;
    rows: number | null;
    columns: TableDescription["columns"] | null;
  }>(`SELECT * FROM (${TABLES}) AS t WHERE $1::text IS NULL OR name = $1 ORDER BY name LIMIT $2`, [
    options.table ?? null,
    options.limit,
  ]);
  const described: TableDescription[] = [];
  for (const row of rows) {
    const sample =
      options.samples > 0 ? await sampleOf(client, types, row.quoted, options.samples) : undefined;
    described.push({
      name: row.name,
      kind: row.kind,
      columns: row.columns ?? [],
      row_count: options.includeRowCounts ? row.rows : null,
      ...(sample !== undefined && { sample }),
    });
  }
  return described;
}

/** Reads the first rows. The server truncates long values, because one value may be larger than the memory here. */
async function sampleOf(
  client: PoolClient,
  types: PgTypes,
  quoted: string,
  maxRows: number,
): Promise<Record<string, unknown>[]> {
  const { fields } = await describeStatement(client, `SELECT * FROM ${quoted}`);
  const catalog = await types.learn(client, fields);
  const cutField = ({ name, dataTypeID }: PgField): string =>
    truncatePgColumn(dataTypeID, `"${name.replaceAll('"', '""')}"`, catalog);
  const collected = createRowCollector(
    fields.map(({ name }) => name),
    { maxRows, maxBytes: 64 * 1024 },
  );
  await fetchRows(
    client,
    `SELECT ${fields.map(cutField).join(", ")} FROM ${quoted} LIMIT ${maxRows}`,
    [],
    () => undefined,
    (row) => collected.add(row.map((value, index) => pgSampleToJson(fields[index]!, value, catalog))),
  );
  return collected.rows;
}

/** The tables of a store in a form that is the same for SQLite and PostgreSQL. */
import { type Kysely, sql } from "kysely";
import type { Schema } from "../../src/store/schema.ts";

interface Table {
  /** Type, and whether it may be null, by column. */
  columns: Record<string, string>;
  /** The columns of the keys and the unique indexes, and those of the other indexes by name. */
  unique: string[];
  indexes: Record<string, string>;
}

interface ColumnRow {
  table: string;
  name: string;
  type: string;
  required: unknown;
}

interface IndexRow {
  table: string;
  name: string;
  uniqueness: unknown;
  partial: unknown;
  columns: string;
}

function tablesOf(columns: readonly ColumnRow[], indexes: readonly IndexRow[]): Record<string, Table> {
  const tables: Record<string, Table> = {};
  for (const { table, name, type, required } of columns) {
    tables[table] ??= { columns: {}, unique: [], indexes: {} };
    tables[table].columns[name] = `${type}${Number(required) === 1 ? " not null" : ""}`;
  }
  for (const { table, name, uniqueness, partial, columns: list } of indexes) {
    const text = `${list}${Number(partial) === 1 ? " (partial)" : ""}`;
    if (Number(uniqueness) === 1) tables[table]!.unique.push(text);
    else tables[table]!.indexes[name] = text;
  }
  for (const { unique } of Object.values(tables)) unique.sort();
  return tables;
}

/** Not of SQLite itself, nor of its index for searches. */
const isShared = sql`m.type = 'table' and m.name not like 'sqlite%'
  and m.name not like 'workflow_search%' and m.name <> 'workflow_numbers'`;

export async function sqliteSchema(db: Kysely<Schema>): Promise<Record<string, Table>> {
  const columns = await sql<ColumnRow>`
    select m.name as "table", c.name, c."notnull" or c.pk > 0 as required,
      case lower(c.type) when 'integer' then 'bigint' when 'blob' then 'bytea' else lower(c.type) end as type
    from sqlite_schema m join pragma_table_xinfo(m.name) c
    where ${isShared}`.execute(db);
  const indexes = await sql<IndexRow>`
    select m.name as "table", i.name, i."unique" as uniqueness, i.partial,
      (select group_concat(name, ', ') from (select name from pragma_index_info(i.name) order by seqno)) as columns
    from sqlite_schema m join pragma_index_list(m.name) i
    where ${isShared}
    union all
    select m.name, 'rowid', 1, 0, c.name from sqlite_schema m join pragma_table_info(m.name) c
    where ${isShared} and c.pk > 0 and lower(c.type) = 'integer'
      and not exists (select 1 from pragma_index_list(m.name) where origin = 'pk')`.execute(db);
  return tablesOf(columns.rows, indexes.rows);
}

/** Without the index for searches, of which SQLite's are tables. */
export async function postgresSchema(db: Kysely<Schema>): Promise<Record<string, Table>> {
  const columns = await sql<ColumnRow>`
    select c.relname as "table", a.attname as name, a.attnotnull::int as required,
      replace(format_type(a.atttypid, null), 'integer', 'bigint') as type
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
      and a.attnum > 0 and not a.attisdropped`.execute(db);
  const indexes = await sql<IndexRow>`
    select t.relname as "table", i.relname as name, x.indisunique::int as uniqueness,
      (x.indpred is not null)::int as partial,
      (select string_agg(a.attname, ', ' order by k.position) from unnest(x.indkey) with ordinality as k (number, position)
       join pg_attribute a on a.attrelid = t.oid and a.attnum = k.number) as columns
    from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
    where t.relnamespace = current_schema()::regnamespace and i.relname <> 'workflows_by_text_parts'`.execute(
    db,
  );
  return tablesOf(columns.rows, indexes.rows);
}

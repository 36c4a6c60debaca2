/**
 * SQL that differs between databases: SQLite and PostgreSQL. The drivers are beside this file. In PostgreSQL several write
 * transactions run at the same time (docs/decisions/0015-postgresql.md); in SQLite one does, so there nothing is locked.
 */
import {
  type Expression,
  type Kysely,
  PostgresAdapter,
  type RawBuilder,
  type SelectQueryBuilder,
  sql,
  type SqlBool,
} from "kysely";
import type { LockMode } from "../core/transactions.ts";
import { preparedWrite, statement } from "./prepared.ts";
import type { Schema } from "./schema.ts";

/** A connection or a transaction, whatever its tables. */
type Connection = Pick<Kysely<Schema>, "getExecutor">;

/** Whether several write transactions of the database run at the same time. */
export const writesConcurrently = (db: Connection): boolean =>
  db.getExecutor().adapter instanceof PostgresAdapter;

/** The names of the tables. Kysely's introspection also reads every column, which takes most of the time of opening a state. */
export async function tableNames(db: Kysely<Schema>): Promise<ReadonlySet<string>> {
  const query = writesConcurrently(db)
    ? sql<{ name: string }>`
      select tablename as name from pg_tables where schemaname = any(current_schemas(false))`
    : sql<{ name: string }>`select name from sqlite_schema where type = 'table'`;
  const { rows } = await query.execute(db);
  return new Set(rows.map(({ name }) => name));
}

/** Column types whose names differ between databases. */
export const columnTypes = (
  db: Connection,
): { bytes: "blob"; serial: "integer" } | { bytes: "bytea"; serial: "bigserial" } =>
  writesConcurrently(db) ? { bytes: "bytea", serial: "bigserial" } : { bytes: "blob", serial: "integer" };

/** Locks the rows that a query reads, until the transaction ends. */
export const forUpdate = <DB, TB extends keyof DB, O>(
  db: Connection,
  query: SelectQueryBuilder<DB, TB, O>,
): SelectQueryBuilder<DB, TB, O> => (writesConcurrently(db) ? query.forUpdate() : query);

/** The same, without the rows that another transaction has locked. */
export const skippingLocked = <DB, TB extends keyof DB, O>(
  db: Connection,
  query: SelectQueryBuilder<DB, TB, O>,
): SelectQueryBuilder<DB, TB, O> => (writesConcurrently(db) ? query.forUpdate().skipLocked() : query);

/** The same, at the end of a query that is written as SQL. */
export const skipLockedClause = (db: Connection): RawBuilder<unknown> =>
  writesConcurrently(db) ? sql`for update skip locked` : sql``;

/** Locks the rows that a query reads against their deletion. Several transactions can do so at the same time. */
export const againstDeletion = <DB, TB extends keyof DB, O>(
  db: Connection,
  query: SelectQueryBuilder<DB, TB, O>,
): SelectQueryBuilder<DB, TB, O> => (writesConcurrently(db) ? query.forKeyShare() : query);

/** What is locked by its name, because it has no row, or may have none. The numbers keep equal names of two kinds apart. */
const LOCKED = { queue: 1, starts: 2, claims: 3, audit: 4 } as const;

const nameLocks = {
  exclusive: preparedWrite((db, name: string, kind: number) =>
    statement(db, sql`select pg_advisory_xact_lock(hashtextextended(${name}, ${kind}))`),
  ),
  shared: preparedWrite((db, name: string, kind: number) =>
    statement(db, sql`select pg_advisory_xact_lock_shared(hashtextextended(${name}, ${kind}))`),
  ),
};

/** Locks a name until the transaction ends, alone, or together with others that share the lock. */
export async function lockName(
  trx: Kysely<Schema>,
  kind: keyof typeof LOCKED,
  name: string,
  mode: LockMode = "exclusive",
): Promise<void> {
  if (writesConcurrently(trx)) await nameLocks[mode](trx, name, LOCKED[kind]);
}

/**
 * Before a column of a row comparison, keeps SQLite from converting it: with the affinity of the column it uses only a part
 * of the index.
 */
export const withoutAffinity = (db: Connection): RawBuilder<unknown> =>
  writesConcurrently(db) ? sql`` : sql`+`;

/** The text at the top-level `key` of `column`, a JSON object; null when there is none. */
export const jsonTextAt = (db: Connection, column: string, key: string): RawBuilder<string | null> =>
  writesConcurrently(db)
    ? sql`(${sql.ref(column)}::json ->> ${sql.lit(key)})`
    : sql`(${sql.ref(column)} ->> ${sql.lit(`$.${key}`)})`;

// The functions below are those of SQLite. PostgreSQL has them from the baseline of its schema.

/** Whether `column`, a JSON array of strings, contains `item`. */
export function arrayContains(column: Expression<string>, item: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`exists (select 1 from json_each(${column}) where value = ${item})`;
}

/** Whether `column` is one of `items`, a JSON array of strings. */
export function isOneOf(column: Expression<unknown>, items: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`${column} in (select value from json_each(${items}))`;
}

/** The number at the top-level `key` of `column`, a JSON object; null when it is null. */
export function jsonNumber(column: Expression<string | null>, key: string): RawBuilder<number | null> {
  return sql<number | null>`json_extract(${column}, ${sql.lit(`$.${key}`)})`;
}

/** Whether `column`, a JSON object, has a value at the top-level `key` that is not null. */
export function hasJsonValue(column: Expression<string | null>, key: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`coalesce(json_type(${column}, ${sql.lit(`$.${key}`)}), 'null') <> 'null'`;
}

/** Whether `column` contains `needle` exactly; unlike LIKE it has no wildcards to escape. */
export function contains(column: Expression<string>, needle: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`instr(${column}, ${needle}) > 0`;
}

/** The length of the parts of texts that the search index knows, in characters: shorter words are not found by it. */
const INDEXED_CHARS = 3;
/** Maximum number of parts that a query of the search index contains. */
const MAX_PARTS = 48;
/**
 * In PostgreSQL: words that so many of the newest workflows contain are frequent. Reading texts in order finds enough of them sooner
 * than the index, which reads the lists of all parts to their ends.
 */
const FREQUENT = { matches: 100, newest: 1_000 } as const;

/** The triggers that keep the search index up to date, also when an older release writes. By name, as SQLite stores them. */
export const SEARCH_TRIGGERS: Readonly<Record<string, string>> = {
  workflow_search_insert: `CREATE TRIGGER workflow_search_insert after insert on workflows begin
    insert into workflow_numbers (workflow_id) values (new.id);
    insert into workflow_search (rowid, text)
      select number, new.search_text from workflow_numbers where workflow_id = new.id;
  end`,
  workflow_search_update: `CREATE TRIGGER workflow_search_update after update of search_text on workflows
  when new.search_text <> old.search_text begin
    insert or replace into workflow_search (rowid, text)
      select number, new.search_text from workflow_numbers where workflow_id = new.id;
  end`,
  workflow_search_delete: `CREATE TRIGGER workflow_search_delete after delete on workflows begin
    delete from workflow_search
      where rowid = (select number from workflow_numbers where workflow_id = old.id);
    delete from workflow_numbers where workflow_id = old.id;
  end`,
};

/**
 * Creates the index of `workflows.search_text` for `workflowsThatMayContain`. Its numbers are a table of their own, because those of
 * a table with a text key change when a backup is made. PostgreSQL has its own (`createPostgresWorkflowSearch`).
 */
export async function createWorkflowSearch(db: Kysely<never>): Promise<void> {
  if (writesConcurrently(db)) return;
  await sql`create table workflow_numbers
    (number integer primary key, workflow_id text not null unique references workflows (id))`.execute(db);
  await sql`create virtual table workflow_search using fts5
    (text, content='', contentless_delete=1, detail='none', tokenize='trigram case_sensitive 1')`.execute(db);
  await sql`insert into workflow_numbers (workflow_id) select id from workflows`.execute(db);
  await sql`insert into workflow_search (rowid, text)
    select number, search_text from workflow_numbers join workflows on workflows.id = workflow_id`.execute(
    db,
  );
  for (const trigger of Object.values(SEARCH_TRIGGERS)) await sql.raw(trigger).execute(db);
}

/**
 * Creates the index for PostgreSQL: the parts of each text, which are those of `partsOf` whatever the language of the database, so that
 * both databases find the same. `pg_trgm` would know only letters of that language, and a role needs a right to install it.
 */
export async function createPostgresWorkflowSearch(db: Kysely<never>): Promise<void> {
  if (!writesConcurrently(db)) return;
  // The high cost keeps the planner from computing the parts of each text instead of using the index.
  await sql`create function text_parts(text) returns text[] language sql immutable strict parallel safe cost 100000
    as ${sql.lit(`
      select coalesce(array_agg(a || b || c), '{}')
      from (select string_to_array($1, null) as chars) as text, unnest(chars, chars[2:], chars[3:]) as part (a, b, c)
      where c is not null`)}`.execute(db);
  await sql`create index workflows_by_text_parts on workflows using gin (text_parts(search_text))`.execute(
    db,
  );
  // Otherwise ANALYZE would compute the parts of up to 30,000 texts.
  await sql`alter index workflows_by_text_parts alter column 1 set statistics 0`.execute(db);
}

/**
 * Finds the ids of at most `limit` workflows, among which are all whose search text contains each of the words, unless the limit
 * is reached. Others may be among them.
 * @param words folded
 * @returns undefined if the words are too short for the index, or (in PostgreSQL) frequent
 */
export async function workflowsThatMayContain(
  db: Kysely<Schema>,
  words: readonly string[],
  limit: number,
): Promise<string[] | undefined> {
  const parts = [...new Set(words.flatMap(partsOf))].slice(0, MAX_PARTS);
  if (parts.length === 0) return undefined;
  if (writesConcurrently(db) && (await areFrequent(db, words))) return undefined;
  const query = writesConcurrently(db)
    ? sql<{ id: string }>`
      select id from workflows where text_parts(search_text) @> ${parts}::text[] limit ${limit}`
    : sql<{ id: string }>`
      select workflow_id as id from workflow_numbers where number in (
        select rowid from workflow_search where workflow_search match ${matchAll(parts)} limit ${limit}
      )`;
  return (await query.execute(db)).rows.map(({ id }) => id);
}

/** The query of SQLite's index for texts that contain all parts. */
const matchAll = (parts: readonly string[]): string =>
  parts.map((part) => `"${part.replaceAll('"', '""')}"`).join(" AND ");

/** Whether many of the newest workflows contain all words. */
async function areFrequent(db: Kysely<Schema>, words: readonly string[]): Promise<boolean> {
  const matches = words.map((word) => contains(sql.ref<string>("search_text"), word));
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (
      select search_text from workflows order by created_at desc, id desc limit ${sql.lit(FREQUENT.newest)}
    ) as newest where ${sql.join(matches, sql` and `)}`.execute(db);
  return rows[0]!.count >= FREQUENT.matches;
}

function partsOf(word: string): string[] {
  const chars = Array.from(word);
  return chars.slice(INDEXED_CHARS - 1).map((_, index) => chars.slice(index, index + INDEXED_CHARS).join(""));
}

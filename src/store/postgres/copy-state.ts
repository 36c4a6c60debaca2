/** Copies the state of a SQLite database into an empty PostgreSQL database, in one transaction. */
import { createHash } from "node:crypto";
import { sql, type Transaction } from "kysely";
import { AppError } from "../../core/errors.ts";
import type { ExclusiveSource } from "../exclusive-source.ts";
import { NO_STATEMENT_LIMIT } from "./driver.ts";
import type { Schema } from "../schema.ts";

/** Maximum number of values in a statement; the protocol allows 65,535. */
const MAX_VALUES = 20_000;
/** Maximum number of rows that are read at a time. */
const MAX_ROWS = 500;
/** Size from which on a batch is written, in characters. */
const MAX_CHARS = 4 * 1024 * 1024;
/** What the migrations put into every new database. */
const INITIAL_TABLES = ["counters", "projects", "settings"];

type Transactions = Transaction<Schema>;
type Row = Readonly<Record<string, unknown>>;

export interface TableReport {
  table: string;
  rows: number;
  /** The same for equal rows, in whatever order. */
  checksum: string;
}

export interface CopyOptions {
  source: ExclusiveSource;
  /** Called with each table before its rows are copied. */
  onTable(table: string): void;
}

interface TargetTable {
  name: string;
  /** Without those that the database computes. */
  columns: string[];
}

/**
 * Copies all rows, reads them back and compares them. An error leaves the target as it was.
 * @returns the tables in the order in which they were copied
 * @throws AppError storage_unavailable when the target holds a state, or differs from the source after the copy
 */
export async function copyState(trx: Transactions, { source, onTable }: CopyOptions): Promise<TableReport[]> {
  const tables = await targetTables(trx);
  const missing = source.tables.filter((name) => !tables.some((table) => table.name === name));
  if (missing.length > 0) throw new Error(`PostgreSQL has no table ${missing.join(", ")}.`);
  // Statements of a large copy may take longer than those of requests.
  await sql.raw(NO_STATEMENT_LIMIT).execute(trx);
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx);
  for (const name of INITIAL_TABLES) await sql`delete from ${sql.table(name)}`.execute(trx);
  const reports: TableReport[] = [];
  for (const table of tables) {
    onTable(table.name);
    const copied = await copyTable(trx, table, source);
    const found = await readBack(trx, table);
    if (copied.rows !== found.rows || copied.checksum !== found.checksum)
      throw new AppError(
        "storage_unavailable",
        `The table ${table.name} differs after the copy: ${copied.rows} rows with the checksum ${copied.checksum} became ` +
          `${found.rows} with ${found.checksum}. Nothing was changed. Report this as a bug.`,
      );
    reports.push(copied);
  }
  await setSequences(trx, tables);
  await copyRequirements(trx, source);
  return reports;
}

/** Keeps releases that may not run on the source from the target, too. */
async function copyRequirements(trx: Transactions, source: ExclusiveSource): Promise<void> {
  for (const { id, requires } of source.rows("migrations", ["id", "requires"]))
    await trx
      .updateTable("migrations")
      .set({ requires: Number(requires) })
      .where("id", "=", Number(id))
      .where("requires", "<", Number(requires))
      .execute();
}

/** Compares a source with a target that an earlier run has filled. @returns undefined when they differ */
export async function compareState(
  trx: Transactions,
  source: ExclusiveSource,
): Promise<TableReport[] | undefined> {
  const reports: TableReport[] = [];
  for (const table of await targetTables(trx)) {
    const report = reportOf(table, source.rows(table.name, table.columns));
    const found = await readBack(trx, table);
    if (report.rows !== found.rows || report.checksum !== found.checksum) return undefined;
    reports.push(report);
  }
  return reports;
}

/** The first table that holds rows which no new database has; undefined for an unused database. */
export async function usedTable(trx: Transactions): Promise<string | undefined> {
  for (const { name } of await targetTables(trx)) {
    // A new state has settings and counters, and one project.
    if (INITIAL_TABLES.includes(name)) continue;
    const { rows } = await sql`select 1 from ${sql.table(name)} limit 1`.execute(trx);
    if (rows.length > 0) return name;
  }
  return undefined;
}

/** All tables, each after those that it refers to. */
async function targetTables(trx: Transactions): Promise<TargetTable[]> {
  const { rows } = await sql<{ name: string; columns: string[]; refers: string[] }>`
    select c.relname as name,
      array(select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum > 0
        and not a.attisdropped and a.attgenerated = '' order by a.attnum) as columns,
      array(select f.relname::text from pg_constraint k join pg_class f on f.oid = k.confrelid
        where k.conrelid = c.oid and k.contype = 'f') as refers
    from pg_class c where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
      and c.relname <> 'migrations' order by c.relname`.execute(trx);
  const ordered: TargetTable[] = [];
  const pending = [...rows];
  while (pending.length > 0) {
    const index = pending.findIndex(({ name, refers }) =>
      refers.every((other) => other === name || ordered.some((table) => table.name === other)),
    );
    const [next] = pending.splice(Math.max(index, 0), 1);
    ordered.push(next!);
  }
  return ordered;
}

async function copyTable(
  trx: Transactions,
  table: TargetTable,
  source: ExclusiveSource,
): Promise<TableReport> {
  const checksum = rowChecksum(table.columns);
  const maxRows = Math.min(MAX_ROWS, Math.floor(MAX_VALUES / table.columns.length));
  let batch: Row[] = [];
  let chars = 0;
  const flush = async (): Promise<void> => {
    if (batch.length > 0)
      await trx
        .insertInto(table.name as never)
        .values(batch)
        .execute();
    batch = [];
    chars = 0;
  };
  for (const row of source.rows(table.name, table.columns)) {
    checksum.add(row);
    batch.push(row);
    chars += charsOf(row);
    if (batch.length >= maxRows || chars >= MAX_CHARS) await flush();
  }
  await flush();
  return { table: table.name, ...checksum.result() };
}

/** Reads the rows of a table through a cursor. */
async function readBack(trx: Transactions, { name, columns }: TargetTable): Promise<TableReport> {
  const checksum = rowChecksum(columns);
  const selected = sql.join(columns.map((column) => sql.ref(column)));
  await sql`declare copied no scroll cursor for select ${selected} from ${sql.table(name)}`.execute(trx);
  for (;;) {
    const { rows } = await sql<Row>`fetch forward ${sql.lit(MAX_ROWS)} from copied`.execute(trx);
    if (rows.length === 0) break;
    rows.forEach(checksum.add);
  }
  await sql`close copied`.execute(trx);
  return { table: name, ...checksum.result() };
}

function reportOf({ name, columns }: TargetTable, rows: Iterable<Row>): TableReport {
  const checksum = rowChecksum(columns);
  for (const row of rows) checksum.add(row);
  return { table: name, ...checksum.result() };
}

/** The sum of the hashes of rows, which does not depend on their order. */
function rowChecksum(columns: readonly string[]) {
  let sum = 0n;
  let rows = 0;
  return {
    add(row: Row): void {
      const text = JSON.stringify(columns.map((column) => canonical(row[column])));
      sum = BigInt.asUintN(64, sum + createHash("sha256").update(text).digest().readBigUInt64BE());
      rows += 1;
    },
    result: () => ({ rows, checksum: sum.toString(16).padStart(16, "0") }),
  };
}

const canonical = (value: unknown): unknown =>
  value instanceof Uint8Array ? { bytes: Buffer.from(value).toString("base64") } : (value ?? null);

const charsOf = (row: Row): number =>
  Object.values(row).reduce<number>(
    (sum, value) => sum + (typeof value === "string" || value instanceof Uint8Array ? value.length : 8),
    0,
  );

/** Makes the next generated ids follow the copied ones. */
async function setSequences(trx: Transactions, tables: readonly TargetTable[]): Promise<void> {
  for (const { name, columns } of tables)
    for (const column of columns) {
      const { rows } = await sql<{ sequence: string | null }>`
        select pg_get_serial_sequence(${name}, ${column}) as sequence`.execute(trx);
      const sequence = rows[0]?.sequence;
      if (sequence)
        await sql`select setval(${sequence}::regclass, (select coalesce(max(${sql.ref(column)}), 0) + 1
          from ${sql.table(name)}), false)`.execute(trx);
    }
}

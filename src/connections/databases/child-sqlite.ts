/** Runs SQLite in a child process through node:sqlite: read-only by default, and always with an authorizer. */
import { constants as access } from "node:fs";
import { constants, DatabaseSync, type SQLOutputValue, type StatementSync } from "node:sqlite";
import type { SqlColumn, SqlResult, TableDescription } from "../../core/connections.ts";
import { findBarrier } from "../../core/file-access.ts";
import {
  type ChildFailure,
  childFailure,
  type ChildSpec,
  type EmbeddedEngine,
  duplicateColumnFailure,
} from "./child-protocol.ts";
import type { DescribeOptions } from "./driver.ts";
import { createRowCollector, findDuplicateName, mustRollBack, type RowLimits } from "./rows.ts";
import {
  type BoundStatement,
  bindStatement,
  roundedNumber,
  roundedPositions,
  roundingOf,
  unclearNumber,
  unclearPositions,
} from "./sqlite-long-numbers.ts";
import { bindable, bindableOtherwise, type BoundValue, inexactKind } from "./sqlite-parameters.ts";
import { mayBeReplaced, undecodableText } from "./sqlite-texts.ts";
import { type ReadTables, readTables, type SqliteColumn, sqliteColumnTypes } from "./sqlite-types.ts";
import { hasWal, unusedWalFile } from "./sqlite-wal.ts";
import { bytesToBase64, type ColumnType, floatToJson, integerToJson, parseJsonText } from "./values.ts";

const READING: ReadonlySet<number> = new Set([
  constants.SQLITE_SELECT,
  constants.SQLITE_READ,
  constants.SQLITE_FUNCTION,
  constants.SQLITE_RECURSIVE,
]);

/** Never allowed: other files, settings, modules, and transactions that outlive the statement. */
const NEVER: ReadonlySet<number> = new Set([
  constants.SQLITE_ATTACH,
  constants.SQLITE_DETACH,
  constants.SQLITE_PRAGMA,
  constants.SQLITE_CREATE_VTABLE,
  constants.SQLITE_TRANSACTION,
  constants.SQLITE_SAVEPOINT,
]);

/** Functions that access files, in builds that have them. */
const DANGEROUS: ReadonlySet<string> = new Set([
  "load_extension",
  "readfile",
  "writefile",
  "edit",
  "fts3_tokenizer",
]);

const ACTIONS = new Map(
  Object.entries(constants).flatMap(([name, value]) =>
    /^SQLITE_(?:OK|DENY|IGNORE|CHANGESET_\w+)$/.test(name)
      ? []
      : [[value, name.slice("SQLITE_".length)] as const],
  ),
);

/** Full-text tables ask with this pragma whether another connection has changed the file; it changes nothing. */
const isFullTextRead = (action: number, pragma: string | null): boolean =>
  action === constants.SQLITE_PRAGMA && pragma === "data_version";

/** Maximum size of a value, in bytes. */
const MAX_VALUE_BYTES = 64 * 1024 * 1024;
const BUSY_MS = 5_000;
/** Maximum number of rows that are counted; the size of a larger table is estimated by its largest rowid. */
const COUNTED = 200_000;

interface Prepared {
  statement: StatementSync;
  columns: SqlColumn[];
}

export function createSqliteEngine(spec: ChildSpec): EmbeddedEngine {
  /** The last action that the authorizer denied, because SQLite itself only says "not authorized". */
  let denied: string | undefined;

  function open(file: string | URL): DatabaseSync {
    const db = new DatabaseSync(file, {
      readOnly: !spec.write,
      allowExtension: false,
      defensive: true,
      timeout: BUSY_MS,
      enableDoubleQuotedStringLiterals: false,
      limits: { length: MAX_VALUE_BYTES, attach: 0 },
    });
    // Temporary tables are kept in memory, so that the memory limit includes them.
    db.exec(
      `PRAGMA hard_heap_limit=${spec.memoryMb * 1024 * 1024}; PRAGMA temp_store=MEMORY; PRAGMA trusted_schema=OFF`,
    );
    return db;
  }

  function authorize(db: DatabaseSync, read: ReadTables): void {
    denied = undefined;
    db.setAuthorizer((action, first, name, _schema, view) => {
      read.add(action, first, view);
      const allowed =
        ((spec.write ? !NEVER.has(action) : READING.has(action)) || isFullTextRead(action, first)) &&
        !(action === constants.SQLITE_FUNCTION && DANGEROUS.has(String(name).toLowerCase()));
      if (allowed) return constants.SQLITE_OK;
      denied = action === constants.SQLITE_FUNCTION ? `${name}()` : (ACTIONS.get(action) ?? "that");
      return constants.SQLITE_DENY;
    });
  }

  /** Prepares a statement under the authorizer, and finds the types of its columns without it. */
  function prepared(db: DatabaseSync, text: string): Prepared {
    const read = readTables();
    authorize(db, read);
    const statement = db.prepare(text);
    const found = statement.columns();
    assertDistinct(found.map(({ name }) => name));
    db.setAuthorizer(null);
    const types = sqliteColumnTypes(db, text, read, found);
    authorize(db, read);
    return { statement, columns: found.map((column, index) => typedColumn(column, types[index]!)) };
  }

  /** Does work of our own, which the authorizer would deny. */
  function unrestricted<T>(db: DatabaseSync, work: () => T): T {
    db.setAuthorizer(null);
    const result = work();
    authorize(db, readTables());
    return result;
  }

  /** Most statements have no such value: they keep the authorizer, without which SQLite would prepare them again. */
  const rounded = (db: DatabaseSync, statement: BoundStatement, limit?: number): number[] =>
    statement.values.some((value) => inexactKind(value) !== undefined)
      ? unrestricted(db, () => roundedPositions(db, statement, limit))
      : [];

  function using<T>(file: string | URL, work: (db: DatabaseSync) => T): T {
    const db = open(file);
    try {
      return work(db);
    } finally {
      db.close();
    }
  }

  function withDatabase<T>(work: (db: DatabaseSync) => T): Promise<T> {
    const unused = spec.write ? undefined : unusedWalFile(spec.file!);
    if (unused === undefined) return Promise.resolve(using(spec.file!, work));
    try {
      const result = using(unused.url, work);
      if (unused.isUnchanged()) return Promise.resolve(result);
    } catch (error) {
      if (unused.isUnchanged()) throw error;
    }
    // Another process opened it meanwhile, so the files beside it are no longer ours alone.
    return Promise.resolve(using(spec.file!, work));
  }

  return {
    query: ({ text, values, limits }) =>
      withDatabase((db) => {
        const statement = prepared(db, text);
        const bound = values.map(bindable);
        const asked = bindStatement(db, text, values);
        const [position] = rounded(db, asked, 1);
        if (position !== undefined) throw roundedNumber(String(values[position]));
        const unclear = unclearPositions(asked);
        const unclearValue = String(values[unclear[0]!]);
        const assertDecoded = (rows: number): void => {
          const query = { text, values: bound, columns: names(statement.columns) };
          const failure = undecodableText(db, query, rows);
          if (failure !== undefined) throw childFailure(failure);
        };
        if (spec.write) {
          // It does not run with both readings: its count and its rows do not show all that it writes.
          if (unclear.length > 0) throw unclearNumber(unclearValue);
          unrestricted(db, () => db.exec("BEGIN"));
          const result = run(statement, bound, limits, assertDecoded);
          unrestricted(db, () => db.exec(mustRollBack(result, limits) ? "ROLLBACK" : "COMMIT"));
          return result;
        }
        if (unclear.length === 0) return run(statement, bound, limits, assertDecoded);
        // Both runs see the same rows, although other processes write.
        unrestricted(db, () => db.exec("BEGIN"));
        const result = run(statement, bound, limits, assertDecoded);
        const otherwise = bound.map((value, index) =>
          unclear.includes(index) ? bindableOtherwise(String(values[index])) : value,
        );
        if (!isSameResult(result, run(statement, otherwise, limits))) throw unclearNumber(unclearValue);
        return result;
      }),
    prepare: ({ text, values }) =>
      withDatabase((db) => {
        const { columns } = prepared(db, text);
        const unfit = rounded(db, bindStatement(db, text, values)).map((position) => ({
          position,
          message: roundingOf(String(values[position])),
        }));
        return { columns, unfit };
      }),
    describe: (options) => withDatabase((db) => describe(db, options)),
    toFailure: (error) => unreadableWal(spec, error) ?? unopenedFile(spec, error) ?? failureOf(error, denied),
  };
}

/** @param assertDecoded is called with the number of rows, if some of their texts may have been changed */
function run(
  { statement, columns }: Prepared,
  values: BoundValue[],
  limits: RowLimits,
  assertDecoded?: (rows: number) => void,
): SqlResult {
  if (columns.length === 0) {
    const { changes } = statement.run(...values);
    return { rows: [], columns, row_count: Number(changes), truncated: false };
  }
  const collected = createRowCollector(names(columns), limits);
  const plain = converters(columns);
  let isReplaced = false;
  for (const row of rowsOf(statement, values)) {
    isReplaced ||= row.some(mayBeReplaced);
    if (!collected.add(row.map((value, index) => plain[index]!(value)))) break;
  }
  const { rows, truncated } = collected;
  if (isReplaced) assertDecoded?.(rows.length);
  return { rows, columns, row_count: rows.length, truncated };
}

const isSameResult = (one: SqlResult, other: SqlResult): boolean =>
  one.row_count === other.row_count &&
  one.truncated === other.truncated &&
  JSON.stringify(one.rows) === JSON.stringify(other.rows);

const names = (columns: readonly Pick<SqlColumn, "name">[]): string[] => columns.map(({ name }) => name);

const typedColumn = ({ name, type: databaseType }: SqliteColumn, type: ColumnType): SqlColumn => ({
  name,
  ...type,
  databaseType,
});

function assertDistinct(columnNames: readonly string[]): void {
  const repeated = findDuplicateName(columnNames);
  if (repeated !== undefined) throw duplicateColumnFailure(repeated);
}

function* rowsOf(statement: StatementSync, values: BoundValue[]): Generator<SQLOutputValue[]> {
  statement.setReadBigInts(true);
  statement.setReturnArrays(true);
  yield* statement.iterate(...values) as unknown as Iterable<SQLOutputValue[]>;
}

const converters = (
  columns: readonly Pick<SqlColumn, "databaseType">[],
): ((value: SQLOutputValue) => unknown)[] =>
  columns.map(({ databaseType }) => {
    const isJson = /^JSON/i.test(databaseType ?? "");
    return (value) => {
      if (typeof value === "bigint") return integerToJson(value);
      if (typeof value === "number") return floatToJson(value);
      if (value instanceof Uint8Array) return bytesToBase64(value);
      return isJson && typeof value === "string" ? parseJsonText(value) : value;
    };
  });

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

function describe(
  db: DatabaseSync,
  { table, samples, limit, includeRowCounts }: DescribeOptions,
): TableDescription[] {
  const tables = db
    .prepare(
      `SELECT name, type AS kind FROM sqlite_schema
       WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND (?1 IS NULL OR name = ?1)
       ORDER BY name LIMIT ?2`,
    )
    .all(table ?? null, limit) as { name: string; kind: string }[];
  return tables.map((entry) => describeTable(db, entry, samples, includeRowCounts));
}

function describeTable(
  db: DatabaseSync,
  { name, kind }: { name: string; kind: string },
  samples: number,
  counts: boolean,
): TableDescription {
  const columns = db
    .prepare(`SELECT name, type, "notnull" AS required, pk FROM pragma_table_xinfo(?) WHERE hidden <> 1`)
    .all(name) as { name: string; type: string; required: number; pk: number }[];
  return {
    name,
    kind,
    columns: columns.map((column) => ({
      name: column.name,
      type: column.type,
      nullable: column.required === 0 && column.pk === 0,
    })),
    row_count: counts && kind === "table" ? countOf(db, name) : null,
    ...(samples > 0 && { sample: sampleOf(db, name, samples) }),
  };
}

function countOf(db: DatabaseSync, table: string): number | null {
  const one = (sql: string): number => Object.values(db.prepare(sql).get()!)[0] as number;
  const counted = one(`SELECT count(*) FROM (SELECT 1 FROM ${quoted(table)} LIMIT ${COUNTED + 1})`);
  if (counted <= COUNTED) return counted;
  try {
    return one(`SELECT max(rowid) FROM ${quoted(table)}`);
  } catch {
    return null; // WITHOUT ROWID
  }
}

function sampleOf(db: DatabaseSync, table: string, maxRows: number): Record<string, unknown>[] {
  const statement = db.prepare(`SELECT * FROM ${quoted(table)} LIMIT ${maxRows}`);
  const columns = statement.columns().map(({ name, type }) => ({ name, databaseType: type }));
  const plain = converters(columns);
  const collected = createRowCollector(names(columns), { maxRows, maxBytes: 64 * 1024 });
  for (const row of rowsOf(statement, []))
    if (!collected.add(row.map((value, index) => plain[index]!(value)))) break;
  return collected.rows;
}

/** SQLite needs a file beside one in WAL mode, and says only that it can't open or write something. */
function unreadableWal({ file, write }: ChildSpec, error: unknown): ChildFailure | undefined {
  const code = ((error as { errcode?: number }).errcode ?? 0) & 0xff;
  if (write || (code !== 8 && code !== 14) || !hasWal(file!)) return undefined;
  return {
    code: "database_unavailable",
    message:
      "It is in WAL mode, and has changes in its -wal file that can't be read, because no -shm file can be created beside it.",
    fix: "Ask the operator to run PRAGMA wal_checkpoint(TRUNCATE) where the database is written, or to make its folder writable.",
  };
}

/** SQLite does not say why it can't open a file. */
function unopenedFile({ file, write }: ChildSpec, error: unknown): ChildFailure | undefined {
  const code = ((error as { errcode?: number }).errcode ?? 0) & 0xff;
  if (code !== 14) return undefined;
  const barrier = findBarrier(file!, write ? access.R_OK | access.W_OK : access.R_OK);
  return (
    barrier && {
      code: "database_unavailable",
      message: `The server may not open the file: ${barrier.description}.`,
      fix: "Ask the operator to let the user of the server read the file, and write it if access is read-write.",
    }
  );
}

function failureOf(error: unknown, denied: string | undefined): ChildFailure {
  const { message, errcode } = error as Error & { errcode?: number };
  switch (errcode === undefined ? undefined : errcode & 0xff) {
    case 5: // SQLITE_BUSY
    case 6: // SQLITE_LOCKED
      return {
        code: "database_unavailable",
        message,
        fix: "Another program writes the file: try again once it has ended. If the error remains, ask the operator.",
      };
    case 10: // SQLITE_IOERR
    case 14: // SQLITE_CANTOPEN
      return { code: "database_unavailable", message };
    case 7: // SQLITE_NOMEM
    case 18: // SQLITE_TOOBIG
      return {
        code: "memory_limit",
        message: `The query needed too much memory: ${message}`,
        fix: "Filter or aggregate earlier.",
      };
    case 8: // SQLITE_READONLY
      return {
        code: "database_read_only",
        message,
        fix: "Ask the operator to make the file of the database, and its folder, writable for the server.",
      };
    case 23: // SQLITE_AUTH
      return {
        code: "database_read_only",
        message: `${denied ?? "This statement"} is not allowed (${message}).`,
      };
    default:
      return { code: "database_failed", message };
  }
}

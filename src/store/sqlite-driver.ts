/**
 * Kysely on better-sqlite3 for several processes on one file. Against Kysely's own driver: writers begin
 * IMMEDIATE, busy is retried without blocking the process, statements are prepared once.
 */
import { setTimeout as delay } from "node:timers/promises";
import type Database from "better-sqlite3";
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import { type Meter, noMeter, secondsSince } from "../core/meter.ts";
import { isBusy, translateSqliteError } from "./sqlite-errors.ts";

/** How long a lock of another process is waited for. */
const BUSY_LIMIT_MS = 5_000;
const STATEMENTS_KEPT = 200;

/**
 * Runs `attempt` until it is not refused because of another connection's lock.
 * @param onBusy told each time that it waits
 * @throws AppError busy after `limit` milliseconds; storage_unavailable when the storage fails
 */
export async function retryWhileBusy<T>(
  attempt: () => T,
  limit = BUSY_LIMIT_MS,
  onBusy: () => void = () => {},
): Promise<T> {
  const deadline = performance.now() + limit;
  for (let wait = 1; ; wait = Math.min(wait * 1.5, 60)) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw translateSqliteError(error);
    }
    onBusy();
    // Jitter, so that several that wait do not try in step.
    await delay(wait * (0.5 + Math.random()));
  }
}

class SqliteConnection implements DatabaseConnection {
  readonly #db: Database.Database;
  readonly #statements = new Map<string, Database.Statement>();

  readonly #options: SqliteDialectOptions;

  constructor(db: Database.Database, options: SqliteDialectOptions) {
    this.#db = db;
    this.#options = options;
  }

  #prepare(sql: string): Database.Statement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#db.prepare(sql);
    if (this.#statements.size >= STATEMENTS_KEPT) this.#statements.clear();
    this.#statements.set(sql, statement);
    return statement;
  }

  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.execute(query, BUSY_LIMIT_MS);
  }

  /** @param patience how long a lock is waited for, in milliseconds */
  async execute<R>({ sql, parameters }: CompiledQuery, patience: number): Promise<QueryResult<R>> {
    const { exclusive, meter = noMeter, onFailure } = this.#options;
    const start = performance.now();
    try {
      return await retryWhileBusy(
        () => {
          const statement = this.#prepare(sql);
          // All rows at once, never a cursor left open: in rollback mode an open read holds up every commit.
          if (statement.reader) return { rows: statement.all(parameters) as R[] };
          const { changes } = statement.run(parameters);
          return { rows: [], numAffectedRows: BigInt(changes) };
        },
        patience,
        meter.storageBusy,
      );
    } catch (error) {
      onFailure(error);
      throw error;
    } finally {
      // Writing is timed as a whole, from the lock to its release.
      if (!exclusive) meter.storageAccessed("read", secondsSince(start));
    }
  }

  streamQuery(): never {
    throw new Error("Rows are read page by page here, never as a stream.");
  }
}

/** One connection, one user at a time: a transaction's statements never mix with another's. */
class SqliteDriver implements Driver {
  readonly #db: Database.Database;
  readonly #connection: SqliteConnection;
  #last: Promise<void> = Promise.resolve();
  #release: () => void = () => {};
  #patience = BUSY_LIMIT_MS;
  #asked = 0;
  #began = 0;
  readonly #options: SqliteDialectOptions;

  constructor(db: Database.Database, connection: SqliteConnection, options: SqliteDialectOptions) {
    this.#db = db;
    this.#connection = connection;
    this.#options = options;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    this.#options.assertInPlace();
    if (this.#options.exclusive) {
      const asked = performance.now();
      const before = this.#last;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#last = promise;
      await before;
      this.#release = resolve;
      this.#asked = asked;
      // Waiting for one's turn counts: many who wait for one lock do not wait one after the other.
      this.#patience = Math.max(0, BUSY_LIMIT_MS - (performance.now() - asked));
    }
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {
    this.#release();
  }

  // A deferred transaction that turns writer fails at once, whatever the time-out: take the lock first.
  async beginTransaction(): Promise<void> {
    await this.#connection.execute(CompiledQuery.raw("begin immediate"), this.#patience);
    this.#began = performance.now();
    this.#options.meter?.storageAccessed("write_wait", (this.#began - this.#asked) / 1_000);
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("commit"));
    this.#options.meter?.storageAccessed("write", secondsSince(this.#began));
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // A full disk or an I/O error has rolled it back already.
    if (this.#db.inTransaction) await connection.executeQuery(CompiledQuery.raw("rollback"));
  }

  async destroy(): Promise<void> {
    this.#db.close();
  }
}

interface SqliteDialectOptions {
  /** Whether transactions are run on it: then its users take turns. */
  exclusive: boolean;
  /** Throws when the file is no longer the one that was opened. Asked before every use; how often it looks is its own affair. */
  assertInPlace: () => void;
  /** Told of every query that failed for good. */
  onFailure: (error: unknown) => void;
  meter?: Pick<Meter, "storageAccessed" | "storageBusy">;
}

/** Who takes turns is decided above: Kysely would make readers wait for readers too, and count no waiting. */
export class ConcurrentAdapter extends SqliteAdapter {
  /** Runs a compiled query without Kysely's executor around it, where nobody has to wait for a turn. */
  readonly executeDirect: (<R>(query: CompiledQuery<R>) => Promise<QueryResult<R>>) | undefined;

  constructor(direct: ConcurrentAdapter["executeDirect"]) {
    super();
    this.executeDirect = direct;
  }

  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

/** The Kysely dialect over an open database. */
export function sqliteDialect(db: Database.Database, options: SqliteDialectOptions) {
  const connection = new SqliteConnection(db, options);
  const direct = async <R>(query: CompiledQuery<R>): Promise<QueryResult<R>> => {
    options.assertInPlace();
    return connection.executeQuery<R>(query);
  };
  return {
    createDriver: () => new SqliteDriver(db, connection, options),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new ConcurrentAdapter(options.exclusive ? undefined : direct),
    createIntrospector: (kysely: Kysely<never>) => new SqliteIntrospector(kysely),
  };
}

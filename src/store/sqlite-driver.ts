/**
 * A Kysely dialect on better-sqlite3 for several processes on one file. Unlike Kysely's own driver it begins write
 * transactions IMMEDIATE, retries a busy database without blocking the process, and caches prepared statements.
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
import { AppError } from "../core/errors.ts";
import { type Meter, noMeter, secondsSince } from "../core/meter.ts";
import { nextTurnIfUsedUp } from "../core/next-turn.ts";
import { isBusy, lockHeldError, translateSqliteError } from "./sqlite-errors.ts";

/** Maximum wait for a lock of another process, in milliseconds. */
const BUSY_LIMIT_MS = 5_000;
/** Maximum number of cached statements per connection. */
const MAX_STATEMENTS = 200;

/**
 * Repeats `attempt` while another connection holds the lock.
 * @param limit in milliseconds
 * @param onBusy called before each wait
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
    // Jitter spreads the attempts of several waiting callers.
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
    const cached = this.#statements.get(sql);
    if (cached !== undefined) return cached;
    const statement = this.#db.prepare(sql);
    if (this.#statements.size >= MAX_STATEMENTS) this.#statements.clear();
    this.#statements.set(sql, statement);
    return statement;
  }

  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.execute(query, BUSY_LIMIT_MS);
  }

  /** @param busyLimit maximum wait for a lock, in milliseconds */
  async execute<R>({ sql, parameters }: CompiledQuery, busyLimit: number): Promise<QueryResult<R>> {
    const { exclusive, meter = noMeter, onFailure, describeLockHolder } = this.#options;
    // Within a transaction there is no pause, because others wait for its lock.
    const turn = exclusive ? undefined : nextTurnIfUsedUp();
    if (turn !== undefined) await turn;
    const start = performance.now();
    try {
      return await retryWhileBusy(
        () => {
          const statement = this.#prepare(sql);
          // Reads all rows at once: in rollback journal mode an open cursor would block every commit.
          if (statement.reader) return { rows: statement.all(parameters) as R[] };
          const { changes } = statement.run(parameters);
          return { rows: [], numAffectedRows: BigInt(changes) };
        },
        busyLimit,
        meter.storageBusy,
      );
    } catch (error) {
      onFailure(error);
      if (!(error instanceof AppError) || error.code !== "busy") throw error;
      throw lockHeldError(error.cause, await describeLockHolder?.());
    } finally {
      // The driver measures write transactions as a whole, from the lock to its release.
      if (!exclusive) meter.storageAccessed("read", secondsSince(start));
    }
  }

  streamQuery(): never {
    throw new Error("Streaming is not supported; read page by page.");
  }
}

/** Gives the connection to one caller at a time, so that statements of two transactions never mix. */
class SqliteDriver implements Driver {
  readonly #db: Database.Database;
  readonly #connection: SqliteConnection;
  #previous: Promise<void> = Promise.resolve();
  #release: () => void = () => {};
  #busyLimit = BUSY_LIMIT_MS;
  #requestedAt = 0;
  #beganAt = 0;
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
      const requestedAt = performance.now();
      const previous = this.#previous;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#previous = promise;
      await previous;
      this.#release = resolve;
      const turn = nextTurnIfUsedUp();
      if (turn !== undefined) await turn;
      this.#requestedAt = requestedAt;
      // The wait for the connection counts, so that many callers share one limit instead of adding theirs up.
      this.#busyLimit = Math.max(0, BUSY_LIMIT_MS - (performance.now() - requestedAt));
    }
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {
    this.#release();
  }

  // A deferred transaction that starts to write fails at once, whatever the time-out, so the lock comes first.
  async beginTransaction(): Promise<void> {
    await this.#connection.execute(CompiledQuery.raw("begin immediate"), this.#busyLimit);
    this.#beganAt = performance.now();
    this.#options.meter?.storageAccessed("write_wait", (this.#beganAt - this.#requestedAt) / 1_000);
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("commit"));
    this.#options.meter?.storageAccessed("write", secondsSince(this.#beganAt));
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // After a full disk or an I/O error SQLite has already rolled it back.
    if (this.#db.inTransaction) await connection.executeQuery(CompiledQuery.raw("rollback"));
  }

  async destroy(): Promise<void> {
    this.#db.close();
  }
}

interface SqliteDialectOptions {
  /** Whether transactions run on this connection, so that its callers take turns. */
  exclusive: boolean;
  /** Whether nothing is written on this connection, so that each commit changes its data version. */
  readOnly?: boolean;
  /** Throws when the file is no longer the one that was opened. It is called before each use, and may skip the check. */
  assertInPlace: () => void;
  /** Called with the error of each query that failed after its retries. */
  onFailure: (error: unknown) => void;
  /** Describes the process that holds the write lock; undefined when it is not known. */
  describeLockHolder?: () => Promise<string | undefined>;
  meter?: Pick<Meter, "storageAccessed" | "storageBusy">;
}

/** Lets the driver decide which callers take turns: Kysely itself would make readers wait for readers. */
export class ConcurrentAdapter extends SqliteAdapter {
  /** Runs a compiled query without Kysely's executor, on connections without turns. */
  readonly executeDirect: (<R>(query: CompiledQuery<R>) => Promise<QueryResult<R>>) | undefined;
  /**
   * Returns a number that changes with each commit, and undefined when it can't be read now. Only connections that write nothing
   * have it: SQLite doesn't count a connection's own commits (https://sqlite.org/pragma.html#pragma_data_version).
   * @throws AppError storage_unavailable when the file is no longer the one that was opened
   */
  readonly dataVersion: (() => number | undefined) | undefined;

  constructor(direct: ConcurrentAdapter["executeDirect"], dataVersion: ConcurrentAdapter["dataVersion"]) {
    super();
    this.executeDirect = direct;
    this.dataVersion = dataVersion;
  }

  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

/** Creates the Kysely dialect for an open database. */
export function sqliteDialect(db: Database.Database, options: SqliteDialectOptions) {
  const connection = new SqliteConnection(db, options);
  const direct = async <R>(query: CompiledQuery<R>): Promise<QueryResult<R>> => {
    options.assertInPlace();
    return connection.executeQuery<R>(query);
  };
  return {
    createDriver: () => new SqliteDriver(db, connection, options),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () =>
      new ConcurrentAdapter(
        options.exclusive ? undefined : direct,
        options.readOnly === true ? dataVersionOf(db, options) : undefined,
      ),
    createIntrospector: (kysely: Kysely<never>) => new SqliteIntrospector(kysely),
  };
}

function dataVersionOf(db: Database.Database, { assertInPlace }: SqliteDialectOptions) {
  const statement = db.prepare("pragma data_version").pluck();
  return () => {
    assertInPlace();
    try {
      return statement.get() as number;
    } catch {
      // The query that follows waits, or reports the failure.
      return undefined;
    }
  };
}

/**
 * A Kysely dialect on a pool of PostgreSQL connections. Statements have no names, so that the pool may be PgBouncer in
 * transaction mode, and each transaction begins with its time limits and its lock in one round trip.
 */
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from "kysely";
import type { Pool, PoolClient } from "pg";
import { type Meter, secondsSince } from "../../core/meter.ts";
import type { Locking } from "../store.ts";
import { isConnectionLost, translatePostgresError } from "./errors.ts";

/** Maximum wait for a lock, in milliseconds. */
const LOCK_WAIT_MS = 5_000;
/** Maximum duration of a statement in a transaction, in milliseconds. */
const STATEMENT_MS = 30_000;
/** How long a stopped process keeps its locks, in milliseconds: the server ends its transaction then. */
const IDLE_MS = 10_000;
/** The advisory lock of the state: "MILL" in ASCII. */
const STATE_LOCK = 0x4d494c4c;

/** The row locks of a transaction hold between transactions that share the lock; one that relies on no others has it alone. */
const LOCK: Readonly<Record<Locking, string>> = {
  rows: `select pg_advisory_xact_lock_shared(${STATE_LOCK})`,
  database: `select pg_advisory_xact_lock(${STATE_LOCK})`,
};

/** Settings end with the transaction, because the next one may use another connection of the server. */
const begin = (locking: Locking): string =>
  [
    "begin isolation level read committed read write",
    `set local lock_timeout = ${LOCK_WAIT_MS}`,
    `set local statement_timeout = ${STATEMENT_MS}`,
    `set local idle_in_transaction_session_timeout = ${IDLE_MS}`,
    LOCK[locking],
  ].join("; ");

class PostgresConnection implements DatabaseConnection {
  client: PoolClient;
  /** Whether the connection can't be used any more. */
  isLost = false;
  /** Whether the pool has it back, because no other connection took its place. */
  isReleased = false;
  readonly requestedAt: number;
  beganAt = 0;
  #previous: Promise<unknown> = Promise.resolve();
  readonly #options: DriverOptions;

  constructor(client: PoolClient, requestedAt: number, options: DriverOptions) {
    this.client = client;
    this.requestedAt = requestedAt;
    this.#options = options;
  }

  /** A connection runs one statement at a time, also where its user asks for several. */
  executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const result = this.#previous.then(() => this.#execute<R>(sql, parameters));
    this.#previous = result.catch(() => {});
    return result;
  }

  async #execute<R>(sql: string, parameters: readonly unknown[]): Promise<QueryResult<R>> {
    const { locking, meter, pool } = this.#options;
    const start = performance.now();
    try {
      return await this.#send<R>(sql, parameters);
    } catch (error) {
      // The store decides whether a transaction runs again.
      if (locking !== undefined) throw error;
      if (!this.isLost) throw translatePostgresError(error);
      // The connection may have ended while nobody used it. What only reads can be sent again.
      this.client.release(true);
      this.isReleased = true;
      try {
        this.client = await pool.connect();
        this.isReleased = false;
        this.isLost = false;
        return await this.#send<R>(sql, parameters);
      } catch (again) {
        throw translatePostgresError(again);
      }
    } finally {
      // Transactions are measured as a whole.
      if (locking === undefined) meter.storageAccessed("read", secondsSince(start));
    }
  }

  async #send<R>(sql: string, parameters: readonly unknown[]): Promise<QueryResult<R>> {
    try {
      const { rows, rowCount } = await this.client.query(sql, [...parameters]);
      return { rows: (rows ?? []) as R[], numAffectedRows: BigInt(rowCount ?? 0) };
    } catch (error) {
      this.isLost ||= isConnectionLost(error);
      throw error;
    }
  }

  streamQuery(): never {
    throw new Error("Streaming is not supported; read page by page.");
  }
}

export interface DriverOptions {
  pool: Pool;
  /** What the transactions of this connection rely on; undefined where there are none. */
  locking?: Locking;
  meter: Pick<Meter, "storageAccessed">;
}

class PostgresDriver implements Driver {
  readonly #options: DriverOptions;

  constructor(options: DriverOptions) {
    this.#options = options;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PostgresConnection> {
    const requestedAt = performance.now();
    const { pool, locking } = this.#options;
    const client = await pool.connect().catch((error: unknown) => {
      throw locking === undefined ? translatePostgresError(error) : error;
    });
    return new PostgresConnection(client, requestedAt, this.#options);
  }

  async releaseConnection(connection: PostgresConnection): Promise<void> {
    if (connection.isReleased) return;
    connection.client.release(connection.isLost);
  }

  async beginTransaction(connection: PostgresConnection): Promise<void> {
    const { locking = "rows", meter } = this.#options;
    try {
      await connection.executeQuery(CompiledQuery.raw(begin(locking)));
    } catch (error) {
      // Kysely rolls back what has begun, and a transaction without its lock has.
      await this.rollbackTransaction(connection);
      throw error;
    }
    connection.beganAt = performance.now();
    meter.storageAccessed("write_wait", (connection.beganAt - connection.requestedAt) / 1_000);
  }

  async commitTransaction(connection: PostgresConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("commit"));
    this.#options.meter.storageAccessed("write", secondsSince(connection.beganAt));
  }

  async rollbackTransaction(connection: PostgresConnection): Promise<void> {
    // The server has rolled back what a lost connection had begun.
    if (connection.isLost) return;
    await connection.executeQuery(CompiledQuery.raw("rollback")).catch(() => {
      connection.isLost = true;
    });
  }

  async destroy(): Promise<void> {}
}

/**
 * Creates the Kysely dialect for a pool, which the caller ends.
 * @param adapter shared by all connections of a store, so that they share their compiled queries
 */
export const postgresDialect = (options: DriverOptions, adapter: PostgresAdapter): Dialect => ({
  createDriver: () => new PostgresDriver(options),
  createQueryCompiler: () => new PostgresQueryCompiler(),
  createAdapter: () => adapter,
  createIntrospector: (db) => new PostgresIntrospector(db),
});

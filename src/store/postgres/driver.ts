/**
 * A Kysely dialect on a pool of PostgreSQL connections, which may be those of PgBouncer in transaction mode. Each transaction
 * begins with its time limits and its lock in one round trip.
 */
import type { Writable } from "node:stream";
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
import type { Pool, PoolClient, QueryConfig, QueryResult as DriverResult } from "pg";
import { type Meter, secondsSince } from "../../core/meter.ts";
import { isDeferred } from "../prepared.ts";
import type { Locking } from "../store.ts";
import type { ConnectionWatch } from "./connection-watch.ts";
import {
  CommitUnknown,
  isConnectionLost,
  isOutdatedPlan,
  isSilence,
  NotCommitted,
  repetition,
  translatePostgresError,
} from "./errors.ts";
import { incarnationOf } from "./incarnation.ts";
import type { StatementNames } from "./statement-names.ts";

/** Maximum wait for a lock, in milliseconds. */
const LOCK_WAIT_MS = 5_000;
/** Maximum duration of a statement in a transaction, in milliseconds. */
const STATEMENT_MS = 30_000;
/** How long an answer of the server may take, in milliseconds: longer than any statement that the server itself ends. */
export const ANSWER_MS = STATEMENT_MS + 5_000;
/** Ends the limits for the rest of a transaction: that of the server, and that for its answers. */
export const NO_STATEMENT_LIMIT = "set local statement_timeout = 0";
/** How long a stopped process keeps its locks, in milliseconds: the server ends its transaction then. */
const IDLE_MS = 10_000;
/** The advisory lock of the state: "MILL" in ASCII. */
const STATE_LOCK = 0x4d494c4c;

/** The row locks of a transaction hold between transactions that share the lock; one that relies on no others has it alone. */
const LOCK: Readonly<Record<Locking, string>> = {
  rows: `select pg_advisory_xact_lock_shared(${STATE_LOCK})`,
  database: `select pg_advisory_xact_lock(${STATE_LOCK})`,
};

const COMMIT = CompiledQuery.raw("commit");
const ROLLBACK = CompiledQuery.raw("rollback");
const NOTHING = CompiledQuery.raw("select 1");
/** Maximum number of statements that are kept back. */
const MAX_DEFERRED = 100;

/**
 * Settings end with the transaction, because the next one may use another connection of the server. Its result is the
 * number of the transaction, by which its end can be looked up.
 */
const begin = (locking: Locking): string =>
  [
    // Set inside of it, so that an error leaves a transaction that refuses what follows, rather than none.
    "begin",
    "set transaction isolation level read committed read write",
    `set local lock_timeout = ${LOCK_WAIT_MS}`,
    `set local statement_timeout = ${STATEMENT_MS}`,
    `set local idle_in_transaction_session_timeout = ${IDLE_MS}`,
    LOCK[locking],
    "select pg_current_xact_id()::text as id",
  ].join("; ");

/**
 * A query that fails when its answer takes longer. Without it a connection to a machine that is gone would wait until the operating system
 * gives up, which takes a quarter of an hour.
 * @param answerMs 0 for no limit
 */
export const boundedQuery = (
  text: string,
  answerMs: number,
  parameters: readonly unknown[] = [],
): QueryConfig & { query_timeout: number } => ({
  text,
  values: [...parameters],
  query_timeout: answerMs,
});

/** What `Client` has, and its types leave out. */
interface SocketOwner {
  connection: { stream: Writable };
}

interface DeferredStatement {
  query: CompiledQuery;
  onAnswer?: (result: QueryResult<unknown>) => void;
}

class PostgresConnection implements DatabaseConnection {
  client: PoolClient;
  /** Whether the connection can't be used any more. */
  isLost = false;
  /** Whether the pool has it back, because no other connection took its place. */
  isReleased = false;
  readonly requestedAt: number;
  beganAt = 0;
  /** The number that the server gave the transaction; undefined until it has begun. */
  transactionId: string | undefined;
  #answerMs: number;
  #previous: Promise<unknown> = Promise.resolve();
  /** The statements that are sent with the next one, and what is called with the answer. */
  #deferred: DeferredStatement[] = [];
  /** Whether the end of the transaction was sent. */
  hasEnded = false;
  readonly #options: DriverOptions;

  constructor(client: PoolClient, requestedAt: number, options: DriverOptions) {
    this.client = client;
    this.requestedAt = requestedAt;
    this.#options = options;
    this.#answerMs = options.answerMs;
  }

  /** A connection that reads runs one statement at a time, also where its user asks for several. */
  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#options.locking !== undefined) return this.#executeInTransaction<R>(query);
    const result = this.#previous.then(() => this.#execute<R>(query.sql, query.parameters));
    this.#previous = result.catch(() => {});
    return result;
  }

  /**
   * Keeps a deferred statement back, and sends the others together with those before them. The server runs them in their order,
   * and refuses all that follow one that failed: the error is that of the first.
   */
  async #executeInTransaction<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.hasEnded) throw new Error("A statement came after the end of its transaction.");
    if (this.#mayDefer(query)) {
      this.#deferred.push({ query });
      return { rows: [] };
    }
    this.hasEnded = query === COMMIT || query === ROLLBACK;
    const deferred = query === ROLLBACK ? [] : this.#deferred;
    this.#deferred = [];
    const { stream } = (this.client as PoolClient & SocketOwner).connection;
    // One write to the socket for each costs more than the statements.
    stream.cork();
    const answers = deferred.map(({ query: { sql, parameters }, onAnswer }) => {
      const answer = this.#send(sql, parameters);
      return onAnswer === undefined ? answer : answer.then(onAnswer);
    });
    const answer = this.#send<R>(query.sql, query.parameters);
    stream.uncork();
    const results = await Promise.allSettled([...answers, answer]);
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    return answer;
  }

  /** Begins a transaction with its first statement. @param onBegun called with the number of the transaction */
  beginLater(locking: Locking, onBegun: (transactionId: string) => void): void {
    this.#deferred.push({
      query: CompiledQuery.raw(begin(locking)),
      onAnswer: ({ rows }) => onBegun((rows as { id: string }[])[0]!.id),
    });
  }

  /** Whether nothing of the transaction was sent, also not its beginning. */
  get isUnsent(): boolean {
    return this.#deferred.some(({ onAnswer }) => onAnswer !== undefined);
  }

  /** Whether it has no statement at all, sent or not. */
  get isEmpty(): boolean {
    return this.isUnsent && this.#deferred.length === 1;
  }

  #mayDefer(query: CompiledQuery): boolean {
    // The driver may fail to write an object, and the server would not know that the statement is missing.
    const isPlain = query.parameters.every((value) => typeof value !== "object" || value === null);
    return isDeferred(query) && isPlain && this.#deferred.length < MAX_DEFERRED;
  }

  async #execute<R>(sql: string, parameters: readonly unknown[]): Promise<QueryResult<R>> {
    const { meter } = this.#options;
    const start = performance.now();
    const mayRepeat = repetition();
    let isPlanned = false;
    try {
      for (;;) {
        try {
          if (this.isLost) await this.#reconnect();
          return await this.#send<R>(sql, parameters);
        } catch (error) {
          if (isOutdatedPlan(error) && !isPlanned) isPlanned = true;
          // What only reads can be sent again.
          else if (!isConnectionLost(error) || !(await mayRepeat())) throw translatePostgresError(error);
        }
      }
    } finally {
      meter.storageAccessed("read", secondsSince(start));
    }
  }

  async #reconnect(): Promise<void> {
    const { pool, watch } = this.#options;
    if (!this.isReleased) this.client.release(true);
    this.isReleased = true;
    this.client = await usableConnection(pool, watch);
    this.isReleased = false;
    this.isLost = false;
  }

  async #send<R>(sql: string, parameters: readonly unknown[]): Promise<QueryResult<R>> {
    const { watch } = this.#options;
    const sentAt = performance.now();
    const answered = watch.sent(this.client);
    try {
      if (sql === NO_STATEMENT_LIMIT) this.#answerMs = 0;
      const name = this.#options.statements.nameOf(sql, parameters);
      const query = { name, ...boundedQuery(sql, this.#answerMs, parameters) };
      const results: DriverResult | DriverResult[] = await this.client.query(query);
      answered();
      // Several statements in one text have several results.
      const { rows, rowCount, command } = Array.isArray(results) ? results.at(-1)! : results;
      // The server answers the commit of a failed transaction so. Its error was caught by somebody who went on.
      if (sql === COMMIT.sql && command === "ROLLBACK")
        throw new Error("The transaction was not committed: a statement in it had failed.");
      return { rows: (rows ?? []) as R[], numAffectedRows: BigInt(rowCount ?? 0) };
    } catch (error) {
      this.isLost ||= isConnectionLost(error);
      if (!this.isLost) answered();
      if (isSilence(error)) await watch.giveUp(sentAt);
      if (isOutdatedPlan(error)) this.#options.statements.renew();
      throw error;
    }
  }

  streamQuery(): never {
    throw new Error("Streaming is not supported; read page by page.");
  }
}

export interface DriverOptions {
  /** One with `pipeline` where there are transactions. */
  pool: Pool;
  /** What the transactions of this connection rely on; undefined where there are none. */
  locking?: Locking;
  /** How long an answer of the server may take, in milliseconds; then the connection is given up. */
  answerMs: number;
  meter: Pick<Meter, "storageAccessed">;
  statements: StatementNames;
  /** An answer that is overdue gives up all connections that have been silent since its statement was sent. */
  watch: Pick<ConnectionWatch, "sent" | "giveUp" | "isGivenUp">;
  /** Looks up how a transaction has ended, where there are transactions. */
  readOutcome?: (transactionId: string, incarnation: string | undefined) => Promise<TransactionOutcome>;
}

/** How a transaction has ended; `unknown` when the database can't say it in time. */
export type TransactionOutcome = "committed" | "aborted" | "unknown";

/** Takes a connection that was not given up while nobody used it. */
async function usableConnection(pool: Pool, watch: DriverOptions["watch"]): Promise<PoolClient> {
  for (;;) {
    const client = await pool.connect();
    if (!watch.isGivenUp(client)) return client;
    client.release(true);
  }
}

class PostgresDriver implements Driver {
  readonly #options: DriverOptions;

  constructor(options: DriverOptions) {
    this.#options = options;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PostgresConnection> {
    const requestedAt = performance.now();
    const { pool, locking, watch } = this.#options;
    const client = await usableConnection(pool, watch).catch((error: unknown) => {
      throw locking === undefined ? translatePostgresError(error) : error;
    });
    return new PostgresConnection(client, requestedAt, this.#options);
  }

  async releaseConnection(connection: PostgresConnection): Promise<void> {
    if (connection.isReleased) return;
    connection.client.release(connection.isLost);
  }

  /** A transaction that has the whole state to itself has it from its beginning on; another one begins with its first statement. */
  async beginTransaction(connection: PostgresConnection): Promise<void> {
    const { locking = "rows", meter } = this.#options;
    connection.beginLater(locking, (transactionId) => {
      connection.transactionId = transactionId;
      connection.beganAt = performance.now();
      meter.storageAccessed("write_wait", (connection.beganAt - connection.requestedAt) / 1_000);
    });
    if (locking === "rows") return;
    try {
      await connection.executeQuery(NOTHING);
    } catch (error) {
      // Kysely rolls back what has begun, and a transaction without its lock has.
      await this.rollbackTransaction(connection);
      throw error;
    }
  }

  async commitTransaction(connection: PostgresConnection): Promise<void> {
    if (connection.isEmpty) return;
    // What is sent together with its beginning has no number by which it could be looked up.
    if (connection.isUnsent) await connection.executeQuery(NOTHING);
    try {
      await connection.executeQuery(COMMIT);
    } catch (error) {
      if (!connection.isLost) throw error;
      await this.#requireCommitted(connection, error);
    }
    this.#options.meter.storageAccessed("write", secondsSince(connection.beganAt));
  }

  /** The answer to the commit did not arrive, so the database is asked how the transaction has ended. */
  async #requireCommitted({ transactionId, client }: PostgresConnection, error: unknown): Promise<void> {
    const { readOutcome } = this.#options;
    const outcome =
      transactionId === undefined
        ? "aborted"
        : ((await readOutcome?.(transactionId, incarnationOf(client))) ?? "unknown");
    if (outcome === "aborted") throw new NotCommitted(error);
    if (outcome === "unknown") throw new CommitUnknown(error);
  }

  async rollbackTransaction(connection: PostgresConnection): Promise<void> {
    // The server has rolled back what a lost connection had begun.
    if (connection.isLost) return;
    if (connection.isUnsent) {
      connection.hasEnded = true;
      return;
    }
    connection.hasEnded = false;
    await connection.executeQuery(ROLLBACK).catch(() => {
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

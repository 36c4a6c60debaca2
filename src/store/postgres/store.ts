/** Opens the state in a PostgreSQL database: a pool to read, a pool to write, and a connection that listens for changes. */
import { setTimeout as delay } from "node:timers/promises";
import { Kysely, PostgresAdapter, sql, type Transaction } from "kysely";
import { Client } from "pg";
import { type Clock, SECOND } from "../../core/clock.ts";
import { type Meter, noMeter } from "../../core/meter.ts";
import type { StateDatabase } from "../../core/postgres-address.ts";
import { type Migration, MIGRATIONS } from "../migrate.ts";
import type { Schema } from "../schema.ts";
import { type Locking, type NewWork, noWork, type Store } from "../store.ts";
import { postgresChangeFeed } from "./change-feed.ts";
import { connectionConfig } from "./connection.ts";
import { connectionWatch } from "./connection-watch.ts";
import { ANSWER_MS, boundedQuery, postgresDialect } from "./driver.ts";
import {
  isAborted,
  isConnectionLost,
  isDuplicate,
  NotCommitted,
  repetition,
  translatePostgresError,
} from "./errors.ts";
import { migratePostgres } from "./migrate.ts";
import { openPool, openReader, PLUGINS } from "./reader.ts";
import { statementNames } from "./statement-names.ts";
import { OUTCOME_MS, transactionOutcome } from "./transaction-outcome.ts";

/** Maximum number of times that a transaction runs while others abort it. */
const MAX_ABORTED = 10;
/** How long an answer to a statement may take that needs no time, in milliseconds. */
const PROBE_MS = 2_500;
/** How long the server may take to end the connections, in milliseconds; it may be gone. */
const END_MS = 2_000;
/** How long an executor may miss its heartbeats, in milliseconds. */
const LEASE_MS = 10 * SECOND;

export interface PostgresOptions {
  database: StateDatabase;
  clock: Clock;
  meter?: Meter | undefined;
  /** Tests pass others. */
  migrations?: readonly Migration[] | undefined;
  /** How long an answer of the server may take, in milliseconds; tests pass less. */
  answerMs?: number;
  /** How long the end of a transaction is looked up whose commit was not answered, in milliseconds; tests pass less. */
  outcomeMs?: number;
}

export interface PostgresStore extends Store {
  /** The migration at opening; undefined when there was none, or the database was empty. */
  upgrade: { from: number; to: number } | undefined;
}

/**
 * Opens the state, and creates or migrates its tables.
 * @throws AppError storage_unavailable, busy
 */
export async function openPostgresStore({
  database,
  clock,
  meter = noMeter,
  migrations = MIGRATIONS,
  answerMs = ANSWER_MS,
  outcomeMs = OUTCOME_MS,
}: PostgresOptions): Promise<PostgresStore> {
  const { address, listenAddress = address, readPassword } = database;
  const statements = statementNames();
  const [connection, listening] = await Promise.all([
    connectionConfig({ address, readPassword }),
    connectionConfig({ address: listenAddress, readPassword }),
  ]).catch((error: unknown) => {
    throw translatePostgresError(error);
  });
  const { maxConnections } = database;
  const adapter = new PostgresAdapter();
  const max = Math.ceil(maxConnections / 2);
  const probe = async (): Promise<void> => {
    await sql`select 1`.execute(health.read);
  };
  const watch = connectionWatch(probe);
  const readers = openReader(connection, { max, meter, adapter, answerMs, statements, watch });
  const maxTransactions = Math.floor(maxConnections / 2);
  const writers = openPool({ ...connection, max: maxTransactions, pipeline: true }, watch);
  const { read } = readers;
  // A connection of its own, which no slow query takes, and which stays open: a new one would not show that the others are silent.
  const health = openReader(
    { ...connection, min: 1 },
    { max: 1, meter: noMeter, adapter, answerMs: Math.min(answerMs, PROBE_MS), watch },
  );
  const readOutcome = transactionOutcome(read, outcomeMs);
  const writersOf = (locking: Locking) =>
    new Kysely<Schema>({
      dialect: postgresDialect(
        { pool: writers, locking, meter, answerMs, statements, watch, readOutcome },
        adapter,
      ),
      plugins: PLUGINS,
    });
  const write: Readonly<Record<Locking, Kysely<Schema>>> = {
    rows: writersOf("rows"),
    database: writersOf("database"),
  };
  const changes = postgresChangeFeed({
    connect() {
      const client = new Client({ ...listening, query_timeout: answerMs });
      client.once("connect", () => watch.add(client));
      client.once("end", () => watch.remove(client));
      client.on("notification", () => watch.heard(client));
      return client;
    },
    execute: (statement) => readers.pool.query(boundedQuery(statement, answerMs)),
    onHeard() {
      // Notifications don't arrive through PgBouncer in transaction mode, so there is none in between.
      if (listenAddress === address) statements.allow();
    },
  });

  async function transaction<T>(
    work: (trx: Transaction<Schema>, left: NewWork) => Promise<T>,
    locking: Locking = "database",
  ): Promise<T> {
    const mayRepeat = repetition();
    for (let attempt = 1; ; attempt += 1) {
      const left = noWork();
      try {
        const result = await write[locking].transaction().execute((trx) => work(trx, left));
        changes.committed(left);
        return result;
      } catch (error) {
        const isLost = error instanceof NotCommitted || isConnectionLost(error);
        // Whatever is lost was lost before its commit was sent, or the database says that it was not committed.
        const isRepeated = isLost ? await mayRepeat() : attempt < maxAttempts(error);
        if (!isRepeated) throw translatePostgresError(error);
        // Jitter keeps transactions that have aborted each other from meeting again.
        if (!isLost) await delay(Math.random() * 2 ** attempt);
      }
    }
  }

  async function endConnections(): Promise<void> {
    watch.end();
    await changes.end();
    await Promise.all([readers.end(), writers.end(), health.end()]);
  }
  const end = (): Promise<void> => Promise.race([endConnections(), delay(END_MS, undefined, { ref: false })]);
  let ended: Promise<void> | undefined;
  const close = (): Promise<void> => (ended ??= end());

  try {
    const upgrade = await migratePostgres({ read, begin: transaction, clock }, migrations);
    return {
      read,
      transaction,
      maxTransactions,
      upgrade,
      changes,
      leaseMs: LEASE_MS,
      diskPath: undefined,
      async readSize() {
        const { rows } = await sql<{ size: number }>`
          select pg_database_size(current_database()) as size`.execute(read);
        return rows[0]!.size;
      },
      async readTime() {
        const { rows } = await sql<{ at: number }>`
          select extract(epoch from clock_timestamp())::numeric * 1000 as at`.execute(read);
        return { at: Math.floor(rows[0]!.at), resolutionMs: 1 };
      },
      hasServerClock: true,
      // A lost connection loses no lock that anything relies on: its transaction is rolled back.
      storageLost: new Promise(() => {}),
      async checkHealth() {
        try {
          await probe();
          return undefined;
        } catch (error) {
          return (error as Error).message;
        }
      },
      close,
    };
  } catch (error) {
    await close();
    throw translatePostgresError(error);
  }
}

function maxAttempts(error: unknown): number {
  if (isAborted(error)) return MAX_ABORTED;
  return isDuplicate(error) ? 2 : 1;
}

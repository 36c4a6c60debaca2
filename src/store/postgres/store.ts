/** Opens the state in a PostgreSQL database: a pool to read, a pool to write, and a connection that listens for changes. */
import { setTimeout as delay } from "node:timers/promises";
import {
  HandleEmptyInListsPlugin,
  Kysely,
  PostgresAdapter,
  replaceWithNoncontingentExpression,
  type Transaction,
} from "kysely";
import {
  Client,
  type ClientConfig,
  type CustomTypesConfig,
  Pool,
  type PoolConfig,
  types as pgTypes,
} from "pg";
import type { Clock } from "../../core/clock.ts";
import { type Meter, noMeter } from "../../core/meter.ts";
import type { Locking, Store } from "../database.ts";
import { type Migration, MIGRATIONS } from "../migrate.ts";
import type { Schema } from "../schema.ts";
import { type PostgresChangeFeed, postgresChangeFeed } from "./change-feed.ts";
import { postgresDialect } from "./driver.ts";
import { isAborted, isConnectionLost, isDuplicate, translatePostgresError } from "./errors.ts";
import { migratePostgres } from "./migrate.ts";

/** Maximum wait for a connection, in milliseconds. */
const CONNECT_MS = 5_000;
/** Maximum duration of a statement that only reads, in milliseconds. */
const READ_MS = 30_000;
/** Maximum number of times that a transaction runs while others abort it. */
const MAX_ABORTED = 10;
/** Counts and sums are numbers, as in SQLite, rather than text. */
const NUMBERS: ReadonlySet<number> = new Set([pgTypes.builtins.INT8, pgTypes.builtins.NUMERIC]);

const types: CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    NUMBERS.has(oid) ? Number : (pgTypes.getTypeParser(oid, format) as (value: string) => unknown),
};

export interface PostgresOptions {
  /** Such as `postgres://millrace@db.example.com/millrace?sslmode=verify-full`. */
  url: string;
  password?: string | undefined;
  clock: Clock;
  meter?: Meter | undefined;
  /** Maximum number of connections to read, and the same number to write; there is one more to listen. */
  maxConnections?: number | undefined;
  /** Tests pass others. */
  migrations?: readonly Migration[] | undefined;
}

export interface PostgresStore extends Pick<Store, "read" | "transaction" | "checkHealth" | "close"> {
  /** The migration at opening; undefined when there was none, or the database was empty. */
  upgrade: { from: number; to: number } | undefined;
  changes: PostgresChangeFeed;
}

/**
 * Opens the state, and creates or migrates its tables.
 * @throws AppError storage_unavailable, busy
 */
export async function openPostgresStore({
  url,
  password,
  clock,
  meter = noMeter,
  maxConnections = 10,
  migrations = MIGRATIONS,
}: PostgresOptions): Promise<PostgresStore> {
  const connection: ClientConfig = {
    connectionString: withPassword(url, password),
    application_name: "millrace",
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    types,
  };
  const readers = poolOf({ ...connection, max: maxConnections });
  const writers = poolOf({ ...connection, max: maxConnections });
  const adapter = new PostgresAdapter();
  // SQLite accepts a list without values.
  const plugins = [new HandleEmptyInListsPlugin({ strategy: replaceWithNoncontingentExpression })];
  const read = new Kysely<Schema>({ dialect: postgresDialect({ pool: readers, meter }, adapter), plugins });
  const writersOf = (locking: Locking) =>
    new Kysely<Schema>({ dialect: postgresDialect({ pool: writers, locking, meter }, adapter), plugins });
  const write: Readonly<Record<Locking, Kysely<Schema>>> = {
    rows: writersOf("rows"),
    database: writersOf("database"),
  };
  const changes = postgresChangeFeed({
    connect: () => new Client(connection),
    execute: (statement) => readers.query(statement),
  });

  async function transaction<T>(
    work: (trx: Transaction<Schema>) => Promise<T>,
    locking: Locking = "database",
  ): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      let begun = false;
      try {
        const result = await write[locking].transaction().execute((trx) => {
          begun = true;
          return work(trx);
        });
        changes.committed();
        return result;
      } catch (error) {
        if (attempt >= maxAttempts(error, begun)) throw translatePostgresError(error);
      }
      // Jitter keeps transactions that have aborted each other from meeting again.
      await delay(Math.random() * 2 ** attempt);
    }
  }

  async function end(): Promise<void> {
    await changes.end();
    await Promise.all([readers.end(), writers.end()]);
  }
  let ended: Promise<void> | undefined;
  const close = (): Promise<void> => (ended ??= end());

  try {
    const upgrade = await migratePostgres({ read, begin: transaction, clock }, migrations);
    return {
      read,
      transaction,
      upgrade,
      changes,
      async checkHealth() {
        try {
          await read.selectFrom("counters").select("value").limit(1).execute();
          return undefined;
        } catch (error) {
          return (translatePostgresError(error) as Error).message;
        }
      },
      close,
    };
  } catch (error) {
    await close();
    throw translatePostgresError(error);
  }
}

function maxAttempts(error: unknown, begun: boolean): number {
  if (isAborted(error)) return MAX_ABORTED;
  // A connection that ended while nobody used it. After the beginning, a commit may have reached the database.
  return isDuplicate(error) || (!begun && isConnectionLost(error)) ? 2 : 1;
}

/** The driver takes the password of the URL, even an empty one, rather than one beside it. */
function withPassword(url: string, password: string | undefined): string {
  if (password === undefined) return url;
  const complete = new URL(url);
  complete.password = encodeURIComponent(password);
  return complete.href;
}

function poolOf(config: PoolConfig): Pool {
  const pool = new Pool({
    ...config,
    // Not a parameter of the connection: PgBouncer would refuse it.
    verify: (client, done) => client.query(`set statement_timeout = ${READ_MS}`, (error) => done(error)),
  });
  // A connection that ends while nobody uses it is replaced, and one that is used fails its next statement.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

/** A pool of connections that only read. */
import {
  HandleEmptyInListsPlugin,
  Kysely,
  type KyselyPlugin,
  PostgresAdapter,
  replaceWithNoncontingentExpression,
} from "kysely";
import { Client, type ClientConfig, Pool, type PoolConfig } from "pg";
import type { Meter } from "../../core/meter.ts";
import type { Schema } from "../schema.ts";
import { type ConnectionWatch, connectionWatch } from "./connection-watch.ts";
import { ANSWER_MS, boundedQuery, postgresDialect } from "./driver.ts";
import { INCARNATION, setIncarnation } from "./incarnation.ts";
import { type StatementNames, UNNAMED } from "./statement-names.ts";

/** Maximum duration of a statement that only reads, in milliseconds. */
const READ_MS = 30_000;
/** Maximum wait for a connection while all are in use, in milliseconds: the processor may be busy for that time. */
const WAIT_MS = 15_000;

/** SQLite accepts a list without values. */
export const PLUGINS: KyselyPlugin[] = [
  new HandleEmptyInListsPlugin({ strategy: replaceWithNoncontingentExpression }),
];

export interface Reader {
  pool: Pool;
  read: Kysely<Schema>;
  end(): Promise<void>;
}

export interface ReaderOptions {
  max: number;
  meter: Meter;
  /** Shared by all connections of a store, so that they share their compiled queries. */
  adapter?: PostgresAdapter;
  /** How long an answer of the server may take, in milliseconds; then the connection is given up. */
  answerMs?: number;
  /** Left out, statements have no names. */
  statements?: StatementNames;
  /** Left out, a connection is given up by its own overdue answer alone. */
  watch?: ConnectionWatch;
}

/** Opens the pool; the first query connects. */
export function openReader(
  config: PoolConfig,
  {
    max,
    meter,
    adapter = new PostgresAdapter(),
    answerMs = ANSWER_MS,
    statements = UNNAMED,
    watch = connectionWatch(async () => {}),
  }: ReaderOptions,
): Reader {
  const pool = openPool({ ...config, max }, watch);
  const dialect = postgresDialect({ pool, meter, answerMs, statements, watch }, adapter);
  const read = new Kysely<Schema>({ dialect, plugins: PLUGINS });
  return { pool, read, end: () => pool.end() };
}

const clientWith = (connectionTimeoutMillis: number | undefined) =>
  class extends Client {
    constructor(config?: ClientConfig) {
      // The pool hides the password from copies.
      super({ ...config, password: config?.password, connectionTimeoutMillis });
    }
  };

export function openPool(config: PoolConfig, watch: Pick<ConnectionWatch, "add" | "remove">): Pool {
  const pool = new Pool({
    ...config,
    // The pool means the wait for one of its connections, the client that for the server.
    connectionTimeoutMillis: WAIT_MS,
    Client: clientWith(config.connectionTimeoutMillis),
    verify(client, done) {
      // Not a parameter of the connection: PgBouncer would refuse it.
      const text = `set statement_timeout = ${READ_MS}; ${INCARNATION}`;
      client.query<{ incarnation: string }>(boundedQuery(text, ANSWER_MS), (error, results) => {
        if (!error) setIncarnation(client, [results].flat().at(-1)!.rows[0]!.incarnation);
        done(error);
      });
    },
  });
  // A connection that ends while nobody uses it is replaced, and one that is used fails its next statement.
  pool.on("error", () => {});
  pool.on("connect", (client) => {
    client.on("error", () => {});
    watch.add(client);
  });
  pool.on("remove", (client) => watch.remove(client));
  return pool;
}

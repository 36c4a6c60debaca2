/** A pool of connections that only read. */
import {
  HandleEmptyInListsPlugin,
  Kysely,
  type KyselyPlugin,
  PostgresAdapter,
  replaceWithNoncontingentExpression,
} from "kysely";
import { type ClientConfig, Pool, type PoolConfig } from "pg";
import type { Meter } from "../../core/meter.ts";
import type { Schema } from "../schema.ts";
import { postgresDialect } from "./driver.ts";

/** Maximum duration of a statement that only reads, in milliseconds. */
const READ_MS = 30_000;

/** SQLite accepts a list without values. */
export const PLUGINS: KyselyPlugin[] = [
  new HandleEmptyInListsPlugin({ strategy: replaceWithNoncontingentExpression }),
];

export interface Reader {
  pool: Pool;
  read: Kysely<Schema>;
  end(): Promise<void>;
}

/**
 * Opens the pool; the first query connects.
 * @param options.adapter shared by all connections of a store, so that they share their compiled queries
 */
export function openReader(
  config: ClientConfig,
  { max, meter, adapter = new PostgresAdapter() }: { max: number; meter: Meter; adapter?: PostgresAdapter },
): Reader {
  const pool = openPool({ ...config, max });
  const read = new Kysely<Schema>({ dialect: postgresDialect({ pool, meter }, adapter), plugins: PLUGINS });
  return { pool, read, end: () => pool.end() };
}

export function openPool(config: PoolConfig): Pool {
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

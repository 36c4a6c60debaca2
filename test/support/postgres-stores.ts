/** Stores on a real PostgreSQL: one server for a test file, and a new migrated database for each test. */
import type { Client } from "pg";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { parsePostgresUrl, type StateDatabase } from "../../src/core/postgres-address.ts";
import {
  openPostgresStore,
  type PostgresOptions,
  type PostgresStore,
} from "../../src/store/postgres/store.ts";
import { fakeClock } from "./clock.ts";
import { PASSWORD, type Postgres, startPostgres } from "./postgres.ts";

/** The migrated database without content. Copying it takes a fraction of the time of the migrations. */
const TEMPLATE = "millrace_template";

/** The database at a URL, with the password of the server. */
export function databaseAt(url: string, password = PASSWORD): StateDatabase {
  const parsed = parsePostgresUrl(url);
  if ("issue" in parsed) throw new Error(parsed.issue);
  return { address: parsed.address, maxConnections: 8, readPassword: async () => password };
}

/** Opens a store, which is closed at the end of the test. */
async function open(url: string, options: Partial<PostgresOptions> = {}): Promise<PostgresStore> {
  const store = await openPostgresStore({
    database: databaseAt(url),
    clock: fakeClock(),
    ...options,
  });
  onTestFinished(() => store.close());
  return store;
}

/** Starts a server for the tests of a file or of a `describe`. @param options as those of `startPostgres` */
export function postgresStores(options: Parameters<typeof startPostgres>[0] = {}) {
  let server: Postgres;
  let admin: Client;
  let databases = 0;

  /** Creates a database, and returns its URL. */
  async function createDatabase({ template = TEMPLATE } = {}): Promise<string> {
    databases += 1;
    const name = `test_${databases}`;
    await admin.query(`create database ${name} template ${template}`);
    return server.url(name);
  }

  beforeAll(async () => {
    server = await startPostgres(options);
    admin = await server.connect();
    await admin.query(`create database ${TEMPLATE}`);
    const store = await openPostgresStore({
      database: databaseAt(server.url(TEMPLATE)),
      clock: systemClock,
    });
    await store.close();
  });
  afterAll(async () => {
    await admin.end();
    await server.stop();
  });

  return {
    open,
    createDatabase,
    /** Such as 18. */
    majorVersion: async () => {
      const { rows } = await admin.query<{ version: string }>("show server_version_num");
      return Math.floor(Number(Object.values(rows[0]!)[0]) / 10_000);
    },
    /** A connection of the owner, which is closed at the end of the test. */
    async connect(url: string): Promise<Client> {
      const client = await server.connect(new URL(url).pathname.slice(1));
      onTestFinished(() => client.end());
      return client;
    },
    /** Runs a statement on a connection of its own. */
    async execute(url: string, statement: string): Promise<void> {
      const client = await server.connect(new URL(url).pathname.slice(1));
      await client.query(statement);
      await client.end();
    },
    /** Ends the connections to a database, as a restart of the server does. @param statement only those that ran it last */
    async disconnect(url: string, statement = ""): Promise<number> {
      const { rows } = await admin.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and strpos(query, $2) > 0",
        [new URL(url).pathname.slice(1), statement],
      );
      return rows.length;
    },
  };
}

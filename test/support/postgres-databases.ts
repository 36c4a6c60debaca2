/** Databases of the PostgreSQL server that a run of vitest starts once (`postgres-server.ts`). */
import { Client } from "pg";
import { inject, onTestFinished } from "vitest";
import type { StateDatabase } from "../../src/core/postgres-address.ts";
import { databaseAt } from "./postgres-stores.ts";
import { PASSWORD } from "./postgres.ts";
import { TEMPLATE } from "./postgres-server.ts";

/** Whether tests have their state in PostgreSQL instead of SQLite. */
export const IS_POSTGRES = process.env["MILLRACE_TEST_STORE"] === "postgres";

/** Each connection starts a process of the server, which takes about 30 ms. */
const MAX_CONNECTIONS = 4;

/** One connection for each process of vitest. */
let admin: Promise<Client> | undefined;

async function connect(): Promise<Client> {
  const { hostname: host, port } = new URL(inject("postgresUrl"));
  const client = new Client({
    host,
    port: Number(port),
    user: "postgres",
    password: PASSWORD,
    database: "postgres",
  });
  client.on("error", () => undefined);
  await client.connect();
  // The process ends without waiting for it.
  (client as unknown as { unref(): void }).unref();
  return client;
}

let created = 0;
let copying: Promise<string> | undefined;

/** How to copy a database: copying its files takes half the time of logging its pages, which PostgreSQL 14 never does. */
async function copyOption(client: Client): Promise<string> {
  const { rows } = await client.query<{ release: number }>(
    "select current_setting('server_version_num')::int as release",
  );
  return rows[0]!.release >= 150_000 ? "strategy file_copy" : "";
}

/** Creates a migrated database without content, which is dropped at the end of the test. */
export async function newDatabase(): Promise<StateDatabase> {
  const client = await (admin ??= connect());
  created += 1;
  const name = `test_${process.pid}_${created}`;
  await client.query(
    `create database ${name} template ${TEMPLATE} ${await (copying ??= copyOption(client))}`,
  );
  onTestFinished(async () => void (await client.query(`drop database ${name} with (force)`)));
  const url = new URL(inject("postgresUrl"));
  url.pathname = `/${name}`;
  return { ...databaseAt(url.href), maxConnections: MAX_CONNECTIONS };
}

/** Opens a PostgreSQL database without changing it, for `doctor` and `check`. */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type Kysely, sql } from "kysely";
import { Client } from "pg";
import type { StateDatabase } from "../../core/postgres-address.ts";
import { noMeter } from "../../core/meter.ts";
import { getMigrationStatus, type MigrationStatus } from "../migrate.ts";
import type { Schema } from "../schema.ts";
import { connectionConfig } from "./connection.ts";
import { translatePostgresError } from "./errors.ts";
import { openReader } from "./reader.ts";

/** How long a notification is awaited, in milliseconds. */
const NOTIFICATION_MS = 2_000;
const CHANNEL = "millrace_doctor";

export interface ServerReport {
  /** Such as `17.2`. */
  version: string;
  /** Such as 17. */
  majorVersion: number;
  /** Whether the connection is encrypted, as the server sees it; false behind a proxy in plain text. */
  usesTls: boolean;
  isReplica: boolean;
  encoding: string;
  /** Whether each commit waits for the disk. */
  isDurable: boolean;
  user: string;
  isSuperuser: boolean;
  /** Whether the user may create tables in its schema. */
  mayCreate: boolean;
  /** Tables that the user may not change, because they belong to another one. */
  tablesOfOthers: readonly string[];
  connections: { open: number; max: number };
  /** The clock of the server, in milliseconds since 1970 UTC. */
  now: number;
}

interface NotificationReport {
  /** Whether a notification arrives at the address that listens. */
  arrive: boolean;
  /** Whether the address of the database leads through a pooler of transactions, where none arrives. */
  isPooled: boolean;
}

export interface PostgresInspection {
  server: ServerReport;
  /** @throws AppError storage_unavailable when a newer release has written the database */
  migrationStatus(): Promise<MigrationStatus>;
  read: Kysely<Schema>;
  /** @throws AppError storage_unavailable when there is no connection to the address that listens */
  checkNotifications(): Promise<NotificationReport>;
  close(): Promise<void>;
}

/**
 * Connects to the database.
 * @throws AppError storage_unavailable, busy
 */
export async function inspectPostgres(database: StateDatabase): Promise<PostgresInspection> {
  const { address, listenAddress = address, readPassword } = database;
  const [config, listening] = await Promise.all([
    connectionConfig({ address, readPassword }),
    connectionConfig({ address: listenAddress, readPassword }),
  ]).catch((error: unknown) => {
    throw translatePostgresError(error);
  });
  const { read, end } = openReader(config, { max: 2, meter: noMeter });
  try {
    return {
      server: await reportOf(read),
      migrationStatus: () => getMigrationStatus(read, { label: "The database" }),
      read,
      async checkNotifications() {
        const isPooled = !(await receives(new Client(config), read));
        return {
          isPooled,
          arrive: listenAddress === address ? !isPooled : await receives(new Client(listening), read),
        };
      },
      close: end,
    };
  } catch (error) {
    await end();
    throw error;
  }
}

async function reportOf(read: Kysely<Schema>): Promise<ServerReport> {
  const { rows } = await sql<
    Omit<ServerReport, "tablesOfOthers" | "connections"> & { open: number; max: number }
  >`
    select current_setting('server_version') as version,
      current_setting('server_version_num')::int / 10000 as "majorVersion",
      coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false) as "usesTls",
      pg_is_in_recovery() as "isReplica",
      current_setting('server_encoding') as encoding,
      current_setting('fsync')::bool and current_setting('synchronous_commit') <> 'off' as "isDurable",
      current_user as "user",
      (select rolsuper from pg_roles where rolname = current_user) as "isSuperuser",
      coalesce(has_schema_privilege(current_schema(), 'create'), false) as "mayCreate",
      (select count(*) from pg_stat_activity where backend_type = 'client backend') as open,
      current_setting('max_connections')::int as max,
      floor(extract(epoch from clock_timestamp()) * 1000) as now`.execute(read);
  const others = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind = 'r' and not pg_has_role(relowner, 'usage')
    order by relname`.execute(read);
  const { open, max, ...server } = rows[0]!;
  return { ...server, connections: { open, max }, tablesOfOthers: others.rows.map(({ name }) => name) };
}

/** Listens on a connection of its own, and notifies over another one. */
async function receives(client: Client, read: Kysely<Schema>): Promise<boolean> {
  client.on("error", () => {});
  const token = randomUUID();
  const arrived = new Promise<boolean>((resolve) =>
    client.on("notification", ({ payload }) => payload === token && resolve(true)),
  );
  try {
    await client.connect();
    await client.query(`listen ${CHANNEL}`);
    await sql`select pg_notify(${CHANNEL}, ${token})`.execute(read);
    return await Promise.race([arrived, delay(NOTIFICATION_MS, false, { ref: false })]);
  } catch (error) {
    throw translatePostgresError(error);
  } finally {
    await client.end().catch(() => {});
  }
}

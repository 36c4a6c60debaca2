/** Debian's PgBouncer in transaction mode, in front of a PostgreSQL server. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { databasePlace } from "./database-place.ts";
import { eventually } from "./eventually.ts";
import { freePort, type Postgres } from "./postgres.ts";

/** The id of the user nobody: PgBouncer refuses to run as root. */
const NOBODY = 65_534;

export interface PgBouncer {
  /** The URL for the configuration, without the password. */
  url(database: string): string;
  /** What it has logged. */
  log(): string;
}

/**
 * Starts a pooler of transactions, which ends with the test.
 * @param serverConnections to each database. With fewer than its clients have, their transactions change connections
 */
export async function startPgBouncer(
  { port: serverPort, password }: Pick<Postgres, "port" | "password">,
  { serverConnections }: { serverConnections: number },
): Promise<PgBouncer> {
  const directory = mkdtempSync(join(databasePlace(), "millrace-pgbouncer-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  chmodSync(directory, 0o755);
  const port = await freePort();
  const users = join(directory, "users.txt");
  writeFileSync(users, `"postgres" "${password}"\n`);
  const config = join(directory, "pgbouncer.ini");
  const settings = {
    listen_addr: "127.0.0.1",
    listen_port: port,
    unix_socket_dir: "",
    auth_type: "scram-sha-256",
    auth_file: users,
    pool_mode: "transaction",
    default_pool_size: serverConnections,
    max_client_conn: 200,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  writeFileSync(
    config,
    `[databases]\n* = host=127.0.0.1 port=${serverPort}\n[pgbouncer]\n${lines.join("\n")}\n`,
  );
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const child = spawn("pgbouncer", [config], { ...user, stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (log += chunk));
  const exited = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended with ${child.exitCode}:\n${log}`);
    return (await accepts(port)) || undefined;
  }, "pgbouncer");
  return { url: (database) => `postgresql://postgres@127.0.0.1:${port}/${database}`, log: () => log };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    const end = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("connect", () => end(true)).once("error", () => end(false));
  });
}

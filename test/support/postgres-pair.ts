/** Debian's PostgreSQL with a synchronous standby on the same machine: that of npm has no `pg_basebackup`. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { onTestFinished } from "vitest";
import { databasePlace } from "./database-place.ts";
import { eventually } from "./eventually.ts";
import { freePort } from "./postgres.ts";

/** How long a server may take to start, in milliseconds. */
const START_MS = 30_000;

export interface PostgresPair {
  primary: Member;
  standby: Member;
}

interface Member {
  port: number;
  url(database: string): string;
  connect(): Promise<Client>;
  /** Kills the server with SIGKILL. */
  kill(): Promise<void>;
}

/** Starts a primary whose commits wait for the standby. Both end with the test. */
export async function startPostgresPair(): Promise<PostgresPair> {
  const directory = mkdtempSync(join(databasePlace(), "millrace-pair-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  const owner = serverUser();
  if (owner !== undefined) chownSync(directory, owner.uid, owner.gid);
  chmodSync(directory, 0o700);
  const programs = execFileSync("sh", ["-c", "ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1"], {
    encoding: "utf8",
  }).trim();
  const run = (program: string, args: string[]): void =>
    void execFileSync(join(programs, program), args, { ...owner, cwd: directory, stdio: "pipe" });

  async function start(name: string): Promise<Member> {
    const port = await freePort();
    const settings = {
      port: String(port),
      listen_addresses: "127.0.0.1",
      unix_socket_directories: "",
      fsync: "off",
      autovacuum: "off",
      max_connections: "200",
    };
    const args = Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${value}`]);
    const child = spawn(join(programs, "postgres"), ["-D", join(directory, name), ...args], {
      ...owner,
      cwd: directory,
      stdio: "ignore",
    });
    const member = memberOf(port, child);
    onTestFinished(() => member.kill());
    await eventually(
      async () => {
        const client = await member.connect().catch(() => undefined);
        await client?.end();
        return client && true;
      },
      `the server ${name}`,
      START_MS,
    );
    return member;
  }

  run("initdb", [
    "-D",
    join(directory, "primary"),
    "-U",
    "postgres",
    "--auth=trust",
    "--encoding=UTF8",
    "--no-sync",
  ]);
  const primary = await start("primary");
  const source = `host=127.0.0.1 port=${primary.port} user=postgres application_name=standby`;
  run("pg_basebackup", ["-d", source, "-D", join(directory, "standby"), "-R", "-X", "stream", "-c", "fast"]);
  const standby = await start("standby");
  const admin = await primary.connect();
  await admin.query("alter system set synchronous_standby_names = 'standby'");
  await admin.query("select pg_reload_conf()");
  await eventually(
    async () => {
      const { rows } = await admin.query("select 1 from pg_stat_replication where sync_state = 'sync'");
      return rows.length > 0 || undefined;
    },
    "the synchronous standby",
    START_MS,
  );
  await admin.end();
  return { primary, standby };
}

function memberOf(port: number, child: ChildProcess): Member {
  const exited = once(child, "exit");
  return {
    port,
    url: (database) => `postgresql://postgres@127.0.0.1:${port}/${database}`,
    async connect() {
      const client = new Client({ host: "127.0.0.1", port, user: "postgres", database: "postgres" });
      // The connection ends with the server, which is not an error of the test.
      client.on("error", () => undefined);
      await client.connect();
      return client;
    },
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** PostgreSQL refuses to run as root. */
function serverUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const [uid, gid] = ["-u", "-g"].map((option) =>
    Number(execFileSync("id", [option, "postgres"], { encoding: "utf8" })),
  ) as [number, number];
  return { uid, gid };
}

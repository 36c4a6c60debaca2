/** Several copies of each process on one state, behind load balancers without sticky sessions. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Copies } from "./copy-scenarios.ts";
import { type Replica, startReplica } from "./deployment.ts";
import { temporaryDirectory } from "./directories.ts";
import { startLoadBalancer } from "./load-balancer.ts";
import { freePorts } from "./nginx.ts";
import { PASSWORD, type Postgres } from "./postgres.ts";
import { runHere, startWorker, type Worker } from "./process.ts";

export interface Options {
  /** How many copies of each process. */
  count: number;
  /** The server with the state, in a new database; undefined for SQLite in one directory. */
  postgres: Pick<Postgres, "url" | "connect"> | undefined;
  /** Another address of that server, as that of a proxy, without the database. */
  databaseUrl?: string;
  /** The configuration file; JSON is YAML. */
  config: object;
  /** Arguments of the executors. */
  workerArgs?: string[];
}

export interface RunningCopies extends Copies {
  listeners: Replica[];
  workers: RestartableWorker[];
  /** The URLs of the copies. */
  web: string[];
  /** The environment of a command on the same state. */
  env: Record<string, string>;
  createKey(name: string, ...args: string[]): Promise<string>;
}

interface RestartableWorker {
  process: Worker;
  /** Stops it as an operator does, and starts it again. */
  restart(): Promise<void>;
}

let databases = 0;

/** Time between the signal that stops a listener and its end, in seconds; the load balancer checks more often. */
const DRAIN_DELAY = 2;

/** Starts the copies concurrently on an empty state. */
export async function startCopies({
  count,
  postgres,
  databaseUrl = postgres?.url(""),
  config,
  workerArgs = [],
}: Options): Promise<RunningCopies> {
  const directory = temporaryDirectory();
  const configFile = join(directory, "config.yaml");
  writeFileSync(configFile, JSON.stringify(config));
  const database: Record<string, string> = {};
  if (postgres !== undefined) {
    databases += 1;
    const name = `copies_${databases}`;
    const admin = await postgres.connect();
    await admin.query(`create database ${name}`);
    await admin.end();
    Object.assign(database, {
      MILLRACE_DATABASE_URL: databaseUrl + name,
      MILLRACE_DATABASE_PASSWORD: PASSWORD,
      MILLRACE_DATABASE_CONNECTIONS: "6",
    });
  }
  /** On PostgreSQL each copy has a directory of its own, as on a machine of its own. */
  const stateDir = (copy: string): string => {
    const path = join(directory, postgres === undefined ? "state" : copy);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return path;
  };
  const env = { ...database, MILLRACE_CONFIG: configFile, MILLRACE_LOG_LEVEL: "info" };
  const numbers = Array.from({ length: count }, (_, index) => index);
  const ports = await freePorts(2 * count);
  const args = ["--workers", "0", "--drain-delay", String(DRAIN_DELAY)];
  const [listeners, workers] = await Promise.all([
    Promise.all(
      ports.map((port, index) =>
        startReplica(index < count ? "serve" : "mcp-sse", port, stateDir(`listener-${index}`), { args, env }),
      ),
    ),
    Promise.all(numbers.map((index) => restartable(stateDir(`worker-${index}`), workerArgs, env))),
  ]);
  const urls = ports.map((port) => `http://127.0.0.1:${port}`);
  const web = urls.slice(0, count);
  const commandEnv = { ...env, MILLRACE_STATE_DIR: stateDir("command") };
  const createKey = async (name: string, ...more: string[]): Promise<string> => {
    const { code, out, err } = await runHere(["keys", "create", "--name", name, ...more], commandEnv);
    expect([code, err]).toEqual([0, ""]);
    return out.trim();
  };
  return {
    rest: await startLoadBalancer(web, { checksHealth: true }),
    mcp: await startLoadBalancer(urls.slice(count), { checksHealth: true }),
    key: await createKey("ci"),
    listeners,
    workers,
    web,
    env: commandEnv,
    createKey,
    async revoke() {
      expect(await runHere(["keys", "revoke", "ci"], commandEnv)).toMatchObject({ code: 0 });
    },
  };
}

async function restartable(
  stateDir: string,
  args: string[],
  env: Record<string, string>,
): Promise<RestartableWorker> {
  const start = () => startWorker(stateDir, { args, env });
  const self: RestartableWorker = {
    process: await start(),
    async restart() {
      expect(await self.process.stop()).toMatchObject({ code: 0 });
      self.process = await start();
    },
  };
  return self;
}

/**
 * An installation of real processes whose connections to PostgreSQL go through a proxy that breaks them: one listener, and executors
 * beside it. Its workflow has a step with an effect, which a peer counts.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, vi } from "vitest";
import { PROGRAM } from "./built.ts";
import { untilPassing } from "./eventually.ts";
import { type ApiClient, apiClient } from "./http.ts";
import { temporaryDirectory } from "./instance.ts";
import { mockHttpServer, sendJson } from "./mock-http-server.ts";
import { patiently } from "./patience.ts";
import { postgresProxy, type PostgresProxy } from "./postgres-proxy.ts";
import { PASSWORD, type Postgres } from "./postgres.ts";
import { type CommandResult, runHere, spawnCommand, startProgram } from "./process.ts";

/** How long processes may take to notice that connections are lost and to go on, in milliseconds. */
const RECOVERY_MS = patiently(60_000);
const ENDED = /^(?:succeeded|failed|cancelled)$/;

/** Repeats a check until it passes, also where an answer never comes. */
export const untilRecovered = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: RECOVERY_MS, interval: 50 });

interface RunningProcess {
  child: ChildProcess;
  log(): string;
}

interface StepDetail {
  id: string;
  status: string;
  attempt_list: { status: string }[];
}

/** How a run ended: its status, its successful attempts by step, and how often its effect happened. */
interface RunResult {
  status: string;
  successes: Record<string, number>;
  effects: number;
}

/** The result of a run that nothing has disturbed, as far as its caller can see. */
export const EXECUTED_ONCE: RunResult = {
  status: "succeeded",
  successes: { before: 1, call: 1, after: 1 },
  effects: 1,
};

export interface ProxiedInstallation {
  proxy: PostgresProxy;
  call: ApiClient;
  /** The URL of the listener. */
  url: string;
  workflow: string;
  /** The effects so far, by run. */
  effects: ReadonlyMap<string, number>;
  /** From now on the step with the effect ends after this promise. */
  holdEffects(until: Promise<unknown>): void;
  /** Starts a run. @throws when it is not accepted */
  start(): Promise<string>;
  /** Waits for the end of a run, through failures of the listener. */
  resultOf(run: string): Promise<RunResult>;
  /** Fails if a process has ended. */
  expectNoRestart(): void;
  /** Runs a command beside the proxy. */
  command(...args: string[]): Promise<CommandResult>;
}

let databases = 0;

/** Creates a database. @param template the one to copy; by default it is empty. @returns its name */
export async function createDatabase(
  server: Postgres,
  template = "template1",
  name = `proxied_${(databases += 1)}`,
): Promise<string> {
  const admin = await server.connect();
  await admin.query(`create database ${name} template ${template}`);
  await admin.end();
  return name;
}

/** The variables of a process whose state is in a database. @param port that of the server or of a proxy */
export function databaseEnv(server: Postgres, database: string, port = server.port): Record<string, string> {
  const url = new URL(server.url(database));
  url.port = String(port);
  return { MILLRACE_DATABASE_URL: url.href, MILLRACE_DATABASE_PASSWORD: PASSWORD };
}

interface InstallationOptions {
  /** The number of executors. */
  workers?: number;
  /** Arguments of the executors. */
  workerArgs?: readonly string[];
}

/** Starts everything, which is killed at the end of the test. */
export async function proxiedInstallation(
  server: Postgres,
  { workers: count = 1, workerArgs = [] }: InstallationOptions = {},
): Promise<ProxiedInstallation> {
  const database = await createDatabase(server);
  const proxy = await postgresProxy(server.port);
  const effects = new Map<string, number>();
  let held: Promise<unknown> = Promise.resolve();
  const peer = await mockHttpServer(async ({ path }, response) => {
    const run = path.slice(1);
    effects.set(run, (effects.get(run) ?? 0) + 1);
    await held;
    sendJson(response, {});
  });
  const directory = temporaryDirectory();
  const config = join(directory, "config.yaml");
  writeFileSync(config, `http:\n  allowed_hosts: ["${peer.host}"]\n`);
  const stateDir = (name: string): string => {
    const path = join(directory, name);
    mkdirSync(path, { mode: 0o700 });
    return path;
  };
  const direct = {
    ...databaseEnv(server, database),
    MILLRACE_CONFIG: config,
    MILLRACE_STATE_DIR: stateDir("command"),
  };
  const proxied = { ...databaseEnv(server, database, proxy.port), MILLRACE_CONFIG: config };
  const key = (await runHere(["keys", "create", "--name", "ci"], direct)).out.trim();
  const [listener, ...workers] = await Promise.all([
    startProgram("serve", stateDir("listener"), {
      args: ["--workers", "0", "--drain-delay", "0"],
      env: proxied,
    }),
    ...Array.from({ length: count }, (_, index) =>
      startWorker(workerArgs, { ...proxied, MILLRACE_STATE_DIR: stateDir(`worker-${index}`) }),
    ),
  ]);
  const call = apiClient(listener.url, key);
  const { status, body } = await call("POST", "/workflows", {
    name: "Three steps",
    definition: {
      steps: [
        { id: "before", type: "set", values: { n: 1 } },
        { id: "call", type: "http", method: "POST", url: `${peer.url}/\${{ run.id }}`, timeout: "10m" },
        { id: "after", type: "set", values: { n: "${{ steps.before.n + 1 }}" } },
      ],
    },
  });
  expect([status, body]).toEqual([201, expect.objectContaining({ issues: [] })]);
  const { id: workflow } = body as { id: string };

  return {
    proxy,
    call,
    url: listener.url,
    workflow,
    effects,
    holdEffects(until) {
      held = until;
    },
    async start() {
      const started = await call<{ id: string }>("POST", `/workflows/${workflow}/runs`, {});
      expect([started.status, started.body]).toEqual([202, expect.anything()]);
      return started.body.id;
    },
    async resultOf(run) {
      const found = await untilRecovered(async () => {
        const { status: code, body: shown } = await call<{ status: string; steps: StepDetail[] }>(
          "GET",
          `/runs/${run}?detail=full`,
        );
        expect([run, code]).toEqual([run, 200]);
        expect({ run, status: shown.status }).toEqual({
          run,
          status: expect.stringMatching(ENDED) as string,
        });
        return shown;
      });
      const successes = found.steps.map(({ id, attempt_list: attempts }) => [
        id,
        attempts.filter((attempt) => attempt.status === "succeeded").length,
      ]);
      return {
        status: found.status,
        successes: Object.fromEntries(successes) as Record<string, number>,
        effects: effects.get(run) ?? 0,
      };
    },
    expectNoRestart() {
      const ended = [listener, ...workers].filter(
        ({ child }) => child.exitCode !== null || child.signalCode !== null,
      );
      expect(ended.map(({ log }) => log())).toEqual([]);
    },
    command: (...args) => spawnCommand(args, direct),
  };
}

async function startWorker(args: readonly string[], env: Record<string, string>): Promise<RunningProcess> {
  const child = spawn(process.execPath, [PROGRAM, "worker", ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (log += chunk));
  const exited = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  await untilPassing(() => expect(log).toContain("worker started"));
  return { child, log: () => log };
}

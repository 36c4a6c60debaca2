/** Injects failures into an installation of real processes: kills, pauses, and what the caller adds. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import { crashClients } from "./crash-clients.ts";
import { createCrashWorkflows } from "./crash-state.ts";
import { crashWorkflows } from "./crash-workflows.ts";
import { eventually } from "./eventually.ts";
import { mockHttpServer, sendJson } from "./mock-http-server.ts";
import { seededRandom } from "./random.ts";
import { installInvariantTriggers } from "./invariant-triggers.ts";
import { issuesOfRuns, type RecordedCall } from "./run-invariants.ts";
import { startReplica, type Replica } from "./deployment.ts";
import { freePorts } from "./nginx.ts";
import { runCommand } from "./process.ts";
import { type StateAccess, sqliteAccess } from "./state-access.ts";
import { verifyState } from "./verify-state.ts";
import { PROGRAM } from "./built.ts";

const STARTER = fileURLToPath(new URL("run-starter.ts", import.meta.url));
/** How long the runs may take to end after the last failure, in milliseconds. */
const ENDED_MS = 120_000;
/** How long a round may wait for what it disturbs, in milliseconds: on a busy machine, processes take long to start. */
const ROUND_MS = 60_000;
/** Maximum number of reported problems. */
const SHOWN = 20;
/** The exit code for an unusable state directory. */
const REFUSED_START = 4;

export interface ChaosOptions {
  seed: number;
  stateDir: string;
  executors: number;
  leaseMs: number;
  /** The environment of all processes, for a fake clock for example, or with the address of the state in PostgreSQL. */
  env?: Record<string, string>;
  /** The state in PostgreSQL, which the environment names; left out, it is in the state directory. */
  database?: StateAccess;
  /** How many servers of the HTTP API are called, killed and paused too. */
  listeners?: number;
  /** Other failures of a round, besides kills and pauses. */
  extraDisruptions?: readonly ((next: () => number) => Promise<void>)[];
  /** Their share of the rounds, 0.15 by default. */
  extraShare?: number;
  /** Undoes the failures after the last round. */
  afterLastRound?: () => Promise<void>;
}

/** The kind of a round's failure, for the statistics. */
type Happening =
  | "executor killed"
  | "starter killed"
  | "executor paused"
  | "all killed"
  | "listener killed"
  | "listener paused"
  | "else";

/** Runs `rounds` rounds, waits until all runs have ended, and returns the problems. */
export async function runChaos(options: ChaosOptions, rounds: number) {
  const { seed, stateDir, env = {} } = options;
  const next = seededRandom(seed);
  const calls: RecordedCall[] = [];
  const failedOnce = new Set<string>();
  const peer = await mockHttpServer(({ path, headers }, response) => {
    const stepRef = path.slice(1);
    calls.push({ stepRef, key: String(headers["idempotency-key"]) });
    // One in four calls fails at first, and is retried.
    const fails = next() < 0.25 && !failedOnce.has(stepRef);
    failedOnce.add(stepRef);
    setTimeout(() => sendJson(response, { one: 1 }, fails ? 503 : 200), next() * 60);
  });
  await createCrashWorkflows(stateDir, env, peer);
  const state = options.database ?? sqliteAccess(join(stateDir, "millrace.db"));
  await installInvariantTriggers(state);
  /** Whether a query has rows; not while the database is away. */
  const exists = async (query: string): Promise<true | undefined> => {
    const found = await state.rows(`${query} limit 1`).catch(() => []);
    return found.length > 0 ? true : undefined;
  };
  const someUnfinished = () => exists("select 1 from runs where finished_at is null");

  const acknowledged: string[] = [];
  const cancelled = new Set<string>();
  const received: string[] = [];
  const logs: string[] = [];
  const seen = { leasesExpired: 0, claimsLost: 0 };
  let named = 0;

  function launch(args: readonly string[], onLine: (line: string) => void): Proc {
    const child = spawn(process.execPath, args, {
      env: { ...process.env, MILLRACE_STATE_DIR: stateDir, MILLRACE_LOG_LEVEL: "info", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const exited = once(child, "exit") as Promise<[number | null]>;
    const ready = Promise.withResolvers<void>();
    for (const stream of [child.stdout, child.stderr]) {
      let rest = "";
      stream.setEncoding("utf8").on("data", (chunk: string) => {
        const lines = (rest + chunk).split("\n");
        rest = lines.pop()!;
        for (const line of lines) {
          if (line === "ready" || line.includes("worker started")) ready.resolve();
          onLine(line);
        }
      });
    }
    const proc: Proc = { child, exited, up: false, ready: ready.promise, wanted: true };
    void ready.promise.then(() => (proc.up = true));
    return proc;
  }

  /** Restarts processes that exit unexpectedly, as a service manager does. */
  async function supervise(proc: Proc, name: string, restart: () => void): Promise<void> {
    const [code] = await proc.exited;
    if (!proc.wanted) return;
    // No process starts on a full disk.
    if (code !== REFUSED_START) logs.push(`${name} ended by itself with ${code}`);
    await delay(200);
    if (proc.wanted) restart();
  }

  function startExecutor(index: number): void {
    named += 1;
    const id = `exe_${named}`;
    const args = [PROGRAM, "worker", "--id", id, "--lease", String(options.leaseMs), "--slots", "4"];
    const proc = launch(args, (line) => {
      if (line.includes("lease expired, jobs reclaimed")) seen.leasesExpired += 1;
      if (line.includes("claim lost, result discarded")) seen.claimsLost += 1;
      // Warnings are not problems, nor is a lock that a paused process holds.
      if (!/^\{"level":(20|30|40)|Another process holds the database lock/.test(line))
        logs.push(`${id}: ${line}`);
    });
    executors[index] = Object.assign(proc, { id });
    void supervise(proc, id, () => startExecutor(index));
  }
  function startStarter(): void {
    starter = launch([STARTER, stateDir, String(Math.floor(next() * 1e9))], (line) => {
      const [word, id] = line.split(" ") as [string, string];
      if (word === "started") acknowledged.push(id);
      else if (word === "cancelling") cancelled.add(id);
      else if (word === "received") received.push(id);
      else if (word === "stopped") noMore.resolve();
      else if (word !== "ready" && word !== "refused") logs.push(`starter: ${line}`);
    });
    void supervise(starter, "starter", startStarter);
  }

  const noMore = Promise.withResolvers<void>();
  const executors: Executor[] = [];
  let starter: Proc;
  for (let index = 0; index < options.executors; index += 1) startExecutor(index);
  startStarter();
  onTestFinished(async () => {
    for (const proc of [...executors, starter]) await end(proc, "SIGKILL");
  });

  /** Kills a process and starts a new one, without waiting for it. */
  async function replace(index: number): Promise<void> {
    await end(executors[index]!, "SIGKILL");
    startExecutor(index);
  }
  async function replaceStarter(): Promise<void> {
    await end(starter, "SIGKILL");
    startStarter();
  }

  const someBusy = async (): Promise<number | undefined> => {
    const claims = await state
      .rows<{ executor: string }>("select distinct executor from jobs where state = 'claimed'")
      .catch(() => []);
    const busy = new Set(claims.map(({ executor }) => executor));
    const candidates = [...executors.keys()].filter(
      (index) => executors[index]!.up && busy.has(executors[index]!.id),
    );
    return candidates.length === 0 ? undefined : candidates[Math.floor(next() * candidates.length)];
  };
  const listeners = await startListeners(options, stateDir, env);
  const clients =
    listeners.length === 0
      ? undefined
      : crashClients({
          listeners,
          key: await createKey(stateDir, env),
          seed,
          onCancel: (id) => cancelled.add(id),
        });
  const pauses: Promise<void>[] = [];

  async function disturbListener(listener: Replica): Promise<Happening> {
    if (next() < 0.5) {
      await listener.program.stop("SIGKILL");
      await listener.start();
      return "listener killed";
    }
    pauses.push(pauseChild(listener.program.child, 200 + next() * 1_500));
    return "listener paused";
  }

  async function round(): Promise<Happening> {
    await delay(next() * 400);
    if (listeners.length > 0 && next() < 0.15)
      return disturbListener(listeners[Math.floor(next() * listeners.length)]!);
    const others = options.extraDisruptions ?? [];
    if (others.length > 0 && next() < (options.extraShare ?? 0.15)) {
      await eventually(someUnfinished, "runs", ROUND_MS);
      await others[Math.floor(next() * others.length)]!(next);
      return "else";
    }
    const chance = next();
    if (chance < 0.25) {
      await eventually(() => (starter.up ? someUnfinished() : undefined), "runs", ROUND_MS);
      await replaceStarter();
      return "starter killed";
    }
    const index = await eventually(someBusy, "an executor with a job", ROUND_MS);
    if (chance < 0.65) {
      // A round counts only when this executor has a job in progress just before.
      await replace(index);
      return "executor killed";
    }
    if (chance < 0.7) {
      await Promise.all([replaceStarter(), ...Array.from(executors.keys(), replace)]);
      return "all killed";
    }
    // Mostly long enough that others reclaim the jobs that it continues afterwards.
    const leases = next() < 0.25 ? 0.5 : 1.6 + 1.6 * next();
    pauses.push(pauseProcess(executors[index]!, options.leaseMs * leases));
    return "executor paused";
  }

  const happened: Partial<Record<Happening, number>> = {};
  for (let done = 0; done < rounds; done += 1) {
    const what = await round();
    // Rounds follow each other by the runs that were started, not by time alone: one run for each at least.
    await eventually(() => (acknowledged.length > done + 1 ? true : undefined), "more runs", ROUND_MS);
    happened[what] = (happened[what] ?? 0) + 1;
  }
  await Promise.all(pauses);

  await options.afterLastRound?.();
  await Promise.all([...executors, starter!].map(({ ready }) => ready));
  const clientIssues = (await clients?.stop()) ?? [];
  starter!.child.kill("SIGTERM");
  await noMore.promise;
  await waitForRunsToEnd(state);
  const ended = await Promise.all(executors.map((proc) => end(proc, "SIGTERM")));
  await end(starter!, "SIGINT");
  expect(ended).toEqual(executors.map(() => 0));
  if (options.database === undefined) verifyState(stateDir);
  else
    expect(await runCommand(["audit", "verify"], { MILLRACE_STATE_DIR: stateDir, ...env })).toMatchObject({
      code: 0,
    });
  const workflows = new Map(crashWorkflows("").map((workflow) => [workflow.name, workflow]));
  const [journal] = await state.rows<{ ended: number; runs: number }>(
    "select (select count(*) from journal where what = 'ended') as ended, (select count(*) from runs) as runs",
  );
  // The triggers have seen every run.
  expect(journal!.ended).toBe(journal!.runs);
  const issues = await issuesOfRuns(state, {
    acknowledged: [...acknowledged, ...(clients?.acknowledged() ?? [])],
    cancelled,
    received,
    calls,
    outputOf: (id, n) => workflows.get(id)!.expectedOutput(n),
    errorOf: (id) => workflows.get(id)!.failsWith,
  });
  const first = {
    issues: [...clientIssues, ...issues, ...((await clients?.repeatedRuns(state)) ?? [])].slice(0, SHOWN),
    logs: logs.slice(0, SHOWN),
  };
  return {
    ...first,
    happened,
    seen,
    runs: acknowledged.length,
    clientRuns: clients?.acknowledged().length ?? 0,
    calls: calls.length,
    events: received.length,
  };
}

interface Proc {
  child: ChildProcess;
  exited: Promise<[number | null]>;
  /** Resolves when it has started. */
  ready: Promise<void>;
  up: boolean;
  /** False after the test has ended it. */
  wanted: boolean;
}
type Executor = Proc & { id: string };

/** Pauses a process, like a machine that stalls. */
async function pauseProcess(proc: Proc, ms: number): Promise<void> {
  proc.up = false;
  await pauseChild(proc.child, ms);
  proc.up = true;
}

async function pauseChild(child: ChildProcess, ms: number): Promise<void> {
  child.kill("SIGSTOP");
  await delay(ms);
  child.kill("SIGCONT");
}

async function startListeners(
  { listeners = 0 }: ChaosOptions,
  stateDir: string,
  env: Record<string, string>,
): Promise<Replica[]> {
  const ports = await freePorts(listeners);
  const args = ["--workers", "0", "--drain-delay", "0"];
  return Promise.all(ports.map((port) => startReplica("serve", port, stateDir, { args, env })));
}

/** Returns the key of the clients. */
async function createKey(stateDir: string, env: Record<string, string>): Promise<string> {
  const { out } = await runCommand(["keys", "create", "--name", "client"], {
    MILLRACE_STATE_DIR: stateDir,
    ...env,
  });
  return out.trim();
}

async function end(proc: Proc, signal: NodeJS.Signals): Promise<number | null> {
  proc.wanted = false;
  // A paused process does not react to other signals.
  proc.child.kill("SIGCONT");
  proc.child.kill(signal);
  return (await proc.exited)[0];
}

/** Waits until all runs have ended. */
async function waitForRunsToEnd(state: StateAccess): Promise<void> {
  await state.execute("update schedules set paused = 1");
  const before = performance.now();
  // Unfinished runs are reported as problems, each with its state.
  while (performance.now() - before < ENDED_MS) {
    const left = await state.rows(
      "select id from runs where finished_at is null union all select run_id from jobs limit 1",
    );
    if (left.length === 0) return;
    await delay(20);
  }
}

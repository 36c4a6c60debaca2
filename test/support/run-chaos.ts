/** Injects failures into an installation of real processes: kills, pauses, clock changes and a full disk. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setTimeout as delay } from "node:timers/promises";
import Database from "better-sqlite3";
import { pino } from "pino";
import { expect, onTestFinished } from "vitest";
import { openInstance } from "../../src/app/instance.ts";
import { systemClock } from "../../src/core/clock.ts";
import { nextTime } from "../../src/engine/definition/schedule-times.ts";
import { crashWorkflows, SCHEDULED_WORKFLOW } from "./crash-workflows.ts";
import { eventually } from "./eventually.ts";
import { mockHttpServer, sendJson } from "./mock-http-server.ts";
import { seededRandom } from "./random.ts";
import { issuesOfRuns, type RecordedCall, installInvariantTriggers } from "./run-invariants.ts";
import { CRASH_ACTOR } from "./run-starter.ts";
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
  /** The environment of all processes, for a fake clock for example. */
  env?: Record<string, string>;
  /** Other failures of a round, besides kills and pauses. */
  extraDisruptions?: readonly ((next: () => number) => Promise<void>)[];
  /** Undoes the failures after the last round. */
  afterLastRound?: () => Promise<void>;
}

/** The kind of a round's failure, for the statistics. */
type Happening = "executor killed" | "starter killed" | "executor paused" | "all killed" | "else";

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
  await prepare(stateDir, peer.url, peer.host);
  const db = new Database(join(stateDir, "millrace.db"), { readonly: true });
  onTestFinished(() => void db.close());
  const unfinished = db.prepare("select count(*) from runs where finished_at is null").pluck();
  const claimedBy = db.prepare("select count(*) from jobs where state = 'claimed' and executor = ?").pluck();

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

  const busy = (index: number): boolean =>
    executors[index]!.up && (claimedBy.get(executors[index]!.id) as number) > 0;
  const someBusy = (): number | undefined => {
    const candidates = [...executors.keys()].filter(busy);
    return candidates.length === 0 ? undefined : candidates[Math.floor(next() * candidates.length)];
  };
  const pauses: Promise<void>[] = [];

  async function round(): Promise<Happening> {
    await delay(next() * 400);
    const chance = next();
    if (chance < 0.45) {
      // A round counts only when this executor has a job in progress just before.
      await replace(await eventually(someBusy, "an executor with a job", ROUND_MS));
      return "executor killed";
    }
    if (chance < 0.6) {
      await eventually(() => (starter.up && unfinished.get() !== 0 ? true : undefined), "runs", ROUND_MS);
      await replaceStarter();
      return "starter killed";
    }
    const others = options.extraDisruptions ?? [];
    if (chance < 0.85 || others.length === 0) {
      const index = await eventually(someBusy, "an executor with a job", ROUND_MS);
      if (chance >= 0.95) {
        await Promise.all([replaceStarter(), ...Array.from(executors.keys(), replace)]);
        return "all killed";
      }
      // Mostly long enough that others reclaim the jobs that it continues afterwards.
      const leases = next() < 0.25 ? 0.5 : 1.6 + 1.6 * next();
      pauses.push(pauseProcess(executors[index]!, options.leaseMs * leases));
      return "executor paused";
    }
    await eventually(() => (unfinished.get() !== 0 ? true : undefined), "runs", ROUND_MS);
    await others[Math.floor(next() * others.length)]!(next);
    return "else";
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
  starter!.child.kill("SIGTERM");
  await noMore.promise;
  await waitForRunsToEnd(stateDir);
  const ended = await Promise.all(executors.map((proc) => end(proc, "SIGTERM")));
  await end(starter!, "SIGINT");
  expect(ended).toEqual(executors.map(() => 0));
  verifyState(stateDir);
  const workflows = new Map(crashWorkflows("").map((workflow) => [workflow.name, workflow]));
  const issues = issuesOfRuns(stateDir, {
    acknowledged,
    cancelled,
    received,
    calls,
    outputOf: (id, n) => workflows.get(id)!.expectedOutput(n),
    errorOf: (id) => workflows.get(id)!.failsWith,
  });
  const first = { issues: issues.slice(0, SHOWN), logs: logs.slice(0, SHOWN) };
  return {
    ...first,
    happened,
    seen,
    runs: acknowledged.length,
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
  proc.child.kill("SIGSTOP");
  proc.up = false;
  await delay(ms);
  proc.child.kill("SIGCONT");
  proc.up = true;
}

async function end(proc: Proc, signal: NodeJS.Signals): Promise<number | null> {
  proc.wanted = false;
  // A paused process does not react to other signals.
  proc.child.kill("SIGCONT");
  proc.child.kill(signal);
  return (await proc.exited)[0];
}

/** Creates the workflows and the schedule, and starts to check invariants. */
async function prepare(stateDir: string, url: string, host: string): Promise<void> {
  const instance = await openInstance({ stateDir }, systemClock, pino({ level: "silent" }));
  const intent = { operation: "create_workflow", actor: CRASH_ACTOR, requestId: "req_0" };
  for (const { name, definition } of crashWorkflows(url)) {
    await instance.write(intent, async (tx) => {
      const content = { name, description: "", tags: [], definition };
      await tx.workflows.insert(content, { kind: "created", reason: null, actor: CRASH_ACTOR });
      if (name !== SCHEDULED_WORKFLOW) return;
      const { schedule } = definition as { schedule: { cron: string; timezone: string; overlap: "skip" } };
      await tx.schedules.save({
        ...schedule,
        workflowId: name,
        version: 1,
        paused: false,
        nextAt: nextTime(schedule, Date.now()),
        lastAt: null,
        skipped: null,
        actor: CRASH_ACTOR.principal,
      });
    });
  }
  await instance.close();
  writeFileSync(
    join(stateDir, "config.yaml"),
    `http:\n  allowed_hosts: ["${host}"]\nlimits:\n  min_schedule_interval: 1s\n`,
  );
  installInvariantTriggers(stateDir);
}

/** Waits until all runs have ended. */
async function waitForRunsToEnd(stateDir: string): Promise<void> {
  const db = new Database(join(stateDir, "millrace.db"), { timeout: 10_000 });
  db.prepare("update schedules set paused = 1").run();
  const remaining = db
    .prepare("select (select count(*) from runs where finished_at is null) + (select count(*) from jobs)")
    .pluck();
  const before = performance.now();
  // Unfinished runs are reported as problems, each with its state.
  while (remaining.get() !== 0 && performance.now() - before < ENDED_MS) await delay(20);
  db.close();
}

/** An installation in one process: workers and listeners that die, stop and start again, on one database. */
import { pino } from "pino";
import { Config } from "../../schemas/config.ts";
import { startExecutor } from "../../src/app/executor.ts";
import { type Meter, noMeter } from "../../src/core/meter.ts";
import { type Instance, openInstance } from "../../src/app/instance.ts";
import { openServices, type Setup } from "../../src/app/services.ts";
import { readEnvironment } from "../../src/config/environment.ts";
import { createConnections } from "../../src/connections/index.ts";
import { agreedClock } from "../../src/core/agreed-clock.ts";
import type { ChangeFeed } from "../../src/core/change-feed.ts";
import { clockCheck, watchClock } from "../../src/core/clock-check.ts";
import type { Connections, McpTool } from "../../src/core/connections.ts";
import type { SqliteStore } from "../../src/store/database.ts";
import type { Services } from "../../src/surfaces/invoke.ts";
import type { FailurePlan } from "./failures.ts";
import type { Peer } from "./peer.ts";
import { never, type Runtime, type SimulatedProcess } from "./runtime.ts";
import { simulatedStore } from "./store.ts";
import { LIMITED_SERVER, PEER } from "./workflows.ts";

/** How long an executor may miss its heartbeats, in milliseconds. */
const LEASE_MS = 2_000;
const SLOTS = 4;
/** Maximum delay of the start of a process after the end of the one before, in milliseconds. */
const RESTART_MS = 3_000;
/** Maximum time of an answer, usually and when it is slow, in milliseconds. */
const LATENCY_MS = 4;
const SLOW_MS = 3_000;
/** Maximum delay until a process learns of a commit, in milliseconds. */
const CHANGE_MS = 20;
/** How often a worker may be stopped, a clock may jump and the disk may get full, in milliseconds. */
const DISTURB_INTERVAL_MS = 1_000;
/** Maximum time that the disk stays full, and that a worker has to end its steps; in milliseconds. */
const FULL_MS = 4_000;
const GRACE_MS = 1_000;
/** Maximum jump of a clock, in milliseconds. */
const JUMP_MS = 20_000;

/** What is on its way between a process and the rest of the world. */
type Transfer = "read" | "begin" | "commit" | "call" | "request" | "answer";

/** How much more often than usual a process dies or pauses: at a call and around a commit it matters most. */
const WEIGHT: Readonly<Record<Transfer, number>> = {
  read: 0.5,
  begin: 2,
  commit: 3,
  call: 8,
  request: 1,
  answer: 1,
};

/** A process, from its start to its end. */
interface Member {
  process: SimulatedProcess;
  kind: "worker" | "listener";
  /** Of a listener that has started. */
  services?: Services;
  /** Of a worker that has started. */
  stop?: (graceMs: number) => Promise<void>;
}

export interface Installation {
  members: readonly Member[];
  /** Calls back after each commit. */
  onCommit(listener: () => void): void;
  /** Starts a process; when it dies, another one takes its place. */
  start(kind: Member["kind"]): void;
  /** Ends all processes for good. */
  close(): Promise<void>;
  /** Ends what lasts: paused processes, clocks that are wrong, a full disk. */
  endFailures(): void;
  /** Between a process and the rest of the world: time passes, and the process may die. */
  transfer(what: Transfer): Promise<void>;
  /** Errors that no failure explains. */
  unexpected: readonly string[];
  /** Workers that were alive when others took their jobs away. */
  reclaimedAlive: readonly string[];
  /** Number of ends of runs that the metrics of all processes have counted. */
  readonly endsCounted: number;
}

interface Options {
  runtime: Runtime;
  failures: FailurePlan;
  stateDir: string;
  peer: () => Peer;
  log: (line: string) => void;
}

/** The configuration of all processes. */
export const CONFIG = {
  http: { allowed_hosts: [new URL(PEER).host] },
  limits: { min_schedule_interval: "1s", per_key: { runs_per_hour: 100_000 } },
  approvals: { by_starter: true },
  mcp_servers: [{ name: LIMITED_SERVER, url: `${PEER}/mcp`, concurrency: 1 }],
};

/** What the limited server offers. */
const TOOL: McpTool = {
  name: "work",
  description: "",
  inputSchema: { type: "object" },
  outputSchema: { type: "object", properties: { one: { type: "integer" } }, required: ["one"] },
  readOnly: false,
};

/** Opens the connections of the configuration, whose calls reach the simulated peer. */
export const connectTo =
  (peer: () => Pick<Peer, "send" | "callTool">): NonNullable<Setup["connect"]> =>
  (...args) => {
    const opened = createConnections(...args);
    return {
      ...reaching(peer, opened),
      limitedTo: (view) => reaching(peer, opened.limitedTo(view)),
      close: () => opened.close(),
    };
  };

const reaching = <T extends Connections>(peer: () => Pick<Peer, "send" | "callTool">, connections: T): T => ({
  ...connections,
  http: { ...connections.http, send: (request, call) => peer().send(request, call) },
  mcpServers: {
    ...connections.mcpServers,
    tools: async () => [TOOL],
    call: (...toolCall) => peer().callTool(...toolCall),
  },
});

export function simulatedInstallation({ runtime, failures, stateDir, peer, log }: Options): Installation {
  const random = runtime.randomFor("installation");
  const members: Member[] = [];
  const unexpected: string[] = [];
  const reclaimedAlive: string[] = [];
  let endsCounted = 0;
  const meter: Meter = { ...noMeter, runEnded: () => void (endsCounted += 1) };
  const commitListeners: (() => void)[] = [];
  const subscribers = new Set<{ process: SimulatedProcess | undefined; listener: () => void }>();
  const stores = new Map<SimulatedProcess, SqliteStore>();
  let started = 0;
  let fullUntil = 0;

  function kill({ process, kind }: Member): void {
    if (!process.alive) return;
    process.alive = false;
    members.splice(
      members.findIndex((member) => member.process === process),
      1,
    );
    for (const it of subscribers) if (it.process === process) subscribers.delete(it);
    const store = stores.get(process);
    stores.delete(process);
    // After this turn: a transaction that is being committed is committed, and the process does not learn of it.
    runtime.after(0, () => void store?.close(), WORLD);
    runtime.after(random() * RESTART_MS, () => start(kind), WORLD);
  }

  /** Never resolves in a process that has died. */
  async function transfer(what: Transfer): Promise<void> {
    const owner = runtime.current();
    const member = members.find(({ process }) => process === owner);
    if (owner !== undefined && member !== undefined) {
      if (failures.happens("kill", `${owner.name}, ${what}`, WEIGHT[what])) kill(member);
      else if (failures.happens("pause", `${owner.name}, ${what}`, WEIGHT[what]))
        owner.pausedUntil = runtime.now() + LEASE_MS * (0.3 + 2.5 * random());
    }
    const slow = failures.happens("slow", `${owner?.name ?? ""}, ${what}`);
    await runtime.sleep(random() * (slow ? SLOW_MS : LATENCY_MS));
  }

  const changesFor = (process: SimulatedProcess): ChangeFeed => ({
    subscribe(listener, { maxDelayMs = 0 } = {}) {
      let pending = false;
      const subscriber = {
        process,
        listener() {
          if (pending || failures.happens("missChange", process.name)) return;
          pending = true;
          runtime.after(
            random() * CHANGE_MS + maxDelayMs,
            () => {
              pending = false;
              if (subscribers.has(subscriber)) listener();
            },
            process,
          );
        },
      };
      subscribers.add(subscriber);
      return () => void subscribers.delete(subscriber);
    },
    close() {
      for (const it of subscribers) if (it.process === process) subscribers.delete(it);
    },
  });

  function committed(): void {
    for (const listener of commitListeners) listener();
    for (const { listener } of subscribers) listener();
  }

  async function open(member: Member): Promise<void> {
    const { process } = member;
    const clock = agreedClock({ now: () => Math.floor(runtime.wallTime() + process.clockOffset) });
    const logger = pino({ level: "warn" }, { write: (line: string) => report(process, line) });
    const openStore = simulatedStore(
      {
        transfer,
        stopIfDead: () => (process.alive ? undefined : never()),
        fate() {
          if (runtime.now() < fullUntil || failures.happens("fail", process.name)) return "fails";
          if (failures.happens("repeat", process.name)) return "runs twice";
          return failures.happens("loseAnswer", process.name) ? "loses its answer" : "commits";
        },
        committed,
        onForeignWait: (stack) =>
          void unexpected.push(
            `a transaction of ${process.name} reads outside of itself: ${stack.split("\n").slice(2, 14).join(" ")}`,
          ),
        changes: changesFor(process),
        wallTime: () => runtime.wallTime(),
      },
      (store) => void stores.set(process, store),
    );
    const instance: Instance = await openInstance({ stateDir }, clock, logger, { openStore, meter });
    const check = clockCheck(clock, instance.store, logger);
    const setup: Setup = {
      settings: readEnvironment({ MILLRACE_STATE_DIR: stateDir }),
      config: Config.parse(CONFIG),
      clock,
      clockCheck: check,
      connect: connectTo(peer),
      deliveries: { pauseFactor: 0.1 },
      readDiskSpace: async () => ({ free: 2 ** 40, total: 2 ** 41 }),
      threads: null,
    };
    if (member.kind === "worker") {
      const executor = await startExecutor(instance, setup, {
        id: process.name,
        slots: SLOTS,
        leaseMs: LEASE_MS,
      });
      member.stop = (graceMs) => executor.stop(graceMs);
      return;
    }
    await watchClock(check, () => instance.read.jobs.executors());
    member.services = openServices(instance, setup).services;
  }

  function report({ name, alive }: SimulatedProcess, line: string): void {
    if (!alive) return;
    const { level, msg, err, ...fields } = JSON.parse(line) as LogLine;
    const isExpected = EXPECTED_CODES.has(err?.code ?? "") || msg.startsWith(DEVIATING_CLOCK);
    const text = `${name} logged "${msg}" (${err?.code ?? ""} ${err?.message ?? ""})`;
    log(text);
    const dead = members.find(({ process }) => process.name === fields.dead_executor);
    if (dead !== undefined)
      reclaimedAlive.push(`${name} took the jobs of ${dead.process.name}, which was alive`);
    if (level >= ERROR_LEVEL && !isExpected)
      unexpected.push(`${text} ${err?.stack?.split("\n").slice(1, 6).join(" ") ?? ""}`);
  }

  function start(kind: Member["kind"]): void {
    started += 1;
    const process: SimulatedProcess = {
      name: `${kind}_${started}`,
      alive: true,
      pausedUntil: 0,
      clockOffset: 0,
    };
    const member: Member = { process, kind };
    members.push(member);
    log(`${process.name} starts`);
    runtime.within(process, () => {
      open(member).catch((error: unknown) => {
        log(`${process.name} could not start: ${String(error)}`);
        kill(member);
      });
    });
  }

  /** What happens from time to time, and not on the way of anything. */
  function disturb(): void {
    runtime.after(DISTURB_INTERVAL_MS * (0.5 + random()), disturb, WORLD);
    const member = members[Math.floor(random() * members.length)];
    if (member === undefined) return;
    const { process } = member;
    if (member.stop !== undefined && failures.happens("stop", process.name)) {
      const { stop } = member;
      delete member.stop;
      // The first call waits for the steps that are running, as the signal does. Errors of a stop are logged.
      void runtime
        .within(process, () => stop(random() * GRACE_MS).catch((error: unknown) => log(String(error))))
        .then(() => kill(member));
    } else if (failures.happens("jump", process.name)) process.clockOffset += JUMP_MS * (2 * random() - 1);
    else if (failures.happens("full", "")) fullUntil = runtime.now() + random() * FULL_MS;
  }
  runtime.after(0, disturb, WORLD);

  return {
    members,
    onCommit: (listener) => void commitListeners.push(listener),
    start,
    async close() {
      for (const { process } of members) process.alive = false;
      members.length = 0;
      await Promise.all([...stores.values()].map((store) => store.close()));
    },
    endFailures() {
      fullUntil = 0;
      for (const { process } of members) Object.assign(process, { pausedUntil: 0, clockOffset: 0 });
    },
    transfer,
    unexpected,
    reclaimedAlive,
    get endsCounted() {
      return endsCounted;
    },
  };
}

/** Starts processes, and is the clients: it does not die. */
export const WORLD: SimulatedProcess = { name: "world", alive: true, pausedUntil: 0, clockOffset: 0 };

const ERROR_LEVEL = 50;

interface LogLine {
  level: number;
  msg: string;
  err?: { code?: string; message?: string; stack?: string };
  dead_executor?: string;
}

/** Codes of logged errors that failures of a simulation explain. */
const EXPECTED_CODES: ReadonlySet<string> = new Set(["storage_unavailable", "outcome_unknown", "busy"]);
const DEVIATING_CLOCK = "the clock of this process differs";

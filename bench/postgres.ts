/**
 * Runs of three steps on both stores, with 1, 2 and 4 executors: rate, times, CPU of Millrace and of the database server, and
 * transactions for each run, beside the rate of commits of the disk and of the server.
 */
import { readdirSync, readFileSync } from "node:fs";
import { type Bench, copyState, createApiKey, rawHttpRequest, type Result } from "./support/bench.ts";
import { commitsPerSecond } from "./support/disk.ts";
import {
  type BenchPostgres,
  postgresCommitsPerSecond,
  startBenchPostgres,
} from "./support/postgres-server.ts";
import { cpuMs, type Program, startMillrace, TICKS_PER_SECOND } from "./support/program.ts";
import { formatFactor, median, milliseconds, perSecond, table } from "./support/table.ts";

const EXECUTORS = [1, 2, 4] as const;
const CALLERS = [1, 16, 32] as const;
/** The CPU of a run on PostgreSQL in comparison with SQLite, without that of the database server. */
const GOAL_CPU_FACTOR = 2;

const DEFINITION = {
  steps: [
    { id: "a", type: "set", values: { x: 6 } },
    { id: "b", type: "set", values: { y: "${{ steps.a.x + 1 }}" } },
    { id: "c", type: "set", values: { z: "${{ steps.b.y + 1 }}" } },
  ],
  output: "${{ steps.c.z }}",
};

interface Measured {
  store: "SQLite" | "PostgreSQL";
  executors: number;
  callers: number;
  perSecond: number;
  p50: number;
  p99: number;
  /** CPU time for each run, in milliseconds. */
  listenerMs: number;
  executorMs: number;
  serverMs: number;
  /** Undefined on SQLite, which does not count them. */
  transactions: number | undefined;
}

export async function postgres(bench: Bench): Promise<Result> {
  const server = await startBenchPostgres(bench.directory);
  try {
    const floor = await server.createDatabase("floor");
    const commits = new Map<number, number>();
    for (const callers of CALLERS) commits.set(callers, await postgresCommitsPerSecond(floor, callers));
    const measured: Measured[] = [];
    for (const executors of EXECUTORS) {
      measured.push(...(await measureStore(bench, "SQLite", executors)));
      measured.push(...(await measureStore(bench, "PostgreSQL", executors, server)));
    }
    const cpuOf = (store: string): number => {
      const { listenerMs, executorMs } = measured.find(
        (row) => row.store === store && row.executors === 1 && row.callers === 16,
      )!;
      return listenerMs + executorMs;
    };
    const factor = cpuOf("PostgreSQL") / cpuOf("SQLite");
    return {
      rows: [
        {
          label: "CPU of three steps on PostgreSQL, 16 callers, one executor",
          value: milliseconds(cpuOf("PostgreSQL")),
          baseline: `${milliseconds(cpuOf("SQLite"))} on SQLite`,
          ratio: formatFactor(factor),
          goal: `≤ ${formatFactor(GOAL_CPU_FACTOR)}`,
          goalMet: factor <= GOAL_CPU_FACTOR,
        },
      ],
      details: [
        storesTable(measured),
        `PostgreSQL: ${CALLERS.map((callers) => `${perSecond(commits.get(callers)!)} commits of one row over ${callers}`).join(", ")} connections.`,
        `Disk: ${perSecond(commitsPerSecond(bench.directory))} transactions of one row (SQLite, synchronous=FULL).`,
      ].join("\n\n"),
    };
  } finally {
    await server.stop();
  }
}

async function measureStore(
  { directory, seed, generator, roundOptions }: Bench,
  store: Measured["store"],
  executors: number,
  server?: BenchPostgres,
): Promise<Measured[]> {
  const stateDir = copyState(seed, directory, `postgres-${store}-${executors}`);
  const url = await server?.createDatabase(`runs${executors}`);
  const env: Record<string, string> = url === undefined ? {} : { MILLRACE_DATABASE_URL: url };
  const key = url === undefined ? seed.key : createApiKey(stateDir, env);
  const millrace = await startMillrace("serve", stateDir, env, ["--workers", String(executors)]);
  try {
    const request = await createWorkflow(millrace, key);
    const target = { name: store, program: millrace, request, status: 200 };
    await generator.load(target, Math.max(...CALLERS), 3 * roundOptions.ms);
    const pids = executorsOf(millrace);
    const readUse = async () => ({
      executors: pids.reduce((sum, pid) => sum + cpuMs(pid), 0),
      server: server === undefined ? 0 : serverCpuMs(server.pid),
      transactions: await server?.transactions(`runs${executors}`),
    });
    const results: Measured[] = [];
    for (const callers of CALLERS) {
      const loads: Omit<Measured, "store" | "executors" | "callers">[] = [];
      for (let round = 0; round < roundOptions.rounds; round += 1) {
        const before = await readUse();
        const load = await generator.load(target, callers, roundOptions.ms);
        const after = await readUse();
        const count = (load.perSecond * roundOptions.ms) / 1_000;
        loads.push({
          perSecond: load.perSecond,
          p50: load.p50,
          p99: load.p99,
          listenerMs: load.cpuUs / 1_000,
          executorMs: (after.executors - before.executors) / count,
          serverMs: (after.server - before.server) / count,
          transactions:
            after.transactions === undefined
              ? undefined
              : (after.transactions - before.transactions!) / count,
        });
      }
      const of = (value: (load: (typeof loads)[number]) => number): number => median(loads.map(value));
      results.push({
        store,
        executors,
        callers,
        perSecond: of((load) => load.perSecond),
        p50: of((load) => load.p50),
        p99: of((load) => load.p99),
        listenerMs: of((load) => load.listenerMs),
        executorMs: of((load) => load.executorMs),
        serverMs: of((load) => load.serverMs),
        transactions: server === undefined ? undefined : of((load) => load.transactions!),
      });
    }
    return results;
  } finally {
    await millrace.stop();
  }
}

/** @returns the request that starts a run and waits for its end */
async function createWorkflow({ port }: Program, key: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/workflows`, {
    method: "POST",
    headers: { "X-API-Key": key, "Content-Type": "application/json" },
    body: JSON.stringify({ name: "Three steps", definition: DEFINITION }),
  });
  if (!response.ok) throw new Error(await response.text());
  const { id } = (await response.json()) as { id: string };
  return rawHttpRequest("POST", `/workflows/${id}/runs`, { "X-API-Key": key }, JSON.stringify({ wait: 10 }));
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);

const executorsOf = ({ pid }: Program): number[] => childrenOf(pid);

/** The ticks of the processor that a process has used; with those of its children that have ended. */
function ticksOf(pid: string | number, { children = false } = {}): { parent: number; ticks: number } {
  // From the third field on: the name of the process may contain spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ").map(Number);
  const used = fields.slice(11, children ? 15 : 13);
  return { parent: fields[1]!, ticks: used.reduce((sum, ticks) => sum + ticks, 0) };
}

/** The CPU time of all processes of a database server, those that have ended included, in milliseconds. */
function serverCpuMs(pid: number): number {
  let sum = ticksOf(pid, { children: true }).ticks;
  for (const entry of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const { parent, ticks } = ticksOf(entry);
      if (parent === pid) sum += ticks;
    } catch {
      // It has just ended.
    }
  }
  return (sum * 1_000) / TICKS_PER_SECOND;
}

const storesTable = (measured: readonly Measured[]): string =>
  table(
    [
      "store",
      "executors",
      "callers",
      "runs",
      "p50",
      "p99",
      "CPU per run: listener",
      "executors",
      "database",
      "transactions",
    ],
    measured.map((row) => [
      row.store,
      String(row.executors),
      String(row.callers),
      perSecond(row.perSecond),
      milliseconds(row.p50),
      milliseconds(row.p99),
      milliseconds(row.listenerMs),
      milliseconds(row.executorMs),
      row.transactions === undefined ? "" : milliseconds(row.serverMs),
      row.transactions?.toFixed(1) ?? "",
    ]),
  );

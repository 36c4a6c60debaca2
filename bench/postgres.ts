/**
 * PostgreSQL: runs of three steps with 1, 2 and 4 executors on both stores, beside the commits of the server and the job
 * engines that could carry the jobs.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  bareGraphile,
  type ChainResult,
  claimedRows,
  deliveredRows,
  measureChains,
  rowsByPgBoss,
  STEPS,
} from "./baselines/job-engines.ts";
import { type Bench, copyState, createApiKey, rawHttpRequest, type Result } from "./support/bench.ts";
import { commitsPerSecond } from "./support/disk.ts";
import {
  type BenchPostgres,
  postgresCommitsPerSecond,
  startBenchPostgres,
} from "./support/postgres-server.ts";
import { cpuMs, type Program, startMillrace } from "./support/program.ts";
import { kilobytes, median, milliseconds, percent, perSecond, table } from "./support/table.ts";

const GOAL_MEDIAN_MS = 8;
const GOAL_PER_SECOND = 500;
const EXECUTORS = [1, 2, 4] as const;
const CALLERS = [1, 32] as const;
/** Steps that an executor of Millrace runs at the same time, and the job engines too. */
const SLOTS = 32;

const DEFINITION = {
  steps: [
    { id: "a", type: "set", values: { x: 6 } },
    { id: "b", type: "set", values: { y: "${{ steps.a.x + 1 }}" } },
    { id: "c", type: "set", values: { z: "${{ steps.b.y + 1 }}" } },
  ],
  output: "${{ steps.c.z }}",
};

type Load = Awaited<ReturnType<Bench["generator"]["load"]>>;

interface Measured {
  store: string;
  executors: number;
  callers: number;
  perSecond: number;
  p50: number;
  p99: number;
  listenerMs: number;
  executorMs: number;
}

export async function postgres(bench: Bench): Promise<Result> {
  const server = await startBenchPostgres(bench.directory);
  try {
    const floor = await server.createDatabase("floor");
    const commits = new Map<number, number>();
    for (const callers of CALLERS) commits.set(callers, await postgresCommitsPerSecond(floor, callers));
    const measured: Measured[] = [];
    for (const executors of EXECUTORS) {
      measured.push(...(await measureStore(bench, "SQLite", executors, {}, bench.seed.key)));
      const url = await server.createDatabase(`runs${executors}`);
      const env = { MILLRACE_DATABASE_URL: url };
      const key = createApiKey(join(bench.directory, `key-${executors}`, "state"), env);
      measured.push(...(await measureStore(bench, "PostgreSQL", executors, env, key)));
    }
    const engines = await measureEngines(bench, server);
    const own = measured.filter(({ store }) => store === "PostgreSQL");
    const p50 = own.find(({ executors, callers }) => executors === 1 && callers === 1)!.p50;
    const best = own.find(({ executors, callers }) => executors === 4 && callers === SLOTS)!.perSecond;
    return {
      rows: [
        {
          label: "three steps on PostgreSQL, one caller, median",
          value: milliseconds(p50),
          baseline: `${milliseconds((STEPS + 1) * (1_000 / commits.get(1)!))} for ${STEPS + 1} commits`,
          goal: `≤ ${GOAL_MEDIAN_MS} ms`,
          goalMet: p50 <= GOAL_MEDIAN_MS,
        },
        {
          label: "three steps on PostgreSQL, 32 callers, 4 executors",
          value: perSecond(best),
          baseline: `${perSecond(commits.get(32)! / (STEPS + 1))} commits ÷ ${STEPS + 1}`,
          ratio: percent(best / (commits.get(32)! / (STEPS + 1))),
          goal: `≥ ${perSecond(GOAL_PER_SECOND)}`,
          goalMet: best >= GOAL_PER_SECOND,
        },
      ],
      details: [
        storesTable(measured),
        engines,
        `PostgreSQL: ${perSecond(commits.get(1)!)} commits of one row over one connection, ${perSecond(commits.get(32)!)} over 32.`,
        `Disk: ${perSecond(commitsPerSecond(bench.directory))} transactions of one row (SQLite, synchronous=FULL).`,
      ].join("\n\n"),
    };
  } finally {
    await server.stop();
  }
}

async function measureStore(
  { directory, seed, generator, roundOptions }: Bench,
  store: string,
  executors: number,
  env: Record<string, string>,
  key: string,
): Promise<Measured[]> {
  const stateDir = copyState(seed, directory, `postgres-${store}-${executors}`);
  const millrace = await startMillrace("serve", stateDir, env, ["--workers", String(executors)]);
  try {
    const request = await createWorkflow(millrace, key);
    const target = { name: store, program: millrace, request, status: 200 };
    await generator.load(target, SLOTS, 3 * roundOptions.ms);
    const pids = executorsOf(millrace);
    const results: Measured[] = [];
    for (const callers of CALLERS) {
      const loads: (Load & { executorMs: number })[] = [];
      for (let round = 0; round < roundOptions.rounds; round += 1) {
        const before = pids.reduce((sum, pid) => sum + cpuMs(pid), 0);
        const load = await generator.load(target, callers, roundOptions.ms);
        const used = pids.reduce((sum, pid) => sum + cpuMs(pid), 0) - before;
        loads.push({ ...load, executorMs: used / ((load.perSecond * roundOptions.ms) / 1_000) });
      }
      const of = (value: (load: (typeof loads)[number]) => number): number => median(loads.map(value));
      results.push({
        store,
        executors,
        callers,
        perSecond: of((load) => load.perSecond),
        p50: of((load) => load.p50),
        p99: of((load) => load.p99),
        listenerMs: of((load) => load.cpuUs) / 1_000,
        executorMs: of((load) => load.executorMs),
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

const executorsOf = ({ pid }: Program): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);

const storesTable = (measured: readonly Measured[]): string =>
  table(
    ["store", "executors", "callers", "runs", "p50", "p99", "CPU per run: listener", "executors"],
    measured.map((row) => [
      row.store,
      String(row.executors),
      String(row.callers),
      perSecond(row.perSecond),
      milliseconds(row.p50),
      milliseconds(row.p99),
      milliseconds(row.listenerMs),
      milliseconds(row.executorMs),
    ]),
  );

/** Three steps as bare rows: claimed by executors, and delivered by each engine. */
async function measureEngines({ quick }: Bench, server: BenchPostgres): Promise<string> {
  const engines: Record<string, (url: string) => Parameters<typeof measureChains>[1]> = {
    "rows, claimed": (url) => (onEnd) => claimedRows(url, SLOTS, onEnd),
    "rows, successor claimed too": (url) => (onEnd) => claimedRows(url, SLOTS, onEnd, { successors: true }),
    "Graphile Worker": (url) => (onEnd) => deliveredRows(url, SLOTS, onEnd),
    "Graphile Worker, local queue": (url) => (onEnd) =>
      deliveredRows(url, SLOTS, onEnd, { localQueue: true }),
    "pg-boss": (url) => (onEnd) => rowsByPgBoss(url, SLOTS, onEnd),
  };
  const rows: string[][] = [];
  for (const [number, [name, open]] of Object.entries(engines).entries()) {
    const results: ChainResult[] = [];
    for (const atATime of CALLERS) {
      const url = await server.createDatabase(`chains${number}at${atATime}`);
      const chains = (atATime === 1 ? 300 : 3_000) / (quick ? 3 : 1);
      results.push(await measureChains(url, open(url), { chains, atATime }));
    }
    const [one, many] = results as [ChainResult, ChainResult];
    rows.push([
      name,
      milliseconds(one.p50),
      perSecond(many.perSecond),
      many.commits.toFixed(1),
      kilobytes(many.walBytes),
      milliseconds(many.cpuMs),
    ]);
  }
  for (const localQueue of [false, true]) {
    const url = await server.createDatabase(`bare${localQueue ? "batched" : "single"}`);
    const rate = await bareGraphile(url, SLOTS, quick ? 3_000 : 10_000, localQueue);
    rows.push([
      `empty jobs of Graphile Worker${localQueue ? ", local queue" : ""}`,
      "",
      perSecond(rate),
      "",
      "",
      "",
    ]);
  }
  return table(
    ["three steps as", "p50 of one", "32 at a time", "commits", "write-ahead log", "CPU of the executor"],
    rows,
  );
}

/** Runs: three steps over REST with a waiting caller, a large fan-out, 10,000 waiting runs, and a run of 1,000 steps. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import Database from "better-sqlite3";
import { type Bench, copyState, type Result, rawHttpRequest } from "./support/bench.ts";
import { commitsPerSecond } from "./support/disk.ts";
import { cpuMs, type Program, residentBytes, startMillrace, startProgram } from "./support/program.ts";
import { median, megabytes, milliseconds, percent, perSecond, type Row, table } from "./support/table.ts";

const GOAL_MEDIAN_MS = 15;
const GOAL_PER_SECOND = 250;
/** Commits of a run of three steps that need nothing but the processor, when no commits are shared: start, claim, outcome. */
const COMMITS = 3;
/** The goal as a share of the disk's rate of commits. */
const DISK_SHARE = 0.6;
const DETAIL_MS = 50;
const MAX_IDLE_CPU = 0.01;
const MAX_SLOWDOWN = 0.1;
const CONCURRENCY = [1, 8, 32] as const;
const DETAIL_STEPS = 1_000;

const definitions = {
  three: {
    inputs: { type: "object", properties: { n: { type: "number", default: 3 } } },
    steps: [
      { id: "a", type: "set", values: { x: "${{ inputs.n * 2 }}" } },
      { id: "b", type: "set", values: { y: "${{ steps.a.x + 1 }}" } },
      { id: "c", type: "set", values: { z: "${{ steps.b.y + 1 }}" } },
    ],
    output: "${{ steps.c.z }}",
  },
  fan: {
    inputs: { type: "object", properties: { list: { type: "array" } } },
    steps: [
      {
        id: "each",
        type: "set",
        for_each: "inputs.list",
        concurrency: 16,
        values: { x: "${{ item * 2 }}" },
      },
    ],
    output: "${{ steps.each.items.map(i, i.x).sum() }}",
  },
  nap: { steps: [{ id: "nap", type: "wait", for: "1d" }] },
  long: {
    steps: Array.from({ length: DETAIL_STEPS }, (_, index) => ({
      id: `s${index}`,
      type: "set",
      needs: [],
      values: { x: index },
    })),
  },
};

/** Starts the server with one executor, and creates the workflows. */
async function open({ directory, seed }: Bench) {
  const stateDir = copyState(seed, directory, "runs");
  const listener = await startMillrace("serve", stateDir);
  const headers = { "X-API-Key": seed.key, "Content-Type": "application/json" };
  const call = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const text = body === undefined ? null : JSON.stringify(body);
    const response = await fetch(`http://127.0.0.1:${listener.port}${path}`, { method, headers, body: text });
    const answer = (await response.json()) as Answer;
    if (!response.ok) throw new Error(JSON.stringify(answer));
    return answer;
  };
  const ids: Record<string, string> = {};
  for (const [name, definition] of Object.entries(definitions))
    ids[name] = (await call("POST", "/workflows", { name, definition })).id;
  const start = (name: keyof typeof definitions, body: object = {}): Promise<Answer> =>
    call("POST", `/workflows/${ids[name]}/runs`, body);
  return { listener, executor: await executorOf(listener), call, start, ids, stateDir };
}

interface Answer {
  id: string;
  status: string;
  created_at: string;
  finished_at: string | null;
}
type Opened = Awaited<ReturnType<typeof open>>;

/** The process id of a listener's executor. */
async function executorOf({ pid }: Program): Promise<number> {
  for (;;) {
    const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    if (child !== undefined && child !== "") return Number(child);
    await delay(50);
  }
}

export async function runs(bench: Bench): Promise<Result> {
  const server = await open(bench);
  try {
    // Both processes have compiled their code after some runs.
    for (let n = 0; n < 20; n += 1) await server.start("three", { wait: 10 });
    const rows: Row[] = [];
    const sync = await synchronous(bench, server);
    rows.push(...sync.rows, ...(await fanOut(bench, server)), ...(await detail(bench, server)));
    rows.push(...(await waiting(bench, server)));
    return { rows, details: sync.details };
  } finally {
    await server.listener.stop();
  }
}

const request = (path: string, key: string, method = "GET", body = ""): string =>
  rawHttpRequest(method, path, { "X-API-Key": key }, body);

async function synchronous({ directory, generator, roundOptions, seed }: Bench, server: Opened) {
  const responseFile = join(directory, "run.json");
  writeFileSync(responseFile, JSON.stringify(await server.start("three", { wait: 10 })));
  const bare = await startProgram(new URL("baselines/bare.ts", import.meta.url), [responseFile], {
    log: join(directory, "bare.log"),
  });
  const path = `/workflows/${server.ids["three"]}/runs`;
  const body = JSON.stringify({ wait: 10 });
  const post = request(path, seed.key, "POST", body);
  const millrace = { name: "runs", program: server.listener, request: post, status: 200 };
  const baseline = { name: "node:http", program: bare, request: post, status: 200 };
  const commits = [commitsPerSecond(directory)];
  const measured = new Map<number, { loads: Load[]; baseline: number[] }>();
  for (const connections of CONCURRENCY) {
    await generator.load(millrace, connections, roundOptions.ms);
    const loads: Load[] = [];
    const baselineP50s: number[] = [];
    for (let round = 0; round < roundOptions.rounds; round += 1) {
      const before = cpuMs(server.executor);
      const load = await generator.load(millrace, connections, roundOptions.ms);
      const count = (load.perSecond * roundOptions.ms) / 1000;
      loads.push({ ...load, executorUs: ((cpuMs(server.executor) - before) / count) * 1000 });
      baselineP50s.push((await generator.load(baseline, connections, roundOptions.ms / 4)).p50);
      commits.push(commitsPerSecond(directory));
    }
    measured.set(connections, { loads, baseline: baselineP50s });
  }
  await bare.stop();

  const of = (connections: number, what: (load: Load) => number): number =>
    median(measured.get(connections)!.loads.map(what));
  const disk = median(commits);
  const goal = Math.min(GOAL_PER_SECOND, (disk / COMMITS) * DISK_SHARE);
  const best = Math.max(...CONCURRENCY.map((connections) => of(connections, (load) => load.perSecond)));
  const p50 = of(1, (load) => load.p50);
  const rows: Row[] = [
    {
      label: "three steps, one caller, median",
      value: milliseconds(p50),
      baseline: `${milliseconds(median(measured.get(1)!.baseline))} node:http`,
      goal: `< ${GOAL_MEDIAN_MS} ms`,
      goalMet: p50 < GOAL_MEDIAN_MS,
    },
    {
      label: "three steps, many callers",
      value: perSecond(best),
      baseline: `${perSecond(disk / COMMITS)} disk ÷ ${COMMITS}`,
      ratio: percent(best / (disk / COMMITS)),
      goal: `≥ ${perSecond(goal)}`,
      goalMet: best >= goal,
    },
  ];
  const details = table(
    ["callers", "runs", "p50", "p99", "node:http p50", "CPU per run: listener", "executor"],
    CONCURRENCY.map((connections) => [
      String(connections),
      perSecond(of(connections, (load) => load.perSecond)),
      milliseconds(of(connections, (load) => load.p50)),
      milliseconds(of(connections, (load) => load.p99)),
      milliseconds(median(measured.get(connections)!.baseline)),
      milliseconds(of(connections, (load) => load.cpuUs) / 1000),
      milliseconds(of(connections, (load) => load.executorUs) / 1000),
    ]),
  );
  return {
    rows,
    details: `${details}\n\nDisk: ${perSecond(disk)} transactions of one row (SQLite, write-ahead log, synchronous=FULL).`,
  };
}

type Load = Awaited<ReturnType<Bench["generator"]["load"]>> & { executorUs: number };

/** Runs a workflow to its end, and measures the maximum memory of the executor, in bytes. */
async function runToEnd(server: Opened, name: keyof typeof definitions, body: object) {
  let { id } = await server.start(name, body);
  let maxMemory = 0;
  for (;;) {
    maxMemory = Math.max(maxMemory, residentBytes(server.executor));
    const run = await server.call("GET", `/runs/${id}`);
    id = run.id;
    if (run.finished_at !== null) {
      if (run.status !== "succeeded") throw new Error(JSON.stringify(run));
      return { id, maxMemory, ms: Date.parse(run.finished_at) - Date.parse(run.created_at) };
    }
    await delay(100);
  }
}

async function fanOut({ quick }: Bench, server: Opened): Promise<Row[]> {
  const before = residentBytes(server.executor);
  const sizes = [1_000, quick ? 5_000 : 10_000] as const;
  const perItem: number[] = [];
  let maxMemory = 0;
  for (const size of sizes) {
    const list = Array.from({ length: size }, (_, index) => index);
    const run = await runToEnd(server, "fan", { inputs: { list } });
    perItem.push(run.ms / size);
    maxMemory = Math.max(maxMemory, run.maxMemory);
  }
  const growth = perItem[1]! / perItem[0]!;
  return [
    {
      label: `fan-out over ${sizes.join(" and ")} items, per item`,
      value: perItem.map((ms) => milliseconds(ms)).join(", "),
      ratio: `${growth.toFixed(2)}×`,
      goal: "linear: ≤ 1.25×",
      goalMet: growth <= 1.25,
    },
    {
      label: "executor's memory during the fan-out",
      value: megabytes(maxMemory),
      baseline: `${megabytes(before)} before`,
    },
  ];
}

async function detail({ generator, roundOptions, seed }: Bench, server: Opened): Promise<Row[]> {
  const { id } = await runToEnd(server, "long", {});
  const loads = [];
  for (const what of ["steps", "full"]) {
    const get = request(`/runs/${id}?detail=${what}`, seed.key);
    const target = { name: "detail", program: server.listener, request: get, status: 200 };
    await generator.load(target, 1, roundOptions.ms);
    loads.push({ what, ...(await generator.load(target, 1, roundOptions.ms)) });
  }
  return loads.map(({ what, p50, responseBytes }) => ({
    label: `a run of ${DETAIL_STEPS} steps, detail=${what}`,
    value: `${milliseconds(p50)} (${Math.round(responseBytes / 1000)} kB)`,
    goal: `< ${DETAIL_MS} ms`,
    goalMet: p50 < DETAIL_MS,
  }));
}

/** The share of a core that each process uses while idle. */
async function idleShare(server: Opened, ms: number): Promise<{ executor: number; listener: number }> {
  const used = () => [cpuMs(server.executor), cpuMs(server.listener.pid)] as const;
  const before = used();
  await delay(ms);
  const after = used();
  return { executor: (after[0] - before[0]) / ms, listener: (after[1] - before[1]) / ms };
}

async function waiting({ generator, roundOptions, quick, seed }: Bench, server: Opened): Promise<Row[]> {
  const count = quick ? 2_000 : 10_000;
  const ms = quick ? 5_000 : 10_000;
  const post = request(
    `/workflows/${server.ids["three"]}/runs`,
    seed.key,
    "POST",
    JSON.stringify({ wait: 10 }),
  );
  const target = { name: "runs", program: server.listener, request: post, status: 200 };
  const latency = async (): Promise<number> => {
    const loads = [];
    for (let round = 0; round < roundOptions.rounds; round += 1)
      loads.push((await generator.load(target, 1, roundOptions.ms)).p50);
    return median(loads);
  };
  const [idleBefore, before] = [await idleShare(server, ms), await latency()];
  let started = 0;
  const starter = async (): Promise<void> => {
    for (; started < count; started += 1) await server.start("nap");
  };
  await Promise.all(Array.from({ length: 16 }, starter));
  await waitUntilWaiting(server.stateDir, count);
  const [idle, after] = [await idleShare(server, ms), await latency()];
  const extra = {
    executor: idle.executor - idleBefore.executor,
    listener: idle.listener - idleBefore.listener,
  };
  const slowdown = after / before - 1;
  return [
    {
      label: `${count} waiting runs: additional CPU`,
      value: `${share(extra.executor)} executor, ${share(extra.listener)} listener`,
      baseline: `${share(idleBefore.executor)}, ${share(idleBefore.listener)} idle`,
      goal: `≤ ${percent(MAX_IDLE_CPU)}`,
      goalMet: Math.max(extra.executor, extra.listener) <= MAX_IDLE_CPU,
    },
    {
      label: "three steps with these runs waiting, median",
      value: milliseconds(after),
      baseline: `${milliseconds(before)} before`,
      ratio: `${slowdown < 0 ? "" : "+"}${percent(slowdown)}`,
      goal: `≤ +${percent(MAX_SLOWDOWN)}`,
      goalMet: slowdown <= MAX_SLOWDOWN,
    },
  ];
}

const share = (value: number): string => `${(value * 100).toFixed(1)} %`;

/** Resolves when `count` runs wait, and no other work is left. */
async function waitUntilWaiting(stateDir: string, count: number): Promise<void> {
  const db = new Database(join(stateDir, "millrace.db"), { readonly: true });
  const waits = db.prepare("select count(*) from jobs where state = 'later' and kind = 'wake'").pluck();
  while ((waits.get() as number) < count) await delay(200);
  db.close();
  // Excludes the work that follows the start of the runs, such as a checkpoint of the log.
  await delay(2_000);
}

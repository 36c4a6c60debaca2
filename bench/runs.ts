/** Runs: three steps over REST as a caller waits for them, a large fan-out, ten thousand that wait, a run of 1,000 steps. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import Database from "better-sqlite3";
import { type Bench, copyState, type Result, rawHttpRequest } from "./support/bench.ts";
import { cpuMs, type Program, residentBytes, startMillrace, startProgram } from "./support/program.ts";
import { median, megabytes, milliseconds, percent, perSecond, type Row, table } from "./support/table.ts";

const MEDIAN_MS = 15;
const PER_SECOND = 250;
/** A run of three steps is this many commits where nothing is committed together, and so much of the disk's rate is wanted. */
const COMMITS = 7;
const SHARE = 0.6;
const DETAIL_MS = 50;
const IDLE_CPU = 0.01;
const SLOWER = 0.1;
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

/** The program with one executor, and what is asked of it. */
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

/** The process id of the executor that a listener has started. */
async function executorOf({ pid }: Program): Promise<number> {
  for (;;) {
    const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    if (child !== undefined && child !== "") return Number(child);
    await delay(50);
  }
}

export async function runs(bench: Bench): Promise<Result> {
  const it = await open(bench);
  try {
    // Both have started and compiled what they need.
    for (let n = 0; n < 20; n += 1) await it.start("three", { wait: 10 });
    const rows: Row[] = [];
    const sync = await synchronous(bench, it);
    rows.push(...sync.rows, ...(await fanOut(bench, it)), ...(await detail(bench, it)));
    rows.push(...(await waiting(bench, it)));
    return { rows, details: sync.details };
  } finally {
    await it.listener.stop();
  }
}

const request = (path: string, key: string, method = "GET", body = ""): string =>
  rawHttpRequest(method, path, { "X-API-Key": key }, body);

async function synchronous({ directory, generator, roundOptions, seed }: Bench, it: Opened) {
  const answer = join(directory, "run.json");
  writeFileSync(answer, JSON.stringify(await it.start("three", { wait: 10 })));
  const bare = await startProgram(new URL("floors/bare.ts", import.meta.url), [answer], {
    log: join(directory, "bare.log"),
  });
  const path = `/workflows/${it.ids["three"]}/runs`;
  const body = JSON.stringify({ wait: 10 });
  const post = request(path, seed.key, "POST", body);
  const millrace = { name: "runs", program: it.listener, request: post, status: 200 };
  const floor = { name: "bare", program: bare, request: post, status: 200 };
  const commits = [commitsPerSecond(directory)];
  const measured = new Map<number, { its: Load[]; floor: number[] }>();
  for (const connections of CONCURRENCY) {
    await generator.load(millrace, connections, roundOptions.ms);
    const its: Load[] = [];
    const floors: number[] = [];
    for (let round = 0; round < roundOptions.rounds; round += 1) {
      const before = cpuMs(it.executor);
      const load = await generator.load(millrace, connections, roundOptions.ms);
      const count = (load.perSecond * roundOptions.ms) / 1000;
      its.push({ ...load, executorUs: ((cpuMs(it.executor) - before) / count) * 1000 });
      floors.push((await generator.load(floor, connections, roundOptions.ms / 4)).p50);
      commits.push(commitsPerSecond(directory));
    }
    measured.set(connections, { its, floor: floors });
  }
  await bare.stop();

  const of = (connections: number, what: (load: Load) => number): number =>
    median(measured.get(connections)!.its.map(what));
  const disk = median(commits);
  const wanted = Math.min(PER_SECOND, (disk / COMMITS) * SHARE);
  const best = Math.max(...CONCURRENCY.map((connections) => of(connections, (load) => load.perSecond)));
  const p50 = of(1, (load) => load.p50);
  const rows: Row[] = [
    {
      label: "three steps, one caller, median",
      value: milliseconds(p50),
      baseline: `${milliseconds(median(measured.get(1)!.floor))} bare`,
      goal: `< ${MEDIAN_MS} ms`,
      goalMet: p50 < MEDIAN_MS,
    },
    {
      label: "three steps, many callers",
      value: perSecond(best),
      baseline: `${perSecond(disk / COMMITS)} disk ÷ ${COMMITS}`,
      ratio: percent(best / (disk / COMMITS)),
      goal: `≥ ${perSecond(wanted)}`,
      goalMet: best >= wanted,
    },
  ];
  const details = table(
    ["callers", "runs", "p50", "p99", "bare p50", "CPU a run: listener", "executor"],
    CONCURRENCY.map((connections) => [
      String(connections),
      perSecond(of(connections, (load) => load.perSecond)),
      milliseconds(of(connections, (load) => load.p50)),
      milliseconds(of(connections, (load) => load.p99)),
      milliseconds(median(measured.get(connections)!.floor)),
      milliseconds(of(connections, (load) => load.cpuUs) / 1000),
      milliseconds(of(connections, (load) => load.executorUs) / 1000),
    ]),
  );
  return {
    rows,
    details: `${details}\n\nThe disk: ${perSecond(disk)} transactions of one row (SQLite, write-ahead log, synchronous=FULL).`,
  };
}

type Load = Awaited<ReturnType<Bench["generator"]["load"]>> & { executorUs: number };

/** How many transactions a second, of one row each, SQLite makes durable on this disk. */
function commitsPerSecond(directory: string): number {
  const db = new Database(join(directory, "commits.db"));
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  db.exec("create table if not exists t (id integer primary key, body text)");
  const insert = db.prepare("insert into t (body) values (?)");
  const body = "x".repeat(200);
  const start = performance.now();
  let count = 0;
  for (; performance.now() - start < 300; count += 1) insert.run(body);
  const seconds = (performance.now() - start) / 1000;
  db.close();
  return count / seconds;
}

/** A run to its end, and the most memory that the executor had meanwhile, in bytes. */
async function toItsEnd(it: Opened, name: keyof typeof definitions, body: object) {
  let { id } = await it.start(name, body);
  let most = 0;
  for (;;) {
    most = Math.max(most, residentBytes(it.executor));
    const run = await it.call("GET", `/runs/${id}`);
    id = run.id;
    if (run.finished_at !== null) {
      if (run.status !== "succeeded") throw new Error(JSON.stringify(run));
      return { id, most, ms: Date.parse(run.finished_at) - Date.parse(run.created_at) };
    }
    await delay(100);
  }
}

async function fanOut({ quick }: Bench, it: Opened): Promise<Row[]> {
  const before = residentBytes(it.executor);
  const sizes = [1_000, quick ? 5_000 : 10_000] as const;
  const perItem: number[] = [];
  let most = 0;
  for (const size of sizes) {
    const list = Array.from({ length: size }, (_, index) => index);
    const run = await toItsEnd(it, "fan", { inputs: { list } });
    perItem.push(run.ms / size);
    most = Math.max(most, run.most);
  }
  const growth = perItem[1]! / perItem[0]!;
  return [
    {
      label: `fan-out over ${sizes.join(" and ")} items, an item`,
      value: perItem.map((ms) => milliseconds(ms)).join(", "),
      ratio: `${growth.toFixed(2)}×`,
      goal: "linear: ≤ 1.25×",
      goalMet: growth <= 1.25,
    },
    {
      label: "executor's memory over it",
      value: megabytes(most),
      baseline: `${megabytes(before)} before`,
    },
  ];
}

async function detail({ generator, roundOptions, seed }: Bench, it: Opened): Promise<Row[]> {
  const { id } = await toItsEnd(it, "long", {});
  const loads = [];
  for (const what of ["steps", "full"]) {
    const get = request(`/runs/${id}?detail=${what}`, seed.key);
    const contender = { name: "detail", program: it.listener, request: get, status: 200 };
    await generator.load(contender, 1, roundOptions.ms);
    loads.push({ what, ...(await generator.load(contender, 1, roundOptions.ms)) });
  }
  return loads.map(({ what, p50, responseBytes }) => ({
    label: `a run of ${DETAIL_STEPS} steps, detail=${what}`,
    value: `${milliseconds(p50)} (${Math.round(responseBytes / 1000)} kB)`,
    goal: `< ${DETAIL_MS} ms`,
    goalMet: p50 < DETAIL_MS,
  }));
}

/** Which share of a core both processes take while nothing is asked of them. */
async function idleShare(it: Opened, ms: number): Promise<{ executor: number; listener: number }> {
  const used = () => [cpuMs(it.executor), cpuMs(it.listener.pid)] as const;
  const before = used();
  await delay(ms);
  const after = used();
  return { executor: (after[0] - before[0]) / ms, listener: (after[1] - before[1]) / ms };
}

async function waiting({ generator, roundOptions, quick, seed }: Bench, it: Opened): Promise<Row[]> {
  const count = quick ? 2_000 : 10_000;
  const ms = quick ? 5_000 : 10_000;
  const post = request(`/workflows/${it.ids["three"]}/runs`, seed.key, "POST", JSON.stringify({ wait: 10 }));
  const contender = { name: "runs", program: it.listener, request: post, status: 200 };
  const latency = async (): Promise<number> => {
    const loads = [];
    for (let round = 0; round < roundOptions.rounds; round += 1)
      loads.push((await generator.load(contender, 1, roundOptions.ms)).p50);
    return median(loads);
  };
  const [idleBefore, before] = [await idleShare(it, ms), await latency()];
  let started = 0;
  const starter = async (): Promise<void> => {
    for (; started < count; started += 1) await it.start("nap");
  };
  await Promise.all(Array.from({ length: 16 }, starter));
  await settled(it.stateDir, count);
  const [idle, after] = [await idleShare(it, ms), await latency()];
  const extra = {
    executor: idle.executor - idleBefore.executor,
    listener: idle.listener - idleBefore.listener,
  };
  const slower = after / before - 1;
  return [
    {
      label: `${count} waiting runs: CPU beyond idle`,
      value: `${share(extra.executor)} executor, ${share(extra.listener)} listener`,
      baseline: `${share(idleBefore.executor)}, ${share(idleBefore.listener)} idle`,
      goal: `≤ ${percent(IDLE_CPU)}`,
      goalMet: Math.max(extra.executor, extra.listener) <= IDLE_CPU,
    },
    {
      label: "three steps beside them, median",
      value: milliseconds(after),
      baseline: `${milliseconds(before)} before`,
      ratio: `${slower < 0 ? "" : "+"}${percent(slower)}`,
      goal: `≤ +${percent(SLOWER)}`,
      goalMet: slower <= SLOWER,
    },
  ];
}

const share = (value: number): string => `${(value * 100).toFixed(1)} %`;

/** Resolves when so many runs wait and nothing else is to be done. */
async function settled(stateDir: string, count: number): Promise<void> {
  const db = new Database(join(stateDir, "millrace.db"), { readonly: true });
  const waits = db.prepare("select count(*) from jobs where state = 'later' and kind = 'wake'").pluck();
  while ((waits.get() as number) < count) await delay(200);
  db.close();
  // What the last of them have left behind, a log to be folded in, say, is not what they cost.
  await delay(2_000);
}

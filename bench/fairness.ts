/** The run of one owner while another owner attacks: with silent peers, heavy expressions, endless SQL and large bodies. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { Agent, createServer as createHttpServer, request } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { DuckDBInstance } from "@duckdb/node-api";
import Database from "better-sqlite3";
import { type Bench, copyState, createApiKey, type Result } from "./support/bench.ts";
import { type Program, startMillrace } from "./support/program.ts";
import { median, milliseconds, type Row, table } from "./support/table.ts";

const MAX_RATIO = 3;
/** The largest body that an http step accepts, in bytes. */
const RESPONSE_BYTES = 4 * 1024 * 1024;
/** The largest body that the REST API accepts is a little more, in bytes. */
const REQUEST_BYTES = 1024 * 1024 - 200;
const LARGE_REQUESTS = 64;
/** How long an attack runs before the first measurement, in milliseconds. */
const BUILD_UP_MS = 1_500;

const THREE_STEPS = {
  steps: [
    { id: "a", type: "set", values: { x: "${{ 2 * 3 }}" } },
    { id: "b", type: "set", values: { y: "${{ steps.a.x + 1 }}" } },
    { id: "c", type: "set", values: { z: "${{ steps.b.y + 1 }}" } },
  ],
  output: "${{ steps.c.z }}",
};

/** A fan-out of a step over a number of items, with the maximum concurrency of a definition. */
const fanOut = (count: number, step: object, more: object = {}) => ({
  ...more,
  steps: [{ id: "each", for_each: `range(${count})`, concurrency: 100, on_error: "continue", ...step }],
});

/** Queries that don't end, and need little memory. */
const ENDLESS = {
  shop: "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) AS i FROM n",
  lake: "SELECT sum(a.range % 7 * b.range) AS i FROM range(100000000) a, range(100000000) b",
};

/** What the attacks call on loopback. */
interface Peers {
  silentPort: number;
  largePort: number;
}

interface Attack {
  /** The definitions of the workflows that the attacker runs. */
  definitions(peers: Peers): readonly object[];
  /** Number of runs of each at a time, each started again as soon as it has ended; 1 that does not end by default. */
  runs?: number;
  /** Whether the attacker also sends large requests to the listener. */
  sendsLargeRequests?: boolean;
}

/** Runs that fetch the largest bodies, each started again as soon as it has ended. */
const LARGE_RESPONSES: Attack = {
  definitions: ({ largePort }) => [
    {
      steps: [
        {
          id: "fetch",
          type: "http",
          url: `http://127.0.0.1:${largePort}/`,
          max_bytes: RESPONSE_BYTES,
          timeout: "1h",
        },
      ],
      output: "${{ steps.fetch.status }}",
    },
  ],
  runs: 64,
};

const ATTACKS: Readonly<Record<string, Attack>> = {
  "100 requests to a silent peer": {
    definitions: ({ silentPort }) => [
      fanOut(100, { type: "http", url: `http://127.0.0.1:${silentPort}/`, timeout: "1h" }),
    ],
  },
  "heavy expressions, priority 10": {
    definitions: () => [
      fanOut(
        10_000,
        {
          type: "set",
          values: { x: "${{ range(1000).map(x, range(200).map(y, x * y + item).sum()).sum() }}" },
        },
        { priority: 10 },
      ),
    ],
  },
  "endless SQL in SQLite and DuckDB": {
    definitions: () =>
      Object.entries(ENDLESS).map(([database, query]) =>
        fanOut(20, { type: "sql", database, query, timeout: "1h" }),
      ),
  },
  "64 responses of 4 MiB at a time": LARGE_RESPONSES,
  "64 requests of 1 MiB at a time": { definitions: () => [], sendsLargeRequests: true },
  "both at a time": { ...LARGE_RESPONSES, sendsLargeRequests: true },
};

export async function fairness({ directory, quick, seed }: Bench): Promise<Result> {
  const silent = createServer(() => {});
  const large = createHttpServer((_, response) => {
    response.setHeader("Content-Type", "application/json");
    response.end(LARGE_RESPONSE);
  });
  for (const server of [silent, large]) await once(server.listen(0, "127.0.0.1"), "listening");
  const peers = { silentPort: portOf(silent), largePort: portOf(large) };
  const measured: Measurement[] = [];
  try {
    for (const [index, [name, attack]] of Object.entries(ATTACKS).entries()) {
      const stateDir = copyState(seed, directory, `fairness-${index}`);
      await configure(stateDir);
      measured.push(await measure({ name, attack, peers, stateDir, key: seed.key, runs: quick ? 30 : 100 }));
    }
  } finally {
    silent.close();
    large.close();
    large.closeAllConnections();
  }
  const rows = measured.map(({ name, quiet, attacked }): Row => {
    const ratio = median(attacked) / median(quiet);
    return {
      label: `three steps of another owner during ${name}, median`,
      value: milliseconds(median(attacked)),
      baseline: `${milliseconds(median(quiet))} quiet`,
      ratio: `${ratio.toFixed(1)}×`,
      goal: `≤ ${MAX_RATIO}×`,
      goalMet: ratio <= MAX_RATIO,
    };
  });
  const details = table(
    ["attack", "quiet: median", "p95", "attacked: median", "p95", "runs"],
    measured.map(({ name, quiet, attacked }) => [
      name,
      milliseconds(median(quiet)),
      milliseconds(percentile95(quiet)),
      milliseconds(median(attacked)),
      milliseconds(percentile95(attacked)),
      String(attacked.length),
    ]),
  );
  return { rows, details };
}

/** The times of the measured runs, in milliseconds. */
interface Measurement {
  name: string;
  quiet: number[];
  attacked: number[];
}

/** Measures runs of one owner on a server, quiet and then while the runs of another owner attack. */
async function measure({
  name,
  attack,
  peers,
  stateDir,
  key,
  runs,
}: {
  name: string;
  attack: Attack;
  peers: Peers;
  stateDir: string;
  key: string;
  runs: number;
}): Promise<Measurement> {
  const attackerKey = createApiKey(stateDir);
  const server = await startMillrace("serve", stateDir);
  const ended = new AbortController();
  try {
    const [victim, attacker] = [caller(server, key), caller(server, attackerKey)];
    const { id } = await victim("POST", "/workflows", { name: "Three steps", definition: THREE_STEPS });
    const timeRuns = async (count: number): Promise<number[]> => {
      const times: number[] = [];
      for (let run = 0; run < count; run += 1) {
        const start = performance.now();
        const { status } = await victim("POST", `/workflows/${id}/runs`, { wait: 50 });
        times.push(performance.now() - start);
        if (status !== "succeeded") throw new Error(`The run is ${status} after ${times.at(-1)} ms.`);
      }
      return times;
    };
    // Both processes have compiled their code after some runs.
    await timeRuns(20);
    const quiet = await timeRuns(runs);
    const work: Promise<void>[] = [];
    const endless: string[] = [];
    for (const [index, definition] of attack.definitions(peers).entries()) {
      const workflow = await attacker("POST", "/workflows", { name: `Attack ${index}`, definition });
      const start = (body: object) => attacker("POST", `/workflows/${workflow.id}/runs`, body);
      if (attack.runs === undefined) endless.push((await start({})).id);
      else
        work.push(
          ...Array.from({ length: attack.runs }, () => repeat(() => start({ wait: 50 }), ended.signal)),
        );
    }
    if (attack.sendsLargeRequests === true)
      work.push(...sendLargeRequests(server, attackerKey, ended.signal));
    await delay(BUILD_UP_MS);
    const attacked = await timeRuns(runs);
    for (const runId of endless) {
      const { status } = await attacker("GET", `/runs/${runId}`);
      if (status !== "running") throw new Error(`The attack ended too early: its run is ${status}.`);
    }
    ended.abort();
    await Promise.all(work);
    return { name, quiet, attacked };
  } finally {
    ended.abort();
    // The steps of the attack would use up the time that a server has to stop.
    server.child.kill("SIGKILL");
    await once(server.child, "exit");
  }
}

interface Answer {
  id: string;
  status: string;
}

/** Returns a function that calls the REST API with a key. */
function caller({ port }: Program, key: string) {
  return async (method: string, path: string, body?: object): Promise<Answer> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { "X-API-Key": key, "Content-Type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const answer = (await response.json()) as Answer;
    if (!response.ok) throw new Error(JSON.stringify(answer));
    return answer;
  };
}

/** Sends large bodies until the signal is aborted, each as soon as the one before is answered. */
function sendLargeRequests({ port }: Program, key: string, signal: AbortSignal): Promise<void>[] {
  const agent = new Agent({ keepAlive: true, maxSockets: LARGE_REQUESTS });
  const headers = {
    "X-API-Key": key,
    "Content-Type": "application/json",
    "Content-Length": LARGE_REQUEST.length,
  };
  const sendOnce = async (): Promise<void> => {
    const options = {
      port,
      host: "127.0.0.1",
      path: "/workflows/validate",
      method: "POST",
      agent,
      headers,
      signal,
    };
    const sent = request(options);
    sent.end(LARGE_REQUEST);
    const [response] = (await once(sent, "response")) as [AsyncIterable<unknown>];
    for await (const _ of response);
  };
  return Array.from({ length: LARGE_REQUESTS }, () => repeat(sendOnce, signal));
}

/** Repeats some work until the signal is aborted, also when it fails. */
async function repeat(work: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await work().catch(() => delay(10));
}

/** An array of small objects: the form of JSON that costs the most to read. */
function largeJson(bytes: number, wrap: (items: unknown[]) => unknown): Buffer {
  const item = { id: 1, name: "a", tags: ["x", "y"], nested: { value: 1.5 } };
  const size = JSON.stringify(item).length + 1;
  return Buffer.from(JSON.stringify(wrap(Array.from({ length: Math.floor(bytes / size) - 2 }, () => item))));
}

const LARGE_RESPONSE = largeJson(RESPONSE_BYTES, (items) => items);
const LARGE_REQUEST = largeJson(REQUEST_BYTES, (items) => ({
  definition: { steps: [{ id: "a", type: "set", values: { items } }] },
}));

const portOf = (server: { address(): AddressInfo | string | null }): number =>
  (server.address() as AddressInfo).port;

const percentile95 = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)]!;

/** Writes a configuration with an SQLite and a DuckDB database, and access to loopback. */
async function configure(stateDir: string): Promise<void> {
  const [shop, lake] = ["shop.db", "lake.duckdb"].map((name) => join(stateDir, "..", name)) as [
    string,
    string,
  ];
  new Database(shop).exec("create table orders (id integer)").close();
  (await DuckDBInstance.create(lake)).closeSync();
  const config = {
    databases: [
      { name: "shop", type: "sqlite", dataset: shop },
      { name: "lake", type: "duckdb", dataset: lake },
    ],
    http: { allowed_hosts: ["127.0.0.1"] },
  };
  // JSON is YAML.
  writeFileSync(join(stateDir, "config.yaml"), JSON.stringify(config));
}

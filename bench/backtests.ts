/** Backtests: 200 runs of ten steps, unchanged, on SQLite with one executor. */
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Bench, copyState, type Result } from "./support/bench.ts";
import { cpuMs, type Program, startMillrace } from "./support/program.ts";
import { table } from "./support/table.ts";

const RUNS = 200;
/** Number of runs that are started at a time. */
const CALLERS = 10;
const GOAL_SECONDS = 10;
const POLL_MS = 20;

export async function backtests({ directory, seed }: Bench): Promise<Result> {
  const peer = await startPeer();
  const stateDir = copyState(seed, directory, "backtests");
  writeFileSync(
    join(stateDir, "config.yaml"),
    JSON.stringify({ http: { allowed_hosts: [`127.0.0.1:${peer.port}`] } }),
  );
  const listener = await startMillrace("serve", stateDir);
  try {
    const call = callerOf(listener, seed.key);
    const definition = definitionFor(`http://127.0.0.1:${peer.port}`);
    const { id } = await call<{ id: string }>("POST", "/workflows", { name: "Backtested", definition });
    const real = await measure(listener, async () => {
      for (let n = 0; n < RUNS; n += CALLERS)
        await Promise.all(
          Array.from({ length: CALLERS }, (_, caller) =>
            call("POST", `/workflows/${id}/runs`, { inputs: { n: n + caller }, wait: 30 }),
          ),
        );
    });
    const { requests } = peer;
    const backtest = await measure(listener, async () => {
      const started = await call<{ id: string }>("POST", `/workflows/${id}/backtests`, { last: RUNS });
      await untilEnded(async () => {
        const path = `/workflows/${id}/backtests/${started.id}?wait=1`;
        const { status, runs } = await call<{ status: string; runs: { equal: number } }>("GET", path);
        if (status !== "running" && runs.equal !== RUNS) throw new Error(`${runs.equal} runs are equal`);
        return status !== "running";
      });
    });
    if (peer.requests !== requests) throw new Error("the backtest sent requests");
    return {
      rows: [
        {
          label: `backtest of ${RUNS} runs of ten steps`,
          value: shown(backtest.seconds),
          baseline: `${shown(real.seconds)} the runs themselves`,
          goal: `< ${GOAL_SECONDS} s`,
          goalMet: backtest.seconds < GOAL_SECONDS,
        },
      ],
      details: table(
        ["what", "elapsed", "CPU time"],
        [
          ["backtest", shown(backtest.seconds), shown(backtest.cpuSeconds)],
          ["runs", shown(real.seconds), shown(real.cpuSeconds)],
        ],
      ),
    };
  } finally {
    await Promise.all([listener.stop(), peer.stop()]);
  }
}

const shown = (seconds: number): string => `${seconds.toFixed(1)} s`;

/** Ten steps: values, requests that read, and requests with effects. */
function definitionFor(url: string): object {
  const steps = Array.from({ length: 10 }, (_, index) => {
    const id = `s${index}`;
    if (index % 3 === 0) return { id, type: "set", values: { x: `\${{ inputs.n + ${index} }}` } };
    if (index % 3 === 1) return { id, type: "http", url: `${url}/items?n=\${{ steps.s${index - 1}.x }}` };
    return { id, type: "http", method: "POST", url: `${url}/items`, body: { n: "${{ inputs.n }}", index } };
  });
  const inputs = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
  return { inputs, steps, output: "${{ steps.s9.x }}" };
}

/** Answers each request with a small object, and counts them. */
async function startPeer() {
  const peer = { requests: 0, port: 0, stop: () => new Promise<void>((done) => server.close(() => done())) };
  const server = createServer((request, response) => {
    peer.requests += 1;
    request.resume().on("end", () => {
      response.setHeader("Content-Type", "application/json").end(JSON.stringify({ id: peer.requests }));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  peer.port = (server.address() as AddressInfo).port;
  return peer;
}

function callerOf({ port }: Program, key: string) {
  return async <T>(method: string, path: string, body?: object): Promise<T> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { "X-API-Key": key, "Content-Type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const answer = (await response.json()) as T;
    if (!response.ok) throw new Error(JSON.stringify(answer));
    return answer;
  };
}

async function untilEnded(hasEnded: () => Promise<boolean>): Promise<void> {
  while (!(await hasEnded())) await delay(POLL_MS);
}

/** @returns the elapsed time, and the CPU time of the server and its executor, in seconds */
async function measure(
  { pid }: Program,
  work: () => Promise<void>,
): Promise<{ seconds: number; cpuSeconds: number }> {
  const pids = [pid, ...childrenOf(pid)];
  const cpu = (): number => pids.reduce((sum, one) => sum + cpuMs(one), 0);
  const [before, start] = [cpu(), performance.now()];
  await work();
  return { seconds: (performance.now() - start) / 1_000, cpuSeconds: (cpu() - before) / 1_000 };
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);

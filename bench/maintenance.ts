/** What requests and runs notice of a whole list of runs, of a purge and of a backup, with many stored runs. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Bench, copyState, type Result } from "./support/bench.ts";
import { addTemplate, growState, TEMPLATE_WORKFLOW } from "./support/grow-state.ts";
import { loopDelayEnvironment, loopDelays } from "./support/loop-delays.ts";
import { MILLRACE_BIN, startMillrace } from "./support/program.ts";
import { formatFactor, megabytes, milliseconds, type Row, table } from "./support/table.ts";

const MAX_SLOWDOWN = 2;
const HEALTH_GOAL_MS = 100;
const BACKUP_GOAL_MS = 100;
/** Time until an executor purges for the first time, and then the time to measure, in milliseconds. */
const FIRST_PURGE_MS = 21_000;
const MEASURE_MS = 8_000;

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]!;

/** Repeats a request one at a time until `until` resolves. @returns the durations, in milliseconds */
async function durations(request: () => Promise<unknown>, until: Promise<unknown>): Promise<number[]> {
  const found: number[] = [];
  const over = new AbortController();
  void until.finally(() => over.abort());
  while (!over.signal.aborted) {
    const start = performance.now();
    await request();
    found.push(performance.now() - start);
  }
  return found;
}

export async function maintenance({ directory, quick, seed: plain }: Bench): Promise<Result> {
  const seed = { ...plain, stateDir: copyState(plain, directory, "maintenance-seed") };
  const template = await addTemplate(seed);
  const runs = quick ? 100_000 : 600_000;
  const stateDir = copyState(seed, directory, "maintenance");
  growState(stateDir, template, { runs, age: 10 });
  const config = join(directory, "maintenance.yaml");
  writeFileSync(config, "retention:\n  runs: 30d\n");
  const delays = join(directory, "maintenance", "delays");
  const program = await startMillrace("serve", stateDir, {
    ...loopDelayEnvironment(delays),
    MILLRACE_CONFIG: config,
  });
  const startedAt = performance.now();
  const url = `http://127.0.0.1:${program.port}`;
  const get = async (path: string): Promise<unknown> =>
    (await fetch(url + path, { headers: { "X-API-Key": seed.key } })).text();
  const run = async (): Promise<unknown> =>
    (
      await fetch(`${url}/workflows/${TEMPLATE_WORKFLOW}/runs`, {
        method: "POST",
        headers: { "X-API-Key": seed.key, "Content-Type": "application/json" },
        body: JSON.stringify({ wait: 10 }),
      })
    ).text();
  const looped: string[][] = [];
  const rows: Row[] = [];
  const watch = async (what: string): Promise<void> => {
    for (const { command, max, p99 } of await loopDelays(program, delays))
      looped.push([what, command, milliseconds(max), milliseconds(p99)]);
  };
  const add = (label: string, value: number, before: number | undefined, goal: number): void => {
    rows.push({
      label,
      value: milliseconds(value),
      ...(before !== undefined && {
        baseline: `${milliseconds(before)} quiet`,
        ratio: formatFactor(value / before),
      }),
      goal: `≤ ${milliseconds(goal)}`,
      goalMet: value <= goal,
    });
  };
  try {
    await durations(run, delay(3_000));
    await watch("start");
    const health = await durations(() => get("/health"), get("/runs"));
    add(
      `/health during GET /runs of ${runs} runs, slowest of ${health.length}`,
      Math.max(...health),
      undefined,
      HEALTH_GOAL_MS,
    );
    await watch("GET /runs");

    const quiet = await durations(run, delay(MEASURE_MS));
    await watch("quiet");
    const file = join(directory, "maintenance.db");
    const child = spawn(process.execPath, [fileURLToPath(MILLRACE_BIN), "backup", file], {
      env: { ...process.env, MILLRACE_STATE_DIR: stateDir, MILLRACE_CONFIG: config },
      stdio: "ignore",
    });
    const backedUp = await durations(run, once(child, "exit"));
    const { size } = statSync(file);
    add(
      `a run during a backup of ${megabytes(size)}, slowest of ${backedUp.length}`,
      Math.max(...backedUp),
      Math.max(...quiet),
      Math.max(...quiet) + BACKUP_GOAL_MS,
    );
    await watch("backup");
    const log = statSync(join(stateDir, "millrace.db-wal")).size;
    rows.push({ label: "the write-ahead log after the backup", value: megabytes(log) });

    await delay(Math.max(0, FIRST_PURGE_MS - (performance.now() - startedAt)));
    const purged = await durations(run, delay(MEASURE_MS));
    const p99 = percentile(quiet, 0.99);
    add("a run while old runs are purged, p99", percentile(purged, 0.99), p99, p99 * MAX_SLOWDOWN);
    add(
      "the same, median",
      percentile(purged, 0.5),
      percentile(quiet, 0.5),
      percentile(quiet, 0.5) * MAX_SLOWDOWN,
    );
    await watch("purge");
  } finally {
    await program.stop();
  }
  return { rows, details: table(["event loop during", "process", "longest delay", "p99"], looped) };
}

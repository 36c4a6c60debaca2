/** Metrics of the shared state of all servers. */
import { stat, statfs } from "node:fs/promises";
import { type Clock, SECOND } from "../core/clock.ts";
import type { InstanceStats } from "../telemetry/state-gauges.ts";
import type { Instance } from "./instance.ts";

/** Reads the numbers of runs, jobs, executors and approvals, and the size of the database, for metrics. */
export async function readInstanceStats({ read, store }: Instance, clock: Clock): Promise<InstanceStats> {
  const { path, databaseFile } = store.directory;
  const [since, { size }, { bavail, bsize }] = await Promise.all([
    read.jobs.oldestReadyAt(),
    stat(databaseFile),
    statfs(path),
  ]);
  return {
    runs: await read.runs.countUnfinishedByStatus(),
    jobs: await read.jobs.depth(),
    oldestReadySeconds: since === null ? 0 : Math.max(0, clock.now() - Date.parse(since)) / SECOND,
    executors: (await read.jobs.executors()).length,
    approvals: await read.approvals.count({ status: "pending" }),
    file: { size, free: bavail * bsize },
  };
}

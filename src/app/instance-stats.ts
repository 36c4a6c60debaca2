/** Metrics of the shared state of all servers. */
import { stat } from "node:fs/promises";
import { type Clock, SECOND } from "../core/clock.ts";
import { minFreeBytes, readDiskSpace } from "../store/free-space.ts";
import type { InstanceStats } from "../telemetry/state-gauges.ts";
import type { Instance } from "./instance.ts";

/**
 * Reads the numbers of runs, jobs, executors and approvals, and the size of the database, for metrics.
 * @param freeDisk `limits.free_disk`
 */
export async function readInstanceStats(
  { read, store }: Instance,
  clock: Clock,
  freeDisk: number | undefined,
): Promise<InstanceStats> {
  const { path, databaseFile } = store.directory;
  const [since, { size }, { free, total }] = await Promise.all([
    read.jobs.oldestReadyAt(),
    stat(databaseFile),
    readDiskSpace(path),
  ]);
  return {
    runs: await read.runs.countUnfinishedByStatus(),
    jobs: await read.jobs.depth(),
    oldestReadySeconds: since === null ? 0 : Math.max(0, clock.now() - Date.parse(since)) / SECOND,
    executors: (await read.jobs.executors()).length,
    approvals: await read.approvals.count({ status: "pending" }),
    file: { size, free, minFree: minFreeBytes(freeDisk, total) },
  };
}

/** Metrics of the shared state of all servers. */
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
  const { diskPath } = store;
  const [since, size, disk] = await Promise.all([
    read.jobs.oldestReadyAt(),
    store.readSize(),
    diskPath === undefined ? undefined : readDiskSpace(diskPath),
  ]);
  return {
    runs: await read.runs.countUnfinishedByStatus(),
    jobs: await read.jobs.depth(),
    oldestReadySeconds: since === null ? 0 : Math.max(0, clock.now() - Date.parse(since)) / SECOND,
    executors: (await read.jobs.executors()).length,
    approvals: await read.approvals.count({ status: "pending" }),
    deliveries: await read.deliveryQueue.countByState(),
    size,
    disk: disk && { free: disk.free, minFree: minFreeBytes(freeDisk, disk.total) },
  };
}

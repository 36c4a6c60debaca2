/** Gauges from the database, which are refreshed when the metrics are read, at most every few seconds. */
import { setTimeout as delay } from "node:timers/promises";
import { Gauge, type Registry } from "prom-client";
import { FINAL_STATUSES, RunStatus } from "../../schemas/run-status.ts";
import { SECOND } from "../core/clock.ts";

/** The state of the whole instance, which all processes share. */
export interface InstanceStats {
  /** The number of unfinished runs; a missing status has none. */
  runs: Partial<Record<RunStatus, number>>;
  jobs: { ready: number; later: number; claimed: number };
  /** How long the oldest ready job has been ready, in seconds; 0 without one. */
  oldestReadySeconds: number;
  executors: number;
  approvals: number;
  /** Deliveries of events that are not delivered yet, and that were given up. */
  deliveries: { pending: number; failed: number };
  /** Size of the database, in bytes. */
  size: number;
  /** Free space on the file system of the state directory, and the space below which no new runs start, in bytes. */
  disk: { free: number; minFree: number } | undefined;
}

/** Minimum time between two refreshes. */
const REFRESH_INTERVAL_MS = 5 * SECOND;
/** Maximum duration of a read: a network file system that hangs must not block the scrape. */
const READ_TIMEOUT_MS = 2 * SECOND;
const UNFINISHED = RunStatus.options.filter((status) => !FINAL_STATUSES.has(status));

/**
 * @param timeoutMs maximum duration of a read, in milliseconds
 * @returns a function that refreshes the gauges and never fails
 */
export function registerStateGauges(
  registry: Registry,
  read: () => Promise<InstanceStats>,
  timeoutMs = READ_TIMEOUT_MS,
): () => Promise<void> {
  const gauge = <L extends string>(name: string, help: string, labelNames: L[] = []): Gauge<L> =>
    new Gauge({ name: `millrace_${name}`, help, labelNames, registers: [registry] });
  const up = gauge(
    "state_up",
    "1 when the database can be read, else 0, and the other gauges of the database are missing.",
  );
  const runs = gauge("runs_unfinished", "Unfinished runs of all processes.", ["status"]);
  const jobs = gauge("queue_jobs", "Queued jobs of all processes.", ["state"]);
  const oldest = gauge("queue_oldest_ready_seconds", "Time since the oldest ready job became ready.");
  const executors = gauge("executors", "Executors with a current heartbeat, of all processes.");
  const approvals = gauge("approvals_pending", "Pending approvals of all processes.");
  const deliveries = gauge("deliveries", "Deliveries of events that are pending, or were given up.", [
    "state",
  ]);
  const size = gauge("state_file_bytes", "Size of the database.");
  const free = gauge("state_free_bytes", "Free space on the file system of the state directory.");
  const minFree = gauge("state_min_free_bytes", "Free space below which no new runs start.");

  function show(now: InstanceStats): void {
    up.set(1);
    for (const status of UNFINISHED) runs.set({ status }, now.runs[status] ?? 0);
    for (const [state, count] of Object.entries(now.jobs)) jobs.set({ state }, count);
    oldest.set(now.oldestReadySeconds);
    executors.set(now.executors);
    approvals.set(now.approvals);
    for (const [state, count] of Object.entries(now.deliveries)) deliveries.set({ state }, count);
    size.set(now.size);
    // A database server has a disk of its own. Without a value a gauge would show 0, as if the disk were full.
    if (now.disk === undefined) {
      free.remove();
      minFree.remove();
      return;
    }
    free.set(now.disk.free);
    minFree.set(now.disk.minFree);
  }

  /** Removes the values, because old ones would look current. */
  function hide(): void {
    up.set(0);
    for (const labelled of [runs, jobs, deliveries]) labelled.reset();
    for (const single of [oldest, executors, approvals, size, free, minFree]) single.remove();
  }

  let reading: Promise<InstanceStats> | undefined;
  let refreshedAt = -Infinity;
  return async () => {
    if (performance.now() - refreshedAt < REFRESH_INTERVAL_MS) return;
    // A read that hangs is not started a second time.
    reading ??= read().finally(() => (reading = undefined));
    const timeout = delay(timeoutMs, undefined, { ref: false });
    const now = await Promise.race([reading, timeout]).catch(() => undefined);
    if (now === undefined) return hide();
    show(now);
    refreshedAt = performance.now();
  };
}

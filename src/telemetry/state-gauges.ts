/** What the database says, as gauges: read when somebody looks, at most every few seconds, and never waited for long. */
import { setTimeout as delay } from "node:timers/promises";
import { Gauge, type Registry } from "prom-client";
import { FINAL_STATUSES, RunStatus } from "../../schemas/run.ts";
import { SECOND } from "../core/clock.ts";

/** The state of all copies together. */
export interface InstanceStats {
  /** Unfinished runs; a status that is missing has none. */
  runs: Partial<Record<RunStatus, number>>;
  jobs: { ready: number; later: number; claimed: number };
  /** Seconds for which the oldest ready job has been ready; 0 where there is none. */
  oldestReadySeconds: number;
  executors: number;
  approvals: number;
  /** Bytes of the database file, and of room on its file system. */
  file: { size: number; free: number };
}

const KEPT_MS = 5 * SECOND;
/** A network file system that hangs must not hang the scrape. */
const PATIENCE_MS = 2 * SECOND;
const UNFINISHED = RunStatus.options.filter((status) => !FINAL_STATUSES.has(status));

/**
 * @param patienceMs how long a read may take, in milliseconds
 * @returns what brings the gauges up to date; it never fails
 */
export function registerStateGauges(
  registry: Registry,
  read: () => Promise<InstanceStats>,
  patienceMs = PATIENCE_MS,
): () => Promise<void> {
  const gauge = <L extends string>(name: string, help: string, labelNames: L[] = []): Gauge<L> =>
    new Gauge({ name: `millrace_${name}`, help, labelNames, registers: [registry] });
  const up = gauge(
    "state_up",
    "Whether the state could be read: 1 or 0. Without it the gauges of it are missing.",
  );
  const runs = gauge("runs_unfinished", "Runs that have not ended, of all copies.", ["status"]);
  const jobs = gauge("queue_jobs", "Jobs in the queue, of all copies.", ["state"]);
  const oldest = gauge("queue_oldest_ready_seconds", "For how long the oldest ready job has been ready.");
  const executors = gauge("executors", "Executors that beat, of all copies.");
  const approvals = gauge("approvals_pending", "Approvals that nobody has decided, of all copies.");
  const size = gauge("state_file_bytes", "The size of the database file.");
  const free = gauge("state_free_bytes", "Room on the file system of the state directory.");

  function show(now: InstanceStats): void {
    up.set(1);
    for (const status of UNFINISHED) runs.set({ status }, now.runs[status] ?? 0);
    for (const [state, count] of Object.entries(now.jobs)) jobs.set({ state }, count);
    oldest.set(now.oldestReadySeconds);
    executors.set(now.executors);
    approvals.set(now.approvals);
    size.set(now.file.size);
    free.set(now.file.free);
  }

  /** Old numbers would look like new ones. */
  function hide(): void {
    up.set(0);
    for (const labelled of [runs, jobs]) labelled.reset();
    for (const single of [oldest, executors, approvals, size, free]) single.remove();
  }

  let reading: Promise<InstanceStats> | undefined;
  let looked = -Infinity;
  return async () => {
    if (performance.now() - looked < KEPT_MS) return;
    // One that hangs is not asked again beside itself.
    reading ??= read().finally(() => (reading = undefined));
    const late = delay(patienceMs, undefined, { ref: false });
    const now = await Promise.race([reading, late]).catch(() => undefined);
    if (now === undefined) return hide();
    show(now);
    looked = performance.now();
  };
}

/** What carries runs out. */
import { concurrencyLimits } from "../connections/index.ts";
import { iso, MINUTE, SECOND } from "../core/clock.ts";
import { durationMs } from "../core/duration.ts";
import { storageHealth } from "../core/storage-health.ts";
import { reportAbandoned } from "../engine/run-state/end-run.ts";
import type { Queue } from "../queue/types.ts";
import { stepTypes } from "../steps/index.ts";
import { engineTransaction } from "../store/engine-transaction.ts";
import { purgeExpired } from "../store/purge.ts";
import { type Instance, leaseDurationMs } from "./instance.ts";
import { openEngine, type Setup } from "./services.ts";

const SCHEDULES_EVERY_MS = 500;
const FORGET_EVERY_MS = 10 * MINUTE;
const FORGET_FIRST_MS = 20 * SECOND;

export interface ExecutorOptions {
  /** Unlike that of any other executor, past ones included. */
  id: string;
  slots: number;
  /** Told of the runs that it has changed. */
  onChanged?: (runIds: readonly string[]) => void;
  leaseMs?: number | undefined;
}

export interface Executor {
  queue: Queue;
  /** Makes the scheduled runs that are due. A timer does this; tests too. */
  startDueRuns(): Promise<number>;
  /** Clears away what is old. A timer does this; tests too. */
  purge(): Promise<void>;
  /** Takes no more jobs; what runs may go on for so long (ms), then it is given back. */
  stop(graceMs: number): Promise<void>;
}

/** Starts what carries runs out: jobs, schedules, and clearing away what is old. */
export async function startExecutor(
  instance: Instance,
  setup: Setup,
  { id, slots, onChanged = () => {}, leaseMs }: ExecutorOptions,
): Promise<Executor> {
  const { store, read, log, meter } = instance;
  const { clock, config } = setup;
  const { engine: made, connections: connected, allowed } = openEngine(instance, setup);
  const transaction = engineTransaction(store, clock);
  const [{ jobHandlers }, { sqliteQueue }] = await Promise.all([
    import("../engine/executor/job-handlers.ts"),
    import("../queue/sqlite.ts"),
  ]);
  const carried = jobHandlers({
    engine: made,
    stepTypes,
    connections: connected,
    read,
    transaction,
    log,
    usageLimits: allowed,
    maxUnfinishedRuns: config.limits.unfinished_runs,
  });
  const health = storageHealth(log);
  const queue = sqliteQueue({
    executor: id,
    transaction,
    jobs: read.jobs,
    runs: read.runs,
    clock,
    log,
    storageHealth: health,
    meter,
    handler: carried.handler,
    onUnexpectedError: carried.onUnexpectedError,
    onAbandoned: (tx, left, at) => reportAbandoned(made.context, tx, left, { status: "interrupted", at }),
    slots,
    leaseMs: leaseMs ?? leaseDurationMs(instance),
    limits: concurrencyLimits(connected),
    changes: instance.changes,
    onChanged,
  });
  await queue.start();
  const { startDueRuns } = carried.scheduler;
  const schedules = setInterval(() => {
    startDueRuns()
      .then((count) => count > 0 && queue.wake())
      .catch((err: unknown) => health.reportFailure(err, "schedules could not be looked at"));
  }, SCHEDULES_EVERY_MS).unref();
  const { runs, audit } = config.retention;
  const clearAway = (): Promise<void> =>
    purgeExpired(store, clock, { runs: durationMs(runs), audit: durationMs(audit) });
  const clear = (): void =>
    void clearAway().catch((err: unknown) =>
      health.reportFailure(err, "what is old could not be cleared away"),
    );
  const first = setTimeout(clear, FORGET_FIRST_MS).unref();
  const forgetting = setInterval(clear, FORGET_EVERY_MS).unref();
  return {
    queue,
    startDueRuns,
    purge: clearAway,
    async stop(graceMs) {
      clearInterval(schedules);
      clearTimeout(first);
      clearInterval(forgetting);
      try {
        await queue.stop(graceMs);
      } finally {
        // Also where nothing could be handed back: open connections would keep the process.
        await connected.close();
      }
    },
  };
}

/** Hands the jobs of an executor that is known to be dead on at once, not after its lease. */
export async function reclaimJobs(instance: Instance, executor: string, setup: Setup): Promise<void> {
  const { store, meter } = instance;
  const { clock } = setup;
  const { engine: made, connections: connected } = openEngine(instance, setup);
  await engineTransaction(
    store,
    clock,
  )(async (tx) => {
    const at = iso(clock.now());
    const jobs = (await tx.jobs.reclaim(executor)) ?? 0;
    const abandoned = await tx.runs.interruptAttempts(executor, at);
    await reportAbandoned(made.context, tx, abandoned, { status: "interrupted", at });
    tx.onCommit(() => meter.jobsReclaimed("exit", jobs));
  });
  await connected.close();
}

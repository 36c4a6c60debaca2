/** Assembles an executor: it runs jobs, starts scheduled runs, and deletes expired data. */
import { setTimeout as delay } from "node:timers/promises";
import { newLinkToken } from "../auth/links.ts";
import { concurrencyLimits, rateIntervals } from "../connections/index.ts";
import { isAgreed, iso, MINUTE, SECOND } from "../core/clock.ts";
import { durationMs } from "../core/duration.ts";
import { storageHealth } from "../core/storage-health.ts";
import type { Deliverer } from "../engine/executor/deliveries/deliverer.ts";
import { keyNotices } from "../engine/executor/key-notices.ts";
import { overdueAlerts } from "../engine/executor/overdue.ts";
import { recordAbandoned } from "../engine/run-state/end-run.ts";
import type { JobWorker } from "../queue/types.ts";
import { stepTypes } from "../steps/index.ts";
import { engineTransaction } from "../store/engine-transaction.ts";
import { purgeExpired } from "../store/purge.ts";
import { isMailConfigured, openDeliverer } from "./deliverer.ts";
import type { Instance } from "./instance.ts";
import { startPoll } from "./poll-starts.ts";
import { repeat as repeatByTimer } from "./repeat.ts";
import { approvalPolicy, openEngine, type Setup } from "./services.ts";

/** Interval between purges of expired data, in milliseconds. */
const PURGE_INTERVAL_MS = 10 * MINUTE;
/** Poll interval for deliveries that are due, in milliseconds. */
const DELIVERY_POLL_MS = 500;
/** Poll interval for workflows that have not succeeded in time, in milliseconds. */
const OVERDUE_POLL_MS = 5 * SECOND;
/** Poll interval for API keys that expire, in milliseconds. */
const KEY_POLL_MS = 5 * MINUTE;
/** Delay of the first purge after the start, in milliseconds. */
const FIRST_PURGE_MS = 20 * SECOND;

export interface ExecutorOptions {
  /** Must differ from the ids of all other executors, past ones included. */
  id: string;
  /** Number of jobs that run at a time. */
  slots: number;
  /** Called with the runs that a commit has changed. */
  onChanged?: (runIds: readonly string[]) => void;
  /** How long heartbeats may be missing before others reclaim the jobs, in milliseconds. */
  leaseMs?: number | undefined;
}

export interface Executor {
  queue: JobWorker;
  /** Starts the scheduled runs that are due. Called by a timer, and by tests. */
  startDueRuns(): Promise<number>;
  /** Starts the runs of received deliveries. Called at each change, by a timer, and by tests. */
  startReceived(): Promise<number>;
  /** Starts the runs of backfills that may start now. Called by a timer, and by tests. */
  continueBackfills(): Promise<number>;
  continueBacktests(): Promise<number>;
  continueBulkActions(): Promise<number>;
  /** Delivers the events that are due. Called by a timer, and by tests. */
  deliverer: Deliverer;
  /** Raises alerts on workflows that have not succeeded in time. Called by a timer, and by tests. */
  raiseOverdue(): Promise<number>;
  /** Tells of API keys that expire. Called by a timer, and by tests. */
  noticeKeys(): Promise<number>;
  /** Deletes expired data. Called by a timer, and by tests. */
  purge(): Promise<void>;
  /** Claims no more jobs. Those that still run after the grace period (milliseconds) are aborted and given back. */
  stop(graceMs: number): Promise<void>;
}

export async function startExecutor(
  instance: Instance,
  setup: Setup,
  { id, slots, onChanged = () => {}, leaseMs }: ExecutorOptions,
): Promise<Executor> {
  const { store, read, log, meter } = instance;
  const { clock, config, repeat = repeatByTimer } = setup;
  await using starting = new AsyncDisposableStack();
  const { engine, connections, allowed, eventUrl, webUrl, close } = openEngine(instance, setup);
  starting.defer(close);
  const transaction = engineTransaction(store, clock);
  const [{ jobHandlers }, { jobWorker }] = await Promise.all([
    import("../engine/executor/job-handlers.ts"),
    import("../queue/worker.ts"),
  ]);
  const handlers = jobHandlers({
    engine,
    stepTypes,
    read,
    transaction,
    log,
    usageLimits: allowed,
    eventUrl,
    webUrl,
    newToken: newLinkToken,
    policy: approvalPolicy(config.approvals),
  });
  starting.defer(() => handlers.close());
  const health = storageHealth(log);
  const starts = startPoll({ handlers, changes: instance.changes, health, repeat, wake: () => queue.wake() });
  const queue = jobWorker({
    executor: id,
    transaction,
    maxTransactions: store.maxTransactions,
    jobs: read.jobs,
    runs: read.runs,
    clock,
    clockCheck: setup.clockCheck,
    log,
    storageHealth: health,
    meter,
    handler: handlers.handler,
    onUnexpectedError: handlers.onUnexpectedError,
    onAbandoned: (tx, left, at) => recordAbandoned(engine.context, tx, left, { status: "interrupted", at }),
    slots,
    leaseMs: leaseMs ?? store.leaseMs,
    limits: concurrencyLimits(connections),
    rates: rateIntervals(connections),
    maxPriority: config.limits.max_priority,
    changes: instance.changes,
    onChanged(runIds) {
      onChanged(runIds);
      starts.runsChanged();
    },
  });
  await queue.start();
  let stopGraceMs = 0;
  starting.defer(() => queue.stop(stopGraceMs));
  const delivering = openDeliverer(instance, setup, {
    id,
    views: engine.views,
    transaction,
    usageLimits: allowed,
  });
  starting.defer(() => delivering.stop(stopGraceMs));
  const mailEnabled = isMailConfigured(setup);
  const raiseOverdue = overdueAlerts({ read, transaction, clock, log, mailEnabled });
  const noticeKeys = keyNotices({ read, transaction, clock, mailEnabled });
  const poll = (ms: number, work: () => Promise<unknown>, failure: string): void =>
    starting.defer(repeat({ ms, work, onError: (err) => health.reportFailure(err, failure) }));
  poll(DELIVERY_POLL_MS, () => delivering.deliverDue(), "poll of deliveries failed");
  poll(OVERDUE_POLL_MS, raiseOverdue, "poll of overdue workflows failed");
  poll(KEY_POLL_MS, noticeKeys, "poll of expiring keys failed");
  starts.start();
  starting.defer(() => handlers.triggerDeliveries.stop());
  starting.defer(() => starts.stop());
  const { runs, audit, deliveries } = config.retention;
  const stopping = new AbortController();
  const { signal } = stopping;
  const purge = async (): Promise<void> => {
    if (!isAgreed(clock)) return;
    await purgeExpired(
      store,
      clock,
      { runs: durationMs(runs), audit: durationMs(audit), deliveries: durationMs(deliveries) },
      (ms) => delay(ms, undefined, { signal }),
    );
  };
  const endPurges = repeat({
    ms: PURGE_INTERVAL_MS,
    firstMs: FIRST_PURGE_MS,
    work: purge,
    onError(err) {
      if (!signal.aborted) health.reportFailure(err, "purge of expired data failed");
    },
  });
  starting.defer(() => {
    endPurges();
    stopping.abort();
  });
  const running = starting.move();
  return {
    queue,
    startDueRuns: () => handlers.scheduler.startDueRuns(),
    continueBackfills: () => handlers.backfiller.startRuns(),
    continueBacktests: () => handlers.backtester.startRuns(),
    continueBulkActions: () => handlers.bulkRunner.continueActions(),
    startReceived: () => handlers.triggerDeliveries.startReceived(),
    deliverer: delivering,
    raiseOverdue,
    noticeKeys,
    purge,
    stop(graceMs) {
      stopGraceMs = graceMs;
      // Connections are closed also when the jobs could not be given back: open ones would keep the process alive.
      return running.disposeAsync();
    },
  };
}

/** Reclaims the jobs of an executor that is known to be dead, without waiting for its lease to expire. */
export async function reclaimJobs(instance: Instance, executor: string, setup: Setup): Promise<void> {
  const { store, meter } = instance;
  const { clock } = setup;
  const { engine, close } = openEngine(instance, setup);
  await using open = new AsyncDisposableStack();
  open.defer(close);
  await engineTransaction(
    store,
    clock,
  )(async (tx) => {
    const at = iso(clock.now());
    const jobs = (await tx.jobs.reclaim(executor)) ?? 0;
    const abandoned = await tx.runs.interruptAttempts(executor, at);
    await recordAbandoned(engine.context, tx, abandoned, { status: "interrupted", at });
    tx.onCommit(() => meter.jobsReclaimed("exit", jobs));
  });
}

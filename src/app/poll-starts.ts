/** Starts the runs of schedules, backfills, backtests, bulk actions and received deliveries in an executor: from time to time, and after changes. */
import type { ChangeFeed } from "../core/change-feed.ts";
import { SECOND } from "../core/clock.ts";
import type { StorageHealth } from "../core/storage-health.ts";
import type { JobHandlers } from "../engine/executor/job-handlers.ts";
import type { Repeat } from "./repeat.ts";

/** Poll interval for schedules that are due, backfills, backtests, bulk actions, and deliveries that were put off or missed; in milliseconds. */
const POLL_MS = SECOND / 2;
const BACKFILLS_FAILED = "backfill poll failed";
const BACKTESTS_FAILED = "backtest poll failed";
const BULK_ACTIONS_FAILED = "bulk action poll failed";
const DELIVERIES_FAILED = "deliveries not handled, trying again";
/** How long changes of runs are collected before backfills, backtests and bulk actions go on, in milliseconds. */
const COLLECT_MS = 20;

interface Options {
  handlers: Pick<JobHandlers, "scheduler" | "backfiller" | "backtester" | "bulkRunner" | "triggerDeliveries">;
  changes: Pick<ChangeFeed, "subscribe">;
  /** Called when runs have started. */
  wake(): void;
  health: Pick<StorageHealth, "reportFailure">;
  repeat: Repeat;
}

export interface StartPoll {
  start(): void;
  /** The next run of a backfill, backtest or bulk action may start as soon as one has ended. */
  runsChanged(): void;
  stop(): void;
}

export function startPoll({ handlers, changes, wake, health, repeat }: Options): StartPoll {
  const { scheduler, backfiller, backtester, bulkRunner, triggerDeliveries } = handlers;
  const ends: (() => void)[] = [];
  let collecting: NodeJS.Timeout | undefined;
  const reporting = (failure: string) => (err: unknown) => health.reportFailure(err, failure);
  const poll = (work: () => Promise<unknown>, failure: string): void =>
    void ends.push(repeat({ ms: POLL_MS, work, onError: reporting(failure) }));
  /** Counts commits, several between two polls as one. Heartbeats are commits too, so a change that the feed misses is seen soon. */
  let changed = 0;
  /** Polls what only commits begin: after each, and while some of it runs. */
  const pollAfterChanges = (
    { isActive }: { isActive(): boolean },
    work: () => Promise<unknown>,
    failure: string,
  ) => {
    let seen: number | undefined;
    poll(async () => {
      if (seen === changed && !isActive()) return;
      const current = changed;
      await work();
      seen = current;
    }, failure);
  };
  /** Starts runs, and lets the workers know. */
  const waking = (starts: () => Promise<number>) => async (): Promise<void> => {
    if ((await starts()) > 0) wake();
  };
  const startSchedules = waking(() => scheduler.startDueRuns());
  const continueBackfills = waking(() => backfiller.startRuns());
  const continueBacktests = waking(() => backtester.startRuns());
  const continueBulkActions = waking(() => bulkRunner.continueActions());
  const startDeliveries = waking(() => triggerDeliveries.startReceived());
  return {
    start() {
      const unsubscribe = changes.subscribe(
        () => void startDeliveries().catch(reporting(DELIVERIES_FAILED)),
        { work: "deliveries" },
      );
      ends.push(unsubscribe);
      poll(startSchedules, "schedule poll failed");
      poll(() => scheduler.correctLateSchedules(), "check of schedules failed");
      ends.push(changes.subscribe(() => void (changed += 1), { maxDelayMs: POLL_MS }));
      pollAfterChanges(backfiller, continueBackfills, BACKFILLS_FAILED);
      pollAfterChanges(backtester, continueBacktests, BACKTESTS_FAILED);
      pollAfterChanges(bulkRunner, continueBulkActions, BULK_ACTIONS_FAILED);
      poll(startDeliveries, DELIVERIES_FAILED);
    },
    runsChanged() {
      if (ends.length === 0 || ![backfiller, backtester, bulkRunner].some((starter) => starter.isActive()))
        return;
      collecting ??= setTimeout(() => {
        collecting = undefined;
        if (backfiller.isActive()) void continueBackfills().catch(reporting(BACKFILLS_FAILED));
        if (backtester.isActive()) void continueBacktests().catch(reporting(BACKTESTS_FAILED));
        if (bulkRunner.isActive()) void continueBulkActions().catch(reporting(BULK_ACTIONS_FAILED));
      }, COLLECT_MS).unref();
    },
    stop() {
      for (const end of ends.splice(0)) end();
      clearTimeout(collecting);
    },
  };
}

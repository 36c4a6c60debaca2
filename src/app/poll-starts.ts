/** Starts the runs of schedules, backfills and received deliveries in an executor: from time to time, and after changes. */
import type { ChangeFeed } from "../core/change-feed.ts";
import { SECOND } from "../core/clock.ts";
import type { StorageHealth } from "../core/storage-health.ts";
import type { JobHandlers } from "../engine/executor/job-handlers.ts";

/** Poll interval for schedules that are due, backfills, and deliveries that were put off or missed; in milliseconds. */
const POLL_MS = SECOND / 2;
/** How long changes of runs are collected before backfills go on, in milliseconds. */
const COLLECT_MS = 20;

interface Options {
  handlers: Pick<JobHandlers, "scheduler" | "backfiller" | "triggerDeliveries">;
  changes: Pick<ChangeFeed, "subscribe">;
  /** Called when runs have started. */
  wake(): void;
  health: Pick<StorageHealth, "reportFailure">;
}

export interface StartPoll {
  start(): void;
  /** The next run of a backfill may start as soon as one has ended. */
  runsChanged(): void;
  stop(): void;
}

export function startPoll({ handlers, changes, wake, health }: Options): StartPoll {
  const { scheduler, backfiller, triggerDeliveries } = handlers;
  let unsubscribe: (() => void) | undefined;
  let interval: NodeJS.Timeout | undefined;
  let collecting: NodeJS.Timeout | undefined;
  const startRuns = (starts: () => Promise<number>, failure: string): void => {
    starts()
      .then((count) => count > 0 && wake())
      .catch((err: unknown) => health.reportFailure(err, failure));
  };
  const continueBackfills = (): void => {
    collecting = undefined;
    startRuns(() => backfiller.startRuns(), "backfill poll failed");
  };
  const startDeliveries = (): void =>
    startRuns(() => triggerDeliveries.startReceived(), "deliveries not handled, trying again");
  return {
    start() {
      unsubscribe = changes.subscribe(startDeliveries, { work: "deliveries" });
      interval = setInterval(() => {
        startRuns(() => scheduler.startDueRuns(), "schedule poll failed");
        scheduler
          .correctLateSchedules()
          .catch((err: unknown) => health.reportFailure(err, "check of schedules failed"));
        continueBackfills();
        startDeliveries();
      }, POLL_MS).unref();
    },
    runsChanged() {
      if (interval !== undefined && backfiller.isActive())
        collecting ??= setTimeout(continueBackfills, COLLECT_MS).unref();
    },
    stop() {
      clearInterval(interval);
      clearTimeout(collecting);
      unsubscribe?.();
      interval = undefined;
    },
  };
}

/** Compares the clock of a process with those of the executors, and logs when it deviates. */
import type { Logger } from "pino";
import type { AgreedClock, SharedTime } from "./agreed-clock.ts";
import { SECOND } from "./clock.ts";
import type { ExecutorRecord } from "./job-ports.ts";

/** Interval between two checks of a process that sends no heartbeats, in milliseconds. */
const CHECK_INTERVAL_MS = 2.5 * SECOND;

export interface ClockCheck {
  /** Measures the offset of the clock of this process, in milliseconds; undefined when it can't be measured now. */
  measure(): Promise<number | undefined>;
  /** Decides whether the clock agrees. @param others the other executors; one that published no offset does not count */
  compare(offset: number | undefined, others: readonly ExecutorRecord[]): void;
}

/** @param readShared reads a clock that all processes can read */
export function clockCheck(
  clock: AgreedClock,
  readShared: () => Promise<SharedTime>,
  log: Pick<Logger, "error" | "info" | "warn">,
): ClockCheck {
  let isDeviating = false;
  let isUnreadable = false;

  function logDeviation(deviation: number, executors: number): void {
    if (isDeviating === (deviation !== 0)) return;
    isDeviating = deviation !== 0;
    if (isDeviating)
      log.error(
        { deviation_ms: Math.round(deviation), executors },
        "the clock of this process differs from that of the others; it leaves timers and schedules to them. Synchronize the clocks with NTP",
      );
    else log.info({ executors }, "the clock of this process agrees with that of the others again");
  }

  return {
    async measure() {
      try {
        const offset = await clock.measure(readShared);
        isUnreadable = false;
        return offset;
      } catch (err) {
        if (!isUnreadable)
          log.warn({ err }, "shared clock not readable, the clock of this process is not compared");
        isUnreadable = true;
        clock.acceptOwn();
        return undefined;
      }
    },
    compare(offset, others) {
      if (offset === undefined) return;
      const published = others.map(({ clockOffset }) => clockOffset).filter((value) => value !== null);
      logDeviation(clock.compare(offset, published), published.length);
    },
  };
}

/** Checks the clock of a process that sends no heartbeats. @returns a function that ends it */
export function watchClock(
  check: ClockCheck,
  executors: () => Promise<readonly ExecutorRecord[]>,
): () => void {
  const run = async (): Promise<void> => {
    const offset = await check.measure();
    // The next check reads them again.
    const present = await executors().catch(() => undefined);
    if (present !== undefined) check.compare(offset, present);
  };
  const timer = setInterval(() => void run(), CHECK_INTERVAL_MS).unref();
  return () => clearInterval(timer);
}

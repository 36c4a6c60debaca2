/** Compares the clock of a process with that of the database server or those of the executors, and logs when it deviates. */
import type { Logger } from "pino";
import { type AgreedClock, agreedClock, type SharedClock } from "./agreed-clock.ts";
import { SECOND } from "./clock.ts";
import type { ExecutorRecord } from "./job-ports.ts";

/** Interval between two checks of a process that sends no heartbeats, in milliseconds. */
const CHECK_INTERVAL_MS = 2.5 * SECOND;

export interface ClockCheck {
  /**
   * Measures the offset of the clock of this process, in milliseconds. From then on the time of a database server is used.
   * @returns undefined when it can't be measured now
   */
  measure(): Promise<number | undefined>;
  /** Decides whether the clock agrees, where there is no database server. @param others the other executors; one that published no offset does not count */
  compare(offset: number | undefined, others: readonly ExecutorRecord[]): void;
}

const DEVIATES_FROM_OTHERS =
  "the clock of this process differs from that of the others; it leaves timers and schedules to them. Synchronize the clocks with NTP";
const DEVIATES_FROM_SERVER =
  "the clock of this process differs from that of the database server; the time of the server is used. Synchronize the clock of this " +
  "machine with NTP, or that of the server if all processes log this";

/** @param shared a clock that all processes can read */
export function clockCheck(
  clock: AgreedClock,
  shared: SharedClock,
  log: Pick<Logger, "error" | "info" | "warn">,
): ClockCheck {
  let isDeviating = false;
  let isUnreadable = false;
  // A clock that is wrong when the process starts does harm at once.
  if (shared.hasServerClock) clock.awaitComparison();

  function logDeviation(deviation: number, fields: { executors?: number }): void {
    if (isDeviating === (deviation !== 0)) return;
    isDeviating = deviation !== 0;
    const others = shared.hasServerClock ? "the database server" : "the others";
    if (isDeviating)
      log.error(
        { deviation_ms: Math.round(deviation), ...fields },
        shared.hasServerClock ? DEVIATES_FROM_SERVER : DEVIATES_FROM_OTHERS,
      );
    else log.info(fields, `the clock of this process agrees with that of ${others} again`);
  }

  return {
    async measure() {
      try {
        const offset = await clock.measure(() => shared.readTime());
        isUnreadable = false;
        if (shared.hasServerClock && offset !== undefined) logDeviation(clock.followShared(offset), {});
        return offset;
      } catch (error) {
        // Without the stack: it is no bug, and a start that is refused says the same in its error.
        if (!isUnreadable)
          log.warn(
            { reason: (error as Error).message },
            "shared clock not readable, the clock of this process is not compared",
          );
        isUnreadable = true;
        // Without its server nothing is decided, and what was measured before holds until it is back.
        if (!shared.hasServerClock) clock.acceptOwn();
        return undefined;
      }
    },
    compare(offset, others) {
      if (offset === undefined || shared.hasServerClock) return;
      const published = others.map(({ clockOffset }) => clockOffset).filter((value) => value !== null);
      logDeviation(clock.compare(offset, published), { executors: published.length });
    },
  };
}

/** Measures and compares the clock of a process that sends no heartbeats. */
async function checkClock(
  check: ClockCheck,
  executors: () => Promise<readonly ExecutorRecord[]>,
): Promise<void> {
  const offset = await check.measure();
  // The next check reads them again.
  const present = await executors().catch(() => undefined);
  if (present !== undefined) check.compare(offset, present);
}

/**
 * Checks the clock of a process that sends no heartbeats, now and from time to time.
 * @returns a function that ends it, once the clock has been checked
 */
export async function watchClock(
  check: ClockCheck,
  executors: () => Promise<readonly ExecutorRecord[]>,
): Promise<() => void> {
  await checkClock(check, executors);
  const timer = setInterval(() => void checkClock(check, executors), CHECK_INTERVAL_MS).unref();
  return () => clearInterval(timer);
}

/**
 * Measures by how much the clock of a process that ends soon is ahead of that of the database server, in milliseconds.
 * @returns 0 when it agrees, and where there is no server
 */
export async function aheadOfServer(shared: SharedClock, clock = agreedClock()): Promise<number> {
  if (!shared.hasServerClock) return 0;
  const offset = await clock.measure(() => shared.readTime());
  return offset === undefined ? 0 : clock.followShared(offset);
}

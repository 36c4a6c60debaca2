/** The shortest time between two runs of a schedule, which the operator can limit. */
import { Cron, CronPattern } from "croner";
import { DAY, HOUR, MINUTE, SECOND } from "../../core/clock.ts";
import type { CronSchedule } from "./schedule-times.ts";

const MODE = { mode: "5-or-6-parts" } as const;
/** Number of days with runs that are compared: more than a year of daily ones. */
const MAX_DAYS = 400;
/** The first day that is compared. */
const START = Date.UTC(2024, 0, 1);

/** Two successive times of a cron expression, in milliseconds. Days differ only where the two are on different days. */
export interface ClosePair {
  first: number;
  second: number;
}

/**
 * Finds two successive times that are closer than a minimum. Changes of the clock are left out: they shorten an interval
 * once.
 * @param minMs minimum interval, in milliseconds
 * @throws Error when the expression is not valid
 */
export function findCloseTimes(cron: string, minMs: number): ClosePair | undefined {
  const times = timesOfDay(new CronPattern(cron, undefined, MODE));
  let first: number | undefined;
  let previous: number | undefined;
  let last = 0;
  for (const at of times) {
    if (previous !== undefined && at - previous < minMs)
      return { first: START + previous, second: START + at };
    first ??= at;
    previous = at;
    last = at;
  }
  if (first === undefined || DAY + first - last >= minMs) return undefined;
  return findCloseDays(cron, { first, last }, minMs);
}

/** Compares the last time of each day with the first one of the next day that the expression matches. */
function findCloseDays(
  cron: string,
  { first, last }: { first: number; last: number },
  minMs: number,
): ClosePair | undefined {
  const runs = new Cron(cron, { ...MODE, timezone: "UTC", paused: true });
  let day: number | undefined;
  for (let count = 0, from = START; count < MAX_DAYS; count += 1) {
    // One millisecond earlier, because the time itself is left out.
    const next = runs.nextRun(new Date(from - 1));
    if (next === null) return undefined;
    const found = Math.floor(next.getTime() / DAY) * DAY;
    if (day !== undefined && found + first - (day + last) < minMs)
      return { first: day + last, second: found + first };
    day = found;
    from = found + DAY;
  }
  return undefined;
}

/** The times of a day, in milliseconds since midnight, in order. */
function* timesOfDay({ hour, minute, second }: CronPattern): Generator<number> {
  for (const [h, inHour] of hour.entries()) {
    if (inHour !== 1) continue;
    for (const [m, inMinute] of minute.entries()) {
      if (inMinute !== 1) continue;
      for (const [s, inSecond] of second.entries())
        if (inSecond === 1) yield h * HOUR + m * MINUTE + s * SECOND;
    }
  }
}

/**
 * How long the next time of a schedule must be left out after one of its times, in milliseconds: 0 unless it would run more
 * often than the minimum.
 */
export const pauseOf = ({ cron }: Pick<CronSchedule, "cron">, minMs: number): number =>
  findCloseTimes(cron, minMs) === undefined ? 0 : minMs - 1;

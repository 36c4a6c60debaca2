/**
 * Computes the times of a schedule in its time zone.
 *
 * A schedule of certain hours runs once for each of its local times. When the clock is put forward, a local time that it
 * leaves out comes when the clock jumps (02:30 at 03:00); when it is put back, a local time that it shows twice counts
 * the first time. A schedule of every hour runs whenever the clock shows one of its times, so it keeps its interval.
 */
import { Cron, CronPattern } from "croner";
import { DAY, iso } from "../../core/clock.ts";
import { isoInZone, timeZone } from "../../core/time-zone.ts";

export interface CronSchedule {
  /** Five fields, or six with seconds first. */
  cron: string;
  /** An IANA name. */
  timezone: string;
}

/** Window in which the last times are searched first, in milliseconds. */
const FIRST_WINDOW_MS = 60_000;
/** Window beyond which there is no earlier time, in milliseconds: 29 February comes every 4 or 8 years. */
const MAX_WINDOW_MS = 40 * 366 * 24 * 3_600_000;

export interface ScheduleTimes {
  /** The first time after `after` (both in milliseconds); null when there is none. */
  next(after: number): number | null;
  /** The last times up to and including `now` (milliseconds), at most `count`, in order. */
  last(count: number, now: number): number[];
}

/** @throws Error when the expression is not valid; RangeError for an unknown time zone */
export function scheduleTimes({ cron, timezone }: CronSchedule): ScheduleTimes {
  const next = runsEveryHour(cron) ? timesShown(cron, timezone) : localTimesOnce(cron, timezone);
  return {
    next,
    last(count, now) {
      let times: number[] = [];
      for (let window = FIRST_WINDOW_MS; times.length < count && window <= MAX_WINDOW_MS; window *= 4) {
        times = [];
        for (let at = next(now - window); at !== null && at <= now; at = next(at)) times.push(at);
      }
      return times.slice(-count);
    },
  };
}

const patternOf = (cron: string): CronPattern => new CronPattern(cron, undefined, { mode: "5-or-6-parts" });

const runsEveryHour = (cron: string): boolean => patternOf(cron).hour.every((matches) => matches === 1);

/** @param timezone left out, UTC: the library needs a sixth of the time for an offset that never changes */
const parse = (cron: string, timezone?: string): Cron =>
  new Cron(cron, {
    ...(timezone === undefined ? { utcOffset: 0 } : { timezone }),
    mode: "5-or-6-parts",
    paused: true,
  });

/** Every moment at which the clock shows a time of the expression. */
function timesShown(cron: string, timezone: string): ScheduleTimes["next"] {
  const [times, localTimes] = [parse(cron, timezone), parse(cron)];
  const zone = timeZone(timezone);
  return (after) => {
    const local = zone.toLocal(after);
    const next = localTimes.nextRun(new Date(local))?.getTime() ?? Infinity;
    const moment = after + (next - local);
    // A clock is not changed twice in a day, so it was not changed meanwhile: the library would find the same, more slowly.
    if (next - local <= DAY && zone.toLocal(moment) === next) return moment;
    return times.nextRun(new Date(after))?.getTime() ?? null;
  };
}

/** One moment for each local time of the expression; for two that the same jump of the clock leaves out, one for both. */
function localTimesOnce(cron: string, timezone: string): ScheduleTimes["next"] {
  // UTC has no changes of the clock: there, the library returns the local times themselves.
  const localTimes = parse(cron);
  const zone = timeZone(timezone);
  return (after) => {
    let local = localTimes.nextRun(new Date(zone.toLocal(after)));
    while (local !== null) {
      const moment = zone.toMoment(local.getTime());
      // In an hour that occurs twice, the local times that follow have already been shown.
      if (moment > after) return moment;
      local = localTimes.nextRun(local);
    }
    return null;
  };
}

/** Up to `count` times after `after`, in milliseconds; fewer when the schedule has no more. */
export function nextTimes(schedule: CronSchedule, after: number, count: number, pauseMs = 0): number[] {
  const { next } = scheduleTimes(schedule);
  const times: number[] = [];
  for (let at = next(after); at !== null && times.length < count; at = next(at + pauseMs)) times.push(at);
  return times;
}

/** The first time after `after` (milliseconds), as ISO text. */
export const nextTime = (schedule: CronSchedule, after: number): string | null => {
  const next = scheduleTimes(schedule).next(after);
  return next === null ? null : iso(next);
};

/** Up to `count` times after `after` (milliseconds), as local times of the schedule's zone with its offset. */
export function nextTimesInZone(schedule: CronSchedule, after: number, count: number): string[] {
  const zone = timeZone(schedule.timezone);
  return nextTimes(schedule, after, count).map((at) => isoInZone(at, zone));
}

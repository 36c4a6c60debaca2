/** Computes the times of a schedule, in its time zone and across daylight-saving changes (see schedules.ts). */
import { Cron } from "croner";
import { iso } from "../../core/clock.ts";
import type { ScheduleRecord } from "../../core/model.ts";

type CronSchedule = Pick<ScheduleRecord, "cron" | "timezone">;

/** Up to `count` times after `after`, in milliseconds; none when the schedule has no more. */
export function nextTimes({ cron, timezone }: CronSchedule, after: number, count: number): number[] {
  return new Cron(cron, { timezone, paused: true })
    .nextRuns(count, new Date(after))
    .map((date) => date.getTime());
}

/** The first time after `after` (milliseconds), as ISO text. */
export const nextTime = (schedule: CronSchedule, after: number): string | null => {
  const [next] = nextTimes(schedule, after, 1);
  return next === undefined ? null : iso(next);
};

/** The last two times up to and including `now` (milliseconds), as ISO text, in order. */
export function lastTwoTimes({ cron, timezone }: CronSchedule, now: number): string[] {
  // croner leaves out a time that equals the reference.
  const last = new Cron(cron, { timezone, paused: true }).previousRuns(2, new Date(now + 1));
  return last.toReversed().map((date) => iso(date.getTime()));
}

/** When a schedule is due, in its time zone and across clock changes (see schedules.ts). */
import { Cron } from "croner";
import { iso } from "../../core/clock.ts";
import type { ScheduleRecord } from "../../core/run-ports.ts";

/** The next moments of a schedule after `after`, in milliseconds. Empty when there are none. */
export function nextTimes(
  { cron, timezone }: Pick<ScheduleRecord, "cron" | "timezone">,
  after: number,
  count: number,
): number[] {
  return new Cron(cron, { timezone, paused: true })
    .nextRuns(count, new Date(after))
    .map((it) => it.getTime());
}

export const nextTime = (
  schedule: Pick<ScheduleRecord, "cron" | "timezone">,
  after: number,
): string | null => {
  const [next] = nextTimes(schedule, after, 1);
  return next === undefined ? null : iso(next);
};

/** The last two moments up to `now`. */
export function lastTwoTimes(
  { cron, timezone }: Pick<ScheduleRecord, "cron" | "timezone">,
  now: number,
): string[] {
  // A moment that is the reference itself would not count.
  const last = new Cron(cron, { timezone, paused: true }).previousRuns(2, new Date(now + 1));
  return last.toReversed().map((at) => iso(at.getTime()));
}

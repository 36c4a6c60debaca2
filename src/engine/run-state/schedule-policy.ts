/** The shortest interval of schedules, for those that were published before the operator set it. */
import { durationMs } from "../../core/duration.ts";
import type { ScheduleRecord } from "../../core/model.ts";
import { nextTurn } from "../../core/next-turn.ts";
import { pauseOf } from "../definition/schedule-interval.ts";
import { nextTimes } from "../definition/schedule-times.ts";

/** Number of times that are computed in one turn of the event loop. */
const TIMES_PER_TURN = 100;

type Times = Pick<ScheduleRecord, "cron" | "timezone"> & Partial<Pick<ScheduleRecord, "lastAt">>;

export interface SchedulePolicy {
  /** The shortest time between two runs, in milliseconds. */
  minMs: number;
  /** How long further times are left out after a time of the schedule, in milliseconds; 0 for none. */
  pauseOf(schedule: Pick<ScheduleRecord, "cron">): number;
  /** The next times after `after`, in milliseconds since 1970. */
  nextTimes(schedule: Times, after: number, count: number): number[];
  /** The times from `from` to `to`, both included (milliseconds since 1970): at most `max`. It may take long. */
  timesBetween(schedule: Times, range: { from: number; to: number; max: number }): Promise<number[]>;
  /** Why the schedule runs less often than it says; undefined if it runs as it says. */
  warning(schedule: Pick<ScheduleRecord, "cron">): string | undefined;
}

/** @param minInterval the shortest time between two runs of a schedule, as a duration */
export function schedulePolicy(minInterval: string): SchedulePolicy {
  const minMs = durationMs(minInterval);
  const pause = (schedule: Pick<ScheduleRecord, "cron">): number => pauseOf(schedule, minMs);
  return {
    minMs,
    pauseOf: pause,

    nextTimes(schedule, after, count) {
      const pauseMs = pause(schedule);
      const { lastAt = null } = schedule;
      const last = lastAt === null ? undefined : Date.parse(lastAt);
      // A last time in the future is that of a clock that was ahead.
      const from = last === undefined || last > after ? after : Math.max(after, last + pauseMs);
      return nextTimes(schedule, from, count, pauseMs);
    },

    async timesBetween({ cron, timezone }, { from, to, max }) {
      const times: number[] = [];
      const pauseMs = pause({ cron });
      for (let after = from - 1; times.length < max;) {
        const count = Math.min(TIMES_PER_TURN, max - times.length);
        const found = nextTimes({ cron, timezone }, after, count, pauseMs);
        times.push(...found.filter((time) => time <= to));
        if (found.length < count || found.at(-1)! > to) break;
        after = found.at(-1)! + pauseMs;
        await nextTurn();
      }
      return times;
    },

    warning: (schedule) =>
      pause(schedule) === 0
        ? undefined
        : `Its times are closer than limits.min_schedule_interval (${minInterval}), so it runs at most once in that ` +
          "time. Publish a version with a longer interval.",
  };
}

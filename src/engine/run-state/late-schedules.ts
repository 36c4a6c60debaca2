/**
 * Corrects schedules that a clock that was ahead has advanced too far. Without a correction such a schedule starts no run
 * until the time that this clock showed.
 */
import type { Logger } from "pino";
import { type Clock, isAgreed, iso, MINUTE } from "../../core/clock.ts";
import { isStorageUnavailable } from "../../core/errors.ts";
import type { ListPosition, ScheduleRecord, SkippedRuns } from "../../core/model.ts";
import type { EngineReaders, EngineTransaction } from "../../core/run-ports.ts";
import { nextTime } from "../definition/schedule-times.ts";
import type { SchedulePolicy } from "./schedule-policy.ts";

/** Interval between two checks, in milliseconds. */
const CHECK_INTERVAL_MS = MINUTE;
/** Maximum difference between the clocks of two executors, in milliseconds. A time that is later by less is right. */
const MAX_CLOCK_SKEW_MS = MINUTE;
/** Schedules read at a time. */
const PAGE_SIZE = 50;

interface Options {
  clock: Clock;
  read: Pick<EngineReaders, "schedules">;
  transaction: EngineTransaction;
  policy: Pick<SchedulePolicy, "nextTimes" | "pauseOf">;
  log: Pick<Logger, "warn">;
}

/** @returns a function that checks all schedules when that is due, and returns how many it has corrected */
export function lateSchedules({ clock, read, transaction, policy, log }: Options): () => Promise<number> {
  let checkedAt = Number.NEGATIVE_INFINITY;
  let isChecking = false;
  /** The next times that the last check found right, by workflow. They stay right as long as the clock is not set back. */
  let verified = new Map<string, string>();

  return async () => {
    const now = clock.now();
    // A clock that was set back makes times late at once.
    const isDue = Math.abs(now - checkedAt) >= CHECK_INTERVAL_MS;
    if (!isDue || isChecking || !isAgreed(clock)) return 0;
    isChecking = true;
    try {
      if (now < checkedAt) verified.clear();
      const corrected = await correctAll(now);
      checkedAt = now;
      return corrected;
    } finally {
      isChecking = false;
    }
  };

  async function correctAll(now: number): Promise<number> {
    let corrected = 0;
    const right = new Map<string, string>();
    let position: ListPosition | undefined = [iso(now + MAX_CLOCK_SKEW_MS), ""];
    while (position !== undefined) {
      const schedules: ScheduleRecord[] = await read.schedules.dueAfter(position, PAGE_SIZE);
      for (const schedule of schedules) {
        const { workflowId, version, nextAt } = schedule;
        const time = `${version} ${nextAt}`;
        if (verified.get(workflowId) !== time && (await correctOrLog(schedule, now))) corrected += 1;
        else right.set(workflowId, time);
      }
      const last = schedules.at(-1);
      position = schedules.length < PAGE_SIZE ? undefined : [last!.nextAt!, last!.workflowId];
    }
    verified = right;
    return corrected;
  }

  /** A schedule whose times can't be computed does not keep the others late. */
  async function correctOrLog(schedule: ScheduleRecord, now: number): Promise<boolean> {
    try {
      return await correct(schedule, now);
    } catch (err) {
      if (isStorageUnavailable(err)) throw err;
      log.warn({ err, workflow_id: schedule.workflowId }, "schedule check failed");
      return false;
    }
  }

  async function correct(schedule: ScheduleRecord, now: number): Promise<boolean> {
    const { workflowId, version, skipped } = schedule;
    const lateAt = schedule.nextAt!;
    // The last time may have been now, and be followed by the pause.
    const latest = nextTime(schedule, now + MAX_CLOCK_SKEW_MS + policy.pauseOf(schedule));
    if (latest === null || lateAt <= latest) return false;
    const nextAt = iso(policy.nextTimes(schedule, now, 1)[0]!);
    // What that clock skipped from then on runs now.
    const isSkippedAhead = skipped !== null && skipped.last >= nextAt;
    const isCorrected = await transaction((tx) =>
      tx.schedules.advance(workflowId, lateAt, {
        version,
        nextAt,
        ...(isSkippedAhead && { skipped: skippedBefore(schedule, skipped, nextAt) }),
      }),
    );
    if (isCorrected)
      log.warn(
        { workflow_id: workflowId, late_at: lateAt, next_at: nextAt },
        "schedule corrected: a clock that was ahead had left times out",
      );
    return isCorrected;
  }
}

/** The skipped times before one that is due again; null for none. */
function skippedBefore(
  schedule: Pick<ScheduleRecord, "cron" | "timezone">,
  skipped: SkippedRuns,
  nextAt: string,
): SkippedRuns | null {
  if (skipped.first >= nextAt) return null;
  let [count, last] = [0, skipped.first];
  for (
    let at: string | null = last;
    at !== null && at < nextAt && count < skipped.count;
    at = nextTime(schedule, Date.parse(at))
  ) {
    count += 1;
    last = at;
  }
  return { ...skipped, count, last };
}

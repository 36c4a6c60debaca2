/** Wakes an executor when the next job becomes due. */
import { type Clock, SECOND } from "../core/clock.ts";
import type { JobReader } from "../core/job-ports.ts";

/** Maximum sleep, in milliseconds: the clock may be set forward meanwhile. */
const MAX_SLEEP_MS = 30 * SECOND;

export interface WakeTimer {
  /** Sets the timer to the job that is claimable next, or to none. @param now when none was claimable (ISO 8601) */
  schedule(now: string): Promise<void>;
  cancel(): void;
}

export function wakeTimer(jobs: Pick<JobReader, "nextDueAt">, clock: Clock, wake: () => void): WakeTimer {
  let timer: NodeJS.Timeout | undefined;
  return {
    async schedule(now) {
      const dueAt = await jobs.nextDueAt(now);
      clearTimeout(timer);
      if (dueAt === null) return;
      const sleepMs = Math.max(Date.parse(dueAt) - clock.now(), 1);
      timer = setTimeout(wake, Math.min(sleepMs, MAX_SLEEP_MS)).unref();
    },
    cancel: () => clearTimeout(timer),
  };
}

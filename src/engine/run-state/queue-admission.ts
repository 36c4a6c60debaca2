/**
 * Refuses new runs of an owner whose jobs have been waiting for an executor for too long: a run that starts behind them would
 * only make the queue longer. It is decided per owner, because owners take turns: the queue of one delays no other, and must
 * not shut others out. Resources and rates are limits that somebody set, so jobs that wait for one do not count.
 */
import { type Clock, MINUTE, SECOND } from "../../core/clock.ts";
import { durationMs } from "../../core/duration.ts";
import { AppError } from "../../core/errors.ts";
import type { JobReader, QueueHead } from "../../core/job-ports.ts";

/** How long a reading of the queue is used, in milliseconds. */
const MAX_AGE_MS = SECOND;
/** When a refused run can be started again, in seconds. */
const RETRY_AFTER_S = 60;

/** @throws AppError too_many_runs while jobs of the owner with this priority or a higher one wait for too long */
export type QueueAdmission = (run: { owner: string; priority: number }) => Promise<void>;

/**
 * @param maxAge how long jobs of an owner may wait, as a duration
 * @param monotonic milliseconds of a clock that nobody sets
 */
export function queueAdmission(
  jobs: Pick<JobReader, "queueHeads">,
  clock: Clock,
  maxAge: string,
  monotonic: () => number = () => performance.now(),
): QueueAdmission {
  const maxAgeMs = durationMs(maxAge);
  let heads: Promise<readonly QueueHead[]> | undefined;
  let readAt = -Infinity;

  function readHeads(): Promise<readonly QueueHead[]> {
    if (heads === undefined || monotonic() - readAt >= MAX_AGE_MS) {
      readAt = monotonic();
      heads = jobs.queueHeads();
      // A failure is not remembered.
      heads.catch(() => (heads = undefined));
    }
    return heads;
  }

  return async ({ owner, priority }) => {
    const waiting = (await readHeads())
      .filter((head) => head.owner === owner && head.priority >= priority)
      .map(({ since }) => clock.now() - Date.parse(since));
    const longest = Math.max(0, ...waiting);
    if (longest <= maxAgeMs) return;
    throw new AppError(
      "too_many_runs",
      `Steps of your runs have been waiting for an executor for ${Math.floor(longest / MINUTE)} minutes, and no new runs start ` +
        `after ${maxAge} (limits.queue_age). Nothing was changed. Start the run again later, or cancel runs that are no ` +
        "longer needed: list_runs with status queued or running lists them. The operator can add executors.",
      { headers: { "Retry-After": String(RETRY_AFTER_S) } },
    );
  };
}

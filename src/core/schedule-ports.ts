/** The interfaces of the store for schedules. The rules for transactions in run-ports.ts hold. */
import type { Visibility } from "./access.ts";
import type { ListPosition, ScheduleRecord, SkippedRuns } from "./model.ts";
import type { Applied } from "./transactions.ts";

export interface ScheduleFilter {
  /** Only of workflows in this project. */
  project?: string | undefined;
  /** Only of workflows that a caller can find; null or left out, of all. */
  visibility?: Visibility | null | undefined;
}

export interface ScheduleReader {
  find(workflowId: string): Promise<ScheduleRecord | undefined>;
  /** Schedules whose next time has come: owners take turns, and the earliest of one comes first. It takes no lock: `advance` decides which executor starts the run. */
  due(now: string, limit: number): Promise<ScheduleRecord[]>;
  /** Schedules that are not paused and come after a position: a time and the id of a workflow. In the order of both. */
  dueAfter(position: ListPosition, limit: number): Promise<ScheduleRecord[]>;
  /** The soonest first; those that are paused or have no next time come last. */
  page(query: {
    filter?: ScheduleFilter;
    after: ListPosition | null;
    limit: number;
  }): Promise<{ items: ScheduleRecord[]; next: ListPosition | null }>;
  /** Counts up to one more than `MAX_TOTAL`. */
  count(filter?: ScheduleFilter): Promise<number>;
  nextAt(): Promise<string | null>;
}

export interface ScheduleWriter extends ScheduleReader {
  /** Inserts a schedule or replaces it. Locks its row. */
  save(schedule: Omit<ScheduleRecord, "project">): Promise<void>;
  /** Removes a schedule. That it was paused is remembered for its return, see `staysPaused`. */
  remove(workflowId: string): Promise<void>;
  /** Whether a schedule of the workflow was paused when it was removed, and has not returned since. */
  staysPaused(workflowId: string): Promise<boolean>;
  /**
   * Sets the next time of a schedule, if `from` and the version are still current and it is not paused.
   *
   * Guarantee: of all calls with the same `from`, one returns true.
   * Locks: the schedule's row, until the transaction ends.
   * Concurrent callers: wait, then get false.
   * @returns false when another process has advanced it, or it was paused or published again; then start no run
   */
  advance(
    workflowId: string,
    from: string,
    fields: { version: number; nextAt: string | null; lastAt?: string; skipped?: SkippedRuns | null },
  ): Promise<Applied>;
}

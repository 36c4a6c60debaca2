/** The interfaces of the store for backfills. The rules for transactions in run-ports.ts hold. */
import type { KeyLimits } from "./access.ts";
import type { BackfillStatus, ExistingRuns } from "../../schemas/backfill.ts";
import type { RunStatus } from "../../schemas/run.ts";
import type { Visibility } from "./access.ts";
import type { ListPosition, Page, RunActor } from "./model.ts";
import type { Applied } from "./transactions.ts";

/** The runs of a schedule for a past range, as somebody asked for them. */
export interface BackfillRecord {
  id: string;
  workflowId: string;
  /** The project of its workflow when it started. */
  project: string;
  /** The version that all of its runs execute, and the times of the schedule of that version. */
  version: number;
  cron: string;
  timezone: string;
  /** The range of the scheduled times, both ends included. */
  from: string;
  to: string;
  /** Number of its runs that may be unfinished at a time. */
  concurrency: number;
  existing: ExistingRuns;
  status: BackfillStatus;
  /** The next time to start a run for; null when there is none left. */
  nextAt: string | null;
  /** Number of scheduled times in the range; those that have a run, and those that were skipped. */
  total: number;
  started: number;
  skipped: number;
  reason: string | null;
  /** Why it starts no run at the moment, or why it failed. */
  message: string | null;
  actor: RunActor;
  /** What the key that started it is limited to, and so each of its runs; null for nothing. */
  keyLimits: KeyLimits | null;
  createdAt: string;
  finishedAt: string | null;
  /** Who cancelled it. */
  cancelledBy: string | null;
}

/** A run of a scheduled time: the newest one. */
export interface SlotRun {
  runId: string;
  status: RunStatus;
}

/** A workflow, with the project whose runs count. */
interface WorkflowInProject {
  workflowId: string;
  project: string;
}

export interface BackfillFilter {
  workflowId: string;
  /** Only what a caller can find; null or left out, everything. */
  visibility?: Visibility | null | undefined;
}

export interface BackfillReader {
  find(id: string): Promise<BackfillRecord | undefined>;
  /** Those that are running: owners take turns, and the oldest of one comes first. It takes no lock. */
  running(limit: number): Promise<BackfillRecord[]>;
  /** Newest first. */
  page(query: {
    filter: BackfillFilter;
    after: ListPosition | null;
    limit: number;
  }): Promise<Page<BackfillRecord>>;
  /** Counts up to one more than `MAX_TOTAL`. */
  count(filter: BackfillFilter): Promise<number>;
  /** Number of its runs by status; a status without runs is missing. Retries are not among them. */
  runCounts(id: string): Promise<Partial<Record<RunStatus, number>>>;
  /** The ids of its unfinished runs. */
  unfinishedRuns(id: string): Promise<string[]>;
  /**
   * The newest run of each of these scheduled times, of those that a schedule or a backfill started, and of their retries.
   * Trials do not count.
   */
  slotRuns(workflow: WorkflowInProject, times: readonly string[]): Promise<Map<string, SlotRun>>;
}

export interface BackfillWriter extends BackfillReader {
  /** Inserts a running backfill. */
  insert(backfill: BackfillRecord): Promise<void>;
  /**
   * Number of running backfills of a usage subject (usage-limits.ts).
   *
   * Locks: the starts of the subject, until the transaction ends, so that two callers never exceed a limit together.
   */
  countRunning(subject: string): Promise<number>;
  /**
   * Reads a backfill that may be about to start a run.
   *
   * Locks: its row, until the transaction ends. It comes before the locks of starts.
   */
  lock(id: string): Promise<BackfillRecord | undefined>;
  /**
   * Goes on to the next scheduled time, if `from` is still the next one and it is running.
   *
   * Guarantee: of all calls with the same `from`, one returns true.
   * Locks: its row, until the transaction ends.
   * Concurrent callers: wait, then get false.
   * @returns false when another process has advanced or ended it; the caller must then start no run
   */
  advance(
    id: string,
    from: string,
    to: { nextAt: string | null; started: number; skipped: number },
  ): Promise<Applied>;
  /** Says why it starts no run at the moment; null when it does. */
  setMessage(id: string, message: string | null): Promise<void>;
  /**
   * Ends a running backfill: it starts no more runs.
   *
   * Guarantee: of all calls for one backfill, one returns true.
   * Locks: its row, until the transaction ends.
   * @returns false when it has ended already
   */
  endRunning(
    id: string,
    end: Pick<BackfillRecord, "message" | "finishedAt" | "cancelledBy"> & {
      status: Exclude<BackfillStatus, "running">;
    },
  ): Promise<Applied>;
}

/** Whether a backfill starts no run for a time, because of its newest run. */
export function isBackfillDone(
  { existing }: Pick<BackfillRecord, "existing">,
  run: SlotRun | undefined,
): boolean {
  if (run === undefined || existing === "repeat") return false;
  return existing === "skip" || (run.status !== "failed" && run.status !== "cancelled");
}

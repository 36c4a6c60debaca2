/** The interfaces of the store for bulk actions. The rules for transactions in run-ports.ts hold. */
import type {
  BulkActionKind,
  BulkActionPlan,
  BulkActionResult,
  BulkActionStatus,
  SkippedRuns,
  SkipReason,
} from "../../schemas/bulk-action.ts";
import type { RunStatus } from "../../schemas/run.ts";
import type { KeyLimits, Visibility } from "./access.ts";
import type { ListPosition, Page, RunActor } from "./model.ts";
import type { Applied } from "./transactions.ts";

/** Many runs of one project that are retried or cancelled, one after the other. */
export interface BulkActionRecord {
  id: string;
  action: BulkActionKind;
  project: string;
  /** The workflow of all of its runs; null if they are of several, or single steps. */
  workflowId: string | null;
  /** The version that retries run; null for that of each run. */
  version: number | null;
  /** As in `schemas/field-values.ts`; null for none. */
  rate: string | null;
  /** Number of its retries that may be unfinished at a time. */
  concurrency: number;
  status: Exclude<BulkActionStatus, "preview">;
  /** Number of runs. */
  total: number;
  /** What was confirmed: what it does, with which runs it does nothing, and what stands for both. */
  plan: { groups: BulkActionPlan[]; skipped: SkippedRuns[]; more: boolean };
  digest: string;
  reason: string | null;
  /** Why it goes on with no run at the moment, or why it ended early. */
  message: string | null;
  /** When it may go on: its rate says so, or that it had to wait. */
  nextAt: string;
  actor: RunActor;
  /** What the key that started it is limited to, and so each of its retries; null for nothing. */
  keyLimits: KeyLimits | null;
  createdAt: string;
  finishedAt: string | null;
  /** Who cancelled it. */
  cancelledBy: string | null;
}

/** A run that a bulk action is to handle. */
export interface NewBulkRun {
  run: string;
  /** Stands for what a retry was going to do when it was confirmed; null for what is cancelled. */
  planDigest: string | null;
}

export interface BulkRunRecord extends NewBulkRun {
  /** Counted from 0. */
  position: number;
  /** Null before its turn. */
  result: BulkActionResult | null;
  /** The new run. */
  retry: string | null;
  reason: SkipReason | null;
  message: string | null;
}

export type BulkRunResult = Pick<BulkRunRecord, "retry" | "reason" | "message"> & {
  result: BulkActionResult;
};

/** A bulk action without its plan, which is not read at each poll. */
export type RunningBulkAction = Omit<BulkActionRecord, "plan">;

export interface BulkActionFilter {
  project?: string | undefined;
  workflowId?: string | undefined;
  /** Only what a caller can find; null or left out, everything. */
  visibility?: Visibility | null | undefined;
}

export interface BulkActionReader {
  find(id: string): Promise<BulkActionRecord | undefined>;
  /** Reads nothing else, for callers who wait for the end of a bulk action that they have found. */
  status(id: string): Promise<BulkActionRecord["status"] | undefined>;
  /** Those that are running: owners take turns, and what was due first comes first. It takes no lock. */
  running(limit: number): Promise<RunningBulkAction[]>;
  /** Newest first. */
  page(query: {
    filter: BulkActionFilter;
    after: ListPosition | null;
    limit: number;
  }): Promise<Page<RunningBulkAction>>;
  /** Counts up to one more than `MAX_TOTAL`. */
  count(filter: BulkActionFilter): Promise<number>;
  /** Number of its runs by result; a result without runs is missing. */
  resultCounts(id: string): Promise<Partial<Record<BulkActionResult, number>>>;
  /** Those that it skipped: by reason, with the first few. */
  skipped(id: string): Promise<SkippedRuns[]>;
  /** Number of its retries by status; a status without runs is missing. */
  retryCounts(id: string): Promise<Partial<Record<RunStatus, number>>>;
  /** Its runs in order, after a position. @param options.result only those with this result */
  runs(
    id: string,
    options: { result?: BulkActionResult | undefined; after: number | null; limit: number },
  ): Promise<BulkRunRecord[]>;
  /** The ids of its unfinished retries. */
  unfinishedRetries(id: string): Promise<string[]>;
  /** The first run that has no result. */
  next(id: string): Promise<BulkRunRecord | undefined>;
}

export interface BulkActionWriter extends BulkActionReader {
  /** Inserts a running bulk action with its runs, in this order. */
  insert(bulkAction: BulkActionRecord, runs: readonly NewBulkRun[]): Promise<void>;
  /**
   * Number of running bulk actions of a usage subject (usage-limits.ts).
   *
   * Locks: the starts of the subject, until the transaction ends, so that two callers never exceed a limit together.
   */
  countRunning(subject: string): Promise<number>;
  /**
   * Reads a bulk action that may be about to go on with a run.
   *
   * Locks: its row, until the transaction ends. It comes before the locks of starts.
   */
  lock(id: string): Promise<RunningBulkAction | undefined>;
  /**
   * Records what happened with a run.
   *
   * Guarantee: of all calls for one run, one returns true.
   * @returns false when it has a result already; the caller must then do nothing with the run
   */
  setResult(id: string, position: number, result: BulkRunResult): Promise<Applied>;
  /** Says when it may go on, and why it has to wait until then; null where it went on. */
  setNext(id: string, next: { nextAt: string; message: string | null }): Promise<void>;
  /**
   * Ends a running bulk action: it goes on with no run.
   *
   * Guarantee: of all calls for one bulk action, one returns true.
   * Locks: its row, until the transaction ends.
   * @returns false when it has ended already
   */
  endRunning(
    id: string,
    end: Pick<BulkActionRecord, "message" | "finishedAt" | "cancelledBy"> & {
      status: Exclude<BulkActionRecord["status"], "running">;
    },
  ): Promise<Applied>;
}

/** The interfaces of the store for backtests. The rules for transactions in run-ports.ts hold. */
import type {
  BacktestDifference,
  BacktestEffect,
  BacktestReads,
  BacktestResult,
  BacktestStatus,
  BacktestSummary,
} from "../../schemas/backtest.ts";
import type { KeyLimits, Visibility } from "./access.ts";
import type { ListPosition, Page, RunActor, Trial } from "./model.ts";
import type { Applied } from "./transactions.ts";

/** Runs of the past that are run again, as dry runs, with another definition. */
export interface BacktestRecord {
  id: string;
  workflowId: string;
  /** The project of its workflow when it started. */
  project: string;
  /** The version that it tests, or that its draft changes. */
  version: number;
  /** The definition that it tests; null for that of the version. */
  definition: Record<string, unknown> | null;
  /**
   * The workflow whose runs are run again: mostly the same one. These are runs of the same project. Only callers who can find both
   * workflows see the backtest, because it has values of these runs.
   */
  sourceWorkflowId: string;
  reads: BacktestReads;
  given: Trial["given"];
  /**
   * Of a saved version: stands for what its runs could do when it started, with the workflows that it calls, and for the version that
   * was published. Null for a draft.
   */
  digest: string | null;
  status: BacktestStatus;
  /** Number of runs. */
  total: number;
  /** Why it starts no replay at the moment, or why it failed. */
  message: string | null;
  /** Set at the end. */
  summary: BacktestSummary | null;
  actor: RunActor;
  /** What the key that started it is limited to, and so each of its replays; null for nothing. */
  keyLimits: KeyLimits | null;
  createdAt: string;
  finishedAt: string | null;
  /** Who cancelled it. */
  cancelledBy: string | null;
}

/** What was found about one run, for the answers and for the sums. */
export interface BacktestDetails {
  difference?: BacktestDifference;
  /** Names that cover all that differs (schemas/difference-names.ts); left out for an equal run. */
  names?: string[];
  effects: BacktestEffect[];
  stepMs: { before: number; after: number };
  tokens: { before: number; after: number };
  /** Of models, in the unit of the configured prices; 0 without prices. */
  cost: { before: number; after: number };
}

/** A run of the past in a backtest. */
export interface BacktestRunRecord {
  /** Counted from 0. */
  position: number;
  sourceRun: string;
  /** The replay; null before it starts. */
  run: string | null;
  /** Null before it is compared. */
  result: BacktestResult | null;
  details: BacktestDetails | null;
}

export interface BacktestFilter {
  workflowId: string;
  /** Only those of this version as it is saved, and none of drafts. */
  version?: number | undefined;
  /** Only what a caller can find; null or left out, everything. */
  visibility?: Visibility | null | undefined;
}

/** A backtest without its large values, which are not read at each poll. */
export type RunningBacktest = Omit<BacktestRecord, "definition" | "given">;

export interface BacktestReader {
  find(id: string): Promise<BacktestRecord | undefined>;
  /** Reads nothing else, for callers who wait for the end of a backtest that they have found. */
  status(id: string): Promise<BacktestStatus | undefined>;
  /** Those that are running: owners take turns, and the oldest of one comes first. It takes no lock. */
  running(limit: number): Promise<RunningBacktest[]>;
  /** Newest first. */
  page(query: {
    filter: BacktestFilter;
    after: ListPosition | null;
    limit: number;
  }): Promise<Page<BacktestRecord>>;
  /** Counts up to one more than `MAX_TOTAL`. */
  count(filter: BacktestFilter): Promise<number>;
  /** Number of its runs by result; a result without runs is missing. */
  resultCounts(id: string): Promise<Partial<Record<BacktestResult, number>>>;
  /** Its runs in order, after a position. @param options.results only those with these results; left out, all */
  runs(
    id: string,
    options: {
      results?: readonly BacktestResult[] | undefined;
      after: number | null;
      limit: number;
    },
  ): Promise<BacktestRunRecord[]>;
  /** The runs whose replay has started and that have no result: a few of them. */
  open(id: string): Promise<BacktestRunRecord[]>;
  /** The first run whose replay has not started and that has no result. */
  next(id: string): Promise<BacktestRunRecord | undefined>;
}

export interface BacktestWriter extends BacktestReader {
  /** Inserts a running backtest with its runs, in this order. @throws AppError upgrade_unfinished */
  insert(backtest: BacktestRecord, sourceRuns: readonly string[]): Promise<void>;
  /**
   * Number of running backtests of a usage subject (usage-limits.ts).
   *
   * Locks: the starts of the subject, until the transaction ends, so that two callers never exceed a limit together.
   */
  countRunning(subject: string): Promise<number>;
  /**
   * Reads a backtest that may be about to start a replay.
   *
   * Locks: its row, until the transaction ends. It comes before the locks of starts.
   */
  lock(id: string): Promise<BacktestRecord | undefined>;
  /**
   * Records the replay of a run.
   *
   * Guarantee: of all calls for one run, one returns true.
   * @returns false when it has a replay or a result already; the caller must then start none
   */
  setRun(id: string, position: number, run: string): Promise<Applied>;
  /**
   * Records the result of a run.
   *
   * Guarantee: of all calls for one run, one returns true.
   */
  setResult(
    id: string,
    position: number,
    result: { result: BacktestResult; details: BacktestDetails },
  ): Promise<Applied>;
  /** Says why it starts no replay at the moment; null when it does. */
  setMessage(id: string, message: string | null): Promise<void>;
  /**
   * Ends a running backtest: it starts no more replays.
   *
   * Guarantee: of all calls for one backtest, one returns true.
   * Locks: its row, until the transaction ends.
   * @returns false when it has ended already
   */
  endRunning(
    id: string,
    end: Pick<BacktestRecord, "message" | "finishedAt" | "cancelledBy" | "summary"> & {
      status: Exclude<BacktestStatus, "running">;
    },
  ): Promise<Applied>;
}

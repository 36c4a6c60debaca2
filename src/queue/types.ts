/** The interface between the engine and the queue. It is the same for every database. */
import type { Logger } from "pino";
import type { ChangeFeed } from "../core/change-feed.ts";
import type { Clock } from "../core/clock.ts";
import type { ClockCheck } from "../core/clock-check.ts";
import type { JobReader } from "../core/job-ports.ts";
import type { Meter } from "../core/meter.ts";
import type { AbandonedAttempt, Job, StepRef } from "../core/model.ts";
import type { EngineTransaction, EngineWriters, RunReader } from "../core/run-ports.ts";
import type { StorageHealth } from "../core/storage-health.ts";

/** @returns whether the run has ended, so that it has no next job; nothing where that is not known */
type ResultChange = (tx: EngineWriters) => Promise<{ ended: boolean } | void>;

/** The result of a job. Its change of the run commits together with the end of the claim, or neither does. */
export type JobResult =
  | {
      kind: "complete";
      /** About how many bytes the change stores, if they may be many: large changes commit one by one. */
      size?: number;
      change: ResultChange;
    }
  /** The job runs again at `dueAt` (null: at once), as the given attempt. */
  | {
      kind: "retry";
      dueAt: string | null;
      attempt: number;
      retryCount: number;
      change: ResultChange;
    };

/** A result that depends on what the transaction finds that records it. It is decided while the claim is held. */
export interface DeferredResult {
  kind: "deferred";
  decide(tx: EngineWriters): Promise<JobResult>;
}

export interface JobContext {
  executor: string;
  /** Aborted when the run is stopped or the executor shuts down; the reason is a StepError. */
  signal: AbortSignal;
  /**
   * Commits a change while the job runs.
   * @param size about how many bytes the change stores, if they may be many
   * @returns false when the claim was lost; nothing was written then
   */
  record(change: (tx: EngineWriters) => Promise<void>, size?: number): Promise<boolean>;
}

/**
 * Runs one job, outside of transactions. It may throw only when the store is unavailable or the machine too busy: the job is then released.
 * Any other error is a bug, and `OnUnexpectedError` decides the result.
 */
export type JobHandler = (job: Job, context: JobContext) => Promise<JobResult | DeferredResult>;

/** The result of a job whose handler has thrown an unexpected error. */
export type OnUnexpectedError = (job: Job, thrown: unknown) => Promise<JobResult>;

/** Ends the running attempts of an executor as interrupted: all of them, or those of one step or item. */
export type InterruptAttempts = (tx: EngineWriters, executor: string, ref?: StepRef) => Promise<void>;

export interface JobWorkerOptions {
  /** The executor's id, never used before. */
  executor: string;
  transaction: EngineTransaction;
  /** How many write transactions of the database may run at the same time; left out, 1. */
  maxTransactions?: number;
  jobs: JobReader;
  runs: Pick<RunReader, "getStatusSummaries">;
  /** Called in the transaction that ends abandoned attempts. */
  onAbandoned(tx: EngineWriters, attempts: readonly AbandonedAttempt[], at: string): Promise<void>;
  clock: Clock;
  /** Compares the clock with those of other processes; left out, it is always right. */
  clockCheck?: ClockCheck | undefined;
  log: Logger;
  /** Shared with the other parts of the process, so that each failure is logged once. */
  storageHealth?: StorageHealth;
  meter?: Meter;
  handler: JobHandler;
  onUnexpectedError: OnUnexpectedError;
  /** Maximum number of jobs that run at the same time. */
  slots: number;
  /** How long an executor may miss its heartbeats before its jobs are reclaimed, in milliseconds. */
  leaseMs: number;
  /** Maximum number of claimed jobs for each resource, over all executors. */
  limits: ReadonlyMap<string, number>;
  /** The pause between two claims for each resource, over all executors, in milliseconds. */
  rates?: ReadonlyMap<string, number>;
  /** Up to this priority, a job goes before jobs of other owners. */
  maxPriority?: number;
  changes: Pick<ChangeFeed, "subscribe">;
  /** Called after a commit with the ids of the runs that it has changed, except those that this executor goes on with at once. */
  onChanged: (runIds: readonly string[]) => void;
}

/** The loop of an executor that claims jobs and runs them. */
export interface JobWorker {
  readonly executor: string;
  /** Sends a first heartbeat and starts to claim jobs. */
  start(): Promise<void>;
  /** Checks for claimable jobs now. */
  wake(): void;
  /** Sends a heartbeat and reclaims the jobs of dead executors. Timers call it; tests do too. */
  heartbeat(): Promise<void>;
  /** Resolves when no job is running and none can be claimed. */
  waitUntilIdle(): Promise<void>;
  /** Claims no more jobs. Running jobs may continue for `graceMs`; then they are aborted and released. */
  stop(graceMs: number): Promise<void>;
}

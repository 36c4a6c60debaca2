/** How whoever does the work meets the queue, whichever database carries it. */
import type { EngineWriters, Job } from "../core/run-ports.ts";

/** What a job comes to: a change of the run, committed together with the end of the job, or not at all. */
export type JobResult =
  | { kind: "complete"; change(tx: EngineWriters): Promise<void> }
  /** Tried again later, as the given attempt. */
  | {
      kind: "retry";
      dueAt: string | null;
      attempt: number;
      retryCount: number;
      change(tx: EngineWriters): Promise<void>;
    };

export interface JobContext {
  executor: string;
  /** Aborted when the run is stopped or the executor ends; the reason is a StepError. */
  signal: AbortSignal;
  /** Writes something while the job goes on; false when it is no longer held, and then nothing was written. */
  record(change: (tx: EngineWriters) => Promise<void>): Promise<boolean>;
}

/**
 * Does one job, outside of any transaction. It throws only when the store is in trouble, and then the job is given back;
 * anything else that it throws is a bug, and the job is settled as `Broken` says.
 */
export type JobHandler = (job: Job, holding: JobContext) => Promise<JobResult>;

/** What a job that failed as none should comes to. */
export type OnUnexpectedError = (job: Job, thrown: unknown) => Promise<JobResult>;

export interface Queue {
  readonly executor: string;
  /** Begins to take jobs. */
  start(): Promise<void>;
  /** Says that there may be something to do. */
  wake(): void;
  /** Looks once whether others died and takes their jobs over, and beats itself. Timers call it; tests do too. */
  heartbeat(): Promise<void>;
  /** Resolves when nothing is running and nothing can be claimed. */
  waitUntilIdle(): Promise<void>;
  /** Takes no more jobs; what runs may go on for `graceMs`, then it is told to end and given back. */
  stop(graceMs: number): Promise<void>;
}

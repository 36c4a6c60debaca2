/**
 * The queue of jobs as interfaces. A job is a row of the database that holds the runs, so that the end of a job and its
 * effect on the run commit in one transaction. The guarantees hold at READ COMMITTED, between any number of processes
 * (see `EngineTransaction` for the general rules, and the contract tests for a check of each).
 */
import type { Job, NewJob, StepRef } from "./model.ts";
import type { Applied } from "./transactions.ts";

/** An executor that has a heartbeat on record. */
export interface ExecutorRecord {
  id: string;
  /** Grows with each heartbeat. Observers measure a lease from its last change, never by the clocks of other machines. */
  heartbeats: number;
  /** By how much its clock is ahead of the one that all processes can read, in milliseconds; null when it is not known. */
  clockOffset: number | null;
}

/** The next job of an owner among those that only wait for an executor. */
export interface QueueHead {
  owner: string;
  priority: number;
  /** When it became ready (ISO 8601). */
  since: string;
}

export interface JobReader {
  /**
   * Whether a job may be claimable at `now`. It takes no lock, so a claim may still return no job.
   * @param options.stopping asks only for jobs that stop work
   * @param options.timed when false, jobs that become due do not count
   */
  hasClaimable(now: string, options?: { stopping?: boolean; timed?: boolean }): Promise<boolean>;
  /**
   * The earliest time at which a job becomes claimable (ISO 8601): its `dueAt`, or the slot that its rate has for it.
   * Null when there is none.
   * @param now slots after this time count
   */
  nextDueAt(now: string): Promise<string | null>;
  executors(): Promise<ExecutorRecord[]>;
  /** The claims of an executor. */
  claimedBy(executor: string): Promise<Pick<Job, "id" | "fence">[]>;
  /** When the oldest ready job became ready (ISO 8601); null when no job is ready. */
  oldestReadyAt(): Promise<string | null>;
  /** The next job of each owner, priority and workflow, of jobs that wait for neither a resource nor a rate. */
  queueHeads(): Promise<QueueHead[]>;
  /** Number of jobs by state, for metrics and tests. */
  depth(): Promise<{ ready: number; later: number; claimed: number }>;
}

/**
 * What a claim does with quarantined jobs, each of which should run isolated.
 * `isolate`: claims one quarantined job and nothing else, if there is one; owners take turns.
 * `drain`: claims only jobs that stop work while there is one, so that the executor becomes free for it.
 * `beside`: claims one quarantined job without isolation, within the slots of its owner; else other jobs.
 * `skip`: ignores them, so that other jobs get a turn.
 */
export type QuarantinePolicy = "isolate" | "drain" | "beside" | "skip";

/** Whose turn it is: jobs are claimed in turns over owners, and in turns over the workflows of an owner. */
interface Turns {
  /** The owner of the job that was claimed last; empty before the first claim. */
  owner: string;
  /** The workflow of the job that was claimed last, for each owner. */
  workflows: ReadonlyMap<string, string>;
}

export interface ClaimOptions {
  /** Jobs due at this time are claimable. */
  now: string;
  /** Number of free slots. Jobs that stop work are claimed beyond them. */
  limit: number;
  /** The slots of the executor that each owner holds; left out, none. */
  held?: ReadonlyMap<string, number>;
  /** Left out, the turns begin with the first owner. */
  turns?: Turns;
  /** Up to this priority, a job goes before jobs of other owners; left out, 0. */
  maxPriority?: number | undefined;
  /** Maximum number of claimed jobs for each resource, over all executors. */
  limits: ReadonlyMap<string, number>;
  /** The pause between two claims for each resource, over all executors, in milliseconds. */
  rates?: ReadonlyMap<string, number>;
  quarantined: QuarantinePolicy;
  /** Whether jobs become claimable that are due; false when the clock of the executor may be wrong. Left out, true. */
  timed?: boolean;
  /** Called when another executor has claimed the jobs first. */
  onLostRace?(): void;
}

/** What an executor says with its heartbeat. */
interface HeartbeatReport {
  /** By how much its clock is ahead of the one that all processes can read, in milliseconds; left out when it is not known. */
  clockOffset?: number | undefined;
  running?: readonly Pick<Job, "id" | "fence">[];
}

export interface JobWriter extends JobReader {
  /** Adds a job. Locks nothing; claimable once the transaction has committed. */
  add(job: NewJob): Promise<void>;
  /**
   * Claims due jobs for an executor. Jobs that stop work come first. Then owners take turns, the workflows of an owner
   * take turns, and the oldest job of a workflow comes first. A higher priority goes before all of this: before other jobs
   * of the owner in any case, before those of other owners up to `maxPriority`.
   *
   * Owners share the slots of the executor and the capacity of each resource (core/fair-share.ts), so the claim can leave
   * slots free while jobs are ready.
   *
   * Guarantee: a job is claimed by one caller only, and each claim raises the job's fence. `limits` and rates (`rates`,
   * and those of the jobs) hold over all executors, and an executor with a claimed job has a heartbeat on record.
   * Locks: the rows of the claimed jobs; with `limits` and rates, also the count or slot of each that it claims.
   * Concurrent callers: skip jobs that another transaction has locked; they never wait for one.
   * @returns the jobs with their new fences, none when nothing is claimable
   */
  claim(executor: string, options: ClaimOptions): Promise<Job[]>;
  /**
   * Claims the oldest ready job of a run that neither a resource nor a rate limits, for the executor that has just completed
   * `job` of the run: a step of its own, or the end of the run. It asks nobody's turn, so the caller limits how often.
   *
   * Guarantee, locks and concurrent callers as for `claim`. Requires `complete` of `job` in the same transaction.
   */
  claimSuccessor(job: Job, executor: string): Promise<Job | undefined>;
  /** How many jobs this transaction has made ready so far, and nobody has claimed in it. */
  readyLeft(): number;
  /**
   * Checks that the executor still holds the job under this fence. Called before the executor writes for the job.
   *
   * Guarantee: after `true` the claim can't be lost until the transaction ends.
   * Locks: the job's row, until the transaction ends.
   * Concurrent callers: `reclaim` waits for the lock.
   */
  lockClaim(job: Job, executor: string): Promise<Applied>;
  /**
   * Deletes the job, if the executor still holds it under this fence.
   *
   * Guarantee: of all `complete` and `release` calls for one claim, at most one returns true.
   * Locks: the job's row, until the transaction ends. Call it before `runs.lock`.
   * @returns false when the claim was lost; the caller must then write nothing
   */
  complete(job: Job, executor: string): Promise<Applied>;
  /**
   * Releases the job, to be claimed again at `dueAt` (null: at once), if the executor still holds it under this fence.
   * Guarantee, lock and result as for `complete`.
   */
  release(
    job: Job,
    executor: string,
    next: { dueAt: string | null; attempt: number; retryCount: number },
  ): Promise<Applied>;
  /**
   * Makes jobs ready again that the executor has claimed without knowing it. It did nothing for them, so nothing was interrupted.
   *
   * Guarantee, lock and concurrent callers as for `release`.
   * @returns how many of the claims there were
   */
  releaseLost(executor: string, claims: readonly Pick<Job, "id" | "fence">[]): Promise<number>;
  /** Returns the slots of a claim that started nothing, so that another job can start in its place. */
  returnRateSlots(job: Pick<Job, "rateSlots">): Promise<void>;
  /** Drops the slots of resources whose rate has changed. Called when an executor starts. */
  dropChangedRates(rates: NonNullable<ClaimOptions["rates"]>): Promise<void>;
  /**
   * Deletes the run's jobs that are not claimed, except those that follow its end.
   *
   * Guarantee: a job that another transaction is claiming is either deleted or claimed, never both.
   * Locks: requires `runs.lock`; locks the deleted rows.
   * @param options.ended when false, the jobs that end the run (its timeout, the end of a sub-workflow) also stay
   * @returns the steps of the deleted jobs
   */
  dropUnclaimed(runId: string, options: { ended: boolean }): Promise<StepRef[]>;
  /** Deletes the unclaimed jobs of one step or item. Requires `runs.lock`. */
  dropStepJobs(ref: StepRef): Promise<void>;
  /** Makes the attempts of one step or item ready that are due later, such as one that waits for its lookup. Requires `runs.lock`. */
  startAttemptsNow(ref: StepRef): Promise<void>;
  /** The steps of the run with a claimed job that will record an outcome. Requires `runs.lock`. */
  claimedSteps(runId: string): Promise<StepRef[]>;
  /** Whether the step, or an item of it, has a job for an attempt, claimed or not. Requires `runs.lock`. */
  hasJobForStep(runId: string, stepId: string): Promise<boolean>;
  /**
   * Records a heartbeat with the offset of the clock and the jobs that run, and registers the executor if it is not on record.
   * Locks: the executor's row. A concurrent `reclaim` waits, and is then refused.
   */
  heartbeat(executor: string, at: string, report?: HeartbeatReport): Promise<void>;
  /**
   * Removes an executor and makes its claimed jobs claimable again, as the next attempt. A job that was claimed at an earlier
   * crash too is quarantined.
   *
   * Guarantee: of several callers that reclaim the same executor, one gets the number of jobs. The fence of each job is
   * raised, so `lockClaim`, `complete` and `release` of the removed executor return false.
   * Locks: the executor's row, then the rows of its jobs.
   * @param expected removes the executor only if this is still its number of heartbeats; left out, in any case
   * @returns how many jobs were reclaimed; undefined when the executor has sent a heartbeat since, or is already gone
   */
  reclaim(executor: string, expected?: Pick<ExecutorRecord, "heartbeats">): Promise<number | undefined>;
}

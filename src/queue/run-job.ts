/** Runs one claimed job and records its result. */
import type { Logger } from "pino";
import { type Clock, iso, MINUTE, SECOND } from "../core/clock.ts";
import { isStorageUnavailable } from "../core/errors.ts";
import type { Job } from "../core/model.ts";
import type { EngineWriters } from "../core/run-ports.ts";
import { isMachineBusy } from "../core/step-errors.ts";
import type { StorageHealth } from "../core/storage-health.ts";
import { stepRefLogFields } from "../core/step-ref-log-fields.ts";
import type { Committer } from "./committer.ts";
import type { JobEnd } from "./running-jobs.ts";
import type {
  DeferredResult,
  InterruptAttempts,
  JobContext,
  JobHandler,
  JobResult,
  OnUnexpectedError,
} from "./types.ts";

/** Maximum pause between two attempts to record a result or to release a job, in milliseconds. The job occupies a slot until then. */
const MAX_PAUSE_MS = 2 * SECOND;
/**
 * How long a result is kept while the store is unavailable, in milliseconds. Then the job is released, and its step runs again:
 * what the store lacks may be the space for this result.
 */
const MAX_RECORD_MS = 2 * MINUTE;
/**
 * Maximum time from a claim to the end of the last job that may pass its slot on to the next one of its run, in milliseconds.
 * It limits how long the steps of one run keep a slot while other owners wait for their turn.
 */
const CHAIN_MS = 50;
/** Delay before a job runs again whose handler could not use the store or the processor, in milliseconds. */
const RELEASED_RETRY_MS = 5 * SECOND;

export interface JobRunnerOptions {
  executor: string;
  handler: JobHandler;
  onUnexpectedError: OnUnexpectedError;
  commit: Committer["commit"];
  interruptAttempts: InterruptAttempts;
  /** See `JobWorkerOptions`. */
  onChanged(runIds: readonly string[]): void;
  /** Called with the next job of the run, which was claimed with the end of a job, before that job counts as ended. */
  onSuccessor(job: Job, claimedAt: number): void;
  /** Does what may claim the next job, see `LostClaims`. */
  claiming<T>(work: () => Promise<T>): Promise<T>;
  isStopping(): boolean;
  clock: Clock;
  log: Logger;
  health: StorageHealth;
}

/**
 * Runs a claimed job to its end; it never rejects.
 * @param claimedAt when the job was claimed, or the first one of its chain, in milliseconds of performance.now()
 */
type RunJob = (job: Job, signal: AbortSignal, claimedAt: number) => Promise<JobEnd>;

export function jobRunner(options: JobRunnerOptions): RunJob {
  const { executor, commit, clock, log, health } = options;

  async function recordWhileClaimed(
    job: Job,
    change: (tx: EngineWriters) => Promise<void>,
    size?: number,
  ): Promise<boolean> {
    const claimed = await commit(
      async (tx) => {
        if (!(await tx.jobs.lockClaim(job, executor))) return false;
        await change(tx);
        return true;
      },
      { size, runId: job.runId },
    );
    if (claimed) options.onChanged([job.runId]);
    return claimed;
  }

  /** Ends the claim and writes the change, or neither. @returns whether it was written, and whether the run has ended */
  async function recordResult(
    tx: EngineWriters,
    job: Job,
    given: JobResult | DeferredResult,
  ): Promise<{ applied: boolean; ended: boolean }> {
    const lost = { applied: false, ended: false };
    if (given.kind === "deferred" && !(await tx.jobs.lockClaim(job, executor))) return lost;
    const result = given.kind === "deferred" ? await given.decide(tx) : given;
    const applied =
      result.kind === "complete"
        ? await tx.jobs.complete(job, executor)
        : await tx.jobs.release(job, executor, result);
    if (!applied) return lost;
    const progress = await result.change(tx);
    return { applied, ended: progress?.ended ?? false };
  }

  /** Whether the end of a job may claim the next one of its run. A quarantined job is isolated, and its run goes on elsewhere. */
  const mayContinue = (job: Job, result: JobResult | DeferredResult, claimedAt: number): boolean =>
    result.kind === "complete" &&
    job.item === null &&
    !job.quarantined &&
    !options.isStopping() &&
    performance.now() - claimedAt < CHAIN_MS;

  const retryAfter = (job: Job, ms: number): JobResult => ({
    kind: "retry",
    dueAt: iso(clock.now() + ms),
    attempt: job.attempt + 1,
    retryCount: job.retryCount,
    change: (tx) => options.interruptAttempts(tx, executor, job),
  });

  /** Fails the run of a job whose handler or change has thrown an unexpected error. */
  async function failRun(job: Job, thrown: unknown): Promise<void> {
    log.error({ err: thrown, ...logFieldsOf(job) }, "unexpected job error");
    try {
      const result = await options.onUnexpectedError(job, thrown);
      await commit((tx) => recordResult(tx, job, result), { runId: job.runId });
      options.onChanged([job.runId]);
    } catch (err) {
      log.error({ err, ...logFieldsOf(job) }, "unexpected job error not recorded, releasing the job");
      await releaseJob(job);
    }
  }

  /** Retries until it succeeds: the disk may be full for a while, and no executor reclaims the jobs of a live one. */
  async function releaseJob(job: Job): Promise<void> {
    for (let pause = SECOND; !options.isStopping(); pause = nextPause(pause)) {
      try {
        await commit((tx) => recordResult(tx, job, retryAfter(job, SECOND)), { runId: job.runId });
        return;
      } catch (err) {
        health.reportFailure(err, "job not released, trying again");
      }
      await wait(pause);
    }
  }

  /** Records a result as soon as the store is available again, so that its step need not run again. */
  async function recordLater(job: Job, record: () => Promise<void>): Promise<void> {
    const deadline = performance.now() + MAX_RECORD_MS;
    for (
      let pause = SECOND;
      !options.isStopping() && performance.now() < deadline;
      pause = nextPause(pause)
    ) {
      await wait(pause);
      try {
        await record();
        return;
      } catch (err) {
        if (!isStorageUnavailable(err)) throw err;
        health.reportFailure(err, "result not recorded, trying again");
      }
    }
    log.warn(logFieldsOf(job), "result not recorded, releasing the job");
    await releaseJob(job);
  }

  async function resultOf(job: Job, signal: AbortSignal): Promise<JobResult | DeferredResult> {
    try {
      const record: JobContext["record"] = (change, size) => recordWhileClaimed(job, change, size);
      return await options.handler(job, { executor, signal, record });
    } catch (err) {
      if (!isStorageUnavailable(err) && !isMachineBusy(err)) throw err;
      const what = isMachineBusy(err) ? "machine busy" : "store unavailable";
      log.warn({ err, ...logFieldsOf(job) }, `${what}, releasing the job`);
      return retryAfter(job, RELEASED_RETRY_MS);
    }
  }

  return async (job, signal, claimedAt) => {
    let result: JobResult | DeferredResult;
    try {
      result = await resultOf(job, signal);
    } catch (err) {
      await failRun(job, err);
      return "ended";
    }
    let end: JobEnd = "ended";
    const record = async (): Promise<void> => {
      const size = result.kind === "complete" ? result.size : undefined;
      const continues = mayContinue(job, result, claimedAt);
      const { applied, successor, leaves } = await commit(
        async (tx) => {
          const recorded = await recordResult(tx, job, result);
          const mayFollow = continues && recorded.applied && !recorded.ended;
          const next = mayFollow ? await tx.jobs.claimSuccessor(job, executor) : undefined;
          return { applied: recorded.applied, successor: next, leaves: tx.jobs.readyLeft() };
        },
        { size, runId: job.runId },
      );
      if (!applied) log.warn(logFieldsOf(job), "claim lost, result discarded");
      // A run that goes on at once has neither ended nor begun to wait. Other changes are seen by the change feed.
      if (successor === undefined) options.onChanged([job.runId]);
      else {
        options.onSuccessor(successor, claimedAt);
        if (leaves === 0) end = "continued";
      }
    };
    const recordAndContinue = (): Promise<void> => options.claiming(record);
    try {
      await recordAndContinue().catch(async (err: unknown) => {
        if (!isStorageUnavailable(err)) throw err;
        log.warn({ err, ...logFieldsOf(job) }, "result not recorded, trying again");
        await recordLater(job, recordAndContinue);
      });
    } catch (err) {
      await failRun(job, err);
    }
    return end;
  };
}

const nextPause = (pause: number): number => Math.min(pause * 2, MAX_PAUSE_MS);

const wait = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });

const logFieldsOf = (job: Job) => ({ ...stepRefLogFields(job), job: job.kind, attempt: job.attempt });

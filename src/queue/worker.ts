/** The loop of an executor: claims jobs while it has free slots, and sleeps until there may be more. */
import { type ChangeCheck, checkOnChange } from "../core/change-feed.ts";
import { isAgreed, iso, SECOND } from "../core/clock.ts";
import { noMeter } from "../core/meter.ts";
import type { Job } from "../core/model.ts";
import { StepError } from "../core/step-errors.ts";
import { storageHealth } from "../core/storage-health.ts";
import { claimBackoff } from "./claim-backoff.ts";
import { claimPolicy } from "./claim-policy.ts";
import { committer } from "./committer.ts";
import { leases } from "./leases.ts";
import { lostClaims } from "./lost-claims.ts";
import { jobRunner } from "./run-job.ts";
import { runningJobs } from "./running-jobs.ts";
import type { InterruptAttempts, JobWorker, JobWorkerOptions } from "./types.ts";
import { wakeTimer } from "./wake-timer.ts";

/** Pause after a claim that failed, in milliseconds. */
const CLAIM_RETRY_MS = SECOND;
/** Maximum delay until the steps of a stopped run are aborted, in milliseconds. */
const STOP_CHECK_MS = 50;
/** Grace period before an unresponsive job is abandoned, in milliseconds. */
const ABORT_GRACE_MS = 2 * SECOND;

export function jobWorker(options: JobWorkerOptions): JobWorker {
  const { executor, jobs, clock, limits, rates = new Map(), maxPriority, leaseMs, meter = noMeter } = options;
  const log = options.log.child({ executor });
  const health = options.storageHealth ?? storageHealth(log);
  const { commit } = committer(options.transaction, options.maxTransactions);
  const state = { stopping: false, wakeRequested: false };
  /** The time of the last check for claimable jobs. */
  let checkedAt = iso(clock.now());
  let claiming: Promise<void> | undefined;
  let stopCheck: ChangeCheck | undefined;
  let unsubscribe: (() => void) | undefined;
  let retryTimer: NodeJS.Timeout | undefined;
  let heartbeatTimer: NodeJS.Timeout | undefined;

  const interruptAttempts: InterruptAttempts = async (tx, executorId, ref) => {
    const at = iso(clock.now());
    await options.onAbandoned(tx, await tx.runs.interruptAttempts(executorId, at, ref), at);
  };
  const shared = { executor, commit, interruptAttempts, clock, log };
  const running = runningJobs(wake);
  const lost = lostClaims({ executor, jobs, running, commit, log });
  const policy = claimPolicy(options.slots, clock);
  const backoff = claimBackoff(wake);
  const timer = wakeTimer(jobs, clock, wake);
  const lease = leases({
    ...shared,
    leaseMs,
    jobs,
    running: () => running.jobs(),
    meter,
    clockCheck: options.clockCheck,
  });
  const { handler, onUnexpectedError, onChanged } = options;
  const isStopping = (): boolean => state.stopping;
  const runJob = jobRunner({
    ...shared,
    handler,
    onUnexpectedError,
    onChanged,
    onSuccessor: startJob,
    claiming: (work) => lost.during(work),
    isStopping,
    health,
  });

  function startJob(job: Job, claimedAt: number): void {
    meter.jobClaimed(job.kind);
    running.add(job, (signal) => runJob(job, signal, claimedAt));
  }

  function wake(): void {
    state.wakeRequested = true;
    claiming ??= claimAll().finally(() => {
      claiming = undefined;
      // A wake-up may have come after the last claim.
      if (state.wakeRequested && !state.stopping) wake();
    });
  }

  const isIdle = (): boolean => running.jobs().length === 0 && claiming === undefined;

  /** Claims until there is no free slot or no claimable job. */
  async function claimAll(): Promise<void> {
    while (state.wakeRequested && !state.stopping) {
      state.wakeRequested = false;
      try {
        while (!state.stopping && (await lost.during(claimOnce)));
        // Without a free slot the end of a job wakes the worker.
        // With a wrong clock nothing becomes due: the next heartbeat wakes it.
        if ((policy.next(running.jobs())?.limit ?? 0) <= 0 || !isAgreed(clock)) timer.cancel();
        else await timer.schedule(checkedAt);
      } catch (err) {
        health.reportFailure(err, "jobs not claimed, trying again");
        retryTimer ??= setTimeout(() => {
          retryTimer = undefined;
          wake();
        }, CLAIM_RETRY_MS).unref();
      }
    }
  }

  /** @returns whether there may be more to claim */
  async function claimOnce(): Promise<boolean> {
    const claim = policy.next(running.jobs());
    const now = iso(clock.now());
    const timed = isAgreed(clock);
    checkedAt = now;
    if (claim === undefined) return false;
    if (!(await jobs.hasClaimable(now, { stopping: claim.limit <= 0, timed }))) return false;
    let lostRace = false;
    const onLostRace = (): void => void (lostRace = true);
    const claimed = await commit((tx) =>
      tx.jobs.claim(executor, { now, limits, rates, maxPriority, timed, onLostRace, ...claim }),
    );
    policy.record(claimed);
    backoff.record({ claimed: claimed.length, lostRace });
    const claimedAt = performance.now();
    for (const job of claimed) startJob(job, claimedAt);
    // All claimable jobs are quarantined. The next claim takes one of them.
    if (claimed.length === 0 && claim.quarantined === "skip" && running.jobs().length === 0) {
      return jobs.hasClaimable(now, { timed });
    }
    return claimed.length > 0;
  }

  async function heartbeat(): Promise<void> {
    await lease.heartbeat();
    await lost.release();
    health.reportRecovery();
    // The change feed may have missed a change.
    wake();
  }

  function reportUncheckedStops(err: unknown): void {
    health.reportFailure(err, "stopped runs not checked, trying again");
  }

  return {
    executor,
    wake,
    heartbeat,

    async start() {
      if (rates.size > 0) await commit((tx) => tx.jobs.dropChangedRates(rates));
      await heartbeat();
      // Not in the check below: a slow or failing check must not delay or repeat the claims.
      unsubscribe = options.changes.subscribe(backoff.wakeOnChange, { work: "jobs" });
      const abortStopped = (): Promise<void> => running.abortStopped(options.runs);
      stopCheck = checkOnChange(options.changes, abortStopped, reportUncheckedStops, STOP_CHECK_MS);
      heartbeatTimer = setInterval(() => {
        heartbeat().catch((err: unknown) => health.reportFailure(err, "heartbeat not sent"));
      }, leaseMs / 4).unref();
      wake();
    },

    async waitUntilIdle() {
      for (;;) {
        await claiming;
        await running.ended();
        if (
          isIdle() &&
          (state.stopping || !(await jobs.hasClaimable(iso(clock.now()), { timed: isAgreed(clock) })))
        ) {
          // While it was read, another turn of the event loop may have claimed the job.
          if (isIdle()) return;
          continue;
        }
        wake();
      }
    },

    async stop(graceMs) {
      state.stopping = true;
      timer.cancel();
      backoff.stop();
      await claiming;
      await Promise.race([running.ended(), sleep(graceMs)]);
      running.abortAll(new StepError("interrupted", "The executor was stopped while the step ran."));
      await Promise.race([running.ended(), sleep(ABORT_GRACE_MS)]);
      unsubscribe?.();
      stopCheck?.stop();
      clearTimeout(retryTimer);
      clearInterval(heartbeatTimer);
      // Jobs that did not end, or could not be released, are reclaimed now rather than after a lease.
      await commit(async (tx) => {
        await tx.jobs.reclaim(executor);
        await interruptAttempts(tx, executor);
      });
    },
  };
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());

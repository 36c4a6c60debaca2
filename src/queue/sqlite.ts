/**
 * The embedded queue: jobs are rows of the database that holds the runs, so that both change in one transaction.
 * Others' changes are seen by `PRAGMA data_version`; a dead executor by a beat that stands still.
 */
import type { Logger } from "pino";
import { type ChangeCheck, type ChangeFeed, checkOnChange } from "../core/change-feed.ts";
import { type Clock, iso, SECOND } from "../core/clock.ts";
import {
  type EngineTransaction,
  type EngineWriters,
  type Job,
  type AbandonedAttempt,
  type RunReader,
  type StepRef,
} from "../core/run-ports.ts";
import type { ExecutorRecord, JobReader } from "../core/job-ports.ts";
import { isStorageUnavailable } from "../core/errors.ts";
import { type Meter, noMeter } from "../core/meter.ts";
import { storageHealth, type StorageHealth } from "../core/storage-health.ts";
import { stepRefLogFields } from "../core/step-ref-log-fields.ts";
import { StepError } from "../core/step-errors.ts";
import { committer } from "./committer.ts";
import type { OnUnexpectedError, Queue, JobResult, JobHandler } from "./types.ts";

export interface SqliteQueueOptions {
  /** Unlike that of any other executor, past ones included. */
  executor: string;
  transaction: EngineTransaction;
  jobs: JobReader;
  runs: Pick<RunReader, "getStatusSummaries">;
  /** Told, in the transaction that marks them, of attempts that an executor left behind. */
  onAbandoned(tx: EngineWriters, left: readonly AbandonedAttempt[], at: string): Promise<void>;
  clock: Clock;
  log: Logger;
  /** Shared with the other parts of the process, so that one trouble is told once. */
  storageHealth?: StorageHealth;
  meter?: Meter;
  handler: JobHandler;
  onUnexpectedError: OnUnexpectedError;
  /** How many jobs run at a time. */
  slots: number;
  /** How long a beat may stand still before its executor counts as dead, in milliseconds. */
  leaseMs: number;
  limits: ReadonlyMap<string, number>;
  changes: Pick<ChangeFeed, "subscribe">;
  /** Told of the runs that a commit has changed. */
  onChanged: (runIds: readonly string[]) => void;
}

/** The longest time between two looks at what has become due. */
const LONGEST_SLEEP_MS = 30 * SECOND;
/** Between attempts to give a job back: meanwhile it takes a slot, and a suspect one keeps all others waiting. */
const LONGEST_PAUSE_MS = 2 * SECOND;
const GIVEN_UP_MS = 2 * SECOND;

interface Running {
  job: Job;
  controller: AbortController;
  ended: Promise<void>;
}

export function sqliteQueue(options: SqliteQueueOptions): Queue {
  const { executor, transaction, jobs, runs, clock, meter = noMeter } = options;
  const { handler, slots, leaseMs, limits } = options;
  const log = options.log.child({ executor });
  const trouble = options.storageHealth ?? storageHealth(log);
  const running = new Map<number, Running>();
  const { commit } = committer(transaction);
  const state = { stopping: false };
  let ringed = false;
  let claiming: Promise<void> | undefined;
  /** The last job was a suspect: others have their turn before the next one. */
  let suspectLast = false;
  let check: ChangeCheck | undefined;
  let beats: NodeJS.Timeout | undefined;
  let alarm: NodeJS.Timeout | undefined;
  const seen = new Map<string, { beat: number; since: number }>();
  /** When this executor itself has last beaten. */
  let beaten = performance.now();

  function wake(): void {
    ringed = true;
    claiming ??= claimAll().finally(() => {
      claiming = undefined;
      // Rung between its last look and here.
      if (ringed && !state.stopping) wake();
    });
  }

  /** Claims as long as there are free slots and something to take. */
  async function claimAll(): Promise<void> {
    while (ringed && !state.stopping) {
      ringed = false;
      try {
        while (!state.stopping && running.size < slots && (await claimSome()));
        await setAlarm();
      } catch (err) {
        trouble.reportFailure(err, "no job could be claimed; trying again");
        setTimeout(wake, SECOND).unref();
      }
    }
  }

  async function claimSome(): Promise<boolean> {
    const now = iso(clock.now());
    if (!(await jobs.hasClaimable(now))) return false;
    if ([...running.values()].some(({ job }) => job.quarantined)) return false;
    const quarantined = suspectLast ? "skip" : running.size === 0 ? "isolate" : "drain";
    const limit = slots - running.size;
    const claimed = await commit((tx) => tx.jobs.claim(executor, { now, limit, limits, quarantined }));
    suspectLast = claimed.some((job) => job.quarantined);
    for (const job of claimed) {
      meter.jobClaimed(job.kind);
      run(job);
    }
    // A turn without suspects is enough of a turn, even where there was nothing else.
    if (claimed.length === 0 && quarantined === "skip" && running.size === 0) return jobs.hasClaimable(now);
    return claimed.length > 0;
  }

  function run(job: Job): void {
    const controller = new AbortController();
    const entry: Running = { job, controller, ended: Promise.resolve() };
    running.set(job.id, entry);
    entry.ended = carryOut(job, controller.signal).finally(() => {
      running.delete(job.id);
      wake();
    });
  }

  async function carryOut(job: Job, signal: AbortSignal): Promise<void> {
    let settled: JobResult;
    try {
      settled = await handler(job, {
        executor,
        signal,
        record: (change) =>
          commit(async (tx) => {
            const held = await tx.jobs.lockClaim(job, executor);
            if (held) await change(tx);
            return held;
          }).then((held) => {
            if (held) options.onChanged([job.runId]);
            return held;
          }),
      });
    } catch (err) {
      if (!isStorageUnavailable(err)) {
        await settleBroken(job, err);
        return;
      }
      log.warn({ err, ...lineOf(job) }, "the state could not be used; the job is given back");
      settled = again(job, 5 * SECOND);
    }
    try {
      const held = await commit((tx) => settle(tx, job, settled));
      if (!held) log.warn(lineOf(job), "the job was taken over by another executor: nothing was written");
      options.onChanged([job.runId]);
    } catch (err) {
      if (isStorageUnavailable(err)) {
        // It stays claimed by an executor that lives: without this nobody would ever take it over.
        log.warn({ err, ...lineOf(job) }, "the end of a job could not be written; it is given back");
        await giveBack(job);
      } else {
        await settleBroken(job, err);
      }
    }
  }

  /** Marks the attempts that an executor leaves behind, all or those of one unit. */
  async function interrupt(tx: EngineWriters, of: string, unit?: StepRef): Promise<void> {
    const at = iso(clock.now());
    await options.onAbandoned(tx, await tx.runs.interruptAttempts(of, at, unit), at);
  }

  function again(job: Job, pause: number): JobResult {
    const now = clock.now();
    return {
      kind: "retry",
      dueAt: iso(now + pause),
      attempt: job.attempt + 1,
      retryCount: job.retryCount,
      change: (tx) => interrupt(tx, executor, job),
    };
  }

  /** Settles what failed as nothing should; where that fails too, the job is given back. */
  async function settleBroken(job: Job, thrown: unknown): Promise<void> {
    log.error({ err: thrown, ...lineOf(job) }, "a job failed in a way that none should; its run fails");
    try {
      const settled = await options.onUnexpectedError(job, thrown);
      await commit((tx) => settle(tx, job, settled));
      options.onChanged([job.runId]);
    } catch (err) {
      log.error({ err, ...lineOf(job) }, "that could not be written either; the job is given back");
      await giveBack(job);
    }
  }

  async function settle(
    tx: Parameters<JobResult["change"]>[0],
    job: Job,
    settled: JobResult,
  ): Promise<boolean> {
    const held =
      settled.kind === "complete"
        ? await tx.jobs.complete(job, executor)
        : await tx.jobs.release(job, executor, settled);
    if (held) await settled.change(tx);
    return held;
  }

  /** Until it succeeds: the disk may be full for a while. */
  async function giveBack(job: Job): Promise<void> {
    for (let wait = SECOND; !state.stopping; wait = Math.min(wait * 2, LONGEST_PAUSE_MS)) {
      try {
        await commit((tx) => settle(tx, job, again(job, SECOND)));
        return;
      } catch (err) {
        trouble.reportFailure(err, "a job could not be given back; trying again");
      }
      await new Promise((resolve) => setTimeout(resolve, wait).unref());
    }
  }

  /** Sleeps until the next job that waits for its time is due. */
  async function setAlarm(): Promise<void> {
    const due = await jobs.nextDueAt();
    clearTimeout(alarm);
    if (due === null) return;
    alarm = setTimeout(wake, Math.min(Math.max(Date.parse(due) - clock.now(), 1), LONGEST_SLEEP_MS)).unref();
  }

  /** Tells attempts whose run was stopped to end. */
  async function look(): Promise<void> {
    const ids = [...new Set([...running.values()].map(({ job }) => job.runId))];
    if (ids.length === 0) return;
    for (const { id, stop } of await runs.getStatusSummaries(ids)) {
      if (stop === null) continue;
      for (const { job, controller } of running.values()) {
        if (job.runId === id && job.kind === "step") controller.abort(stopped(stop));
      }
    }
  }

  async function onChange(): Promise<void> {
    wake();
    await look();
  }

  async function heartbeat(): Promise<void> {
    await commit((tx) => tx.jobs.heartbeat(executor, iso(clock.now())));
    trouble.reportRecovery();
    const now = performance.now();
    // Who could not beat itself, for want of a lock or of room on the disk, can't tell whether others could.
    if (now - beaten > leaseMs / 2) seen.clear();
    beaten = now;
    const alive = await jobs.executors();
    for (const id of seen.keys()) if (!alive.some((one) => one.id === id)) seen.delete(id);
    for (const one of alive) {
      if (one.id === executor) continue;
      const before = seen.get(one.id);
      if (before === undefined || before.beat !== one.heartbeats) {
        seen.set(one.id, { beat: one.heartbeats, since: now });
      } else if (now - before.since >= leaseMs) {
        seen.delete(one.id);
        await takeOver(one);
      }
    }
    // Nothing waits longer than this for a bell that was not heard.
    wake();
  }

  async function takeOver(dead: ExecutorRecord): Promise<void> {
    const count = await commit(async (tx) => {
      const reclaimed = await tx.jobs.reclaim(dead.id, dead);
      if (reclaimed !== undefined) await interrupt(tx, dead.id);
      return reclaimed;
    });
    if (count === undefined) return;
    meter.jobsReclaimed("lease", count);
    log.warn({ dead_executor: dead.id, jobs: count }, "an executor has died: its jobs were taken over");
    wake();
  }

  return {
    executor,
    wake,
    heartbeat,

    async start() {
      await heartbeat();
      check = checkOnChange(options.changes, onChange, (err) =>
        trouble.reportFailure(err, "stopped runs could not be looked for"),
      );
      const every = leaseMs / 4;
      beats = setInterval(() => {
        heartbeat().catch((err: unknown) => trouble.reportFailure(err, "the executor could not beat"));
      }, every).unref();
      wake();
    },

    async waitUntilIdle() {
      for (;;) {
        await claiming;
        await allEnded(running);
        const nothing = running.size === 0 && claiming === undefined;
        if (nothing && (state.stopping || !(await jobs.hasClaimable(iso(clock.now()))))) return;
        wake();
      }
    },

    async stop(graceMs) {
      state.stopping = true;
      clearTimeout(alarm);
      await claiming;
      await Promise.race([allEnded(running), sleep(graceMs)]);
      for (const { controller } of running.values()) {
        controller.abort(new StepError("interrupted", "The executor was stopped while the step ran."));
      }
      await Promise.race([allEnded(running), sleep(GIVEN_UP_MS)]);
      check?.stop();
      clearInterval(beats);
      await commit(async (tx) => {
        // Whatever would not end, or could not be given back, is taken over at once, not after a lease.
        await tx.jobs.reclaim(executor);
        await interrupt(tx, executor);
      });
    },
  };
}

function stopped(
  stop: NonNullable<Awaited<ReturnType<RunReader["getStatusSummaries"]>>[number]["stop"]>,
): StepError {
  return stop.status === "cancelled"
    ? new StepError("cancelled", "The run was cancelled.")
    : new StepError("cancelled", `The run was stopped: ${stop.error.message}`);
}

/** A job as lines of the log name it. */
const lineOf = (job: Job) => ({ ...stepRefLogFields(job), job: job.kind, attempt: job.attempt });

const allEnded = (running: ReadonlyMap<number, Running>): Promise<unknown> =>
  Promise.all([...running.values()].map(({ ended }) => ended));

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());

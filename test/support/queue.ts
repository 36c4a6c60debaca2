/** Executors in this process that can be paused like a process, and a manual monotonic clock. */
import { pino } from "pino";
import { onTestFinished, vi } from "vitest";
import type { Clock } from "../../src/core/clock.ts";
import { type Meter, noMeter } from "../../src/core/meter.ts";
import type { Job, NewJob } from "../../src/core/model.ts";
import { jobWorker } from "../../src/queue/worker.ts";
import type { OnUnexpectedError, JobResult, JobHandler } from "../../src/queue/types.ts";
import { testEngine } from "./engine.ts";

/** Longer than any test, so that no heartbeat is sent by itself. */
export const LEASE_MS = 100_000;

interface Options {
  slots?: number;
  /** The result of a job whose handler throws; by default it completes without a change. */
  onUnexpectedError?: OnUnexpectedError;
  meter?: Meter;
  /** Default: that of the engine. */
  clock?: Clock;
}

export async function testQueues({ limits = new Map<string, number>() } = {}) {
  const harness = await testEngine();
  const now = performance.now.bind(performance);
  let advancedBy = 0;
  const spy = vi.spyOn(performance, "now").mockImplementation(() => now() + advancedBy);
  onTestFinished(() => spy.mockRestore());
  let executors = 0;

  /** Starts an executor. While it is paused, its writes wait, as if its process were stopped. */
  async function executor(
    handler: JobHandler,
    {
      slots = 4,
      onUnexpectedError = async () => completed(),
      meter = noMeter,
      clock = harness.clock,
    }: Options = {},
  ) {
    executors += 1;
    let paused: PromiseWithResolvers<void> | undefined;
    const queue = jobWorker({
      executor: `exe_${executors}`,
      async transaction(change) {
        await paused?.promise;
        return harness.transaction(change);
      },
      jobs: harness.read.jobs,
      runs: harness.read.runs,
      clock,
      log: pino({ level: "silent" }),
      meter,
      handler,
      onUnexpectedError,
      onAbandoned: () => Promise.resolve(),
      slots,
      leaseMs: LEASE_MS,
      limits,
      changes: harness.changes,
      onChanged: () => {},
    });
    await queue.start();
    const resume = (): void => {
      paused?.resolve();
      paused = undefined;
    };
    onTestFinished(async () => {
      resume();
      await queue.stop(0);
    });
    return { ...queue, pause: () => void (paused ??= Promise.withResolvers<void>()), resume };
  }

  return {
    ...harness,
    executor,
    add: (stepId: string, fields: Partial<NewJob> = {}) =>
      harness.transaction((tx) => tx.jobs.add({ ...NEW_JOB, stepId, ...fields })),
    /** Lets an executor die that has claimed all jobs. */
    crash: () =>
      harness.transaction(async (tx) => {
        const options = { now: harness.now(), limit: 100, limits, quarantined: "skip" } as const;
        await tx.jobs.claim("exe_crashed", options);
        await tx.jobs.reclaim("exe_crashed");
      }),
    /** Advances the monotonic clock. */
    advanceMonotonic: (ms: number) => void (advancedBy += ms),
    /** Sends heartbeats of `observer` for slightly longer than a lease, so that it reclaims the jobs of silent executors. */
    async expireLeases(observer: { heartbeat(): Promise<void> }): Promise<void> {
      for (let quarter = 0; quarter < 5; quarter += 1) {
        await observer.heartbeat();
        advancedBy += LEASE_MS / 4;
      }
      await observer.heartbeat();
    },
    jobRows: () => harness.store.read.selectFrom("jobs").selectAll().orderBy("id").execute(),
  };
}

const NEW_JOB: NewJob = {
  runId: "run_1",
  stepId: "a",
  item: null,
  kind: "step",
  priority: 0,
  dueAt: null,
  resource: null,
  attempt: 1,
  retryCount: 0,
};

export const completed = (change: JobResult["change"] = () => Promise.resolve()): JobResult => ({
  kind: "complete",
  change,
});

/** A handler that runs until the test ends it, or it is aborted. */
export function manualHandler() {
  const started: Job[] = [];
  const running = new Map<string, (result: JobResult) => void>();
  const handler: JobHandler = (job, { signal }) =>
    new Promise((resolve) => {
      started.push(job);
      running.set(job.stepId, resolve);
      signal.addEventListener("abort", () => {
        const { attempt, retryCount } = job;
        resolve({
          kind: "retry",
          dueAt: null,
          attempt: attempt + 1,
          retryCount,
          change: () => Promise.resolve(),
        });
      });
    });
  return {
    handler,
    /** The steps whose jobs were started, in order. */
    started: () => started.map((job) => job.stepId),
    end: (stepId: string, result = completed()) => running.get(stepId)!(result),
  };
}

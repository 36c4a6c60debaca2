/** Executors in this process that can be paused like a process, and a manual monotonic clock. */
import { pino } from "pino";
import { onTestFinished, vi } from "vitest";
import { type Meter, noMeter } from "../../src/core/meter.ts";
import type { Job, NewJob } from "../../src/core/model.ts";
import { jobWorker } from "../../src/queue/worker.ts";
import type { OnUnexpectedError, JobResult, JobHandler } from "../../src/queue/types.ts";
import { testEngine } from "./engine.ts";

/** Longer than any test, so that no heartbeat is sent by itself. */
export const LEASE_MS = 100_000;

interface Options {
  slots?: number;
  /** The result of a job whose handler throws; none by default. */
  broken?: OnUnexpectedError;
  meter?: Meter;
}

export async function testQueues({ limits = new Map<string, number>() } = {}) {
  const it = await testEngine();
  const now = performance.now.bind(performance);
  let ahead = 0;
  const spy = vi.spyOn(performance, "now").mockImplementation(() => now() + ahead);
  onTestFinished(() => spy.mockRestore());
  let count = 0;

  /** Starts an executor. While it is paused, its writes wait, as if its process were stopped. */
  async function executor(
    handler: JobHandler,
    { slots = 4, broken: onUnexpectedError = settledAs(), meter = noMeter }: Options = {},
  ) {
    count += 1;
    let held: PromiseWithResolvers<void> | undefined;
    const queue = jobWorker({
      executor: `exe_${count}`,
      async transaction(change) {
        await held?.promise;
        return it.transaction(change);
      },
      jobs: it.read.jobs,
      runs: it.read.runs,
      clock: it.clock,
      log: pino({ level: "silent" }),
      meter,
      handler,
      onUnexpectedError,
      onAbandoned: () => Promise.resolve(),
      slots,
      leaseMs: LEASE_MS,
      limits,
      changes: it.changes,
      onChanged: () => {},
    });
    await queue.start();
    const resume = (): void => {
      held?.resolve();
      held = undefined;
    };
    onTestFinished(async () => {
      resume();
      await queue.stop(0);
    });
    return { ...queue, hold: () => void (held ??= Promise.withResolvers<void>()), resume };
  }

  return {
    ...it,
    executor,
    add: (stepId: string, more: Partial<NewJob> = {}) =>
      it.transaction((tx) => tx.jobs.add({ ...NEW_JOB, stepId, ...more })),
    /** Advances the monotonic clock. */
    pass: (ms: number) => void (ahead += ms),
    /** Lets `observer` watch the others for slightly longer than a lease. */
    async watch(observer: { heartbeat(): Promise<void> }): Promise<void> {
      for (let part = 0; part < 5; part += 1) {
        await observer.heartbeat();
        ahead += LEASE_MS / 4;
      }
      await observer.heartbeat();
    },
    rowsOf: () => it.store.read.selectFrom("jobs").selectAll().orderBy("id").execute(),
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

const settledAs = (): OnUnexpectedError => () => Promise.resolve(completed());

/** A handler that runs until the test ends it, or it is aborted. */
export function manualHandler() {
  const begun: Job[] = [];
  const running = new Map<string, (settled: JobResult) => void>();
  const work: JobHandler = (job, { signal }) =>
    new Promise((resolve) => {
      begun.push(job);
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
    work,
    /** The steps whose jobs were started, in order. */
    begun: () => begun.map((job) => job.stepId),
    end: (stepId: string, settled = completed()) => running.get(stepId)!(settled),
  };
}

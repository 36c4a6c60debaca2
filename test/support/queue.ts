/** Executors in this process that can be held as a process can, and a monotonic clock that is turned by hand. */
import { pino } from "pino";
import { onTestFinished, vi } from "vitest";
import { type Meter, noMeter } from "../../src/core/meter.ts";
import { type Job, NO_ITEM, type NewJob } from "../../src/core/run-ports.ts";
import { sqliteQueue } from "../../src/queue/sqlite.ts";
import type { Broken, Settled, Work } from "../../src/queue/types.ts";
import { testEngine } from "./engine.ts";

/** So long that no beat comes by itself while a test runs. */
export const LEASE_MS = 100_000;

interface Options {
  slots?: number;
  /** What a job comes to whose work has a bug; nothing unless it says so. */
  broken?: Broken;
  meter?: Meter;
}

export async function testQueues({ limits = new Map<string, number>() } = {}) {
  const it = await testEngine();
  const now = performance.now.bind(performance);
  let ahead = 0;
  const spy = vi.spyOn(performance, "now").mockImplementation(() => now() + ahead);
  onTestFinished(() => spy.mockRestore());
  let count = 0;

  /** Starts an executor. Held, nothing that it writes gets through, as if its process were stopped. */
  async function executor(work: Work, { slots = 4, broken = settledAs(), meter = noMeter }: Options = {}) {
    count += 1;
    let held: PromiseWithResolvers<void> | undefined;
    const queue = sqliteQueue({
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
      work,
      broken,
      onLeft: () => Promise.resolve(),
      slots,
      leaseMs: LEASE_MS,
      limits,
      dataVersion: () => it.store.dataVersion(),
      pollMs: 10,
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
    /** Lets the monotonic clock go on. */
    pass: (ms: number) => void (ahead += ms),
    /** Lets `observer` watch the others for a lease, and a little more. */
    async watch(observer: { beat(): Promise<void> }): Promise<void> {
      for (let part = 0; part < 5; part += 1) {
        await observer.beat();
        ahead += LEASE_MS / 4;
      }
      await observer.beat();
    },
    rowsOf: () => it.store.read.selectFrom("jobs").selectAll().orderBy("id").execute(),
  };
}

const NEW_JOB: NewJob = {
  runId: "run_1",
  stepId: "a",
  item: NO_ITEM,
  kind: "step",
  priority: 0,
  dueAt: null,
  resource: null,
  attempt: 1,
  tries: 1,
};

export const done = (change: Settled["change"] = () => Promise.resolve()): Settled => ({
  kind: "done",
  change,
});

const settledAs = (): Broken => () => Promise.resolve(done());

/** Work that goes on until the test ends it, or it is told to end. */
export function slowWork() {
  const begun: Job[] = [];
  const running = new Map<string, (settled: Settled) => void>();
  const work: Work = (job, { signal }) =>
    new Promise((resolve) => {
      begun.push(job);
      running.set(job.stepId, resolve);
      signal.addEventListener("abort", () => {
        const { attempt, tries } = job;
        resolve({ kind: "again", dueAt: null, attempt: attempt + 1, tries, change: () => Promise.resolve() });
      });
    });
  return {
    work,
    /** The steps whose jobs were begun, in order. */
    begun: () => begun.map((job) => job.stepId),
    end: (stepId: string, settled = done()) => running.get(stepId)!(settled),
  };
}

import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SECOND } from "../../src/core/clock.ts";
import type { JobReader, JobWriter } from "../../src/core/job-ports.ts";
import type { Job } from "../../src/core/model.ts";
import type { EngineWriters } from "../../src/core/run-ports.ts";
import type { StorageHealth } from "../../src/core/storage-health.ts";
import type { JobWorkerOptions } from "../../src/queue/types.ts";
import { jobWorker } from "../../src/queue/worker.ts";
import { completed } from "../support/queue.ts";
import { claimedJob } from "../support/run-records.ts";

const LEASE_MS = 1_000_000;
const NOW = Date.parse("2026-11-21T08:00:00.000Z");

const JOB = claimedJob();

/** A worker whose store does what the test says, on timers that the test advances. */
async function openWorker(overrides: Partial<JobWorkerOptions> = {}) {
  const state = { failing: false, overdue: false, claims: 0, dueLookups: 0 };
  const changed = new Set<() => void>();
  const fail = <T>(value: T): Promise<T> =>
    state.failing ? Promise.reject(new Error("disk I/O error")) : Promise.resolve(value);
  /** The jobs that the next claims find, and what the worker did. */
  const ready: Job[] = [];
  const jobs = {
    heartbeat: vi.fn<JobWriter["heartbeat"]>(() => fail(undefined)),
    claim: vi.fn<JobWriter["claim"]>(async (_, { limit }) => ready.splice(0, limit)),
    complete: vi.fn<JobWriter["complete"]>(async () => true),
    claimSuccessor: vi.fn<JobWriter["claimSuccessor"]>(async () => undefined),
    readyLeft: () => 0,
    release: vi.fn<JobWriter["release"]>(async () => true),
    reclaim: vi.fn<JobWriter["reclaim"]>(async () => 0),
    dropChangedRates: vi.fn<JobWriter["dropChangedRates"]>(async () => {}),
  };
  const interruptAttempts = vi.fn<EngineWriters["runs"]["interruptAttempts"]>(async () => []);
  const hasClaimable = vi.fn<JobReader["hasClaimable"]>((_, options) => {
    state.claims += 1;
    return fail(options?.stopping !== true && ready.length > 0);
  });
  const getStatusSummaries = vi.fn<JobWorkerOptions["runs"]["getStatusSummaries"]>(() => fail([]));
  const onAbandoned = vi.fn<JobWorkerOptions["onAbandoned"]>(async () => {});
  const health = {
    reportFailure: vi.fn<StorageHealth["reportFailure"]>(),
    reportRecovery: vi.fn<StorageHealth["reportRecovery"]>(),
  };
  const tx = { jobs, runs: { interruptAttempts } } as unknown as EngineWriters;
  const worker = jobWorker({
    executor: "exe_1",
    transaction: (work) => work(tx),
    jobs: {
      hasClaimable,
      nextDueAt: () => {
        state.dueLookups += 1;
        return Promise.resolve(state.overdue ? new Date(0).toISOString() : null);
      },
      executors: () => fail([]),
      claimedBy: () => Promise.resolve([]),
      queueHeads: () => Promise.resolve([]),
      oldestReadyAt: () => Promise.resolve(null),
      depth: () => Promise.resolve({ ready: 0, later: 0, claimed: 0 }),
    },
    runs: { getStatusSummaries },
    clock: { now: () => NOW },
    log: pino({ level: "silent" }),
    storageHealth: health,
    handler: () => Promise.resolve(completed()),
    onUnexpectedError: () => Promise.resolve(completed()),
    onAbandoned,
    onChanged: () => {},
    slots: 1,
    leaseMs: LEASE_MS,
    limits: new Map(),
    changes: {
      subscribe(listener) {
        changed.add(listener);
        return () => changed.delete(listener);
      },
    },
    ...overrides,
  });
  await worker.start();
  return {
    worker,
    state,
    changed,
    change: () => changed.forEach((listener) => listener()),
    ready,
    ...jobs,
    tx,
    interruptAttempts,
    hasClaimable,
    getStatusSummaries,
    onAbandoned,
    health,
  };
}

beforeEach(
  () => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] }),
);
afterEach(() => void vi.useRealTimers());

/** Lets everything happen that needs no timer. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) {
    await vi.advanceTimersByTimeAsync(0);
    await new Promise(setImmediate);
  }
}

describe("a worker", () => {
  it("tries once a second to claim while the store fails, however many changes came before", async () => {
    const { state, change, health } = await openWorker();
    state.failing = true;
    for (let i = 0; i < 20; i += 1) {
      change();
      await vi.advanceTimersByTimeAsync(10);
    }
    await vi.advanceTimersByTimeAsync(3_000);
    state.claims = 0;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(state.claims).toBeGreaterThanOrEqual(9);
    expect(state.claims).toBeLessThanOrEqual(11);
    expect(health.reportFailure).toHaveBeenCalledWith(expect.any(Error), "jobs not claimed, trying again");
    state.failing = false;
    await vi.advanceTimersByTimeAsync(1_000);
    state.claims = 0;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(state.claims).toBe(0);
  });

  it("does not wait for a timer while it has no free slot", async () => {
    const { worker, state } = await openWorker({ slots: 0 });
    state.overdue = true;
    worker.wake();
    await vi.advanceTimersByTimeAsync(100);
    expect(state.dueLookups).toBe(0);
  });

  it("looks only for jobs that stop work while it has no free slot", async () => {
    const { worker, hasClaimable } = await openWorker({ slots: 0 });
    hasClaimable.mockClear();
    worker.wake();
    await settle();
    expect(hasClaimable.mock.calls).toEqual([["2026-11-21T08:00:00.000Z", { stopping: true, timed: true }]]);
  });

  it("claims with the limits, the rates and the priority of its configuration", async () => {
    const [limits, rates] = [new Map([["http:a", 2]]), new Map([["http:a", 1_000]])];
    const { worker, ready, claim } = await openWorker({ limits, rates, maxPriority: 3, slots: 2 });
    ready.push(JOB);
    worker.wake();
    await settle();
    expect(claim.mock.calls[0]).toEqual([
      "exe_1",
      expect.objectContaining({ now: "2026-11-21T08:00:00.000Z", limits, rates, maxPriority: 3, limit: 2 }),
    ]);
  });

  it("sets its timer to the next job that becomes due, and claims then", async () => {
    const { worker, hasClaimable, state } = await openWorker({ slots: 2 });
    await settle();
    expect(state.dueLookups).toBeGreaterThan(0);
    state.dueLookups = 0;
    hasClaimable.mockClear();
    state.overdue = true;
    worker.wake();
    await settle();
    expect(state.dueLookups).toBe(1);
    state.overdue = false;
    hasClaimable.mockClear();
    await vi.advanceTimersByTimeAsync(1);
    await settle();
    expect(hasClaimable).toHaveBeenCalledOnce();
  });

  it("claims nothing beside an isolated job", async () => {
    const end = Promise.withResolvers<void>();
    const { worker, ready, claim } = await openWorker({
      slots: 4,
      handler: async () => {
        await end.promise;
        return completed();
      },
    });
    ready.push({ ...JOB, quarantined: true });
    worker.wake();
    await settle();
    expect(claim).toHaveBeenCalledOnce();
    ready.push({ ...JOB, id: 2 });
    worker.wake();
    await settle();
    expect(claim).toHaveBeenCalledOnce();
    end.resolve();
    await settle();
    expect(claim.mock.calls.length).toBeGreaterThan(1);
    expect(ready).toEqual([]);
  });

  it("claims a quarantined job after one that left all others nothing to do", async () => {
    const { worker, ready, claim } = await openWorker();
    ready.push({ ...JOB, quarantined: true });
    claim.mockImplementation(async (_, { quarantined }) =>
      quarantined === "skip" ? [] : ready.splice(0, 1),
    );
    worker.wake();
    await settle();
    ready.push({ ...JOB, id: 2, quarantined: true });
    worker.wake();
    await settle();
    expect(ready).toEqual([]);
  });

  it("drops the rates that have changed when it starts, if there are any", async () => {
    const rates = new Map([["http:a", 1_000]]);
    expect((await openWorker({ rates })).dropChangedRates).toHaveBeenCalledExactlyOnceWith(rates);
    expect((await openWorker()).dropChangedRates).not.toHaveBeenCalled();
  });

  it("runs jobs until none is claimable, and is idle then", async () => {
    const handled: number[] = [];
    const { worker, ready, complete } = await openWorker({
      handler: async (job) => {
        handled.push(job.id);
        return completed();
      },
    });
    for (const id of [1, 2, 3]) ready.push({ ...JOB, id });
    await worker.waitUntilIdle();
    expect(handled).toEqual([1, 2, 3]);
    expect(complete).toHaveBeenCalledTimes(3);
  });

  it("claims after each change of the store, and once more when one comes during a claim", async () => {
    const { change, hasClaimable } = await openWorker();
    await settle();
    hasClaimable.mockClear();
    change();
    await settle();
    expect(hasClaimable).toHaveBeenCalledTimes(1);
    const claimed = Promise.withResolvers<boolean>();
    hasClaimable.mockImplementationOnce(() => claimed.promise);
    change();
    await settle();
    change();
    change();
    claimed.resolve(false);
    await settle();
    expect(hasClaimable).toHaveBeenCalledTimes(3);
  });
});

describe("the heartbeat of a worker", () => {
  it("is sent at the start, then four times per lease, until it stops", async () => {
    const { worker, heartbeat } = await openWorker();
    expect(heartbeat).toHaveBeenCalledExactlyOnceWith("exe_1", "2026-11-21T08:00:00.000Z", {
      clockOffset: undefined,
      running: [],
    });
    await vi.advanceTimersByTimeAsync(LEASE_MS);
    expect(heartbeat).toHaveBeenCalledTimes(5);
    await worker.stop(0);
    await vi.advanceTimersByTimeAsync(LEASE_MS);
    expect(heartbeat).toHaveBeenCalledTimes(5);
  });

  it("that fails is reported, and the next one is sent", async () => {
    const { state, heartbeat, health } = await openWorker();
    state.failing = true;
    await vi.advanceTimersByTimeAsync(LEASE_MS / 4);
    expect(health.reportFailure).toHaveBeenCalledWith(expect.any(Error), "heartbeat not sent");
    state.failing = false;
    health.reportRecovery.mockClear();
    await vi.advanceTimersByTimeAsync(LEASE_MS / 4);
    expect(heartbeat).toHaveBeenCalledTimes(3);
    expect(health.reportRecovery).toHaveBeenCalledOnce();
  });

  it("makes the worker claim, in case the change feed has missed a change", async () => {
    const { ready, claim } = await openWorker();
    await settle();
    ready.push(JOB);
    await settle();
    expect(claim).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(LEASE_MS / 4);
    await settle();
    expect(claim).toHaveBeenCalledOnce();
  });
});

describe("a worker that stops", () => {
  it("gives its jobs back, ends its attempts, and leaves no timer and no subscription", async () => {
    const { worker, change, changed, state, reclaim, interruptAttempts, onAbandoned, tx } =
      await openWorker();
    const abandoned = [
      {
        runId: "run_1",
        stepId: "a",
        item: null,
        attempt: 1,
        startedAt: "2026-11-21T07:00:00.000Z",
        effectKey: null,
      },
    ];
    interruptAttempts.mockResolvedValue(abandoned);
    state.failing = true;
    change();
    await settle();
    state.failing = false;
    expect(vi.getTimerCount()).toBeGreaterThan(1);
    await worker.stop(0);
    expect(reclaim).toHaveBeenCalledExactlyOnceWith("exe_1");
    expect(interruptAttempts).toHaveBeenCalledExactlyOnceWith("exe_1", "2026-11-21T08:00:00.000Z", undefined);
    expect(onAbandoned).toHaveBeenCalledExactlyOnceWith(tx, abandoned, "2026-11-21T08:00:00.000Z");
    expect(changed.size).toBe(0);
    state.claims = 0;
    worker.wake();
    await vi.advanceTimersByTimeAsync(LEASE_MS);
    expect(state.claims).toBe(0);
    await worker.waitUntilIdle();
  });

  it("lets its jobs end in time, then aborts them, and leaves behind those that ignore it", async () => {
    const signals: AbortSignal[] = [];
    const { worker, ready, reclaim } = await openWorker({
      handler: (_, { signal }) => {
        signals.push(signal);
        return new Promise(() => {});
      },
    });
    ready.push(JOB);
    worker.wake();
    await settle();
    const stopped = vi.fn<() => void>();
    const stopping = worker.stop(5 * SECOND).then(stopped);
    await vi.advanceTimersByTimeAsync(5 * SECOND - 1);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    await vi.advanceTimersByTimeAsync(1);
    expect(signals[0]!.reason).toMatchObject({
      code: "interrupted",
      message: "The executor was stopped while the step ran.",
    });
    await vi.advanceTimersByTimeAsync(2 * SECOND - 1);
    expect(stopped).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await stopping;
    expect(reclaim).toHaveBeenCalledOnce();
  });
});

describe("the check for stopped runs", () => {
  it("runs after changes while there are jobs, and is tried again when it fails", async () => {
    const { worker, ready, change, state, getStatusSummaries, health } = await openWorker({
      handler: () => new Promise(() => {}),
    });
    ready.push(JOB);
    worker.wake();
    await settle();
    change();
    await settle();
    expect(getStatusSummaries).toHaveBeenCalledWith(["run_1"]);
    state.failing = true;
    change();
    await settle();
    expect(health.reportFailure).toHaveBeenCalledWith(
      expect.any(Error),
      "stopped runs not checked, trying again",
    );
  });
});

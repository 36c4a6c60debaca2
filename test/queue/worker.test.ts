import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { EngineWriters } from "../../src/core/run-ports.ts";
import { jobWorker } from "../../src/queue/worker.ts";
import { completed } from "../support/queue.ts";

/** A worker whose store can be made to fail, on timers that the test advances. */
async function openWorker({ slots = 1 } = {}) {
  const state = { failing: false, overdue: false, claims: 0, dueLookups: 0 };
  const changed = new Set<() => void>();
  const fail = <T>(value: T): Promise<T> =>
    state.failing ? Promise.reject(new Error("disk I/O error")) : Promise.resolve(value);
  const writers = { jobs: { heartbeat: () => fail(undefined) } };
  const worker = jobWorker({
    executor: "exe_1",
    transaction: (work) => work(writers as unknown as EngineWriters),
    jobs: {
      hasClaimable: () => {
        state.claims += 1;
        return fail(false);
      },
      nextDueAt: () => {
        state.dueLookups += 1;
        return Promise.resolve(state.overdue ? new Date(0).toISOString() : null);
      },
      executors: () => fail([]),
      oldestReadyAt: () => Promise.resolve(null),
      depth: () => Promise.resolve({ ready: 0, later: 0, claimed: 0 }),
    },
    runs: { getStatusSummaries: () => fail([]) },
    clock: { now: () => Date.now() },
    log: pino({ level: "silent" }),
    handler: () => Promise.resolve(completed()),
    onUnexpectedError: () => Promise.resolve(completed()),
    onAbandoned: () => Promise.resolve(),
    onChanged: () => {},
    slots,
    leaseMs: 1_000_000,
    limits: new Map(),
    changes: {
      subscribe(listener) {
        changed.add(listener);
        return () => changed.delete(listener);
      },
    },
  });
  await worker.start();
  return { worker, state, change: () => changed.forEach((listener) => listener()) };
}

describe("a worker", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval"] }));
  afterEach(() => void vi.useRealTimers());

  it("tries once a second to claim while the store fails, however many changes came before", async () => {
    const { state, change } = await openWorker();
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
  });

  it("does not wait for a timer while it has no free slot", async () => {
    const { worker, state } = await openWorker({ slots: 0 });
    state.overdue = true;
    worker.wake();
    await vi.advanceTimersByTimeAsync(100);
    expect(state.dueLookups).toBe(0);
  });
});

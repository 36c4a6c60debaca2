import { pino } from "pino";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { ClockCheck } from "../../src/core/clock-check.ts";
import { AppError } from "../../src/core/errors.ts";
import type { ExecutorRecord, JobWriter } from "../../src/core/job-ports.ts";
import type { EngineWriters } from "../../src/core/run-ports.ts";
import { leases } from "../../src/queue/leases.ts";
import type { InterruptAttempts } from "../../src/queue/types.ts";

const LEASE_MS = 10_000;
const NOW = "2026-11-21T08:00:00.000Z";

let monotonic: number;
beforeEach(() => {
  monotonic = 5_000;
  const spy = vi.spyOn(performance, "now").mockImplementation(() => monotonic);
  onTestFinished(() => spy.mockRestore());
});

/** The leases of `exe_own`, over executors that the test changes. */
function observer({ others = [], clockCheck }: { others?: ExecutorRecord[]; clockCheck?: ClockCheck } = {}) {
  const present = new Map(others.map((record) => [record.id, record]));
  const heartbeat = vi.fn<JobWriter["heartbeat"]>(async (id) => {
    present.set(id, { id, heartbeats: (present.get(id)?.heartbeats ?? -1) + 1, clockOffset: null });
  });
  const reclaim = vi.fn<JobWriter["reclaim"]>(async (id) => (present.delete(id) ? 2 : undefined));
  const interruptAttempts = vi.fn<InterruptAttempts>(async () => {});
  const jobsReclaimed = vi.fn<(reason: string, jobs: number) => void>();
  const lines: Record<string, unknown>[] = [];
  const tx = { jobs: { heartbeat, reclaim } } as unknown as EngineWriters;
  const own = leases({
    executor: "exe_own",
    leaseMs: LEASE_MS,
    jobs: { executors: async () => [...present.values()] },
    running: () => [],
    commit: (change) => change(tx),
    interruptAttempts,
    clockCheck,
    clock: { now: () => Date.parse(NOW) },
    log: pino({ base: null }, { write: (line) => void lines.push(JSON.parse(line)) }),
    meter: { jobsReclaimed },
  });
  return {
    own,
    heartbeat,
    reclaim,
    interruptAttempts,
    jobsReclaimed,
    lines,
    tx,
    remove: (id: string) => present.delete(id),
    heartbeatOf: (id: string) => heartbeat(id, NOW),
    /** Sends own heartbeats, one every quarter of a lease, for `ms`. */
    async observe(ms: number) {
      for (let passed = 0; passed < ms; passed += LEASE_MS / 4) {
        monotonic += LEASE_MS / 4;
        await own.heartbeat();
      }
    },
  };
}

const OTHER: ExecutorRecord = { id: "exe_other", heartbeats: 7, clockOffset: null };

describe("leases", () => {
  it("record the own heartbeat at the time of the clock, and never reclaim the own jobs", async () => {
    const { own, heartbeat, reclaim, observe } = observer();
    await own.heartbeat();
    expect(heartbeat).toHaveBeenCalledExactlyOnceWith("exe_own", NOW, {
      clockOffset: undefined,
      running: [],
    });
    heartbeat.mockImplementation(async () => {});
    await observe(3 * LEASE_MS);
    expect(reclaim).not.toHaveBeenCalled();
  });

  it("expire when no new heartbeat has been observed for a full lease", async () => {
    const { own, reclaim, observe } = observer({ others: [OTHER] });
    await own.heartbeat();
    await observe(LEASE_MS * 0.75);
    expect(reclaim).not.toHaveBeenCalled();
    await observe(LEASE_MS * 0.25);
    expect(reclaim).toHaveBeenCalledExactlyOnceWith("exe_other", OTHER);
  });

  it("do not expire a millisecond early", async () => {
    const { own, reclaim } = observer({ others: [OTHER] });
    await own.heartbeat();
    for (const ms of [LEASE_MS / 2, LEASE_MS / 2 - 1]) {
      monotonic += ms;
      await own.heartbeat();
    }
    expect(reclaim).not.toHaveBeenCalled();
    monotonic += 1;
    await own.heartbeat();
    expect(reclaim).toHaveBeenCalledOnce();
  });

  it("start again with each heartbeat of the other executor", async () => {
    const { own, reclaim, observe, heartbeatOf } = observer({ others: [OTHER] });
    await own.heartbeat();
    for (let i = 0; i < 5; i += 1) {
      await observe(LEASE_MS / 2);
      await heartbeatOf("exe_other");
    }
    expect(reclaim).not.toHaveBeenCalled();
  });

  it("start again after an own heartbeat that was late by more than half a lease", async () => {
    const { own, reclaim, observe } = observer({ others: [OTHER] });
    await own.heartbeat();
    monotonic += 3 * LEASE_MS;
    await own.heartbeat();
    await observe(LEASE_MS / 2);
    expect(reclaim).not.toHaveBeenCalled();
    await observe(LEASE_MS / 2);
    expect(reclaim).toHaveBeenCalledOnce();
  });

  it("start again when an executor was removed and has come back with the same number of heartbeats", async () => {
    const { own, reclaim, observe, remove, heartbeatOf } = observer({
      others: [{ ...OTHER, heartbeats: 0 }],
    });
    await own.heartbeat();
    await observe(LEASE_MS / 2);
    remove("exe_other");
    await own.heartbeat();
    await heartbeatOf("exe_other");
    await observe(LEASE_MS / 2);
    expect(reclaim).not.toHaveBeenCalled();
  });
});

it("the clocks of executors that miss heartbeats do not count", async () => {
  const compare = vi.fn<ClockCheck["compare"]>();
  const { own, observe, heartbeatOf } = observer({
    others: [OTHER, { ...OTHER, id: "exe_ended" }],
    clockCheck: { measure: async () => 0, compare },
  });
  const compared = (): string[] => compare.mock.lastCall![1].map(({ id }) => id);
  await own.heartbeat();
  expect(compared()).toEqual(["exe_other", "exe_ended"]);
  await observe(LEASE_MS / 2);
  await heartbeatOf("exe_other");
  expect(compared()).toEqual(["exe_other", "exe_ended"]);
  await observe(LEASE_MS / 4);
  expect(compared()).toEqual(["exe_other"]);
});

describe("an expired lease", () => {
  it("interrupts the attempts in the same transaction, and is logged and metered", async () => {
    const { own, observe, tx, interruptAttempts, jobsReclaimed, lines } = observer({ others: [OTHER] });
    await own.heartbeat();
    await observe(LEASE_MS);
    expect(interruptAttempts).toHaveBeenCalledExactlyOnceWith(tx, "exe_other");
    expect(jobsReclaimed).toHaveBeenCalledExactlyOnceWith("lease", 2);
    expect(lines).toMatchObject([
      { level: 40, msg: "lease expired, jobs reclaimed", dead_executor: "exe_other", jobs: 2 },
    ]);
  });

  it("has no effect when another executor has reclaimed the jobs, or a heartbeat came in time", async () => {
    const { own, observe, reclaim, interruptAttempts, jobsReclaimed, lines } = observer({ others: [OTHER] });
    reclaim.mockResolvedValue(undefined);
    await own.heartbeat();
    await observe(LEASE_MS);
    expect(reclaim).toHaveBeenCalledOnce();
    expect(interruptAttempts).not.toHaveBeenCalled();
    expect(jobsReclaimed).not.toHaveBeenCalled();
    expect(lines).toEqual([]);
  });
});

describe("a heartbeat that fails", () => {
  it("rejects, judges no other executor, and counts as late", async () => {
    const { own, heartbeat, reclaim, observe } = observer({ others: [OTHER] });
    await own.heartbeat();
    heartbeat.mockRejectedValue(new AppError("storage_unavailable", "The disk is full."));
    monotonic += 2 * LEASE_MS;
    await expect(own.heartbeat()).rejects.toMatchObject({ code: "storage_unavailable" });
    expect(reclaim).not.toHaveBeenCalled();
    heartbeat.mockResolvedValue(undefined);
    await observe(LEASE_MS / 2);
    expect(reclaim).not.toHaveBeenCalled();
  });
});

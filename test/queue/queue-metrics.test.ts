import { describe, expect, it, vi } from "vitest";
import { SECOND } from "../../src/core/clock.ts";
import { type Meter, noMeter } from "../../src/core/meter.ts";
import { committer } from "../../src/queue/committer.ts";
import { testEngine } from "../support/engine.ts";
import { manualHandler, testQueues } from "../support/queue.ts";

describe("the age of the oldest ready job", () => {
  it("begins when it can be taken, not when it was made", async () => {
    const { add, read, clock, now, transaction } = await testQueues();
    expect(await read.jobs.oldestReadyAt()).toBeNull();
    const due = new Date(clock.now() + 60 * SECOND).toISOString();
    await add("waits", { dueAt: due });
    expect(await read.jobs.oldestReadyAt()).toBeNull();
    clock.advance(61 * SECOND);
    const options = { now: now(), limit: 0, limits: new Map(), quarantined: "skip" } as const;
    await transaction((tx) => tx.jobs.claim("exe_1", options));
    expect(await read.jobs.oldestReadyAt()).toBe(due);
    await add("made_later");
    expect(await read.jobs.oldestReadyAt()).toBe(due);
    expect(await read.jobs.depth()).toEqual({ ready: 2, later: 0, claimed: 0 });
  });

  it("begins anew when a job is given back or taken over, and ends when it is taken", async () => {
    const { add, read, clock, now, transaction } = await testQueues();
    await add("a");
    expect(await read.jobs.oldestReadyAt()).toBe(now());
    const claim = () =>
      transaction((tx) =>
        tx.jobs.claim("exe_1", { now: now(), limit: 1, limits: new Map(), quarantined: "isolate" }),
      );
    const [job] = await claim();
    expect(await read.jobs.oldestReadyAt()).toBeNull();
    clock.advance(SECOND);
    await transaction((tx) => tx.jobs.release(job!, "exe_1", { dueAt: null, attempt: 2, retryCount: 0 }));
    expect(await read.jobs.oldestReadyAt()).toBe(now());
    await claim();
    clock.advance(SECOND);
    await transaction((tx) => tx.jobs.reclaim("exe_1"));
    expect(await read.jobs.oldestReadyAt()).toBe(now());
  });
});

describe("what follows a commit", () => {
  it("comes once, after it, also where others in the same commit fail and it is done again", async () => {
    const { transaction } = await testEngine();
    const told: string[] = [];
    const { commit } = committer(transaction);
    const change = (name: string, fails = false) =>
      commit(async (tx) => {
        tx.onCommit(() => told.push(name));
        await tx.jobs.heartbeat(name, "2026-11-21T08:00:00.000Z");
        if (fails) throw new Error("no");
      });
    // The first goes alone; the others together, and the last of them brings all down.
    const results = await Promise.allSettled([change("a"), change("b"), change("c"), change("d", true)]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled", "rejected"]);
    expect(told).toEqual(["a", "b", "c"]);
  });
});

describe("an executor", () => {
  it("meters what it claims, and whose jobs it takes over after a lease", async () => {
    const it_ = await testQueues();
    const slow = manualHandler();
    const meter: Meter = {
      ...noMeter,
      jobClaimed: vi.fn<Meter["jobClaimed"]>(),
      jobsReclaimed: vi.fn<Meter["jobsReclaimed"]>(),
    };
    await it_.add("a");
    const dead = await it_.executor(slow.work);
    await vi.waitFor(() => expect(slow.begun()).toEqual(["a"]));
    dead.hold();
    const observer = await it_.executor(slow.work, { meter });
    await it_.watch(observer);
    await vi.waitFor(() => expect(slow.begun()).toEqual(["a", "a"]));
    expect(meter.jobsReclaimed).toHaveBeenCalledExactlyOnceWith("lease", 1);
    expect(meter.jobClaimed).toHaveBeenCalledExactlyOnceWith("step");
  });
});

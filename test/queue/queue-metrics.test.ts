import { describe, expect, it, vi } from "vitest";
import { untilPassing } from "../support/eventually.ts";
import { SECOND } from "../../src/core/clock.ts";
import { type Meter, noMeter } from "../../src/core/meter.ts";
import { committer } from "../../src/queue/committer.ts";
import { testEngine } from "../support/engine.ts";
import { manualHandler, testQueues } from "../support/queue.ts";

describe("the age of the oldest ready job", () => {
  it("begins when the job can be claimed, not when it was added", async () => {
    const { add, read, clock, now, transaction } = await testQueues();
    expect(await read.jobs.oldestReadyAt()).toBeNull();
    const due = new Date(clock.now() + 60 * SECOND).toISOString();
    await add("later", { dueAt: due });
    expect(await read.jobs.oldestReadyAt()).toBeNull();
    clock.advance(61 * SECOND);
    const options = { now: now(), limit: 0, limits: new Map(), quarantined: "skip" } as const;
    await transaction((tx) => tx.jobs.claim("exe_1", options));
    expect(await read.jobs.oldestReadyAt()).toBe(due);
    await add("newer");
    expect(await read.jobs.oldestReadyAt()).toBe(due);
    expect(await read.jobs.depth()).toEqual({ ready: 2, later: 0, claimed: 0 });
  });

  it("starts again when a job is released or reclaimed, and ends when it is claimed", async () => {
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

describe("a callback of `onCommit`", () => {
  it("runs once after the commit, also when another change fails and the batch is committed again", async () => {
    const { transaction } = await testEngine();
    const committed: string[] = [];
    const { commit } = committer(transaction);
    const change = (name: string, fails = false) =>
      commit(async (tx) => {
        tx.onCommit(() => committed.push(name));
        await tx.jobs.heartbeat(name, "2026-11-21T08:00:00.000Z");
        if (fails) throw new Error("no");
      });
    // The first is committed alone, the others together; the last one rolls their transaction back.
    const results = await Promise.allSettled([change("a"), change("b"), change("c"), change("d", true)]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled", "rejected"]);
    expect(committed).toEqual(["a", "b", "c"]);
  });
});

describe("an executor", () => {
  it("meters the jobs that it claims, and those that it reclaims after a lease", async () => {
    const harness = await testQueues();
    const slow = manualHandler();
    const meter: Meter = {
      ...noMeter,
      jobClaimed: vi.fn<Meter["jobClaimed"]>(),
      jobsReclaimed: vi.fn<Meter["jobsReclaimed"]>(),
    };
    await harness.add("a");
    const dead = await harness.executor(slow.handler);
    await untilPassing(() => expect(slow.started()).toEqual(["a"]));
    dead.pause();
    const observer = await harness.executor(slow.handler, { meter });
    await harness.expireLeases(observer);
    await untilPassing(() => expect(slow.started()).toEqual(["a", "a"]));
    expect(meter.jobsReclaimed).toHaveBeenCalledExactlyOnceWith("lease", 1);
    expect(meter.jobClaimed).toHaveBeenCalledExactlyOnceWith("step");
  });
});

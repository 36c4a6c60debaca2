import { describe, expect, it } from "vitest";
import type { Job } from "../../src/core/model.ts";
import { testQueues } from "../support/queue.ts";

type Queues = Awaited<ReturnType<typeof testQueues>>;

const claim = (
  it_: Queues,
  executor: string,
  options: { limit?: number; limits?: Map<string, number>; quarantined?: "isolate" | "drain" | "skip" } = {},
): Promise<Job[]> =>
  it_.transaction((tx) =>
    tx.jobs.claim(executor, {
      now: it_.now(),
      limit: 10,
      limits: new Map(),
      quarantined: "isolate",
      ...options,
    }),
  );
const steps = (jobs: readonly Job[]): string[] => jobs.map((job) => job.stepId);

describe("claiming", () => {
  it("takes what has priority, then what has waited longest, as many as asked for", async () => {
    const it_ = await testQueues();
    for (const [step, priority] of [
      ["a", 0],
      ["b", 5],
      ["c", 0],
      ["d", 5],
      ["e", -5],
    ] as const)
      await it_.add(step, { priority });
    expect(steps(await claim(it_, "exe_1", { limit: 3 }))).toEqual(["b", "d", "a"]);
    expect(steps(await claim(it_, "exe_2"))).toEqual(["c", "e"]);
    expect(steps(await claim(it_, "exe_3"))).toEqual([]);
  });

  it("takes nothing before its time", async () => {
    const it_ = await testQueues();
    const dueAt = new Date(it_.clock.now() + 1_000).toISOString();
    await it_.add("later", { dueAt, priority: 10 });
    await it_.add("now");
    expect(steps(await claim(it_, "exe_1"))).toEqual(["now"]);
    expect(await it_.read.jobs.hasClaimable(it_.now())).toBe(false);
    expect(await it_.read.jobs.nextDueAt()).toBe(dueAt);
    it_.clock.advance(1_000);
    expect(await it_.read.jobs.hasClaimable(it_.now())).toBe(true);
    expect(steps(await claim(it_, "exe_1"))).toEqual(["later"]);
  });

  it("leaves what has no room on its resource, over all executors, and takes what is behind it", async () => {
    const it_ = await testQueues();
    const limits = new Map([["database:shop", 2]]);
    for (const step of ["a", "b", "c"]) await it_.add(step, { resource: "database:shop" });
    for (const step of ["d", "e"]) await it_.add(step, { resource: "database:other" });
    await it_.add("f");
    const [first] = await claim(it_, "exe_1", { limit: 1, limits });
    expect(first!.stepId).toBe("a");
    expect(steps(await claim(it_, "exe_2", { limits }))).toEqual(["b", "d", "e", "f"]);
    expect(steps(await claim(it_, "exe_1", { limits }))).toEqual([]);
    await it_.transaction((tx) => tx.jobs.complete(first!, "exe_1"));
    expect(steps(await claim(it_, "exe_1", { limits }))).toEqual(["c"]);
  });

  it("takes a suspect alone, waits while there is one, or leaves it for a turn", async () => {
    const it_ = await testQueues();
    await it_.add("suspect");
    await claim(it_, "exe_1");
    await it_.transaction((tx) => tx.jobs.reclaim("exe_1"));
    await it_.add("other");
    expect(steps(await claim(it_, "exe_2", { quarantined: "drain" }))).toEqual([]);
    expect(steps(await claim(it_, "exe_2", { quarantined: "isolate" }))).toEqual(["suspect"]);
    expect(steps(await claim(it_, "exe_2", { quarantined: "skip" }))).toEqual(["other"]);
  });
});

describe("the fence of a job", () => {
  it("keeps out whoever held it before, even the same executor", async () => {
    const it_ = await testQueues();
    await it_.add("a");
    const [before] = await claim(it_, "exe_1");
    await it_.transaction((tx) => tx.jobs.reclaim("exe_1"));
    const [after] = await claim(it_, "exe_1");
    expect(after!.id).toBe(before!.id);
    expect(after!.fence).toBeGreaterThan(before!.fence);
    const pause = { dueAt: null, attempt: 9, retryCount: 9 };
    await it_.transaction(async (tx) => {
      expect(await tx.jobs.lockClaim(before!, "exe_1")).toBe(false);
      expect(await tx.jobs.release(before!, "exe_1", pause)).toBe(false);
      expect(await tx.jobs.complete(before!, "exe_1")).toBe(false);
      expect(await tx.jobs.lockClaim(after!, "exe_2")).toBe(false);
      expect(await tx.jobs.lockClaim(after!, "exe_1")).toBe(true);
      expect(await tx.jobs.complete(after!, "exe_1")).toBe(true);
    });
    expect(await it_.rowsOf()).toEqual([]);
  });

  it("counts a take-over as an attempt, but as no try", async () => {
    const it_ = await testQueues();
    await it_.add("a");
    await claim(it_, "exe_1");
    await it_.transaction((tx) => tx.jobs.reclaim("exe_1"));
    expect(await claim(it_, "exe_2")).toMatchObject([{ attempt: 2, retryCount: 0, quarantined: true }]);
  });

  it("lets a job that is given back be claimed at its time, as the attempt that was said", async () => {
    const it_ = await testQueues();
    await it_.add("a");
    const [job] = await claim(it_, "exe_1");
    const dueAt = new Date(it_.clock.now() + 500).toISOString();
    await it_.transaction((tx) => tx.jobs.release(job!, "exe_1", { dueAt, attempt: 2, retryCount: 2 }));
    expect(await claim(it_, "exe_2")).toEqual([]);
    it_.clock.advance(500);
    expect(await claim(it_, "exe_2")).toMatchObject([{ attempt: 2, retryCount: 2, quarantined: false }]);
  });

  it("counts as a kill only what its job was alone for", async () => {
    const it_ = await testQueues();
    for (const step of ["a", "b"]) await it_.add(step);
    await claim(it_, "exe_1");
    await it_.transaction((tx) => tx.jobs.reclaim("exe_1"));
    expect((await it_.rowsOf()).map((row) => row.kills)).toEqual([0, 0]);
    expect(steps(await claim(it_, "exe_2"))).toEqual(["a"]);
    await it_.transaction((tx) => tx.jobs.reclaim("exe_2"));
    expect((await it_.rowsOf()).map((row) => row.kills)).toEqual([1, 0]);
  });
});

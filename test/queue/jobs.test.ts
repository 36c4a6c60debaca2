import { describe, expect, it } from "vitest";
import type { QuarantinePolicy } from "../../src/core/job-ports.ts";
import type { Job } from "../../src/core/model.ts";
import { testQueues } from "../support/queue.ts";

type Queues = Awaited<ReturnType<typeof testQueues>>;

const claim = (
  harness: Queues,
  executor: string,
  options: { limit?: number; limits?: Map<string, number>; quarantined?: QuarantinePolicy } = {},
): Promise<Job[]> =>
  harness.transaction((tx) =>
    tx.jobs.claim(executor, {
      now: harness.now(),
      limit: 10,
      limits: new Map(),
      quarantined: "isolate",
      ...options,
    }),
  );
const steps = (jobs: readonly Job[]): string[] => jobs.map((job) => job.stepId);

describe("claiming", () => {
  it("claims the jobs of an owner by priority, then by age, up to the limit", async () => {
    const harness = await testQueues();
    for (const [step, priority] of [
      ["a", 0],
      ["b", 5],
      ["c", 0],
      ["d", 5],
      ["e", -5],
    ] as const)
      await harness.add(step, { priority });
    // One slot stays free for another owner.
    expect(steps(await claim(harness, "exe_1", { limit: 4 }))).toEqual(["b", "d", "a"]);
    expect(steps(await claim(harness, "exe_2"))).toEqual(["c", "e"]);
    expect(steps(await claim(harness, "exe_3"))).toEqual([]);
  });

  it("claims no job before it is due", async () => {
    const harness = await testQueues();
    const dueAt = new Date(harness.clock.now() + 1_000).toISOString();
    await harness.add("later", { dueAt, priority: 10 });
    await harness.add("now");
    expect(steps(await claim(harness, "exe_1"))).toEqual(["now"]);
    expect(await harness.read.jobs.hasClaimable(harness.now())).toBe(false);
    expect(await harness.read.jobs.nextDueAt(harness.now())).toBe(dueAt);
    harness.clock.advance(1_000);
    expect(await harness.read.jobs.hasClaimable(harness.now())).toBe(true);
    expect(steps(await claim(harness, "exe_1"))).toEqual(["later"]);
  });

  it("skips jobs whose resource is at its limit over all executors, and claims those behind them", async () => {
    const harness = await testQueues();
    // One of the three places stays free for another owner.
    const limits = new Map([["database:shop", 3]]);
    for (const step of ["a", "b", "c"]) await harness.add(step, { resource: "database:shop" });
    for (const step of ["d", "e"]) await harness.add(step, { resource: "database:other" });
    await harness.add("f");
    const [first] = await claim(harness, "exe_1", { limit: 1, limits });
    expect(first!.stepId).toBe("a");
    expect(steps(await claim(harness, "exe_2", { limits }))).toEqual(["b", "d", "e", "f"]);
    expect(steps(await claim(harness, "exe_1", { limits }))).toEqual([]);
    await harness.transaction((tx) => tx.jobs.complete(first!, "exe_1"));
    expect(steps(await claim(harness, "exe_1", { limits }))).toEqual(["c"]);
  });

  it("isolates a quarantined job, claims nothing while there is one, or skips it", async () => {
    const harness = await testQueues();
    await harness.add("quarantined");
    await harness.crash();
    await claim(harness, "exe_1");
    await harness.transaction((tx) => tx.jobs.reclaim("exe_1"));
    await harness.add("other");
    expect(steps(await claim(harness, "exe_2", { quarantined: "drain" }))).toEqual([]);
    expect(steps(await claim(harness, "exe_2", { quarantined: "isolate" }))).toEqual(["quarantined"]);
    expect(steps(await claim(harness, "exe_2", { quarantined: "skip" }))).toEqual(["other"]);
  });
});

describe("the fence of a job", () => {
  it("refuses an earlier holder of the job, even the same executor", async () => {
    const harness = await testQueues();
    await harness.add("a");
    const [before] = await claim(harness, "exe_1");
    await harness.transaction((tx) => tx.jobs.reclaim("exe_1"));
    const [after] = await claim(harness, "exe_1");
    expect(after!.id).toBe(before!.id);
    expect(after!.fence).toBeGreaterThan(before!.fence);
    const next = { dueAt: null, attempt: 9, retryCount: 9 };
    await harness.transaction(async (tx) => {
      expect(await tx.jobs.lockClaim(before!, "exe_1")).toBe(false);
      expect(await tx.jobs.release(before!, "exe_1", next)).toBe(false);
      expect(await tx.jobs.complete(before!, "exe_1")).toBe(false);
      expect(await tx.jobs.lockClaim(after!, "exe_2")).toBe(false);
      expect(await tx.jobs.lockClaim(after!, "exe_1")).toBe(true);
      expect(await tx.jobs.complete(after!, "exe_1")).toBe(true);
    });
    expect(await harness.jobRows()).toEqual([]);
  });

  it("counts a reclaimed claim as an attempt, but not as a retry", async () => {
    const harness = await testQueues();
    await harness.add("a");
    await claim(harness, "exe_1");
    await harness.transaction((tx) => tx.jobs.reclaim("exe_1"));
    expect(await claim(harness, "exe_2")).toMatchObject([{ attempt: 2, retryCount: 0, quarantined: false }]);
  });

  it("makes a released job claimable at its due time, as the given attempt", async () => {
    const harness = await testQueues();
    await harness.add("a");
    const [job] = await claim(harness, "exe_1");
    const dueAt = new Date(harness.clock.now() + 500).toISOString();
    await harness.transaction((tx) => tx.jobs.release(job!, "exe_1", { dueAt, attempt: 2, retryCount: 2 }));
    expect(await claim(harness, "exe_2")).toEqual([]);
    harness.clock.advance(500);
    expect(await claim(harness, "exe_2")).toMatchObject([{ attempt: 2, retryCount: 2, quarantined: false }]);
  });

  it("counts each crash until the job is quarantined, then only those while it ran isolated", async () => {
    const harness = await testQueues();
    for (const step of ["a", "b"]) await harness.add(step);
    const counts = async () => (await harness.jobRows()).map((row) => [row.kills, row.suspect]);
    await harness.crash();
    expect(await counts()).toEqual([
      [1, 0],
      [1, 0],
    ]);
    await harness.crash();
    expect(await counts()).toEqual([
      [2, 1],
      [2, 1],
    ]);
    expect(steps(await claim(harness, "exe_2"))).toEqual(["a"]);
    await harness.transaction((tx) => tx.jobs.reclaim("exe_2"));
    expect(await counts()).toEqual([
      [3, 1],
      [2, 1],
    ]);
    expect(steps(await claim(harness, "exe_3", { quarantined: "beside" }))).toEqual(["a"]);
    await harness.transaction((tx) => tx.jobs.reclaim("exe_3"));
    expect(await counts()).toEqual([
      [3, 1],
      [2, 1],
    ]);
  });
});

import { describe, expect, it } from "vitest";
import { untilPassing } from "../support/eventually.ts";
import type { ClaimOptions } from "../../src/core/job-ports.ts";
import type { Job, NewJob } from "../../src/core/model.ts";
import { claimPolicy } from "../../src/queue/claim-policy.ts";
import { TEST_ACTOR } from "../support/engine.ts";
import { manualHandler, testQueues } from "../support/queue.ts";

const ONE_STEP = { steps: [{ id: "first", type: "wait", for: "1d" }] };

/** Queues with runs of several owners. The jobs of a run are those that the test adds. */
async function ownedQueues() {
  const harness = await testQueues();
  const workflows = new Map<string, string>();
  /** Starts a run of an owner, without jobs. */
  async function run(owner: string, workflow = "daily"): Promise<string> {
    if (!workflows.has(workflow)) workflows.set(workflow, await harness.define(ONE_STEP, workflow));
    const id = await harness.start(workflows.get(workflow)!, { actor: { ...TEST_ACTOR, owner } });
    await harness.transaction((tx) => tx.jobs.dropUnclaimed(id, { ended: true }));
    return id;
  }
  /** Adds jobs `<name>_0`, `<name>_1` … to a run. */
  const addMany = (runId: string, name: string, count: number, fields: Partial<NewJob> = {}) =>
    harness.transaction(async (tx) => {
      for (let index = 0; index < count; index += 1)
        await tx.jobs.add({
          runId,
          stepId: `${name}_${index}`,
          item: null,
          kind: "step",
          priority: 0,
          dueAt: null,
          resource: null,
          attempt: 1,
          retryCount: 0,
          ...fields,
        });
    });
  const claim = (options: Partial<ClaimOptions> = {}): Promise<Job[]> =>
    harness.transaction((tx) =>
      tx.jobs.claim("exe_1", {
        now: harness.now(),
        limit: 10,
        limits: new Map(),
        quarantined: "skip",
        ...options,
      }),
    );
  /** Claims one job after the other, each when the one before has ended, as an executor with one slot does. */
  async function claimOneByOne(count: number): Promise<string[]> {
    const policy = claimPolicy(1, harness.clock);
    const steps: string[] = [];
    for (let turn = 0; turn < count; turn += 1) {
      const jobs = await claim(policy.next([]));
      policy.record(jobs);
      steps.push(...stepIds(jobs));
      for (const job of jobs) await harness.transaction((tx) => tx.jobs.complete(job, "exe_1"));
    }
    return steps;
  }
  return { ...harness, run, addMany, claim, claimOneByOne };
}

const stepIds = (jobs: readonly Job[]): string[] => jobs.map(({ stepId }) => stepId);

// Few jobs are read at once, many are looked up by an index: both must give the same turns.
describe.each([
  ["few", 6],
  ["many", 150],
])("claims with %s jobs of one owner", (_, count) => {
  it("go in turns over owners, so that a flood delays the next owner by one job", async () => {
    const harness = await ownedQueues();
    await harness.addMany(await harness.run("ann@x"), "ann", count);
    await harness.addMany(await harness.run("bob@x"), "bob", 2);
    await harness.addMany(await harness.run("cid@x"), "cid", 1);
    expect(stepIds(await harness.claim({ limit: 5 }))).toEqual(["ann_0", "bob_0", "cid_0", "ann_1"]);
  });

  it("continue the turns with the next claim", async () => {
    const harness = await ownedQueues();
    await harness.addMany(await harness.run("ann@x"), "ann", count);
    await harness.addMany(await harness.run("bob@x"), "bob", 3);
    expect(await harness.claimOneByOne(7)).toEqual([
      "ann_0",
      "bob_0",
      "ann_1",
      "bob_1",
      "ann_2",
      "bob_2",
      "ann_3",
    ]);
  });

  it("go in turns over the workflows of an owner, and by age within one", async () => {
    const harness = await ownedQueues();
    const first = await harness.run("ann@x", "daily");
    await harness.addMany(first, "daily", count);
    await harness.addMany(first, "fetched", 1, { resource: "http:example.com" });
    await harness.addMany(await harness.run("ann@x", "weekly"), "weekly", 2);
    expect(await harness.claimOneByOne(5)).toEqual(["daily_0", "weekly_0", "daily_1", "weekly_1", "daily_2"]);
    expect((await harness.claimOneByOne(count - 2)).at(-1)).toBe("fetched_0");
  });

  it("order the jobs of one owner by any priority, but those of others only up to the maximum", async () => {
    const harness = await ownedQueues();
    const [ann, bob] = [await harness.run("ann@x"), await harness.run("bob@x")];
    await harness.addMany(bob, "bob", 2);
    await harness.addMany(ann, "ann", count);
    await harness.addMany(ann, "urgent", 2, { priority: 10 });
    await harness.addMany(ann, "idle", 1, { priority: -1 });
    expect(await harness.claimOneByOne(5)).toEqual(["urgent_0", "bob_0", "urgent_1", "bob_1", "ann_0"]);
    expect((await harness.claimOneByOne(count)).at(-1)).toBe("idle_0");
  });

  it("let a priority up to the maximum go before other owners, and a low one after them", async () => {
    const harness = await ownedQueues();
    const [ann, bob, cid] = [
      await harness.run("ann@x"),
      await harness.run("bob@x"),
      await harness.run("cid@x"),
    ];
    await harness.addMany(ann, "ann", count);
    await harness.addMany(bob, "low", 1, { priority: -1 });
    await harness.addMany(bob, "high", 1, { priority: 9 });
    await harness.addMany(cid, "higher", 1, { priority: 3 });
    const claimed = stepIds(await harness.claim({ limit: 4, maxPriority: 3 }));
    expect(claimed).toEqual(["high_0", "higher_0", "ann_0"]);
    expect((await harness.claimOneByOne(count)).at(-1)).toBe("low_0");
  });

  it("leave jobs out whose resource is full, and claim those of others behind them", async () => {
    const harness = await ownedQueues();
    const limits = new Map([["database:shop", 2]]);
    await harness.addMany(await harness.run("ann@x"), "ann", count, { resource: "database:shop" });
    await harness.addMany(await harness.run("bob@x"), "bob", 2, { resource: "database:shop" });
    await harness.addMany(await harness.run("cid@x"), "cid", 1);
    // Each owner gets one of the two places.
    expect(stepIds(await harness.claim({ limits }))).toEqual(["ann_0", "bob_0", "cid_0"]);
    expect(stepIds(await harness.claim({ limits }))).toEqual([]);
  });

  it("leave jobs out whose rate has no free slot, and claim those of others behind them", async () => {
    const harness = await ownedQueues();
    const rate = { key: "step:daily/a@1/h", intervalMs: 3_600_000 };
    await harness.addMany(await harness.run("ann@x"), "ann", count, { rate });
    await harness.addMany(await harness.run("bob@x"), "bob", 2);
    expect(stepIds(await harness.claim())).toEqual(["ann_0", "bob_0", "bob_1"]);
    expect(await harness.read.jobs.hasClaimable(harness.now())).toBe(false);
  });
});

describe("the slots of an executor", () => {
  it("are never all held by one owner, so that another one's job starts at once", async () => {
    const harness = await ownedQueues();
    const slow = manualHandler();
    await harness.addMany(await harness.run("ann@x"), "ann", 10);
    // Before there is an executor, which could claim the first job of the run before it is dropped.
    const bob = await harness.run("bob@x");
    const queue = await harness.executor(slow.handler, { slots: 4 });
    await untilPassing(() => expect(slow.started()).toEqual(["ann_0", "ann_1", "ann_2"]));
    await harness.addMany(bob, "bob", 2);
    queue.wake();
    await untilPassing(() => expect(slow.started()).toEqual(["ann_0", "ann_1", "ann_2", "bob_0"]));
  });

  it("do not limit jobs that stop work: these run though the work holds all slots", async () => {
    const harness = await ownedQueues();
    const slow = manualHandler();
    const ann = await harness.run("ann@x");
    await harness.addMany(ann, "ann", 3);
    const queue = await harness.executor(slow.handler, { slots: 1 });
    await untilPassing(() => expect(slow.started()).toEqual(["ann_0"]));
    await harness.addMany(ann, "cancel", 1, { kind: "cancel" });
    await harness.addMany(ann, "timeout", 1, { kind: "run_timeout", dueAt: harness.now() });
    queue.wake();
    await untilPassing(() => expect(slow.started()).toEqual(["ann_0", "cancel_0", "timeout_0"]));
  });
});

describe("jobs that stop work", () => {
  it("go before the work of their owner, in turns over owners", async () => {
    const harness = await ownedQueues();
    const [ann, bob] = [await harness.run("ann@x"), await harness.run("bob@x")];
    await harness.addMany(ann, "ann", 100, { priority: 10 });
    await harness.addMany(ann, "stop", 20, { kind: "cancel" });
    await harness.addMany(bob, "bob", 1, { kind: "cancel", priority: -10 });
    const claimed = stepIds(await harness.claim({ limit: 2 }));
    expect(claimed.slice(0, 3)).toEqual(["stop_0", "bob_0", "stop_1"]);
    expect(claimed.filter((step) => step.startsWith("ann"))).toEqual(["ann_0"]);
  });

  it("are claimed while an executor becomes free for a quarantined job", async () => {
    const harness = await ownedQueues();
    const ann = await harness.run("ann@x");
    await harness.addMany(ann, "crashed", 1);
    await harness.crash();
    await harness.claim();
    await harness.transaction((tx) => tx.jobs.reclaim("exe_1"));
    await harness.addMany(ann, "ann", 1);
    await harness.addMany(ann, "stop", 1, { kind: "cancel" });
    expect(stepIds(await harness.claim({ quarantined: "drain" }))).toEqual(["stop_0"]);
  });
});

describe("quarantined jobs", () => {
  it("are isolated in turns over owners", async () => {
    const harness = await ownedQueues();
    await harness.addMany(await harness.run("ann@x"), "ann", 3);
    await harness.addMany(await harness.run("bob@x"), "bob", 1);
    await harness.crash();
    expect(await harness.claim()).toHaveLength(4);
    await harness.transaction((tx) => tx.jobs.reclaim("exe_1"));
    const turns = { owner: "ann@x", workflows: new Map() };
    expect(stepIds(await harness.claim({ quarantined: "isolate", turns }))).toEqual(["bob_0"]);
    expect(stepIds(await harness.claim({ quarantined: "isolate", turns }))).toEqual(["ann_0"]);
  });

  it("run beside others within the slots of their owner, and then don't count as isolated", async () => {
    const harness = await ownedQueues();
    await harness.addMany(await harness.run("ann@x"), "ann", 2);
    await harness.crash();
    await harness.claim();
    await harness.transaction((tx) => tx.jobs.reclaim("exe_1"));
    const held = new Map([["ann@x", 3]]);
    expect(await harness.claim({ quarantined: "beside", limit: 0 })).toEqual([]);
    expect(await harness.claim({ quarantined: "beside", limit: 1, held })).toEqual([]);
    expect(stepIds(await harness.claim({ quarantined: "beside", limit: 2, held }))).toEqual(["ann_0"]);
    await harness.transaction((tx) => tx.jobs.reclaim("exe_1"));
    const [isolated] = await harness.claim({ quarantined: "isolate" });
    expect(isolated).toMatchObject({ stepId: "ann_0", quarantined: true, crashCount: 2 });
  });

  it("are passed over when their owner may take no slot, for those of others", async () => {
    const harness = await ownedQueues();
    await harness.addMany(await harness.run("ann@x"), "ann", 1);
    await harness.addMany(await harness.run("bob@x"), "bob", 1);
    await harness.crash();
    await harness.claim();
    await harness.transaction((tx) => tx.jobs.reclaim("exe_1"));
    await harness.addMany(await harness.run("cid@x"), "cid", 1);
    const held = new Map([["ann@x", 3]]);
    expect(stepIds(await harness.claim({ quarantined: "beside", limit: 1, held }))).toEqual(["cid_0"]);
  });
});

describe("timers", () => {
  it("of one owner, due by the thousand, do not delay those of another", async () => {
    const harness = await ownedQueues();
    const dueAt = (ms: number): string => new Date(harness.clock.now() + ms).toISOString();
    const [ann, bob] = [await harness.run("ann@x"), await harness.run("bob@x")];
    await harness.addMany(ann, "ann", 1_200, { dueAt: dueAt(1) });
    await harness.addMany(bob, "bob", 1, { dueAt: dueAt(2) });
    await harness.addMany(ann, "timeout", 1, { dueAt: dueAt(3), kind: "run_timeout" });
    harness.clock.advance(3);
    expect(stepIds(await harness.claim({ limit: 4 }))).toEqual(["timeout_0", "bob_0", "ann_0", "ann_1"]);
  });
});

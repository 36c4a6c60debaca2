import { describe, expect, it, vi } from "vitest";
import { AppError } from "../../src/core/errors.ts";
import type { JobResult } from "../../src/queue/types.ts";
import { testEngine } from "../support/engine.ts";
import { completed, LEASE_MS, manualHandler, testQueues } from "../support/queue.ts";

describe("an executor", () => {
  it("runs as many jobs at a time as it has slots", async () => {
    const it_ = await testQueues();
    const slow = manualHandler();
    for (const step of ["a", "b", "c"]) await it_.add(step);
    await it_.executor(slow.work, { slots: 2 });
    await vi.waitFor(() => expect(slow.begun()).toEqual(["a", "b"]));
    slow.end("a");
    await vi.waitFor(() => expect(slow.begun()).toEqual(["a", "b", "c"]));
    slow.end("b");
    slow.end("c");
    await vi.waitFor(async () => expect(await it_.rowsOf()).toEqual([]));
  });

  it("sees what another process has added without being told", async () => {
    const it_ = await testQueues();
    const slow = manualHandler();
    await it_.executor(slow.work);
    const other = await testEngine({ stateDir: it_.stateDir, clock: it_.clock });
    const id = await other.start(await other.define({ steps: [{ id: "a", type: "set", values: { x: 1 } }] }));
    await vi.waitFor(() => expect(slow.begun()).toEqual(["a"]));
    expect(await it_.rowsOf()).toMatchObject([{ run_id: id, state: "claimed" }]);
  });

  it("commits what a job has changed with its end, or neither, and gives it back while the state can't be used", async () => {
    const it_ = await testQueues();
    await it_.add("a");
    const queue = await it_.executor(async () =>
      completed(async (tx) => {
        await tx.jobs.heartbeat("half", it_.now());
        throw new AppError("storage_unavailable", "The disk is full.");
      }),
    );
    await vi.waitFor(async () => expect(await it_.rowsOf()).toMatchObject([{ state: "later", attempt: 2 }]));
    expect((await it_.read.jobs.executors()).map((one) => one.id)).toEqual([queue.executor]);
  });

  it("gives a job back whose work could not use the state", async () => {
    const it_ = await testQueues();
    await it_.add("a");
    await it_.executor(() => Promise.reject(new AppError("busy", "The database is locked.")));
    await vi.waitFor(async () =>
      expect(await it_.rowsOf()).toMatchObject([{ state: "later", attempt: 2, tries: 1, executor: null }]),
    );
  });

  it.each([
    ["whose work has a bug", (): Promise<JobResult> => Promise.reject(new Error("a bug"))],
    [
      "whose end has a bug",
      async (): Promise<JobResult> => completed(() => Promise.reject(new Error("a bug"))),
    ],
  ])("settles a job %s as one that is broken, and does not try it for ever", async (_what, work) => {
    const it_ = await testQueues();
    await it_.add("a");
    const told: unknown[] = [];
    await it_.executor(work, {
      broken: async (job, thrown) => {
        told.push([job.stepId, (thrown as Error).message]);
        return completed((tx) => tx.jobs.heartbeat("said_so", it_.now()));
      },
    });
    await vi.waitFor(async () => expect(await it_.rowsOf()).toEqual([]));
    expect(told).toEqual([["a", "a bug"]]);
    expect((await it_.read.jobs.executors()).map((one) => one.id)).toContain("said_so");
  });

  it("lets what runs go on for a while when it is stopped, and gives back what does not end", async () => {
    const it_ = await testQueues();
    const slow = manualHandler();
    for (const step of ["ends", "does_not"]) await it_.add(step);
    const queue = await it_.executor(slow.work);
    await vi.waitFor(() => expect(slow.begun()).toEqual(["ends", "does_not"]));
    const stopped = queue.stop(50);
    slow.end("ends");
    await stopped;
    expect(await it_.rowsOf()).toMatchObject([
      { step_id: "does_not", state: "ready", attempt: 2, tries: 1, suspect: 0, executor: null },
    ]);
    expect(await it_.read.jobs.executors()).toEqual([]);
    await it_.add("new");
    expect(slow.begun()).toEqual(["ends", "does_not"]);
    await it_.executor(slow.work);
    await vi.waitFor(() => expect(slow.begun().slice(2)).toEqual(["does_not", "new"]));
  });
});

describe("a lease", () => {
  it("ends when a beat has stood still for so long by the observer's own clock, whatever time of day it is", async () => {
    const it_ = await testQueues();
    const slow = manualHandler();
    const dead = await it_.executor(slow.work, { slots: 1 });
    await it_.add("a");
    dead.wake();
    await vi.waitFor(() => expect(slow.begun()).toEqual(["a"]));
    dead.hold();
    const observer = await it_.executor(slow.work, { slots: 1 });
    for (const jump of [24 * 3_600_000, -48 * 3_600_000]) {
      it_.clock.advance(jump);
      await observer.heartbeat();
      expect(await it_.rowsOf()).toMatchObject([{ executor: dead.executor, fence: 1 }]);
    }
    await it_.watch(observer);
    await vi.waitFor(() => expect(slow.begun()).toEqual(["a", "a"]));
    expect(await it_.rowsOf()).toMatchObject([{ executor: observer.executor, attempt: 2, suspect: 1 }]);
    expect((await it_.read.jobs.executors()).map((one) => one.id)).toEqual([observer.executor]);
  });

  it("goes on while the other beats", async () => {
    const it_ = await testQueues();
    const slow = manualHandler();
    const alive = await it_.executor(slow.work, { slots: 1 });
    await it_.add("a");
    alive.wake();
    await vi.waitFor(() => expect(slow.begun()).toEqual(["a"]));
    const observer = await it_.executor(slow.work);
    for (let part = 0; part < 12; part += 1) {
      await alive.heartbeat();
      await observer.heartbeat();
      it_.pass(LEASE_MS / 4);
    }
    expect(await it_.rowsOf()).toMatchObject([{ executor: alive.executor, fence: 1 }]);
  });

  it("is not ended by one who could not beat itself meanwhile", async () => {
    const it_ = await testQueues();
    const slow = manualHandler();
    const other = await it_.executor(slow.work, { slots: 1 });
    await it_.add("a");
    other.wake();
    await vi.waitFor(() => expect(slow.begun()).toEqual(["a"]));
    const observer = await it_.executor(slow.work);
    await observer.heartbeat();
    // As with a disk that was full for both.
    it_.pass(3 * LEASE_MS);
    await observer.heartbeat();
    expect(await it_.rowsOf()).toMatchObject([{ executor: other.executor, fence: 1 }]);
    await it_.watch(observer);
    await vi.waitFor(() => expect(slow.begun()).toEqual(["a", "a"]));
  });

  it("that has ended lets its executor write nothing any more", async () => {
    const it_ = await testQueues();
    const slow = manualHandler();
    const held = await it_.executor(slow.work, { slots: 1 });
    await it_.add("a");
    held.wake();
    await vi.waitFor(() => expect(slow.begun()).toEqual(["a"]));
    held.hold();
    slow.end(
      "a",
      completed(async (tx) => tx.jobs.heartbeat("written_by_the_held_one", it_.now())),
    );
    const observer = await it_.executor(() =>
      Promise.resolve(completed(async (tx) => tx.jobs.heartbeat("written_by_the_other", it_.now()))),
    );
    await it_.watch(observer);
    await vi.waitFor(async () => expect(await it_.rowsOf()).toEqual([]));
    held.resume();
    await held.waitUntilIdle();
    // It beats again, and is there again; of the job it has written nothing.
    await held.heartbeat();
    expect((await it_.read.jobs.executors()).map((one) => one.id).toSorted()).toEqual(
      [held.executor, observer.executor, "written_by_the_other"].toSorted(),
    );
  });
});

describe("an executor that was struck off and goes on", () => {
  it("is watched again from the first job that it claims, before its next beat", async () => {
    const it_ = await testQueues();
    const slow = manualHandler();
    const held = await it_.executor(slow.work);
    held.hold();
    const observer = await it_.executor(() => Promise.resolve(completed()), { slots: 1 });
    await it_.watch(observer);
    expect((await it_.read.jobs.executors()).map((one) => one.id)).toEqual([observer.executor]);
    held.resume();
    await it_.add("a");
    held.wake();
    await vi.waitFor(() => expect(slow.begun()).toEqual(["a"]));
    held.hold();
    await it_.watch(observer);
    await vi.waitFor(async () => expect(await it_.rowsOf()).toEqual([]));
  });
});

describe("what a job writes while it goes on", () => {
  it("is refused once another executor has taken the job over", async () => {
    const it_ = await testQueues();
    await it_.add("a");
    const resumed = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const recorded = Promise.withResolvers<boolean>();
    const held = await it_.executor(async (_job, { record }) => {
      begun.resolve();
      await resumed.promise;
      recorded.resolve(await record((tx) => tx.jobs.heartbeat("written_by_the_held_one", it_.now())));
      return completed();
    });
    await begun.promise;
    held.hold();
    const observer = await it_.executor(manualHandler().work);
    await it_.watch(observer);
    held.resume();
    resumed.resolve();
    expect(await recorded.promise).toBe(false);
    await held.waitUntilIdle();
    expect((await it_.read.jobs.executors()).map((one) => one.id)).not.toContain("written_by_the_held_one");
    expect(await it_.rowsOf()).toMatchObject([{ executor: observer.executor }]);
  });
});

describe("what a dead executor has left", () => {
  it("is run alone, one after the other, with a turn for the others between", async () => {
    const it_ = await testQueues();
    const left = manualHandler();
    for (const step of ["a", "b"]) await it_.add(step);
    const dead = await it_.executor(left.work);
    await vi.waitFor(() => expect(left.begun()).toEqual(["a", "b"]));
    dead.hold();
    for (const step of ["c", "d"]) await it_.add(step);
    const slow = manualHandler();
    const observer = await it_.executor(slow.work);
    await vi.waitFor(() => expect(slow.begun()).toEqual(["c", "d"]));
    await it_.watch(observer);
    await it_.add("e");
    observer.wake();
    // Nothing new beside what runs: the suspects need the executor to themselves.
    slow.end("c");
    expect(slow.begun()).toEqual(["c", "d"]);
    slow.end("d");
    await vi.waitFor(() => expect(slow.begun()).toEqual(["c", "d", "a"]));
    slow.end("a");
    await vi.waitFor(() => expect(slow.begun()).toEqual(["c", "d", "a", "e"]));
    slow.end("e");
    await vi.waitFor(() => expect(slow.begun()).toEqual(["c", "d", "a", "e", "b"]));
    slow.end("b");
    await vi.waitFor(async () => expect(await it_.rowsOf()).toEqual([]));
  });

  it("fails as poisoned when its executor died of it three times alone; a bystander does not", async () => {
    const it_ = await testQueues();
    const begun: unknown[] = [];
    const past = { over: false };
    it_.onProbe((asked, { signal }) => {
      begun.push(asked);
      if (asked === "bystander" && past.over) return asked;
      // Its process dies: nothing is ever heard of it again.
      return new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(new Error("ended")));
      });
    });
    const probe = (ask: string) => it_.define({ steps: [{ id: "a", type: "probe", ask }] });
    const deadly = await it_.start(await probe("deadly"));
    const bystander = await it_.start(await probe("bystander"));
    let victim = await it_.executor(it_.engine.handler);
    await vi.waitFor(() => expect(begun).toEqual(["deadly", "bystander"]));
    past.over = true;

    // The first time it was not alone: that counts against nobody.
    for (const kills of [0, 1, 2, 3]) {
      victim.hold();
      victim = await it_.executor(it_.engine.handler);
      await it_.watch(victim);
      if (kills === 3) break;
      const deaths = (): unknown[] => begun.filter((asked) => asked === "deadly");
      await vi.waitFor(() => expect(deaths()).toHaveLength(kills + 2));
      const rows = await it_.rowsOf();
      expect(rows.find((row) => row.run_id === deadly)!.kills).toBe(kills);
      expect(rows.find((row) => row.run_id === bystander)?.kills ?? 0).toBe(0);
    }
    await victim.waitUntilIdle();
    expect(await it_.outcome(deadly)).toMatchObject({
      status: "failed",
      error: { code: "poisoned", step_id: "a" },
    });
    expect(await it_.outcome(bystander)).toMatchObject({
      status: "succeeded",
      output: { value: "bystander" },
    });
    const attempts = async (id: string) => (await it_.read.runs.attempts(id)).map((one) => one.status);
    expect(await attempts(deadly)).toEqual([
      "interrupted",
      "interrupted",
      "interrupted",
      "interrupted",
      "failed",
    ]);
    expect(await attempts(bystander)).toEqual(["interrupted", "succeeded"]);
  });
});

import { describe, expect, it } from "vitest";
import { untilPassing } from "../support/eventually.ts";
import { AppError } from "../../src/core/errors.ts";
import type { JobResult } from "../../src/queue/types.ts";
import { testEngine } from "../support/engine.ts";
import { completed, LEASE_MS, manualHandler, testQueues } from "../support/queue.ts";

describe("an executor", () => {
  it("runs no more jobs at the same time than it has slots", async () => {
    const harness = await testQueues();
    const slow = manualHandler();
    for (const step of ["a", "b", "c"]) await harness.add(step);
    // One slot stays free for another owner.
    await harness.executor(slow.handler, { slots: 3 });
    await untilPassing(() => expect(slow.started()).toEqual(["a", "b"]));
    slow.end("a");
    await untilPassing(() => expect(slow.started()).toEqual(["a", "b", "c"]));
    slow.end("b");
    slow.end("c");
    await untilPassing(async () => expect(await harness.jobRows()).toEqual([]));
  });

  it("claims jobs that another process has added", async () => {
    const harness = await testQueues();
    const slow = manualHandler();
    await harness.executor(slow.handler);
    const other = await testEngine({ stateDir: harness.stateDir, clock: harness.clock });
    const id = await other.start(await other.define({ steps: [{ id: "a", type: "set", values: { x: 1 } }] }));
    await untilPassing(() => expect(slow.started()).toEqual(["a"]));
    expect(await harness.jobRows()).toMatchObject([{ run_id: id, state: "claimed" }]);
  });

  it("commits the change of a job together with its end, as soon as the store is available", async () => {
    const harness = await testQueues();
    await harness.add("a");
    let isAvailable = false;
    let refused = 0;
    const queue = await harness.executor(async () =>
      completed(async (tx) => {
        await tx.jobs.heartbeat("half", harness.now());
        if (isAvailable) return;
        refused += 1;
        throw new AppError("storage_unavailable", "The disk is full.");
      }),
    );
    const executors = async () => (await harness.read.jobs.executors()).map(({ id }) => id).toSorted();
    await untilPassing(() => expect(refused).toBeGreaterThan(1));
    expect(await harness.jobRows()).toMatchObject([{ state: "claimed", attempt: 1 }]);
    expect(await executors()).toEqual([queue.executor]);
    isAvailable = true;
    await untilPassing(async () => expect(await harness.jobRows()).toEqual([]));
    expect(await executors()).toEqual([queue.executor, "half"].toSorted());
  });

  it("releases a job whose handler could not use the store", async () => {
    const harness = await testQueues();
    await harness.add("a");
    await harness.executor(() => Promise.reject(new AppError("busy", "The database is locked.")));
    await untilPassing(async () =>
      expect(await harness.jobRows()).toMatchObject([
        { state: "later", attempt: 2, tries: 1, executor: null },
      ]),
    );
  });

  it.each([
    ["whose handler throws", (): Promise<JobResult> => Promise.reject(new Error("a bug"))],
    [
      "whose change throws",
      async (): Promise<JobResult> => completed(() => Promise.reject(new Error("a bug"))),
    ],
  ])("ends a job %s as `onUnexpectedError` says, and does not repeat it", async (_case, handler) => {
    const harness = await testQueues();
    await harness.add("a");
    const reported: unknown[] = [];
    await harness.executor(handler, {
      onUnexpectedError: async (job, thrown) => {
        reported.push([job.stepId, (thrown as Error).message]);
        return completed((tx) => tx.jobs.heartbeat("result_recorded", harness.now()));
      },
    });
    await untilPassing(async () => expect(await harness.jobRows()).toEqual([]));
    expect(reported).toEqual([["a", "a bug"]]);
    expect((await harness.read.jobs.executors()).map(({ id }) => id)).toContain("result_recorded");
  });

  it("waits for running jobs when it is stopped, and releases those that do not end", async () => {
    const harness = await testQueues();
    const slow = manualHandler();
    for (const step of ["ends", "continues"]) await harness.add(step);
    const queue = await harness.executor(slow.handler);
    await untilPassing(() => expect(slow.started()).toEqual(["ends", "continues"]));
    const stopped = queue.stop(50);
    slow.end("ends");
    await stopped;
    expect(await harness.jobRows()).toMatchObject([
      { step_id: "continues", state: "ready", attempt: 2, tries: 1, suspect: 0, executor: null },
    ]);
    expect(await harness.read.jobs.executors()).toEqual([]);
    await harness.add("new");
    expect(slow.started()).toEqual(["ends", "continues"]);
    await harness.executor(slow.handler);
    await untilPassing(() => expect(slow.started().slice(2)).toEqual(["continues", "new"]));
  });
});

describe("a lease", () => {
  it("expires when no heartbeat arrives for that long by the monotonic clock of the observer, whatever the wall clock says", async () => {
    const harness = await testQueues();
    const slow = manualHandler();
    const dead = await harness.executor(slow.handler, { slots: 1 });
    await harness.add("a");
    dead.wake();
    await untilPassing(() => expect(slow.started()).toEqual(["a"]));
    dead.pause();
    const observer = await harness.executor(slow.handler, { slots: 1 });
    for (const jump of [24 * 3_600_000, -48 * 3_600_000]) {
      harness.clock.advance(jump);
      await observer.heartbeat();
      expect(await harness.jobRows()).toMatchObject([{ executor: dead.executor, fence: 1 }]);
    }
    await harness.expireLeases(observer);
    await untilPassing(() => expect(slow.started()).toEqual(["a", "a"]));
    expect(await harness.jobRows()).toMatchObject([{ executor: observer.executor, attempt: 2, suspect: 0 }]);
    expect((await harness.read.jobs.executors()).map(({ id }) => id)).toEqual([observer.executor]);
  });

  it("does not expire while heartbeats arrive", async () => {
    const harness = await testQueues();
    const slow = manualHandler();
    const alive = await harness.executor(slow.handler, { slots: 1 });
    await harness.add("a");
    alive.wake();
    await untilPassing(() => expect(slow.started()).toEqual(["a"]));
    const observer = await harness.executor(slow.handler);
    for (let quarter = 0; quarter < 12; quarter += 1) {
      await alive.heartbeat();
      await observer.heartbeat();
      harness.advanceMonotonic(LEASE_MS / 4);
    }
    expect(await harness.jobRows()).toMatchObject([{ executor: alive.executor, fence: 1 }]);
  });

  it("is not judged by an executor whose own heartbeats were late", async () => {
    const harness = await testQueues();
    const slow = manualHandler();
    const other = await harness.executor(slow.handler, { slots: 1 });
    await harness.add("a");
    other.wake();
    await untilPassing(() => expect(slow.started()).toEqual(["a"]));
    const observer = await harness.executor(slow.handler);
    await observer.heartbeat();
    // Such as when the disk was full for both.
    harness.advanceMonotonic(3 * LEASE_MS);
    await observer.heartbeat();
    expect(await harness.jobRows()).toMatchObject([{ executor: other.executor, fence: 1 }]);
    await harness.expireLeases(observer);
    await untilPassing(() => expect(slow.started()).toEqual(["a", "a"]));
  });

  it("that has expired lets its executor write nothing of its job", async () => {
    const harness = await testQueues();
    const slow = manualHandler();
    const paused = await harness.executor(slow.handler, { slots: 1 });
    await harness.add("a");
    paused.wake();
    await untilPassing(() => expect(slow.started()).toEqual(["a"]));
    paused.pause();
    slow.end(
      "a",
      completed(async (tx) => tx.jobs.heartbeat("written_by_paused", harness.now())),
    );
    const observer = await harness.executor(() =>
      Promise.resolve(completed(async (tx) => tx.jobs.heartbeat("written_by_observer", harness.now()))),
    );
    await harness.expireLeases(observer);
    await untilPassing(async () => expect(await harness.jobRows()).toEqual([]));
    paused.resume();
    await paused.waitUntilIdle();
    // Its heartbeat registers it again, but it has written nothing of the job.
    await paused.heartbeat();
    expect((await harness.read.jobs.executors()).map(({ id }) => id).toSorted()).toEqual(
      [paused.executor, observer.executor, "written_by_observer"].toSorted(),
    );
  });
});

describe("an executor that was removed and continues", () => {
  it("is registered again by the first job that it claims, before its next heartbeat", async () => {
    const harness = await testQueues();
    const slow = manualHandler();
    const paused = await harness.executor(slow.handler);
    paused.pause();
    const observer = await harness.executor(() => Promise.resolve(completed()), { slots: 1 });
    await harness.expireLeases(observer);
    expect((await harness.read.jobs.executors()).map(({ id }) => id)).toEqual([observer.executor]);
    paused.resume();
    // The observer would claim the job, too.
    observer.pause();
    await harness.add("a");
    paused.wake();
    await untilPassing(() => expect(slow.started()).toEqual(["a"]));
    paused.pause();
    observer.resume();
    await harness.expireLeases(observer);
    await untilPassing(async () => expect(await harness.jobRows()).toEqual([]));
  });
});

describe("a change that a job records while it runs", () => {
  it("is refused after another executor has reclaimed the job", async () => {
    const harness = await testQueues();
    await harness.add("a");
    const resumed = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    const recorded = Promise.withResolvers<boolean>();
    const paused = await harness.executor(async (_job, { record }) => {
      started.resolve();
      await resumed.promise;
      recorded.resolve(await record((tx) => tx.jobs.heartbeat("written_by_paused", harness.now())));
      return completed();
    });
    await started.promise;
    paused.pause();
    const slow = manualHandler();
    const observer = await harness.executor(slow.handler);
    await harness.expireLeases(observer);
    await untilPassing(() => expect(slow.started()).toEqual(["a"]));
    paused.resume();
    resumed.resolve();
    expect(await recorded.promise).toBe(false);
    await paused.waitUntilIdle();
    expect((await harness.read.jobs.executors()).map(({ id }) => id)).not.toContain("written_by_paused");
    expect(await harness.jobRows()).toMatchObject([{ executor: observer.executor }]);
  });
});

describe("a job that a dead executor has abandoned", () => {
  it("runs beside others at once, all that it has abandoned together", async () => {
    const harness = await testQueues();
    const abandoned = manualHandler();
    for (const step of ["a", "b"]) await harness.add(step);
    const dead = await harness.executor(abandoned.handler);
    await untilPassing(() => expect(abandoned.started()).toEqual(["a", "b"]));
    dead.pause();
    await harness.add("c");
    const slow = manualHandler();
    const observer = await harness.executor(slow.handler, { slots: 6 });
    await untilPassing(() => expect(slow.started()).toEqual(["c"]));
    await harness.expireLeases(observer);
    await untilPassing(() => expect(slow.started()).toEqual(["c", "a", "b"]));
    await harness.add("d");
    observer.wake();
    await untilPassing(() => expect(slow.started()).toEqual(["c", "a", "b", "d"]));
    for (const step of ["a", "b", "c", "d"]) slow.end(step);
    await untilPassing(async () => expect(await harness.jobRows()).toEqual([]));
  });

  it("runs isolated after a second crash, one at a time, with a turn for other jobs in between", async () => {
    const harness = await testQueues();
    const abandoned = manualHandler();
    for (const step of ["a", "b"]) await harness.add(step);
    await harness.crash();
    const dead = await harness.executor(abandoned.handler);
    await untilPassing(() => expect(abandoned.started()).toEqual(["a", "b"]));
    dead.pause();
    for (const step of ["c", "d"]) await harness.add(step);
    const slow = manualHandler();
    const observer = await harness.executor(slow.handler);
    await untilPassing(() => expect(slow.started()).toEqual(["c", "d"]));
    await harness.expireLeases(observer);
    await harness.add("e");
    observer.wake();
    // Nothing new starts beside the running job: a quarantined job needs the executor to itself.
    slow.end("c");
    expect(slow.started()).toEqual(["c", "d"]);
    slow.end("d");
    await untilPassing(() => expect(slow.started()).toEqual(["c", "d", "a"]));
    slow.end("a");
    await untilPassing(() => expect(slow.started()).toEqual(["c", "d", "a", "e"]));
    slow.end("e");
    await untilPassing(() => expect(slow.started()).toEqual(["c", "d", "a", "e", "b"]));
    slow.end("b");
    await untilPassing(async () => expect(await harness.jobRows()).toEqual([]));
  });

  it("does not keep others from an executor for longer than 10 s", async () => {
    const harness = await testQueues();
    const abandoned = manualHandler();
    await harness.add("endless");
    await harness.crash();
    const dead = await harness.executor(abandoned.handler);
    await untilPassing(() => expect(abandoned.started()).toEqual(["endless"]));
    dead.pause();
    const running = manualHandler();
    const observer = await harness.executor(running.handler);
    await harness.expireLeases(observer);
    await untilPassing(() => expect(running.started()).toEqual(["endless"]));
    await harness.add("other");
    harness.clock.advance(10_000);
    observer.wake();
    await untilPassing(() => expect(running.started()).toEqual(["endless", "other"]));
    running.end("endless");
    running.end("other");
    await untilPassing(async () => expect(await harness.jobRows()).toEqual([]));
  });

  it("fails as poisoned after five executors died, three while they ran only it; a bystander does not", async () => {
    const harness = await testQueues();
    const started: unknown[] = [];
    const bystanderEnds = { enabled: false };
    harness.onProbe((value, { signal }) => {
      started.push(value);
      if (value === "bystander" && bystanderEnds.enabled) return value;
      // Its process dies: it sends no further heartbeat.
      return new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(new Error("ended")));
      });
    });
    const probe = (ask: string) => harness.define({ steps: [{ id: "a", type: "probe", ask }] });
    const deadly = await harness.start(await probe("deadly"));
    const bystander = await harness.start(await probe("bystander"));
    let victim = await harness.executor(harness.engine.handler);
    await untilPassing(() => expect(new Set(started)).toEqual(new Set(["deadly", "bystander"])));
    bystanderEnds.enabled = true;

    // The first two times it did not run isolated.
    for (const crashCount of [1, 2, 3, 4, 5]) {
      victim.pause();
      victim = await harness.executor(harness.engine.handler);
      await harness.expireLeases(victim);
      if (crashCount === 5) break;
      const deadlyAttempts = (): unknown[] => started.filter((value) => value === "deadly");
      await untilPassing(() => expect(deadlyAttempts()).toHaveLength(crashCount + 1));
      await untilPassing(async () => expect((await harness.find(bystander)).status).toBe("succeeded"));
      const row = (await harness.jobRows()).find(({ run_id: run }) => run === deadly);
      expect(row).toMatchObject({ kills: crashCount, alone: crashCount > 1 ? 1 : 0 });
    }
    await victim.waitUntilIdle();
    expect(await harness.outcome(deadly)).toMatchObject({
      status: "failed",
      error: { code: "poisoned", step_id: "a" },
    });
    expect(await harness.outcome(bystander)).toMatchObject({
      status: "succeeded",
      output: { value: "bystander" },
    });
    const attempts = async (id: string) =>
      (await harness.read.runs.lastAttempts({ runId: id, stepId: "a", item: null }, 20)).map(
        ({ status }) => status,
      );
    const interrupted = Array.from({ length: 5 }, () => "interrupted");
    expect(await attempts(deadly)).toEqual([...interrupted, "failed"]);
    expect(await attempts(bystander)).toEqual(["interrupted", "succeeded"]);
  });
});

describe("an executor whose clock differs from that of the others", () => {
  it("leaves what becomes due to them, and runs the rest", async () => {
    const harness = await testQueues();
    const dueAt = new Date(harness.clock.now() + 1_000).toISOString();
    await harness.add("due", { dueAt });
    await harness.add("timeout", { dueAt, kind: "run_timeout" });
    await harness.add("ready");
    harness.clock.advance(1_000);
    const agreed = { value: false };
    const handled = manualHandler();
    const clock = { now: harness.clock.now, isAgreed: () => agreed.value };
    const deviating = await harness.executor(handled.handler, { clock });
    await untilPassing(() => expect(handled.started()).toEqual(["ready"]));
    handled.end("ready");
    await deviating.waitUntilIdle();
    for (let heartbeat = 0; heartbeat < 3; heartbeat += 1) await deviating.heartbeat();
    await deviating.waitUntilIdle();
    expect(handled.started()).toEqual(["ready"]);
    agreed.value = true;
    await deviating.heartbeat();
    await untilPassing(() => expect(handled.started()).toEqual(["ready", "timeout", "due"]));
  });
});

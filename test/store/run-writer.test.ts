import { describe, expect, it } from "vitest";
import type { NewRun } from "../../src/core/model.ts";
import { StepStates } from "../../src/core/step-states.ts";
import { testEngine } from "../support/engine.ts";
import { newRun } from "../support/run-records.ts";

const AT = "2026-11-21T08:00:00.000Z";

const by = (owner: string): Pick<NewRun, "actor"> => ({
  actor: { owner, keyName: "browser", lineage: `usr_${owner}`, surface: "rest", client: "vitest" },
});

/** A store with these runs. */
async function withRuns(...runs: NewRun[]) {
  const engine = await testEngine();
  for (const name of ["Weekly", "Daily"]) await engine.create({ name });
  await engine.transaction(async (tx) => {
    for (const run of runs) await tx.runs.insert(run);
  });
  return engine;
}

describe("a run", () => {
  it("changes only in what an update names", async () => {
    const { transaction, read } = await withRuns(newRun("run_1", { state: { n: 1 }, stateRevision: 4 }));
    const before = (await read.runs.find("run_1"))!;
    await transaction((tx) => tx.runs.update("run_1", { seq: 1 }));
    expect(await read.runs.find("run_1")).toEqual({ ...before, seq: 1 });
    const error = { code: "step_failed", message: "No." } as const;
    const stop = { status: "cancelled", by: "ann" } as const;
    const onFailure = { workflowId: "handler", runId: null, error: null };
    const changed = { seq: 2, admitted: false, status: "failed", error, stop, onFailure } as const;
    await transaction((tx) =>
      tx.runs.update("run_1", {
        ...changed,
        stepStates: new StepStates(["failed"]),
        startedAt: AT,
        finishedAt: AT,
        stateRevision: 5,
      }),
    );
    expect(await read.runs.find("run_1")).toMatchObject({
      ...changed,
      startedAt: AT,
      finishedAt: AT,
      stateRevision: 5,
      stepStates: { list: ["failed"] },
    });
    await transaction((tx) => tx.runs.update("run_1", { seq: 3, admitted: true }));
    expect(await read.runs.find("run_1")).toMatchObject({
      seq: 3,
      admitted: true,
      finishedAt: AT,
      error,
      stop,
    });
  });
});

describe("the runs that are active", () => {
  it("are those of the workflow in its project that were admitted and have not ended, by their trigger or all", async () => {
    const { transaction } = await withRuns(
      newRun("run_1"),
      newRun("run_2", { trigger: "schedule" }),
      newRun("run_3", { admitted: false }),
      newRun("run_4", { workflowId: "daily" }),
      newRun("run_5", { project: "sales" }),
      newRun("run_6"),
      newRun("run_7", { trigger: "schedule", admitted: false }),
    );
    await transaction(async (tx) => {
      await tx.runs.update("run_6", { seq: 1, finishedAt: AT });
      const weekly = { workflowId: "weekly", project: "default" };
      expect(await tx.runs.countActive(weekly)).toBe(2);
      expect(await tx.runs.countActive(weekly, "schedule")).toBe(1);
      expect(await tx.runs.countScheduled(weekly)).toBe(2);
      expect(await tx.runs.countScheduled({ ...weekly, project: "sales" })).toBe(0);
      expect(await tx.runs.countAllUnfinished()).toBe(6);
    });
  });
});

describe("the run that is admitted next", () => {
  it("is that of the next owner, then by priority and by age; of those that wait for admission", async () => {
    const { transaction } = await withRuns(
      newRun("run_old", { ...by("bob@x"), admitted: false }),
      newRun("run_new", { ...by("bob@x"), admitted: false, createdAt: "2026-11-21T09:00:00.000Z" }),
      newRun("run_urgent", {
        ...by("bob@x"),
        admitted: false,
        priority: 5,
        createdAt: "2026-11-21T10:00:00.000Z",
      }),
      newRun("run_ann", { ...by("ann@x"), admitted: false }),
      newRun("run_admitted", by("bob@x")),
      newRun("run_other", { ...by("bob@x"), admitted: false, workflowId: "daily" }),
      newRun("run_sales", { ...by("bob@x"), admitted: false, project: "sales" }),
      newRun("run_ended", { ...by("cid@x"), admitted: false }),
    );
    const weekly = { workflowId: "weekly", project: "default" };
    await transaction(async (tx) => {
      await tx.runs.update("run_ended", { seq: 1, finishedAt: AT });
      const next = async (lastOwner: string) => (await tx.runs.nextQueued(weekly, lastOwner))?.id;
      expect(await next("")).toBe("run_ann");
      expect(await next("ann@x")).toBe("run_urgent");
      // After the last owner it is the turn of the first one.
      expect(await next("bob@x")).toBe("run_ann");
      await tx.runs.update("run_urgent", { seq: 1, admitted: true });
      expect(await next("ann@x")).toBe("run_old");
      for (const id of ["run_ann", "run_old"]) await tx.runs.update(id, { seq: 1, admitted: true });
      expect(await next("bob@x")).toBe("run_new");
      await tx.runs.update("run_new", { seq: 1, admitted: true });
      expect(await next("")).toBeUndefined();
    });
  });
});

describe("a scheduled time", () => {
  it("is known to have been started for its workflow, by a schedule", async () => {
    const { transaction } = await withRuns(
      newRun("run_1", { trigger: "schedule", scheduledFor: AT }),
      newRun("run_2", { scheduledFor: AT, workflowId: "daily" }),
    );
    await transaction(async ({ runs }) => {
      const times = ["2026-11-21T08:00:00.001Z", AT];
      expect(await runs.scheduledTimes("weekly", times)).toEqual(new Set([AT]));
      expect(await runs.scheduledTimes("daily", times)).toEqual(new Set());
    });
  });
});

describe("a step", () => {
  const ref = { runId: "run_1", stepId: "a", item: null };

  it("keeps what a later change does not name", async () => {
    const { transaction, read } = await withRuns(newRun("run_1"));
    const items = { total: 5, started: 4, done: 3, failed: 2, bytes: 1 };
    const error = { code: "step_failed", message: "No." } as const;
    await transaction((tx) =>
      tx.runs.saveStep(ref, {
        seq: 1,
        state: "running",
        attempts: 2,
        startedAt: AT,
        inputHash: "hash",
        childRun: "run_2",
        items,
        error,
      }),
    );
    const first = (await read.runs.step(ref))!;
    expect(first).toMatchObject({
      state: "running",
      attempts: 2,
      startedAt: AT,
      finishedAt: null,
      items,
      error,
    });
    await transaction((tx) =>
      tx.runs.saveStep(ref, { seq: 2, state: "succeeded", finishedAt: AT, items: null }),
    );
    expect(await read.runs.step(ref)).toMatchObject({ ...first, seq: 2, state: "succeeded", finishedAt: AT });
    expect(await read.runs.step({ ...ref, item: 0 })).toBeUndefined();
  });

  it("whose child runs is found with it, while it is running", async () => {
    const { transaction } = await withRuns(newRun("run_1"), newRun("run_9"));
    await transaction(async ({ runs }) => {
      await runs.saveStep(ref, { seq: 1, state: "running", childRun: "run_2" });
      await runs.saveStep({ ...ref, item: 3 }, { seq: 1, state: "running", childRun: "run_3" });
      await runs.saveStep({ ...ref, stepId: "b" }, { seq: 1, state: "running" });
      await runs.saveStep({ ...ref, stepId: "c" }, { seq: 1, state: "succeeded", childRun: "run_4" });
      await runs.saveStep({ ...ref, runId: "run_9" }, { seq: 1, state: "running", childRun: "run_5" });
      expect(await runs.children("run_1")).toEqual([
        { ref, childRun: "run_2" },
        { ref: { ...ref, item: 3 }, childRun: "run_3" },
      ]);
    });
  });

  it("of a dead executor is interrupted, alone or with all others that it ran", async () => {
    const { transaction, read } = await withRuns(newRun("run_1"));
    const refs = [ref, { ...ref, item: 0 }, { ...ref, stepId: "b" }];
    const running = {
      attempt: 1,
      status: "running",
      startedAt: AT,
      finishedAt: null,
      usage: null,
      error: null,
    } as const;
    const later = "2026-11-21T09:00:00.000Z";
    await transaction(async ({ runs }) => {
      for (const one of refs) await runs.saveAttempt(one, { ...running, executor: "exe_1" });
      await runs.saveAttempt({ ...ref, stepId: "c" }, { ...running, executor: "exe_2" });
      await runs.saveAttempt(
        { ...ref, stepId: "d" },
        { ...running, status: "succeeded", executor: "exe_1", finishedAt: AT },
      );
      expect(await runs.interruptAttempts("exe_1", later, { ...ref, item: 0 })).toEqual([
        { ...ref, item: 0, attempt: 1, startedAt: AT, effectKey: null },
      ]);
      const rest = await runs.interruptAttempts("exe_1", later);
      expect(rest.map(({ stepId, item }) => `${stepId} ${item}`).toSorted()).toEqual(["a null", "b null"]);
      expect(await runs.interruptAttempts("exe_1", later)).toEqual([]);
    });
    const statusOf = async (stepId: string) =>
      (await read.runs.lastAttempts({ ...ref, stepId }, 1)).map(({ status, finishedAt }) => [
        status,
        finishedAt,
      ]);
    expect(await statusOf("a")).toEqual([["interrupted", later]]);
    expect(await statusOf("c")).toEqual([["running", null]]);
    expect(await statusOf("d")).toEqual([["succeeded", AT]]);
  });
});

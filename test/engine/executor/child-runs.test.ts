import { encodeJson } from "../../../src/core/encoded-json.ts";
import { describe, expect, it } from "vitest";
import { recordAttemptStart } from "../../../src/engine/run-state/record-outcome.ts";
import { runToEnd, testEngine } from "../../support/engine.ts";

const set = (id: string, values: object, more: object = {}) => ({ id, type: "set", values, ...more });

describe("a workflow step", () => {
  const child = {
    inputs: { type: "object", properties: { n: { type: "number" } } },
    steps: [set("c", { twice: "${{ inputs.n * 2 }}" })],
  };

  it("runs another workflow and returns its output", async () => {
    const harness = await testEngine();
    await harness.define(child, "Child");
    const { output, id } = await runToEnd(harness, {
      steps: [{ id: "sub", type: "workflow", workflow: "child", inputs: { n: 21 } }],
      output: "${{ steps.sub.output.twice }}",
    });
    expect(output).toBe(42);
    const { items } = await harness.read.runs.page({
      filter: { workflowId: "child" },
      after: null,
      limit: 5,
    });
    expect(items).toMatchObject([{ trigger: "workflow", depth: 1, parent: { runId: id, stepId: "sub" } }]);
  });

  it("fails with the error of its child run", async () => {
    const harness = await testEngine();
    await harness.define(
      { steps: [{ id: "gate", type: "assert", that: "false", message: "closed" }] },
      "Child",
    );
    const { error } = await runToEnd(harness, {
      steps: [{ id: "sub", type: "workflow", workflow: "child" }],
    });
    expect(error).toMatchObject({ code: "child_failed", step_id: "sub" });
    expect(error?.message).toContain("closed");
  });

  it("starts no child run beyond the limit of all unfinished runs, and says so", async () => {
    const harness = await testEngine({ maxUnfinishedRuns: 3 });
    await harness.define({ steps: [{ id: "nap", type: "wait", for: "1d" }] }, "Child");
    const items = "${{ [1, 2, 3, 4, 5, 6] }}";
    const { id } = await runToEnd(harness, {
      steps: [{ id: "sub", type: "workflow", workflow: "child", for_each: items, concurrency: 6 }],
    });
    expect(await harness.read.runs.count({ status: ["queued", "running", "waiting"] })).toBe(3);
    const records = await harness.read.runs.items({ runId: id, stepId: "sub" }, 0, 6);
    const failed = records.filter(({ state }) => state === "failed");
    expect(failed.length).toBeGreaterThan(0);
    for (const { error, childRun } of failed) {
      expect(childRun).toBeNull();
      expect(error).toMatchObject({
        code: "limit_reached",
        message: expect.stringContaining("limits.unfinished_runs"),
      });
    }
  });

  it("is not counted as a start if its own run is cancelled before the child run starts", async () => {
    const harness = await testEngine({ perKey: { runs_per_hour: 10 } });
    await harness.define({ steps: [set("a", { x: 1 })] }, "Child");
    const parent = await harness.start(
      await harness.define({ steps: [{ id: "sub", type: "workflow", workflow: "child" }] }, "Parent"),
    );
    const { handler } = harness.engine;
    const queue = await harness.executor(async (job, context) => {
      const result = await handler(job, context);
      if (job.kind === "step") await harness.stop(parent);
      return result;
    });
    queue.wake();
    await queue.waitUntilIdle();
    expect((await harness.find(parent)).status).toBe("cancelled");
    expect(await harness.read.runs.count({})).toBe(1);
    const counted = await harness.store.read.selectFrom("usage_counts").select("used").execute();
    expect(counted.map(({ used }) => used)).toEqual([1]);
  });

  it("cancels its child run when its own run is cancelled", async () => {
    const harness = await testEngine();
    await harness.define({ steps: [{ id: "nap", type: "wait", for: "1d" }] }, "Child");
    const { id, queue } = await runToEnd(harness, {
      steps: [{ id: "sub", type: "workflow", workflow: "child" }],
    });
    await harness.stop(id);
    queue.wake();
    await queue.waitUntilIdle();
    const { items } = await harness.read.runs.page({ filter: {}, after: null, limit: 5 });
    expect(items.map((run) => run.status)).toEqual(["cancelled", "cancelled"]);
  });

  it("fails when workflows call each other in a cycle", async () => {
    const harness = await testEngine();
    const { id } = await harness.create({ name: "Loop" });
    const condition = "size(run.id) > 0";
    await harness.redefine(id, {
      steps: [{ id: "again", type: "workflow", workflow: "loop", if: condition }],
    });
    const queue = await harness.executor();
    const run = await harness.start(id);
    queue.wake();
    await queue.waitUntilIdle();
    expect(await harness.outcome(run)).toMatchObject({ status: "failed", error: { code: "child_failed" } });
    expect(await harness.read.runs.count({})).toBe(9);
  });
});

describe("child runs", () => {
  const failing = { steps: [{ id: "gate", type: "assert", that: "false", message: "closed" }] };

  it("that fail together end the fan-out that waits for them", async () => {
    const harness = await testEngine({ slots: 1 });
    await harness.define(failing, "Child");
    const { status, error } = await runToEnd(harness, {
      steps: [{ id: "sub", type: "workflow", for_each: "[1, 2, 3, 4, 5, 6]", workflow: "child" }],
    });
    expect({ status, error }).toMatchObject({
      status: "failed",
      error: { code: "child_failed", step_id: "sub" },
    });
    expect(await harness.read.jobs.depth()).toEqual({ ready: 0, later: 0, claimed: 0 });
  });

  it("do not keep a run from its timeout once another step has failed", async () => {
    const harness = await testEngine();
    await harness.define({ steps: [{ id: "nap", type: "wait", for: "2d" }] }, "Child");
    const { id, queue, status } = await runToEnd(harness, {
      timeout: "1h",
      steps: [
        { id: "sub", type: "workflow", workflow: "child", needs: [] },
        { id: "nap", type: "wait", for: "10m", needs: [] },
        { id: "gate", type: "assert", that: "false", message: "closed", needs: ["nap"] },
      ],
    });
    expect(status).toBe("running");
    harness.clock.advance(600_000);
    queue.wake();
    await queue.waitUntilIdle();
    expect(await harness.outcome(id)).toMatchObject({
      status: "running",
      states: ["running", "succeeded", "failed"],
    });
    harness.clock.advance(3_000_000);
    queue.wake();
    await queue.waitUntilIdle();
    expect(await harness.outcome(id)).toMatchObject({ status: "failed" });
    expect(await harness.read.runs.count({ status: ["running", "waiting", "queued"] })).toBe(0);
  });

  it("are started again when the step has retry", async () => {
    const harness = await testEngine();
    await harness.define(failing, "Child");
    const retry = { attempts: 3, initial: "1s", on: ["child_failed"] };
    const { id, queue } = await runToEnd(harness, {
      steps: [{ id: "sub", type: "workflow", workflow: "child", retry }],
    });
    for (let turn = 0; turn < 3; turn += 1) {
      harness.clock.advance(4_000);
      queue.wake();
      await queue.waitUntilIdle();
    }
    expect(await harness.outcome(id)).toMatchObject({ status: "failed", error: { code: "child_failed" } });
    expect(await harness.read.runs.count({ workflowId: "child" })).toBe(3);
    expect(
      (await harness.read.runs.lastAttempts({ runId: id, stepId: "sub", item: null }, 20)).map(
        (one) => one.status,
      ),
    ).toEqual(["failed", "failed", "failed"]);
  });

  it.each([
    ["retry", { retry: { attempts: 3, initial: "1s", on: ["child_failed", "child_cancelled"] } }, "failed"],
    ["on_error: continue", { on_error: "continue" }, "failed"],
    ["a fan-out that continues", { for_each: "[1, 2]", on_error: "continue" }, "failed"],
  ])("that a person cancels are not started again, nor taken for failures: %s", async (_, more, status) => {
    const harness = await testEngine();
    await harness.define({ steps: [{ id: "nap", type: "wait", for: "2d" }] }, "Child");
    await harness.define({ steps: [{ id: "sub", type: "workflow", workflow: "child", ...more }] }, "Middle");
    const { id, queue } = await runToEnd(harness, {
      steps: [{ id: "middle", type: "workflow", workflow: "middle", retry: { attempts: 3, initial: "1s" } }],
    });
    const children = await harness.read.runs.page({
      filter: { workflowId: "child" },
      after: null,
      limit: 5,
    });
    await harness.stop(children.items[0]!.id);
    for (let turn = 0; turn < 3; turn += 1) {
      queue.wake();
      await queue.waitUntilIdle();
      harness.clock.advance(4_000);
    }
    if ("for_each" in more) await harness.stop(children.items[1]!.id);
    queue.wake();
    await queue.waitUntilIdle();
    expect(await harness.outcome(id)).toMatchObject({
      status,
      error: { code: "child_cancelled", step_id: "middle" },
    });
    expect(await harness.read.runs.count({})).toBe(2 + children.items.length);
  });

  it("are retried as often as retry says, attempts that were interrupted not counted", async () => {
    const harness = await testEngine();
    await harness.define(failing, "Child");
    const retry = { attempts: 3, initial: "1s" };
    const id = await harness.start(
      await harness.define({ steps: [{ id: "sub", type: "workflow", workflow: "child", retry }] }),
    );
    // The executor that starts the first attempt dies at once.
    await harness.transaction(async (tx) => {
      await tx.jobs.heartbeat("exe_dead", harness.now());
      const [job] = await tx.jobs.claim("exe_dead", {
        now: harness.now(),
        limit: 1,
        limits: new Map(),
        quarantined: "isolate",
      });
      const start = {
        attempt: 1,
        executor: "exe_dead",
        startedAt: harness.now(),
        input: encodeJson({}),
        effectKey: undefined,
      };
      await recordAttemptStart(tx, job!, 0, start);
      await tx.jobs.reclaim("exe_dead");
      await tx.runs.interruptAttempts("exe_dead", harness.now());
    });
    const queue = await harness.executor();
    for (let turn = 0; turn < 5; turn += 1) {
      queue.wake();
      await queue.waitUntilIdle();
      harness.clock.advance(4_000);
    }
    expect(
      (await harness.read.runs.lastAttempts({ runId: id, stepId: "sub", item: null }, 9)).map(
        ({ status }) => status,
      ),
    ).toEqual(["interrupted", "failed", "failed", "failed"]);
    expect(await harness.read.runs.count({ workflowId: "child" })).toBe(3);
  });

  it("are cancelled when the step exceeds its timeout", async () => {
    const harness = await testEngine();
    await harness.define({ steps: [{ id: "nap", type: "wait", for: "2d" }] }, "Child");
    const { id, queue } = await runToEnd(harness, {
      steps: [{ id: "sub", type: "workflow", workflow: "child", timeout: "5m" }],
    });
    harness.clock.advance(300_000);
    queue.wake();
    await queue.waitUntilIdle();
    expect(await harness.outcome(id)).toMatchObject({
      status: "failed",
      error: { code: "timeout", step_id: "sub" },
    });
    expect(await harness.read.runs.count({ workflowId: "child", status: ["cancelled"] })).toBe(1);
  });

  it("are not queued behind the run that waits for them", async () => {
    const harness = await testEngine();
    const { id } = await harness.create({ name: "Again" });
    await harness.redefine(id, {
      concurrency: 1,
      inputs: { type: "object", properties: { n: { type: "number", default: 2 } } },
      steps: [
        {
          id: "sub",
          type: "workflow",
          if: "inputs.n > 0",
          workflow: "again",
          inputs: { n: "${{ inputs.n - 1 }}" },
        },
      ],
    });
    const queue = await harness.executor();
    const run = await harness.start(id);
    queue.wake();
    await queue.waitUntilIdle();
    expect((await harness.outcome(run)).status).toBe("succeeded");
    expect(await harness.read.runs.count({ status: ["succeeded"] })).toBe(3);
  });
});

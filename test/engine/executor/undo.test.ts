import { describe, expect, it } from "vitest";
import { StepError } from "../../../src/core/step-errors.ts";
import type { RunRequest } from "../../../src/core/engine-port.ts";
import { runToEnd, type TestEngine, testEngine } from "../../support/engine.ts";

const probe = (id: string, more: object = {}) => ({ id, type: "probe", ask: id, ...more });
/** What undoes a probe: a probe that names it, and what the probe returned. */
const undo = (id: string, more: object = {}) => ({
  type: "probe",
  ask: { undo: id, was: "${{ result.value }}" },
  ...more,
});
const undoable = (id: string, more: object = {}) => probe(id, { undo: undo(id), ...more });
const fails = { id: "gate", type: "assert", that: "false", message: "closed" };

/** An engine whose probes record what they are asked, in order, and the keys that they are called with. */
async function recording(
  answer: (asked: unknown) => unknown = () => null,
  options: Parameters<typeof testEngine>[0] = {},
) {
  const harness = await testEngine(options);
  const asked: string[] = [];
  const keys: string[] = [];
  harness.onProbe((value, { idempotencyKey }) => {
    const undone = (value as { undo?: string; was?: unknown }).undo;
    const name = undone === undefined ? String(value) : `undo ${undone}`;
    asked.push(name);
    keys.push(`${name} ${idempotencyKey.split(":")[0]}`);
    return answer(value) ?? `done ${name}`;
  });
  return { harness, asked, keys };
}

const retry = async (harness: TestEngine, id: string, request: Partial<RunRequest> = {}) => {
  const retryOf = await harness.find(id);
  const queue = await harness.executor();
  const next = await harness.start(retryOf.workflowId, { retryOf, ...request });
  queue.wake();
  await queue.waitUntilIdle();
  return { id: next, ...(await harness.outcome(next)) };
};

describe("a run that fails", () => {
  it("undoes its succeeded steps, the last one first, before it ends", async () => {
    const { harness, asked } = await recording();
    const { id, status, error, states } = await runToEnd(harness, {
      steps: [undoable("a"), probe("b"), undoable("c"), fails, undoable("d")],
    });
    expect(asked).toEqual(["a", "b", "c", "undo c", "undo a"]);
    expect([status, error?.code]).toEqual(["failed", "assert_failed"]);
    expect(states).toEqual(["succeeded", "succeeded", "succeeded", "failed", "cancelled"]);
    const undone = await harness.read.runs.step({ runId: id, stepId: "undo:c", item: null });
    expect(undone).toMatchObject({ state: "succeeded", attempts: 1 });
    const output = await harness.read.runs.output({ runId: id, stepId: "undo:c", item: null });
    expect(output).toEqual({ value: "done undo c" });
    expect(await harness.read.jobs.depth()).toEqual({ ready: 0, later: 0, claimed: 0 });
  });

  it("passes the output of a step to what undoes it, and what the step can read", async () => {
    const seen: unknown[] = [];
    const { harness } = await recording((value) => void seen.push(value));
    await runToEnd(
      harness,
      {
        inputs: { type: "object", properties: { n: { type: "number" } } },
        steps: [
          { id: "first", type: "set", values: { x: 7 } },
          probe("a", {
            undo: {
              type: "probe",
              ask: "${{ {'was': result.value, 'status': result.status, 'n': inputs.n, 'x': steps.first.x} }}",
            },
          }),
          fails,
        ],
      },
      { inputs: { n: 3 } },
    );
    expect(seen).toEqual(["a", { was: "done a", status: "succeeded", n: 3, x: 7 }]);
  });

  it("undoes parallel steps in reverse order of their completion", async () => {
    const release: Record<string, () => void> = {};
    const { harness, asked } = await recording((value) =>
      typeof value === "string"
        ? new Promise((resolve) => {
            release[value] = () => resolve(value);
          })
        : undefined,
    );
    const queue = await harness.executor();
    const id = await harness.start(
      await harness.define({
        steps: [undoable("a", { needs: [] }), undoable("b", { needs: [] }), { ...fails, needs: ["a", "b"] }],
      }),
    );
    queue.wake();
    await expect.poll(() => Object.keys(release).toSorted()).toEqual(["a", "b"]);
    release["b"]!();
    await expect
      .poll(async () => (await harness.find(id)).stepStates.list)
      .toEqual(["queued", "succeeded", "pending"]);
    release["a"]!();
    await queue.waitUntilIdle();
    expect(asked.slice(2)).toEqual(["undo a", "undo b"]);
  });

  it("undoes every succeeded item of a fan-out, with its item", async () => {
    const seen: unknown[] = [];
    const { harness } = await recording((value) => {
      seen.push(value);
      if (value === 3) throw new StepError("step_failed", "no");
      return value;
    });
    const { id, status } = await runToEnd(harness, {
      steps: [
        {
          id: "each",
          type: "probe",
          for_each: "[1, 2, 3]",
          concurrency: 1,
          ask: "${{ item }}",
          undo: { type: "probe", ask: "${{ [item, index, result.value] }}" },
        },
      ],
    });
    expect(seen).toEqual([1, 2, 3, [2, 1, 2], [1, 0, 1]]);
    expect(status).toBe("failed");
    const step = await harness.read.runs.step({ runId: id, stepId: "undo:each", item: null });
    expect(step).toMatchObject({ state: "succeeded", items: { total: 2, done: 2, failed: 0 } });
  });

  it("undoes a step of any run that ends otherwise: its output, its timeout, a cancellation", async () => {
    const { harness, asked } = await recording();
    const output = "${{ [1][size(run.id)] }}";
    expect((await runToEnd(harness, { steps: [undoable("a")], output })).status).toBe("failed");
    expect(asked.splice(0)).toEqual(["a", "undo a"]);

    const waits = [undoable("a"), { id: "nap", type: "wait", for: "1d" }];
    const late = await runToEnd(harness, { steps: waits, timeout: "1h" });
    harness.clock.advance(3_600_000);
    late.queue.wake();
    await late.queue.waitUntilIdle();
    expect((await harness.outcome(late.id)).error?.code).toBe("run_timeout");
    expect(asked.splice(0)).toEqual(["a", "undo a"]);

    const stopped = await runToEnd(harness, { steps: waits });
    await harness.stop(stopped.id);
    // A second cancellation changes nothing.
    await harness.stop(stopped.id);
    stopped.queue.wake();
    await stopped.queue.waitUntilIdle();
    expect(await harness.outcome(stopped.id)).toMatchObject({ status: "cancelled", error: null });
    expect(asked.splice(0)).toEqual(["a", "undo a"]);
  });

  it("is still running while it undoes, and ends after that", async () => {
    const gate = Promise.withResolvers<void>();
    const { harness } = await recording((value) => (typeof value === "string" ? undefined : gate.promise));
    const queue = await harness.executor();
    const id = await harness.start(await harness.define({ steps: [undoable("a"), fails] }));
    queue.wake();
    await expect.poll(async () => (await harness.find(id)).stop).toMatchObject({ undoing: true });
    expect(await harness.find(id)).toMatchObject({ status: "running", finishedAt: null });
    await harness.stop(id);
    gate.resolve();
    await queue.waitUntilIdle();
    expect(await harness.outcome(id)).toMatchObject({ status: "failed", error: { code: "assert_failed" } });
  });
});

describe("an undo that fails", () => {
  it("is retried, does not stop the others, and is listed in the error of the run", async () => {
    const { harness, asked } = await recording((value) => {
      if ((value as { undo?: string }).undo === "b") throw new StepError("http_failed", "no answer");
    });
    const { id, queue } = await runToEnd(harness, {
      steps: [
        undoable("a"),
        probe("b", { undo: undo("b", { retry: { attempts: 2, initial: "1s" } }) }),
        fails,
      ],
    });
    harness.clock.advance(2_000);
    queue.wake();
    await queue.waitUntilIdle();
    expect(asked).toEqual(["a", "b", "undo b", "undo b", "undo a"]);
    expect(await harness.outcome(id)).toMatchObject({
      status: "failed",
      error: {
        code: "assert_failed",
        message: expect.stringContaining('"b" could not be undone'),
        details: { undo_failed: [{ step_id: "b", code: "http_failed", message: "no answer" }] },
      },
    });
    const step = await harness.read.runs.step({ runId: id, stepId: "undo:b", item: null });
    expect(step).toMatchObject({ state: "failed", attempts: 2, error: { code: "http_failed" } });
  });

  it("is the error of a run that was cancelled", async () => {
    const { harness } = await recording((value) => {
      if (typeof value === "object") throw new StepError("http_status", "404", { transient: false });
    });
    const { id, queue } = await runToEnd(harness, {
      steps: [undoable("a"), { id: "nap", type: "wait", for: "1d" }],
    });
    await harness.stop(id);
    queue.wake();
    await queue.waitUntilIdle();
    expect(await harness.outcome(id)).toMatchObject({
      status: "cancelled",
      error: { code: "undo_failed", details: { undo_failed: [{ step_id: "a", code: "http_status" }] } },
    });
  });

  it("does not happen to a run that succeeds", async () => {
    const { harness, asked } = await recording();
    expect((await runToEnd(harness, { steps: [undoable("a"), undoable("b")] })).status).toBe("succeeded");
    expect(asked).toEqual(["a", "b"]);
  });
});

describe("a retry of a run whose steps were undone", () => {
  it("runs them again, with another idempotency key, and undoes them again", async () => {
    const { harness, asked, keys } = await recording();
    const { id } = await runToEnd(harness, { steps: [undoable("a"), probe("b"), fails] });
    expect(asked.splice(0)).toEqual(["a", "b", "undo a"]);
    const second = await retry(harness, id);
    const third = await retry(harness, second.id);
    expect([second.status, third.status]).toEqual(["failed", "failed"]);
    expect(asked).toEqual(["a", "undo a", "a", "undo a"]);
    // A receiver that knows the key of the first call would not execute the others.
    expect(keys).toEqual([
      `a ${id}`,
      `b ${id}`,
      `undo a ${id}`,
      `a ${second.id}`,
      `undo a ${second.id}`,
      `a ${third.id}`,
      `undo a ${third.id}`,
    ]);
  });
});

describe("child runs", () => {
  it("are undone before the steps of the run that started them", async () => {
    const { harness, asked } = await recording();
    await harness.define({ steps: [undoable("inner"), { id: "nap", type: "wait", for: "1d" }] }, "Child");
    const { id, queue } = await runToEnd(harness, {
      steps: [undoable("outer"), { id: "sub", type: "workflow", workflow: "child" }],
    });
    await harness.stop(id);
    queue.wake();
    await queue.waitUntilIdle();
    expect(asked).toEqual(["outer", "inner", "undo inner", "undo outer"]);
    expect((await harness.find(id)).status).toBe("cancelled");
    expect(await harness.read.runs.count({ status: ["running", "waiting", "queued"] })).toBe(0);
  });

  it("are undone before a run whose output fails, also when their step has timed out", async () => {
    const { promise, resolve: release } = Promise.withResolvers<void>();
    const { harness, asked } = await recording((value) =>
      (value as { undo?: string }).undo === "inner" ? promise : undefined,
    );
    await harness.define({ steps: [undoable("inner"), { id: "nap", type: "wait", for: "1d" }] }, "Child");
    const { id, queue } = await runToEnd(harness, {
      steps: [
        undoable("outer"),
        { id: "sub", type: "workflow", workflow: "child", timeout: "10s", on_error: "continue" },
      ],
      output_schema: { type: "integer" },
      output: "${{ steps.outer.value }}",
    });
    harness.clock.advance(10_001);
    queue.wake();
    await expect.poll(async () => (await harness.find(id)).stop?.status).toBe("failed");
    await expect.poll(() => asked).toEqual(["outer", "inner", "undo inner"]);
    release();
    await queue.waitUntilIdle();
    expect(asked.slice(3)).toEqual(["undo outer"]);
    const { status, error } = await harness.outcome(id);
    expect([status, error?.code]).toEqual(["failed", "output_invalid"]);
  });

  it("that succeeded are undone by the undo of their step", async () => {
    const { harness, asked } = await recording();
    await harness.define({ steps: [undoable("inner")], output: { n: 4 } }, "Child");
    await runToEnd(harness, {
      steps: [
        {
          id: "sub",
          type: "workflow",
          workflow: "child",
          undo: { type: "probe", ask: { undo: "sub ${{ result.output.n }}" } },
        },
        fails,
      ],
    });
    expect(asked).toEqual(["inner", "undo sub 4"]);
  });
});

it("an undo that its executor did not finish runs again in another one", async () => {
  // Without a free slot, the first executor can't claim the job again.
  const { harness, asked } = await recording(() => null, { slots: 1 });
  const id = await harness.start(await harness.define({ steps: [undoable("a"), fails] }));
  const undoing = Promise.withResolvers<void>();
  const first = await harness.executor(async (job, context) => {
    if (job.kind !== "undo") return harness.engine.handler(job, context);
    undoing.resolve();
    return new Promise(() => {});
  });
  first.wake();
  await undoing.promise;
  await harness.transaction(async (tx) => {
    const [dead] = await tx.jobs.executors();
    await tx.jobs.reclaim(dead!.id);
  });
  const second = await harness.executor();
  second.wake();
  await second.waitUntilIdle();
  expect(asked).toEqual(["a", "undo a"]);
  expect((await harness.outcome(id)).status).toBe("failed");
});

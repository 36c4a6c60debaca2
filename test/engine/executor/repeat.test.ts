import { describe, expect, it } from "vitest";
import { StepError } from "../../../src/core/step-errors.ts";
import { runToEnd, type TestEngine, testEngine } from "../../support/engine.ts";

/** A step that the test's function answers, repeated. */
const probe = (repeat: object, more: object = {}) => ({
  id: "a",
  type: "probe",
  ask: "${{ loop.index }}",
  repeat,
  ...more,
});

const OUTPUT = {
  values: "${{ steps.a.items.map(i, i.value) }}",
  last: "${{ steps.a.last.value }}",
  count: "${{ steps.a.count }}",
};

/** Lets a run continue past its pauses and retries, until it has ended. */
async function continueToEnd(harness: TestEngine, queue: Awaited<ReturnType<TestEngine["executor"]>>) {
  for (;;) {
    await queue.waitUntilIdle();
    const dueAt = await harness.read.jobs.nextDueAt(harness.now());
    if (dueAt === null) return;
    harness.clock.advance(Date.parse(dueAt) - harness.clock.now());
    queue.wake();
  }
}

describe("repeat", () => {
  it("runs a step until its condition is true, and returns what each iteration returned", async () => {
    const { status, output } = await runToEnd(await testEngine(), {
      steps: [probe({ until: "result.value == 3", max: 10 })],
      output: OUTPUT,
    });
    expect({ status, output }).toEqual({
      status: "succeeded",
      output: { values: [0, 1, 2, 3], last: 3, count: 4 },
    });
  });

  it("runs at least once, and max times without a condition", async () => {
    const harness = await testEngine();
    const countOf = async (repeat: object) =>
      (await runToEnd(harness, { steps: [probe(repeat)], output: "${{ steps.a.count }}" })).output;
    expect(await countOf({ until: true, max: 5 })).toBe(1);
    expect(await countOf({ max: 5 })).toBe(5);
    expect(await countOf({ until: "result.value == 0", max: 1, with: {} })).toBe(1);
  });

  it("passes variables from one iteration to the next", async () => {
    const harness = await testEngine();
    const pages: Record<string, unknown> = { first: "second", second: "third", third: null };
    const asked: unknown[] = [];
    harness.onProbe((ask) => {
      asked.push(ask);
      return { next: pages[(ask as { page: string }).page] };
    });
    const { output } = await runToEnd(
      harness,
      {
        inputs: { type: "object", properties: { from: { type: "string" } } },
        steps: [
          probe(
            {
              until: "result.value.next == null",
              max: 10,
              with: {
                page: { start: "${{ inputs.from }}", next: "result.value.next" },
                sum: { start: 0, next: "loop.sum + loop.index + 1" },
              },
            },
            { ask: { page: "${{ loop.page }}", sum: "${{ loop.sum }}" } },
          ),
        ],
      },
      { inputs: { from: "first" } },
    );
    expect(asked).toEqual([
      { page: "first", sum: 0 },
      { page: "second", sum: 1 },
      { page: "third", sum: 3 },
    ]);
    expect(output).toMatchObject({ count: 3, last: { value: { next: null } } });
  });

  it("reads other steps in its condition and its variables", async () => {
    const { output } = await runToEnd(await testEngine(), {
      steps: [
        { id: "limits", type: "set", values: { most: 2, step: 5 } },
        probe(
          {
            until: "loop.index >= steps.limits.most",
            max: 9,
            with: { n: { start: "${{ steps.limits.step }}", next: "loop.n + steps.limits.step" } },
          },
          { ask: "${{ loop.n }}" },
        ),
      ],
      output: OUTPUT.values,
    });
    expect(output).toEqual([5, 10, 15]);
  });

  it("fails when it is exhausted", async () => {
    const harness = await testEngine();
    const { id, status, error } = await runToEnd(harness, { steps: [probe({ until: "false", max: 3 })] });
    expect({ status, error }).toMatchObject({
      status: "failed",
      error: { code: "repeat_exhausted", step_id: "a", message: expect.stringContaining("3 times") },
    });
    const step = await harness.read.runs.step({ runId: id, stepId: "a", item: null });
    expect(step).toMatchObject({ state: "failed", items: { total: 3, done: 3, failed: 0 } });
  });

  it("keeps its iterations when it is exhausted and the run continues", async () => {
    const { status, output } = await runToEnd(await testEngine(), {
      steps: [probe({ until: "false", max: 2 }, { on_error: "continue" })],
      output: { ...OUTPUT, code: "${{ steps.a.error.code }}" },
    });
    expect({ status, output }).toEqual({
      status: "succeeded",
      output: { values: [0, 1], last: 1, count: 2, code: "repeat_exhausted" },
    });
  });

  it("fails with the iteration that fails, and starts no other", async () => {
    const harness = await testEngine();
    const asked: unknown[] = [];
    harness.onProbe((ask) => {
      asked.push(ask);
      if (ask === 1) throw new StepError("step_failed", "one is bad");
    });
    const { status, error } = await runToEnd(harness, { steps: [probe({ max: 5 })] });
    expect({ status, error, asked }).toMatchObject({
      status: "failed",
      error: { code: "step_failed", step_id: "a", item: 1 },
      asked: [0, 1],
    });
  });

  it("with on_error: continue repeats after a failure, which the condition reads", async () => {
    const harness = await testEngine();
    harness.onProbe((ask) => {
      if (Number(ask) < 2) throw new StepError("step_failed", "not yet");
      return "ready";
    });
    const { status, output } = await runToEnd(harness, {
      steps: [probe({ until: "result.status == 'succeeded'", max: 5 }, { on_error: "continue" })],
      output: { ...OUTPUT, errors: "${{ steps.a.items.map(i, i.error == null ? '' : i.error.code) }}" },
    });
    expect({ status, output }).toEqual({
      status: "succeeded",
      output: {
        values: [null, null, "ready"],
        last: "ready",
        count: 3,
        errors: ["step_failed", "step_failed", ""],
      },
    });
  });

  it("retries an iteration without counting it twice", async () => {
    const harness = await testEngine();
    let failures = 0;
    harness.onProbe((ask) => {
      if (ask === 1 && failures < 2) {
        failures += 1;
        throw new StepError("http_failed", "no connection");
      }
      return ask;
    });
    const { id, queue } = await runToEnd(harness, {
      steps: [probe({ max: 3 }, { retry: { attempts: 3, initial: "1s" } })],
      output: OUTPUT,
    });
    await continueToEnd(harness, queue);
    expect((await harness.outcome(id)).output).toEqual({ values: [0, 1, 2], last: 2, count: 3 });
    const item = await harness.read.runs.step({ runId: id, stepId: "a", item: 1 });
    expect(item).toMatchObject({ attempts: 3, state: "succeeded" });
  });

  it("fails when an expression of the loop fails, without another iteration", async () => {
    const harness = await testEngine();
    const { status, error, id } = await runToEnd(harness, {
      steps: [probe({ until: "dyn(result.value) == 1 ? int('x') == 0 : false", max: 5 })],
    });
    expect({ status, error }).toMatchObject({
      status: "failed",
      error: { code: "expression_failed", step_id: "a" },
    });
    expect(await harness.read.runs.step({ runId: id, stepId: "a", item: null })).toMatchObject({
      items: { total: 2, done: 2 },
    });
  });

  it("fails when the variables can't start, with no iteration", async () => {
    const { status, output } = await runToEnd(await testEngine(), {
      steps: [
        probe(
          { max: 5, with: { n: { start: "${{ int(run.id) }}", next: "loop.n" } } },
          { on_error: "continue", ask: 1 },
        ),
      ],
      output: {
        items: "${{ steps.a.items }}",
        last: "${{ steps.a.last }}",
        count: "${{ steps.a.count }}",
        code: "${{ steps.a.error.code }}",
      },
    });
    expect({ status, output }).toEqual({
      status: "succeeded",
      output: { items: [], last: null, count: 0, code: "expression_failed" },
    });
  });

  it("is skipped as a whole", async () => {
    const { output } = await runToEnd(await testEngine(), {
      steps: [probe({ max: 5 }, { if: "1 > 2" })],
      output: "${{ [steps.a.status, steps.a.items, steps.a.last, steps.a.count] }}",
    });
    expect(output).toEqual(["skipped", null, null, null]);
  });

  it("pauses between iterations without an executor, and the run waits", async () => {
    const harness = await testEngine();
    const startedAt = harness.clock.now();
    const times: number[] = [];
    harness.onProbe((ask) => {
      times.push((harness.clock.now() - startedAt) / 1_000);
      return ask;
    });
    const { id, queue, status } = await runToEnd(harness, {
      steps: [probe({ until: "result.value == 2", max: 10, every: "30s" })],
    });
    expect(status).toBe("waiting");
    expect((await harness.read.jobs.depth()).claimed).toBe(0);
    const step = await harness.read.runs.step({ runId: id, stepId: "a", item: null });
    expect(step).toMatchObject({ state: "waiting", waitUntil: "2026-11-21T08:00:30.000Z" });
    await continueToEnd(harness, queue);
    expect(times).toEqual([0, 30, 60]);
    const { status: end, states } = await harness.outcome(id);
    expect({ end, states }).toEqual({ end: "succeeded", states: ["succeeded"] });
  });

  it("runs while an iteration runs after a pause", async () => {
    const harness = await testEngine();
    const began = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    harness.onProbe(async (ask) => {
      if (ask !== 1) return;
      began.resolve();
      await end.promise;
    });
    const { id, queue } = await runToEnd(harness, { steps: [probe({ max: 2, every: "1m" })] });
    harness.clock.advance(60_000);
    queue.wake();
    await began.promise;
    const { status, states } = await harness.outcome(id);
    const step = await harness.read.runs.step({ runId: id, stepId: "a", item: null });
    expect({ status, states, waitUntil: step!.waitUntil }).toEqual({
      status: "running",
      states: ["running"],
      waitUntil: null,
    });
    end.resolve();
    await queue.waitUntilIdle();
    expect((await harness.outcome(id)).status).toBe("succeeded");
  });

  it("can be cancelled in a pause, and between two iterations", async () => {
    const harness = await testEngine();
    const { id } = await runToEnd(harness, { steps: [probe({ max: 5, every: "1h" })] });
    await harness.stop(id);
    expect(await harness.outcome(id)).toMatchObject({ status: "cancelled", states: ["cancelled"] });
    expect(await harness.read.jobs.depth()).toEqual({ ready: 0, later: 0, claimed: 0 });
  });

  it("is cancelled with the iteration that runs", async () => {
    const harness = await testEngine();
    const began = Promise.withResolvers<void>();
    harness.onProbe(async (ask, { signal }) => {
      if (ask !== 2) return;
      began.resolve();
      await new Promise((_, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason as Error)),
      );
    });
    const queue = await harness.executor();
    const id = await harness.start(await harness.define({ steps: [probe({ max: 5 })] }));
    queue.wake();
    await began.promise;
    await harness.stop(id);
    await queue.heartbeat();
    await queue.waitUntilIdle();
    expect(await harness.outcome(id)).toMatchObject({ status: "cancelled", states: ["cancelled"] });
    expect(await harness.read.runs.step({ runId: id, stepId: "a", item: null })).toMatchObject({
      state: "cancelled",
      items: { total: 3, done: 3 },
    });
  });

  it("is cancelled when another step fails", async () => {
    const harness = await testEngine();
    harness.onProbe(async (ask) => {
      if (ask === "fail") throw new StepError("step_failed", "no");
      return ask;
    });
    const { id, status, states } = await runToEnd(harness, {
      steps: [
        probe({ max: 50, every: "1m" }, { needs: [] }),
        { id: "b", type: "probe", needs: [], ask: "fail" },
      ],
    });
    expect({ status, states }).toEqual({ status: "failed", states: ["cancelled", "failed"] });
    expect((await harness.find(id)).error?.step_id).toBe("b");
    expect(await harness.read.jobs.depth()).toEqual({ ready: 0, later: 0, claimed: 0 });
  });

  it("ends with the timeout of the run", async () => {
    const harness = await testEngine();
    const { id, queue } = await runToEnd(harness, {
      timeout: "90s",
      steps: [probe({ max: 50, every: "1m" })],
    });
    await continueToEnd(harness, queue);
    expect(await harness.outcome(id)).toMatchObject({ status: "failed", error: { code: "run_timeout" } });
  });

  it("runs a workflow again until its output is accepted", async () => {
    const harness = await testEngine();
    const inputs = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    const child = await harness.define(
      { inputs, steps: [{ id: "x", type: "set", values: { y: "${{ inputs.n * 2 }}" } }] },
      "Child",
    );
    const { status, output } = await runToEnd(harness, {
      steps: [
        {
          id: "a",
          type: "workflow",
          workflow: child,
          repeat: {
            until: "result.output.y > 10",
            max: 9,
            with: { n: { start: 1, next: "result.output.y" } },
          },
          inputs: { n: "${{ loop.n }}" },
        },
      ],
      output: "${{ steps.a.items.map(i, i.output.y) }}",
    });
    expect({ status, output }).toEqual({ status: "succeeded", output: [2, 4, 8, 16] });
  });

  it("of wait steps waits in each iteration", async () => {
    const harness = await testEngine();
    const { id, queue, status } = await runToEnd(harness, {
      steps: [{ id: "a", type: "wait", for: "10s", repeat: { max: 3, every: "5s" } }],
      output: "${{ steps.a.count }}",
    });
    expect(status).toBe("waiting");
    await continueToEnd(harness, queue);
    expect(await harness.outcome(id)).toMatchObject({ status: "succeeded", output: 3 });
    expect(harness.now()).toBe("2026-11-21T08:00:40.000Z");
  });

  it("keeps its iterations in one run apart, also with equal input", async () => {
    const harness = await testEngine();
    let polls = 0;
    harness.onProbe(() => (polls += 1));
    const poll = probe(
      { until: "result.value >= 3", max: 9 },
      { ask: "same", cache: { for: "1h", despite_effects: true } },
    );
    const id = await harness.define({ steps: [poll], output: OUTPUT.values });
    const queue = await harness.executor();
    const run = async () => {
      const runId = await harness.start(id);
      queue.wake();
      await queue.waitUntilIdle();
      return (await harness.outcome(runId)).output;
    };
    expect(await run()).toEqual([1, 2, 3]);
    // From the cache, iteration by iteration.
    expect(await run()).toEqual([1, 2, 3]);
    expect(polls).toBe(3);
  });
});

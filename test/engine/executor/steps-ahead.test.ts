import { describe, expect, it } from "vitest";
import { type Evaluator, evaluator } from "../../../src/engine/executor/evaluator.ts";
import { untilPassing } from "../../support/eventually.ts";
import { runToEnd, testEngine, type TestEngine } from "../../support/engine.ts";

const set = (id: string, x: unknown, more: object = {}) => ({ id, type: "set", values: { x }, ...more });
const probe = (id: string, more: object = {}) => ({ id, type: "probe", ask: id, ...more });

/** The numbers of the updates that the steps were saved with: equal ones were saved in one transaction. */
const seqsOf = async ({ read }: TestEngine, id: string): Promise<Record<string, number>> =>
  Object.fromEntries((await read.runs.steps(id)).map(({ stepId, seq }) => [stepId, seq]));

/** Calls `onInline` before an expression is evaluated ahead. */
function observed(onInline: (source: string) => Promise<unknown>): Evaluator {
  const real = evaluator();
  return {
    forJob: (owner, signal) => real.forJob(owner, signal),
    inline() {
      const evaluate = real.inline();
      return async (expression, scope) => {
        await onInline(expression.origin);
        return evaluate(expression, scope);
      };
    },
    close: () => real.close(),
  };
}

describe("steps that need nothing but the processor", () => {
  it("are recorded in one transaction with the step before them and the end of the run", async () => {
    const harness = await testEngine();
    const { id, status, output, states } = await runToEnd(harness, {
      steps: [
        set("a", 1),
        set("b", "${{ steps.a.x + 1 }}"),
        set("c", 0, { if: "steps.b.x == 0" }),
        { id: "d", type: "assert", that: "steps.c.status == 'skipped'" },
      ],
      output: "${{ [steps.a.x, steps.b.x, steps.c.x] }}",
    });
    expect({ status, output, states }).toEqual({
      status: "succeeded",
      output: [1, 2, null],
      states: ["succeeded", "succeeded", "skipped", "succeeded"],
    });
    const { seq } = await harness.find(id);
    expect(await seqsOf(harness, id)).toEqual({ a: seq, b: seq, c: seq, d: seq });
    const attempts = await harness.read.runs.lastAttempts({ runId: id, stepId: "b", item: null }, 9);
    expect(attempts).toMatchObject([{ attempt: 1, status: "succeeded", finishedAt: harness.now() }]);
    const input = { runId: id, what: "attempt_input", stepId: "b", item: null, attempt: 1 } as const;
    expect(await harness.read.runs.valueText(input, { from: 0, chars: 100 })).toMatchObject({
      text: '{"values":{"x":2}}',
    });
  });

  it("see the same run as those that begin later", async () => {
    const harness = await testEngine();
    const queue = await harness.executor();
    await queue.waitUntilIdle();
    const id = await harness.start(
      await harness.define({
        steps: [set("a", "${{ run.started_at }}"), set("b", "${{ run.started_at }}"), probe("c")],
        output: "${{ [steps.b.x, run.started_at] }}",
      }),
    );
    harness.clock.advance(60_000);
    queue.wake();
    await queue.waitUntilIdle();
    const { startedAt } = await harness.find(id);
    expect(startedAt).toBe(harness.now());
    expect((await harness.outcome(id)).output).toEqual([startedAt, startedAt]);
  });

  it("follow a step with an effect, and are followed by one", async () => {
    const harness = await testEngine();
    const { id, output } = await runToEnd(harness, {
      steps: [probe("a"), set("b", "${{ steps.a.value }}"), probe("c"), set("d", "${{ steps.b.x }}")],
    });
    expect(output).toEqual({ x: "a" });
    const { a, b, c, d } = await seqsOf(harness, id);
    expect([a === b, b! < c!, c === d]).toEqual([true, true, true]);
  });

  it("have jobs of their own where other steps of the run are active", async () => {
    const harness = await testEngine();
    let id = "";
    const stateOf = async (stepId: string) =>
      (await harness.read.runs.step({ runId: id, stepId, item: null }))?.state;
    // It ends after the others.
    harness.onProbe(() =>
      untilPassing(async () => {
        expect(await stateOf("c")).toBe("succeeded");
      }),
    );
    id = await harness.start(
      await harness.define({
        steps: [
          set("a", 1, { needs: [] }),
          probe("b", { needs: [] }),
          set("c", "${{ steps.a.x }}", { needs: ["a"] }),
          set("d", 1, { needs: ["b", "c"] }),
        ],
      }),
    );
    await (await harness.executor()).waitUntilIdle();
    const { status, error } = await harness.outcome(id);
    expect({ status, error }).toEqual({ status: "succeeded", error: null });
    const { a, b, c, d } = await seqsOf(harness, id);
    // Whether b and d are recorded together depends on whether the job of c has ended.
    expect([a! < c!, c! < b!, b! <= d!]).toEqual([true, true, true]);
  });

  it("don't begin once the run was stopped", async () => {
    let id = "";
    const harness = await testEngine({
      expressions: observed(async (source) => {
        if (source.includes("steps.a.x")) await harness.stop(id);
      }),
    });
    id = await harness.start(
      await harness.define({ steps: [set("a", 1), set("b", "${{ steps.a.x }}"), set("c", 1)] }),
    );
    const queue = await harness.executor();
    await queue.waitUntilIdle();
    const { status, states } = await harness.outcome(id);
    expect({ status, states }).toEqual({
      status: "cancelled",
      states: ["succeeded", "cancelled", "cancelled"],
    });
  });

  it.each([
    ["expression_failed", set("b", "${{ inputs.text + 1 }}")],
    ["assert_failed", { id: "b", type: "assert", that: "steps.a.x == 2" }],
  ])("fail by their own jobs: %s", async (code, step) => {
    const harness = await testEngine();
    const { id, error, states } = await runToEnd(
      harness,
      { inputs: { type: "object", properties: { text: {} } }, steps: [set("a", 1), step, set("c", 1)] },
      { inputs: { text: [] } },
    );
    expect(error).toMatchObject({ code, step_id: "b" });
    expect(states).toEqual(["succeeded", "failed", "cancelled"]);
    const { a, b } = await seqsOf(harness, id);
    expect(a).toBeLessThan(b!);
  });

  it("leave an output that can't be evaluated to the end of the run", async () => {
    const { error } = await runToEnd(await testEngine(), {
      inputs: { type: "object", properties: { text: {} } },
      steps: [set("a", 1)],
      output: "${{ inputs.text + 1 }}",
    });
    expect(error!.message).toMatch(/^output: /);
  });

  it("are not begun where one is so heavy that it needs a thread", async () => {
    const harness = await testEngine({ expressions: evaluator({ maxInlineCost: 1_000 }) });
    const { id, output } = await runToEnd(harness, {
      steps: [set("a", 1), set("b", "${{ range(0, 2000).map(n, n * 2).size() + steps.a.x }}")],
    });
    expect(output).toEqual({ x: 2001 });
    const { a, b } = await seqsOf(harness, id);
    expect(a).toBeLessThan(b!);
  });
});

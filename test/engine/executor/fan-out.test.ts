import { describe, expect, it } from "vitest";
import { quietTime, untilPassing } from "../../support/eventually.ts";
import { StepError } from "../../../src/core/step-errors.ts";
import { runToEnd, testEngine } from "../../support/engine.ts";

const set = (id: string, values: object, more: object = {}) => ({ id, type: "set", values, ...more });

describe("a fan-out", () => {
  it("returns its outputs in the order of the list, whatever order the items end in", async () => {
    const harness = await testEngine();
    // Each item waits for the end of the one after it.
    const ends = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
    ends[4]!.resolve();
    harness.onProbe(async (ask) => {
      const index = Number(ask) - 1;
      await ends[index + 1]!.promise;
      ends[index]!.resolve();
      return ask;
    });
    const { output } = await runToEnd(harness, {
      steps: [{ id: "a", type: "probe", for_each: "[1, 2, 3, 4]", ask: "${{ item }}" }],
      output: "${{ steps.a.items.map(i, i.value) }}",
    });
    expect(output).toEqual([1, 2, 3, 4]);
  });

  it("runs as many items at a time as concurrency allows", async () => {
    const harness = await testEngine({ slots: 20 });
    let now = 0;
    let peak = 0;
    harness.onProbe(async () => {
      now += 1;
      peak = Math.max(peak, now);
      await untilPassing(() => expect(peak).toBeGreaterThanOrEqual(3));
      await quietTime(5);
      now -= 1;
    });
    const { status } = await runToEnd(harness, {
      steps: [{ id: "a", type: "probe", for_each: "[1,2,3,4,5,6,7,8,9,10]", concurrency: 3, ask: 1 }],
    });
    expect({ status, peak }).toEqual({ status: "succeeded", peak: 3 });
  });

  it("with an item that was cancelled is cancelled, although another one succeeds after it", async () => {
    const harness = await testEngine();
    const id = await harness.start(
      await harness.define({
        steps: [{ id: "a", type: "probe", for_each: "[1, 2]", ask: "${{ item }}" }, set("after", { x: 1 })],
      }),
    );
    const itemState = async (item: number) =>
      (await harness.read.runs.step({ runId: id, stepId: "a", item }))?.state;
    let begun = 0;
    harness.onProbe(async (ask, { signal }) => {
      begun += 1;
      await untilPassing(() => expect(signal.aborted).toBe(true));
      if (ask === 1) throw signal.reason as Error;
      await untilPassing(async () => expect(await itemState(0)).toBe("cancelled"));
    });
    const queue = await harness.executor();
    queue.wake();
    await untilPassing(() => expect(begun).toBe(2));
    await harness.stop(id);
    await queue.waitUntilIdle();
    expect(await itemState(1)).toBe("succeeded");
    const { status, states } = await harness.outcome(id);
    expect({ status, states }).toEqual({ status: "cancelled", states: ["cancelled", "cancelled"] });
  });

  it("over an empty list succeeds with no items", async () => {
    const { output } = await runToEnd(await testEngine(), {
      steps: [set("a", { x: "${{ item }}" }, { for_each: "[]" })],
      output: "${{ steps.a.items }}",
    });
    expect(output).toEqual([]);
  });

  it("fails with the failed item, and starts no more items", async () => {
    const harness = await testEngine();
    const asks: unknown[] = [];
    harness.onProbe((value) => {
      asks.push(value);
      if (value === 2) throw new StepError("step_failed", "two is bad");
    });
    const { status, error } = await runToEnd(harness, {
      steps: [{ id: "a", type: "probe", for_each: "[1, 2, 3, 4, 5, 6]", concurrency: 1, ask: "${{ item }}" }],
    });
    expect({ status, error }).toMatchObject({
      status: "failed",
      error: { step_id: "a", item: 1, message: "two is bad" },
    });
    expect(asks).toEqual([1, 2]);
  });

  it("records the failure of each item with on_error: continue", async () => {
    const harness = await testEngine();
    harness.onProbe((value) => {
      if (value === 2) throw new StepError("step_failed", "two is bad");
      return value;
    });
    const { status, output } = await runToEnd(harness, {
      steps: [{ id: "a", type: "probe", for_each: "[1, 2, 3]", on_error: "continue", ask: "${{ item }}" }],
      output: "${{ steps.a.items.map(i, i.status) }}",
    });
    expect({ status, output }).toEqual({ status: "succeeded", output: ["succeeded", "failed", "succeeded"] });
  });

  it("in which every item failed is a failed step, although the run continues", async () => {
    const harness = await testEngine();
    harness.onProbe((value) => {
      throw new StepError("step_failed", `${String(value)} is bad`, { fix: "Send good ones." });
    });
    const { status, states, output } = await runToEnd(harness, {
      steps: [
        {
          id: "a",
          type: "probe",
          for_each: "[1, 2]",
          concurrency: 1,
          on_error: "continue",
          ask: "${{ item }}",
        },
        {
          id: "b",
          type: "set",
          values: { code: "${{ steps.a.error.code }}", state: "${{ steps.a.status }}" },
        },
      ],
      output: {
        b: "${{ steps.b }}",
        items: "${{ steps.a.items.map(i, i.error.message) }}",
        error: "${{ steps.a.error }}",
      },
    });
    expect({ status, states }).toEqual({ status: "succeeded", states: ["failed_continued", "succeeded"] });
    expect(output).toMatchObject({
      b: { code: "all_items_failed", state: "failed" },
      items: ["1 is bad", "2 is bad"],
      error: {
        code: "all_items_failed",
        message: 'All 2 items of "a" failed, the first one with: 1 is bad',
        fix: "Send good ones.",
        step_id: "a",
      },
    });
  });

  it("in which the last item fails, but not every one, succeeds with on_error: continue", async () => {
    const harness = await testEngine();
    harness.onProbe((value) => {
      if (value !== 1) throw new StepError("step_failed", "bad");
    });
    const { states } = await runToEnd(harness, {
      steps: [{ id: "a", type: "probe", for_each: "[1, 2, 3]", on_error: "continue", ask: "${{ item }}" }],
    });
    expect(states).toEqual(["succeeded"]);
  });

  it("of wait steps waits, and continues when the last one has ended", async () => {
    const harness = await testEngine();
    const { id, queue, status } = await runToEnd(harness, {
      steps: [{ id: "nap", type: "wait", for_each: "[1, 2, 3, 4, 5, 6]", for: "1m" }],
    });
    expect(status).toBe("waiting");
    for (let turn = 0; turn < 2; turn += 1) {
      harness.clock.advance(60_000);
      queue.wake();
      await queue.waitUntilIdle();
    }
    expect((await harness.outcome(id)).status).toBe("succeeded");
  });

  it("fails when the list is too long, or is not a list", async () => {
    const harness = await testEngine();
    const list = { type: "object", properties: { list: {} } };
    const steps = [set("a", { x: 1 }, { for_each: "inputs.list" })];
    const of = async (value: unknown) =>
      (await runToEnd(harness, { inputs: list, steps }, { inputs: { list: value } })).error?.code;
    expect(await of(Array.from({ length: 100_001 }, () => 0))).toBe("too_many_items");
    expect(await of("no list")).toBe("expression_failed");
    expect(await of(null)).toBe("null_value");
  });
});

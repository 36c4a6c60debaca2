import { describe, expect, it } from "vitest";
import { StepError } from "../../../src/core/step-errors.ts";
import { runToEnd, testEngine } from "../../support/engine.ts";

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

/** The input of the iteration `index` differs from that of the others. */
const at = (index: number) => `\${{ loop.index == ${index} ? inputs.x : 'same' }}`;
const changingAt = (index: number) => ({
  inputs: { type: "object", properties: { x: { type: "string", default: "x" } } },
  steps: [probe({ max: 4 }, { ask: at(index) }), { id: "b", type: "assert", that: "false" }],
});

const upTo = (max: number) => ({
  steps: [probe({ until: "result.value == 'ready'", max })],
  output: OUTPUT.count,
});

/** Runs a definition, then retries the run. */
async function retried(
  definition: Record<string, unknown>,
  probes: [(ask: unknown) => unknown, (ask: unknown) => unknown],
  changed?: Record<string, unknown>,
) {
  const harness = await testEngine();
  const asked: unknown[] = [];
  harness.onProbe(probes[0]);
  const first = await runToEnd(harness, definition);
  harness.onProbe((ask) => {
    asked.push(ask);
    return probes[1](ask);
  });
  const retryOf = await harness.find(first.id);
  const id = await harness.start(retryOf.workflowId, {
    retryOf,
    ...(changed !== undefined && { definition: changed }),
  });
  first.queue.wake();
  await first.queue.waitUntilIdle();
  const reused = (await harness.read.runs.items({ runId: id, stepId: "a" }, 0, 50)).map(
    ({ reusedFrom }) => reusedFrom !== null,
  );
  return { asked, reused, first, ...(await harness.outcome(id)) };
}

describe("a retry of a run with a repeated step", () => {
  it("reuses the iterations before the one that failed", async () => {
    const { status, output, asked, reused } = await retried(
      { steps: [probe({ max: 4 })], output: OUTPUT.values },
      [
        (ask) => {
          if (ask === 2) throw new StepError("step_failed", "no");
          return `first ${String(ask)}`;
        },
        (ask) => `second ${String(ask)}`,
      ],
    );
    expect({ status, output, asked, reused }).toEqual({
      status: "succeeded",
      output: ["first 0", "first 1", "second 2", "second 3"],
      asked: [2, 3],
      reused: [true, true, false, false],
    });
  });

  it("reuses no iteration after one that ran again", async () => {
    // The input of iteration 1 changes with the output of iteration 0; those of 2 and 3 would be the same as before.
    const { asked, reused } = await retried(changingAt(0), [() => 1, () => 2], {
      ...changingAt(1),
    });
    expect({ asked, reused }).toEqual({
      asked: ["same", "x", "same", "same"],
      reused: [false, false, false, false],
    });
  });

  it("starts an exhausted loop from the beginning", async () => {
    const { status, output, asked } = await retried(
      { steps: [probe({ until: "result.value == 'ready'", max: 3 })], output: OUTPUT.count },
      [() => "pending", (ask) => (ask === 1 ? "ready" : "pending")],
    );
    expect({ status, output, asked }).toEqual({ status: "succeeded", output: 2, asked: [0, 1] });
  });

  it("continues an exhausted loop when max was raised", async () => {
    const { status, output, asked } = await retried(
      upTo(3),
      [() => "pending", (ask) => (ask === 4 ? "ready" : "pending")],
      upTo(9),
    );
    expect({ status, output, asked }).toEqual({ status: "succeeded", output: 5, asked: [3, 4] });
  });

  it("does not pause after an iteration that it reuses", async () => {
    const { status, asked } = await retried(
      {
        steps: [probe({ max: 2 }), { id: "b", type: "assert", that: "steps.a.last.value == 2" }],
      },
      [() => 1, () => 2],
      {
        steps: [probe({ max: 2, every: "1h" }), { id: "b", type: "assert", that: "steps.a.last.value == 1" }],
      },
    );
    expect({ status, asked }).toEqual({ status: "succeeded", asked: [] });
  });
});

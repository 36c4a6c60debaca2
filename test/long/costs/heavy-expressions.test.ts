import { expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { TEST_ACTOR, testEngine } from "../../support/engine.ts";
import { startCost } from "../../support/expect-cost.ts";

const STRANGER = { ...TEST_ACTOR, owner: "eve@example.com", lineage: "key_2" };

/** Each item needs about 0.9 s of work. */
const heavy = {
  steps: [
    {
      id: "a",
      type: "set",
      for_each: "range(6)",
      concurrency: 6,
      values: { x: "${{ range(1000).map(a, range(3000).map(b, a * b + item).sum()).sum() }}" },
    },
  ],
};

const three = {
  steps: [
    { id: "a", type: "set", values: { x: "${{ inputs.n * 2 }}" } },
    { id: "b", type: "set", values: { y: "${{ steps.a.x + 1 }}" } },
    { id: "c", type: "set", values: { z: "${{ steps.b.y + 1 }}" } },
  ],
  inputs: { type: "object", properties: { n: { type: "number", default: 3 } } },
  output: "${{ steps.c.z }}",
};

it("the heavy expressions of one owner leave the event loop of the executor to the runs of another", async () => {
  const harness = await testEngine();
  const queue = await harness.executor();
  const slow = await harness.start(await harness.define(heavy, "Heavy"), { actor: STRANGER });
  queue.wake();
  await eventually(async () => {
    const step = await harness.read.runs.step({ runId: slow, stepId: "a", item: null });
    return step?.items?.started === 6 ? true : undefined;
  }, "the items to start");
  const expectCpuTime = startCost();
  const quick = await harness.start(await harness.define(three));
  queue.wake();
  await eventually(
    async () => ((await harness.outcome(quick)).status === "succeeded" ? true : undefined),
    "the run of three steps",
  );
  // Several seconds of work are left, and this thread has done none of it.
  expect((await harness.outcome(slow)).status).toBe("running");
  expectCpuTime(1_500);
  await queue.waitUntilIdle();
  expect((await harness.outcome(slow)).status).toBe("succeeded");
});

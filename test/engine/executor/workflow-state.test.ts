import { describe, expect, it } from "vitest";
import { runToEnd, type TestEngine, testEngine } from "../../support/engine.ts";
import { SET_BY_HAND } from "../../support/run-records.ts";

const set = (id: string, values: object, more: object = {}) => ({ id, type: "set", values, ...more });
const LAST_ID = { last_id: { type: "integer", default: 0 } };

/** Counts up by `by`, and fails if that is negative. */
const COUNTER = {
  inputs: { type: "object", properties: { by: { type: "integer", default: 1 } } },
  state: { ...LAST_ID, note: { type: "string", default: "none" } },
  steps: [
    set("next", { id: "${{ state.last_id + inputs.by }}" }),
    { id: "forward", type: "assert", that: "inputs.by >= 0", message: "Only forward." },
  ],
  output: { before: "${{ state.last_id }}", note: "${{ state.note }}" },
  commit: { last_id: "${{ steps.next.id }}" },
};

/** Runs a workflow until it ends or waits. */
async function run(
  harness: TestEngine,
  id: string,
  inputs: Record<string, unknown> = {},
  request: object = {},
) {
  const queue = await harness.executor();
  const runId = await harness.start(id, { inputs, ...request });
  queue.wake();
  await queue.waitUntilIdle();
  return { id: runId, ...(await harness.outcome(runId)) };
}

const stored = (harness: TestEngine, id: string) => harness.read.workflowStates.find(id);

describe("the state of a workflow", () => {
  it("begins with its defaults, and holds for each run what the ones before it committed", async () => {
    const harness = await testEngine();
    const id = await harness.define(COUNTER);
    expect(await run(harness, id)).toMatchObject({
      status: "succeeded",
      output: { before: 0, note: "none" },
    });
    const second = await run(harness, id, { by: 5 });
    expect(second.output).toEqual({ before: 1, note: "none" });
    expect(await stored(harness, id)).toEqual({
      revision: 3,
      values: { last_id: 6 },
      updatedAt: harness.now(),
      updatedBy: second.id,
    });
  });

  it("keeps the values of the keys that are not committed", async () => {
    const harness = await testEngine();
    const id = await harness.define(COUNTER);
    await harness.transaction((tx) =>
      tx.workflowStates.replace(
        id,
        1,
        {
          values: { last_id: 7, note: "kept", other: true },
          updatedAt: harness.now(),
          updatedBy: "ann",
          change: SET_BY_HAND,
        },
        "key_1",
      ),
    );
    expect(await run(harness, id)).toMatchObject({ output: { before: 7, note: "kept" } });
    expect((await stored(harness, id))?.values).toEqual({ last_id: 8, note: "kept", other: true });
  });

  it("can be read in conditions, lists and fields", async () => {
    const harness = await testEngine();
    const { output, states } = await runToEnd(harness, {
      state: { ids: { type: "array", items: { type: "integer" }, default: [1, 2] } },
      steps: [
        set("skipped", { a: 1 }, { if: "size(state.ids) > 2" }),
        set("each", { id: "${{ item + size(state.ids) }}" }, { for_each: "state.ids" }),
      ],
      output: "${{ steps.each.items.map(i, i.id) + state.ids }}",
    });
    expect(states).toEqual(["skipped", "succeeded"]);
    expect(output).toEqual([3, 4, 1, 2]);
  });

  it("is written only by a run that succeeds", async () => {
    const harness = await testEngine();
    const id = await harness.define(COUNTER);
    expect(await run(harness, id, { by: -1 })).toMatchObject({
      status: "failed",
      error: { code: "assert_failed" },
    });
    expect(await stored(harness, id)).toBeUndefined();
  });

  it("is not written by a run that is cancelled before it ends", async () => {
    const harness = await testEngine();
    const id = await harness.define({
      state: LAST_ID,
      steps: [{ id: "nap", type: "wait", for: "1h" }],
      commit: { last_id: 9 },
    });
    const { id: runId } = await run(harness, id);
    await harness.stop(runId);
    expect((await harness.find(runId)).status).toBe("cancelled");
    expect(await stored(harness, id)).toBeUndefined();
  });

  it("lets one of two runs commit that read the same state; the other fails and writes nothing", async () => {
    const harness = await testEngine();
    const id = await harness.define({
      ...COUNTER,
      steps: [{ id: "hold", type: "wait", for: "1m" }, set("next", { id: "${{ state.last_id + 1 }}" })],
    });
    const queue = await harness.executor();
    const runs = [await harness.start(id), await harness.start(id)];
    queue.wake();
    await queue.waitUntilIdle();
    harness.clock.advance(60_000);
    queue.wake();
    await queue.waitUntilIdle();
    const ended = await Promise.all(runs.map((runId) => harness.find(runId)));
    expect(ended.map(({ status }) => status).toSorted()).toEqual(["failed", "succeeded"]);
    const winner = ended.find(({ status }) => status === "succeeded");
    const loser = ended.find(({ status }) => status === "failed");
    expect(loser!.error).toMatchObject({
      code: "state_conflict",
      fix: expect.stringContaining("concurrency: 1"),
      details: { revision: 1, present_revision: 2 },
    });
    expect(await stored(harness, id)).toMatchObject({
      revision: 2,
      values: { last_id: 1 },
      updatedBy: winner!.id,
    });
    expect(
      await harness.read.runs.valueText({ runId: loser!.id, what: "committed" }, { from: 0, chars: 9 }),
    ).toBe(undefined);

    // A retry reads the present state, and so succeeds.
    const retry = await run(harness, id, {}, { retryOf: loser });
    harness.clock.advance(60_000);
    queue.wake();
    await queue.waitUntilIdle();
    expect(await harness.outcome(retry.id)).toMatchObject({ status: "succeeded", output: { before: 1 } });
    expect((await stored(harness, id))?.values).toEqual({ last_id: 2 });
  });

  it("is read when a queued run is admitted, so with concurrency 1 every commit succeeds", async () => {
    const harness = await testEngine();
    const id = await harness.define({ ...COUNTER, concurrency: 1 });
    const queue = await harness.executor();
    const runs = [];
    for (let count = 0; count < 4; count += 1) runs.push(await harness.start(id));
    queue.wake();
    await queue.waitUntilIdle();
    const outcomes = await Promise.all(runs.map((runId) => harness.outcome(runId)));
    // Runs that were created at the same time are admitted in the order of their ids.
    const read = outcomes.map(({ output }) => (output as { before: number }).before);
    expect(new Set(read)).toEqual(new Set([0, 1, 2, 3]));
    expect((await stored(harness, id))?.values).toEqual({ last_id: 4 });
  });

  it("is committed once when an executor is taken for dead before it ends the run, and comes back", async () => {
    // Without a free slot, the first executor can't claim the job again.
    const harness = await testEngine({ slots: 1 });
    const id = await harness.define(COUNTER);
    const [evaluated, cameBack] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const first = await harness.executor(async (job, context) => {
      const result = await harness.engine.handler(job, context);
      if (job.kind === "finish") {
        evaluated.resolve();
        await cameBack.promise;
      }
      return result;
    });
    const runId = await harness.start(id);
    first.wake();
    await evaluated.promise;
    expect(await stored(harness, id)).toBeUndefined();
    await harness.transaction((tx) => tx.jobs.reclaim("exe_1"));
    const second = await harness.executor();
    second.wake();
    await second.waitUntilIdle();
    expect(await harness.outcome(runId)).toMatchObject({ status: "succeeded", output: { before: 0 } });
    cameBack.resolve();
    await first.waitUntilIdle();
    expect(await stored(harness, id)).toMatchObject({ revision: 2, values: { last_id: 1 } });
    expect((await harness.find(runId)).status).toBe("succeeded");
  });

  it("is neither read nor written by the runs of examples and those that they start", async () => {
    const harness = await testEngine();
    const child = await harness.define(COUNTER, "Child");
    await run(harness, child);
    const parent = await harness.define(
      {
        state: LAST_ID,
        steps: [{ id: "sub", type: "workflow", workflow: "child" }],
        output: "${{ steps.sub.output.before }}",
        commit: { last_id: 5 },
      },
      "Parent",
    );
    expect(await run(harness, parent, {}, { trigger: "example" })).toMatchObject({
      status: "succeeded",
      output: 0,
    });
    expect(await stored(harness, parent)).toBeUndefined();
    expect(await stored(harness, child)).toMatchObject({ revision: 2, values: { last_id: 1 } });

    expect(await run(harness, parent)).toMatchObject({ status: "succeeded", output: 1 });
    expect(await stored(harness, parent)).toMatchObject({ values: { last_id: 5 } });
    expect(await stored(harness, child)).toMatchObject({ revision: 3, values: { last_id: 2 } });
  });

  it("refuses a value that its schema does not allow, and writes none of the others", async () => {
    const harness = await testEngine();
    const { id, ...ended } = await runToEnd(
      harness,
      {
        inputs: { type: "object", properties: { x: {} }, required: ["x"] },
        state: { ...LAST_ID, other: { type: "integer", default: 0 } },
        steps: [set("a", {})],
        commit: { other: 1, last_id: "${{ inputs.x }}" },
      },
      { inputs: { x: "seven" } },
    );
    expect(ended).toMatchObject({
      status: "failed",
      error: { code: "state_invalid", message: expect.stringMatching(/^commit: last_id must be an integer/) },
    });
    expect(await stored(harness, (await harness.find(id)).workflowId)).toBeUndefined();
  });

  it("fails a run whose version declares another type than the stored value has", async () => {
    const harness = await testEngine();
    const id = await harness.define(COUNTER);
    await run(harness, id);
    await harness.redefine(id, {
      ...COUNTER,
      state: { last_id: { type: "string", default: "" } },
      output: 1,
      steps: [set("next", { id: "${{ state.last_id }}" })],
    });
    expect(await run(harness, id)).toMatchObject({
      status: "failed",
      error: {
        code: "state_invalid",
        message: expect.stringContaining("state.last_id must be text"),
        fix: expect.stringContaining(`PUT /workflows/${id}/state`),
      },
    });
    expect((await stored(harness, id))?.values).toEqual({ last_id: 1 });
  });

  it("has every declared field of an object, also of one that lacks some, and can commit it again", async () => {
    const harness = await testEngine();
    const id = await harness.define({
      state: {
        place: {
          type: "object",
          properties: { page: { type: "integer" }, size: { type: "integer", default: 10 } },
          default: {},
        },
      },
      steps: [set("a", { page: "${{ state.place.page == null ? 1 : state.place.page + 1 }}" })],
      output: "${{ state.place }}",
      commit: { place: "${{ steps.a.page == 2 ? state.place : {'page': steps.a.page} }}" },
    });
    expect((await run(harness, id)).output).toEqual({ page: null, size: 10 });
    expect((await run(harness, id)).output).toEqual({ page: 1, size: 10 });
    expect(await run(harness, id)).toMatchObject({ status: "succeeded", output: { page: 1, size: 10 } });
  });

  it("commits an object that it has read with fields that are null because they were absent", async () => {
    const harness = await testEngine();
    const id = await harness.define({
      state: { place: { type: "object", properties: { page: { type: "integer" } }, default: {} } },
      steps: [set("a", {})],
      commit: { place: "${{ state.place }}" },
    });
    expect((await run(harness, id)).status).toBe("succeeded");
    expect((await run(harness, id)).status).toBe("succeeded");
  });

  it("is limited in size", async () => {
    const harness = await testEngine();
    const { error } = await runToEnd(
      harness,
      {
        inputs: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
        state: { text: { type: "string", default: "" } },
        steps: [set("a", {})],
        commit: { text: "${{ inputs.text }}" },
      },
      { inputs: { text: "x".repeat(256 * 1024) } },
    );
    expect(error).toMatchObject({
      code: "state_invalid",
      message: expect.stringContaining("at most 262144"),
    });
  });

  it("is recorded with the run: what it read and what it committed", async () => {
    const harness = await testEngine();
    const id = await harness.define(COUNTER);
    await run(harness, id);
    const second = await run(harness, id);
    const valueOf = async (what: "state" | "committed") =>
      (await harness.read.runs.valueText({ runId: second.id, what }, { from: 0, chars: 100 }))?.text;
    expect(await valueOf("state")).toBe('{"last_id":1,"note":"none"}');
    expect(await valueOf("committed")).toBe('{"last_id":2}');
  });
});

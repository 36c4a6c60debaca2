import { describe, expect, it } from "vitest";
import { quietTime, untilPassing } from "../../support/eventually.ts";
import { TEST_ACTOR, testEngine } from "../../support/engine.ts";

const probe = (id: string, more: object = {}) => ({ id, type: "probe", ask: id, ...more });

describe("limits", () => {
  it("restrict the active runs of a workflow; queued runs start as others end", async () => {
    const harness = await testEngine();
    const gates: (() => void)[] = [];
    harness.onProbe(() => new Promise<void>((resolve) => gates.push(resolve)));
    const queue = await harness.executor();
    const workflow = await harness.define({ concurrency: 2, steps: [probe("a")] });
    const ids = [];
    for (let index = 0; index < 5; index += 1) ids.push(await harness.start(workflow));
    queue.wake();
    for (let ended = 0; ended < 5; ended += 1) {
      await untilPassing(async () => expect(gates.length).toBe(Math.min(2 + ended, 5)));
      expect(await harness.read.runs.count({ status: ["running"] })).toBeLessThanOrEqual(2);
      gates[ended]!();
      await untilPassing(async () =>
        expect(await harness.read.runs.count({ status: ["succeeded"] })).toBe(ended + 1),
      );
    }
  });

  it("let queued runs start in turns over their owners", async () => {
    const harness = await testEngine();
    const order: string[] = [];
    harness.onProbe((owner) => void order.push(String(owner)));
    const workflow = await harness.define({
      inputs: { type: "object", properties: { owner: { type: "string" } } },
      concurrency: 1,
      steps: [probe("a", { ask: "${{ inputs.owner }}" })],
    });
    for (const owner of ["ann", "ann", "ann", "ann", "bob", "cid", "bob"])
      await harness.start(workflow, { inputs: { owner }, actor: { ...TEST_ACTOR, owner } });
    const queue = await harness.executor();
    queue.wake();
    await queue.waitUntilIdle();
    expect(order).toEqual(["ann", "bob", "cid", "ann", "bob", "ann", "ann"]);
  });

  it("restrict the simultaneous steps of a connection, over all executors", async () => {
    // One of the three places stays free for another owner.
    const harness = await testEngine({ limits: new Map([["database:probe", 3]]) });
    let now = 0;
    let peak = 0;
    harness.onProbe(async () => {
      now += 1;
      peak = Math.max(peak, now);
      await untilPassing(() => expect(peak).toBeGreaterThanOrEqual(2));
      await quietTime(5);
      now -= 1;
    });
    const queues = [await harness.executor(), await harness.executor()];
    const workflow = await harness.define({
      steps: [probe("a", { needs: [] }), probe("b", { needs: [] }), probe("c", { needs: [] })],
    });
    for (let index = 0; index < 4; index += 1) await harness.start(workflow);
    for (const queue of queues) queue.wake();
    await untilPassing(async () => expect(await harness.read.runs.count({ status: ["succeeded"] })).toBe(4));
    expect(peak).toBe(2);
  });

  it("are used by runs with a higher priority first", async () => {
    const harness = await testEngine({ slots: 1 });
    const order: unknown[] = [];
    harness.onProbe((ask) => void order.push(ask));
    for (const [name, priority] of [
      ["low", -1],
      ["none", undefined],
      ["high", 5],
    ] as const) {
      const definition = { ...(priority !== undefined && { priority }), steps: [probe(name)] };
      await harness.start(await harness.define(definition, name));
    }
    const queue = await harness.executor();
    await queue.waitUntilIdle();
    expect(order).toEqual(["high", "none", "low"]);
  });
});

describe("queued runs", () => {
  it("are admitted when a run of a version without a limit ends", async () => {
    const harness = await testEngine();
    const gate = Promise.withResolvers<void>();
    harness.onProbe(() => gate.promise);
    const queue = await harness.executor();
    const workflow = await harness.define({ steps: [probe("a")] });
    const first = await harness.start(workflow);
    queue.wake();
    await untilPassing(async () => expect((await harness.find(first)).status).toBe("running"));
    await harness.redefine(workflow, { concurrency: 1, steps: [probe("a")] });
    const second = await harness.start(workflow);
    expect((await harness.find(second)).admitted).toBe(false);
    gate.resolve();
    await queue.waitUntilIdle();
    expect((await harness.outcome(second)).status).toBe("succeeded");
  });
});

import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeShop } from "../../../examples/shop.ts";
import { Config } from "../../../schemas/config.ts";
import { createConnections, rateIntervals } from "../../../src/connections/index.ts";
import { fixedSecrets } from "../../../src/core/secret-source.ts";
import { StepError } from "../../../src/core/step-errors.ts";
import { seededRandom, testSeed } from "../../support/random.ts";
import { type TestEngine, testEngine } from "../../support/engine.ts";
import { fakeClock } from "../../support/clock.ts";
import { temporaryDirectory, testInstance } from "../../support/instance.ts";
import { callAs, keyPrincipal } from "../../support/users.ts";
import { runWorkflow } from "../../../tools/runs/run-workflow.ts";
import { createWorkflow } from "../../../tools/workflows/create-workflow.ts";

/** Lets time pass from one due job to the next until nothing is due any more. */
async function runUntilIdle(
  harness: TestEngine,
  queues: readonly Awaited<ReturnType<TestEngine["executor"]>>[],
) {
  for (;;) {
    for (const queue of queues) queue.wake();
    for (const queue of queues) await queue.waitUntilIdle();
    const dueAt = await harness.read.jobs.nextDueAt(harness.now());
    // One executor may have added a job for the other after that was idle.
    const { ready, claimed } = await harness.read.jobs.depth();
    if (dueAt === null && ready + claimed === 0) return;
    if (dueAt !== null) harness.clock.advance(Math.max(0, Date.parse(dueAt) - harness.clock.now()));
  }
}

const gapsOf = (times: readonly number[]): number[] =>
  times.slice(1).map((time, index) => time - times[index]!);

const probe = (id: string, more: object = {}) => ({ id, type: "probe", ask: id, ...more });

describe("the rate of a step", () => {
  it("spreads the starts of its items and attempts over all runs and executors", async () => {
    const random = seededRandom(testSeed("rates"));
    const harness = await testEngine({ slots: 6 });
    const starts: number[] = [];
    const failed = new Set<unknown>();
    harness.onProbe((ask) => {
      starts.push(harness.clock.now());
      if (random() < 0.7 || failed.has(ask)) return ask;
      failed.add(ask);
      throw new StepError("http_failed", "not yet");
    });
    const id = await harness.define({
      inputs: { type: "object", properties: { run: { type: "number" } }, required: ["run"] },
      steps: [
        {
          id: "calls",
          type: "probe",
          for_each: "[1, 2, 3, 4, 5, 6, 7]",
          concurrency: 5,
          rate: "5/s",
          retry: { attempts: 2, initial: "300ms" },
          ask: "${{ inputs.run }}-${{ item }}",
        },
      ],
      output: "${{ steps.calls.items.map(i, i.value) }}",
    });
    const queues = [await harness.executor(), await harness.executor()];
    const runs: string[] = [];
    for (const run of [1, 2, 3]) runs.push(await harness.start(id, { inputs: { run } }));
    await runUntilIdle(harness, queues);
    for (const [index, run] of runs.entries())
      expect(await harness.outcome(run)).toMatchObject({
        status: "succeeded",
        output: [1, 2, 3, 4, 5, 6, 7].map((item) => `${index + 1}-${item}`),
      });
    expect(starts).toHaveLength(21 + failed.size);
    expect(Math.min(...gapsOf(starts))).toBe(200);
    // The rate is used up: while items wait, no slot stays free.
    expect(gapsOf(starts).filter((gap) => gap === 200).length).toBeGreaterThan(15);
  });

  it("is that of a workflow's step, also in another version, until the rate changes", async () => {
    const harness = await testEngine();
    const starts: string[] = [];
    harness.onProbe((ask) => void starts.push(`${String(ask)} ${harness.clock.now() - start}`));
    const start = harness.clock.now();
    const id = await harness.define({ steps: [probe("a", { rate: "1/m" })] });
    const other = await harness.define({ steps: [probe("a", { rate: "1/m", ask: "other" })] }, "Other");
    const queue = await harness.executor();
    await harness.start(id);
    await harness.start(other);
    await harness.redefine(id, { steps: [probe("a", { rate: "1/m", ask: "second" })] });
    await harness.start(id);
    queue.wake();
    await queue.waitUntilIdle();
    // Both are claimed at once.
    expect(starts.toSorted()).toEqual(["a 0", "other 0"]);
    await runUntilIdle(harness, [queue]);
    expect(starts.slice(2)).toEqual(["second 60000"]);
    await harness.redefine(id, { steps: [probe("a", { rate: "2/m", ask: "third" })] });
    await harness.start(id);
    queue.wake();
    await queue.waitUntilIdle();
    expect(starts.at(-1)).toBe("third 60000");
  });

  it("shows until when a step waits for its slot", async () => {
    const harness = await testEngine();
    const id = await harness.define({
      steps: [{ id: "a", type: "probe", for_each: "[1, 2, 3]", rate: "1/m", ask: 1 }],
    });
    const queue = await harness.executor();
    const run = await harness.start(id);
    queue.wake();
    await queue.waitUntilIdle();
    const start = harness.clock.now();
    expect(await harness.read.runs.rateWaits(run, start)).toEqual(new Map([["a", start + 60_000]]));
    await runUntilIdle(harness, [queue]);
    expect(await harness.read.runs.rateWaits(run, start)).toEqual(new Map());
  });

  it("takes no slot for a step that is skipped or reuses its output", async () => {
    const harness = await testEngine();
    let count = 0;
    harness.onProbe(() => (count += 1));
    const id = await harness.define({
      inputs: { type: "object", properties: { call: { type: "boolean" } }, required: ["call"] },
      steps: [probe("a", { rate: "1/h", if: "inputs.call", cache: { for: "1d", despite_effects: true } })],
      output: "${{ steps.a.value }}",
    });
    const queue = await harness.executor();
    const outcomes: unknown[] = [];
    for (const call of [false, false, true, true, false]) {
      const run = await harness.start(id, { inputs: { call } });
      queue.wake();
      await queue.waitUntilIdle();
      if (call && count === 1 && outcomes.length === 3) harness.clock.advance(3_600_000);
      queue.wake();
      await queue.waitUntilIdle();
      const { status, output } = await harness.outcome(run);
      outcomes.push([status, output]);
    }
    expect(outcomes).toEqual([
      ["succeeded", null],
      ["succeeded", null],
      ["succeeded", 1],
      ["succeeded", 1],
      ["succeeded", null],
    ]);
  });

  it("frees the slot of nobody when a run is cancelled, and starts none of its items", async () => {
    const harness = await testEngine();
    let count = 0;
    harness.onProbe(() => void (count += 1));
    const id = await harness.define({
      steps: [{ id: "a", type: "probe", for_each: "[1, 2, 3]", rate: "1/m", ask: 1 }],
    });
    const queue = await harness.executor();
    const run = await harness.start(id);
    queue.wake();
    await queue.waitUntilIdle();
    expect(count).toBe(1);
    await harness.stop(run);
    await runUntilIdle(harness, [queue]);
    expect((await harness.outcome(run)).status).toBe("cancelled");
    expect(count).toBe(1);
  });
});

describe("the rate of a connection", () => {
  it("is the pause between the starts of the steps that use it", () => {
    const config = Config.parse({
      databases: [{ name: "shop", type: "sqlite", dataset: "shop.db", rate: "10/s" }],
      models: [
        { name: "fast", vendor: "openai", model_ref: "gpt-5" },
        { name: "slow", vendor: "openai", model_ref: "gpt-5", rate: "30/m" },
      ],
      mcp_servers: [{ name: "tickets", command: "tickets", rate: "1/h" }],
    });
    const connections = createConnections(config, fixedSecrets({}), {
      stateDir: "/tmp",
      version: "0",
      now: () => 0,
    });
    onTestFinished(() => connections.close());
    expect(rateIntervals(connections)).toEqual(
      new Map([
        ["database:shop", 100],
        ["model:slow", 2_000],
        ["mcp_server:tickets", 3_600_000],
      ]),
    );
    expect(() =>
      Config.parse({ models: [{ name: "a", vendor: "openai", model_ref: "b", rate: "fast" }] }),
    ).toThrow("must be a rate such as 5/s");
  });

  it("is shared by the workflows that use it", async () => {
    const clock = fakeClock();
    const dataset = join(temporaryDirectory(), "shop.db");
    makeShop(dataset);
    const config = { databases: [{ name: "shop", type: "sqlite", dataset, rate: "2/m" }] };
    const instance = await testInstance({ clock, config });
    const { queue } = await instance.executor({ config });
    const call = callAs(instance, keyPrincipal());
    const definition = { steps: [{ id: "a", type: "sql", database: "shop", query: "SELECT 1 AS one" }] };
    for (const name of ["One", "Two", "Three"]) {
      const { id } = await call(createWorkflow, { name, definition });
      await call(runWorkflow, { workflow_id: id, inputs: {}, wait: 0 });
    }
    const succeeded: number[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      queue.wake();
      await queue.waitUntilIdle();
      succeeded.push(await instance.read.runs.count({ status: ["succeeded"] }));
      clock.advance(turn === 0 ? 29_999 : turn === 1 ? 1 : 30_000);
    }
    expect(succeeded).toEqual([1, 1, 2, 3]);
  });
});

/** The versions of called workflows are those of the start of a run, whatever is published while it runs. */
import { describe, expect, it } from "vitest";
import { runToEnd, type TestEngine, testEngine } from "../../support/engine.ts";

const say = (word: string, more: object = {}) => ({
  steps: [{ id: "say", type: "set", values: { word }, ...more }],
  output: "${{ steps.say.word }}",
});
const nap = { id: "nap", type: "wait", for: "1h" };
const call = (workflow: string, more: object = {}) => ({ id: "sub", type: "workflow", workflow, ...more });
const failing = { id: "gate", type: "assert", that: "false", message: "closed" };

/** Lets the wait of `nap` end, and everything after it. */
async function wakeUp(harness: TestEngine, queue: Awaited<ReturnType<TestEngine["executor"]>>) {
  harness.clock.advance(3_600_001);
  queue.wake();
  await queue.waitUntilIdle();
}

const newest = async (harness: TestEngine, workflowId: string) =>
  (await harness.read.runs.page({ filter: { workflowId }, after: null, limit: 9 })).items;

describe("a called workflow that changes while its caller runs", () => {
  it("runs in the version of the start", async () => {
    const harness = await testEngine();
    const child = await harness.define(say("harmless"), "Child");
    const { id, queue } = await runToEnd(harness, { steps: [nap, call("child")] });
    await harness.redefine(child, say("swapped"));
    await wakeUp(harness, queue);
    expect((await harness.outcome(id)).output).toMatchObject({ output: "harmless" });
    expect(await newest(harness, child)).toMatchObject([{ version: 1 }]);
  });

  it("runs in the version of the start in every item and in every attempt", async () => {
    const harness = await testEngine();
    const child = await harness.define({ steps: [failing] }, "Child");
    const retry = { attempts: 2, initial: "1s", on: ["child_failed"] };
    const { queue } = await runToEnd(harness, {
      steps: [nap, call("child", { for_each: "[1, 2]", retry })],
    });
    await harness.redefine(child, say("swapped"));
    await wakeUp(harness, queue);
    await wakeUp(harness, queue);
    const runs = await newest(harness, child);
    expect(runs.length).toBeGreaterThanOrEqual(3);
    expect(new Set(runs.map(({ version }) => version))).toEqual(new Set([1]));
  });

  it("runs in the version of the start three levels down, even if that no longer fits the newest one", async () => {
    const harness = await testEngine();
    const third = await harness.define(say("harmless"), "Third");
    await harness.define({ steps: [call("third")], output: "${{ steps.sub.output }}" }, "Second");
    await harness.define({ steps: [nap, call("second")], output: "${{ steps.sub.output }}" }, "First");
    const { id, queue } = await runToEnd(harness, { steps: [call("first")] });
    await harness.redefine(third, {
      inputs: { type: "object", properties: { key: { type: "string" } }, required: ["key"] },
      ...say("swapped"),
    });
    await wakeUp(harness, queue);
    expect(await harness.outcome(id)).toMatchObject({
      status: "succeeded",
      output: { output: "harmless" },
    });
  });

  it("runs in the version of the start as on_failure, and so does what that one calls", async () => {
    const harness = await testEngine();
    const child = await harness.define(say("harmless"), "Child");
    const handler = await harness.define({ steps: [call("child")] }, "Handler");
    const { queue } = await runToEnd(harness, { steps: [nap, failing], on_failure: "handler" });
    await harness.redefine(child, say("swapped"));
    await harness.redefine(handler, say("swapped too"));
    await wakeUp(harness, queue);
    expect(await newest(harness, handler)).toMatchObject([{ version: 1, trigger: "on_failure" }]);
    expect(await newest(harness, child)).toMatchObject([{ version: 1 }]);
  });

  it("runs in the new version in a retry, which is a start of its own", async () => {
    const harness = await testEngine();
    const child = await harness.define({ steps: [failing] }, "Child");
    const { id, queue } = await runToEnd(harness, { steps: [call("child")] });
    await harness.redefine(child, say("repaired"));
    const again = await harness.start("test", { retryOf: await harness.find(id) });
    queue.wake();
    await queue.waitUntilIdle();
    expect(await harness.outcome(again)).toMatchObject({
      status: "succeeded",
      output: { output: "repaired" },
    });
  });

  it("is refused while it is archived", async () => {
    const harness = await testEngine();
    const child = await harness.define(say("harmless"), "Child");
    const { id, queue } = await runToEnd(harness, { steps: [nap, call("child")] });
    await harness.change(child, { status: "archived" });
    await wakeUp(harness, queue);
    expect((await harness.outcome(id)).error).toMatchObject({
      code: "child_failed",
      message: expect.stringContaining('"child" is archived and can\'t run. Restore it') as string,
    });
  });

  it("is refused if there was none of its id at the start", async () => {
    const harness = await testEngine();
    await harness.define({ steps: [call("later")] }, "Child");
    const { id, queue } = await runToEnd(harness, { steps: [nap, call("child")] });
    await harness.define(say("swapped"), "Later");
    await wakeUp(harness, queue);
    const { error } = await harness.outcome(id);
    expect(error).toMatchObject({ code: "child_failed" });
    expect(error!.message).toContain('There was no workflow "later" when the run that calls it started');
  });

  it("runs in the new version if an older release started the caller, without pins", async () => {
    const harness = await testEngine();
    const child = await harness.define(say("old"), "Child");
    const { id, queue } = await runToEnd(harness, { steps: [nap, call("child")] });
    await harness.store.transaction((trx) => trx.updateTable("runs").set({ pins: null }).execute());
    await harness.redefine(child, say("new"));
    await wakeUp(harness, queue);
    expect((await harness.outcome(id)).output).toMatchObject({ output: "new" });
  });
});

describe("the pins of a run", () => {
  it("are the versions of everything that it calls, on all levels, and the same for its children", async () => {
    const harness = await testEngine();
    await harness.define(say("x"), "Third");
    await harness.define({ steps: [call("third")], on_failure: "third" }, "Second");
    const { id } = await runToEnd(harness, { steps: [call("second")] });
    expect((await harness.find(id)).pins).toEqual({ second: 1, third: 1 });
    expect(await newest(harness, "second")).toMatchObject([{ pins: { second: 1, third: 1 } }]);
    expect(await newest(harness, "third")).toMatchObject([{ pins: null }]);
  });

  it("end where workflows call each other", async () => {
    const harness = await testEngine();
    const a = await harness.create({ name: "A" });
    await harness.define({ steps: [call("a", { if: "run.id == ''" })] }, "B");
    await harness.redefine(a.id, { steps: [call("b", { if: "run.id == ''" })] });
    const run = await harness.start("a");
    expect((await harness.find(run)).pins).toEqual({ a: 2, b: 1 });
  });

  it("are looked for only where a workflow calls another one", async () => {
    const harness = await testEngine();
    const { currentVersions } = harness.read.workflows;
    let lookups = 0;
    harness.read.workflows.currentVersions = (ids) => {
      lookups += 1;
      return currentVersions(ids);
    };
    const { id } = await runToEnd(harness, say("x"));
    expect({ lookups, pins: (await harness.find(id)).pins }).toEqual({ lookups: 0, pins: null });
  });

  it("are limited in number", async () => {
    const harness = await testEngine();
    await Promise.all(
      Array.from({ length: 26 }, (_, n) =>
        harness.define(
          {
            steps: Array.from({ length: 20 }, (_step, m) => ({ ...call(`leaf-${n}-${m}`), id: `s${m}` })),
          },
          `Node ${n}`,
        ),
      ),
    );
    const steps = Array.from({ length: 26 }, (_, n) => ({ ...call(`node-${n}`), id: `s${n}` }));
    const root = await harness.define({ steps }, "Root");
    await expect(harness.start(root)).rejects.toMatchObject({
      code: "workflow_not_runnable",
      message: expect.stringContaining("calls more than 500 others") as string,
    });
  });
});

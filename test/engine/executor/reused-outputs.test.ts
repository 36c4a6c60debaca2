import { describe, expect, it } from "vitest";
import { StepError } from "../../../src/core/step-errors.ts";
import { recordDecision } from "../../../src/engine/run-state/waits/approval.ts";
import { createSqliteFile } from "../../support/databases.ts";
import { temporaryDirectory } from "../../support/directories.ts";
import { runToEnd, testEngine } from "../../support/engine.ts";

const probe = (id: string, more: object = {}) => ({ id, type: "probe", ask: id, ...more });

describe("a cached step", () => {
  it("reuses its last output for the same input until the cache expires", async () => {
    const harness = await testEngine();
    let count = 0;
    harness.onProbe(() => (count += 1));
    const definition = {
      inputs: { type: "object", properties: { n: { type: "number" } } },
      steps: [
        { id: "a", type: "probe", ask: "${{ inputs.n }}", cache: { for: "1h", despite_effects: true } },
      ],
    };
    const workflow = await harness.define(definition);
    const queue = await harness.executor();
    const run = async (n: number) => {
      const id = await harness.start(workflow, { inputs: { n } });
      queue.wake();
      await queue.waitUntilIdle();
      return (await harness.outcome(id)).output;
    };
    expect([await run(1), await run(1), await run(2)]).toEqual([{ value: 1 }, { value: 1 }, { value: 2 }]);
    harness.clock.advance(3_600_001);
    expect(await run(1)).toEqual({ value: 3 });
  });
});

/** An engine whose database `shop` is this file. */
const engineAt = (dataset: string, stateDir?: string) =>
  testEngine({
    config: { databases: [{ name: "shop", type: "sqlite", dataset }] },
    ...(stateDir !== undefined && { stateDir }),
  });

describe("the cache of a step", () => {
  it("belongs to the configuration of what the step calls", async () => {
    const files = ["one", "two"].map((name) =>
      createSqliteFile(temporaryDirectory(), `CREATE TABLE t AS SELECT '${name}' AS x`),
    );
    const first = await engineAt(files[0]!);
    const second = await engineAt(files[1]!, first.stateDir);
    const workflow = await first.define({
      steps: [{ id: "a", type: "sql", database: "shop", query: "SELECT x FROM t", cache: "1h" }],
      output: "${{ steps.a.rows[0].x }}",
    });
    const run = async (harness: typeof first) => {
      const queue = await harness.executor();
      const id = await harness.start(workflow);
      queue.wake();
      await queue.waitUntilIdle();
      await queue.stop(0);
      const { reusedFrom } = (await harness.read.runs.step({ runId: id, stepId: "a", item: null }))!;
      return [(await harness.outcome(id)).output, reusedFrom];
    };
    expect([await run(first), await run(first), await run(second), await run(second)]).toEqual([
      ["one", null],
      ["one", "cache"],
      ["two", null],
      ["two", "cache"],
    ]);
  });

  it("is refused on a step with effects, unless the step says that they may be left out", async () => {
    const harness = await testEngine();
    const check = async (cache: unknown, more: object = {}) => {
      const step = { id: "a", type: "http", method: "POST", url: "https://example.com/", cache, ...more };
      return (await harness.engine.check({ steps: [step] }, { checkConnections: false })).errors;
    };
    expect(await check("1h")).toMatchObject([
      {
        path: "steps[0].cache",
        code: "not_allowed",
        fix: expect.stringContaining("despite_effects: true") as string,
      },
    ]);
    expect(await check({ for: "1h" })).toMatchObject([{ path: "steps[0].cache", code: "not_allowed" }]);
    expect(await check({ for: "1h", despite_effects: true })).toEqual([]);
    expect(await check("1h", { method: "GET" })).toEqual([]);
    expect(await check({ for: "1 hour" })).toMatchObject([{ path: "steps[0].cache.for" }]);
  });
});

describe("a retry", () => {
  it("reuses recorded outputs and runs the other steps with the first run's idempotency keys", async () => {
    const harness = await testEngine();
    const asks: unknown[] = [];
    const keys: string[] = [];
    let failing = true;
    harness.onProbe((value, { idempotencyKey }) => {
      asks.push(value);
      if (value === "b") keys.push(idempotencyKey);
      if (value === "b" && failing) throw new StepError("step_failed", "not yet");
      return value;
    });
    const { id, queue } = await runToEnd(harness, { steps: [probe("a"), probe("b"), probe("c")] });
    failing = false;
    const first = await harness.find(id);
    const again = await harness.start(first.workflowId, { retryOf: first });
    queue.wake();
    await queue.waitUntilIdle();
    expect(await harness.outcome(again)).toMatchObject({
      status: "succeeded",
      states: ["succeeded", "succeeded", "succeeded"],
    });
    expect(asks).toEqual(["a", "b", "b", "c"]);
    expect(keys[0]).toBe(keys[1]);
    expect(await harness.read.runs.step({ runId: again, stepId: "a", item: null })).toMatchObject({
      reusedFrom: id,
    });
    expect((await harness.find(id)).status).toBe("failed");
  });

  it("with a changed step runs that one, and reuses the steps that the change does not affect", async () => {
    const harness = await testEngine();
    const asks: unknown[] = [];
    harness.onProbe((value) => {
      asks.push(value);
      return 1;
    });
    const { id, queue } = await runToEnd(harness, {
      steps: [probe("a"), probe("b"), probe("c", { ask: "${{ steps.b.value }}" })],
    });
    const first = await harness.find(id);
    const definition = {
      steps: [probe("a"), probe("b", { ask: "changed" }), probe("c", { ask: "${{ steps.b.value }}" })],
    };
    await harness.start(first.workflowId, { retryOf: first, definition });
    queue.wake();
    await queue.waitUntilIdle();
    expect(asks).toEqual(["a", "b", 1, "changed"]);
  });
});

const askThenRun = (ask: string) => ({
  steps: [{ id: "ask", type: "approval", message: "Go on?" }, probe("act", { ask })],
});

const APPROVED = { approved: true, override: false, comment: null, answer: null };

async function runWithApproval(
  harness: Awaited<ReturnType<typeof testEngine>>,
  definition: Record<string, unknown>,
) {
  const { id, queue } = await runToEnd(harness, definition);
  const ref = { runId: id, stepId: "ask", item: null };
  await harness.transaction(async (tx) => {
    const approval = (await tx.approvals.findByStep(ref))!;
    const decision = { ...APPROVED, person: "ada", seat: "ada", name: "ada", decidedAt: harness.now() };
    expect(await recordDecision(tx, approval, decision, approval.plan!)).toEqual({ status: "approved" });
  });
  queue.wake();
  await queue.waitUntilIdle();
  return { first: await harness.find(id), queue };
}

describe("a decided approval", () => {
  it("is reused by a retry of the same failed work", async () => {
    const harness = await testEngine();
    let failing = true;
    harness.onProbe(() => {
      if (failing) throw new StepError("http_failed", "gone");
    });
    const { first, queue } = await runWithApproval(harness, askThenRun("pay"));
    expect(first.status).toBe("failed");
    failing = false;
    const again = await harness.start(first.workflowId, { retryOf: first, version: first.version });
    queue.wake();
    await queue.waitUntilIdle();
    expect((await harness.outcome(again)).status).toBe("succeeded");
  });

  it.each(["of work that had succeeded", "with other work"])(
    "is requested again by a retry %s",
    async (which) => {
      const harness = await testEngine();
      const other = which === "with other work";
      harness.onProbe(() => {
        if (other) throw new StepError("http_failed", "gone");
      });
      const { first, queue } = await runWithApproval(harness, askThenRun("pay"));
      const definition = other ? askThenRun("pay everything") : undefined;
      const again = await harness.start(first.workflowId, {
        retryOf: first,
        version: first.version,
        definition,
      });
      queue.wake();
      await queue.waitUntilIdle();
      expect((await harness.outcome(again)).status).toBe("waiting");
    },
  );
});

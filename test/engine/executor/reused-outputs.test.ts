import { describe, expect, it } from "vitest";
import { StepError } from "../../../src/core/step-errors.ts";
import { recordDecision } from "../../../src/engine/run-state/waits/approval.ts";
import { runToEnd, testEngine } from "../../support/engine.ts";

const probe = (id: string, more: object = {}) => ({ id, type: "probe", ask: id, ...more });

describe("a cached step", () => {
  it("reuses its last output for the same input until the cache expires", async () => {
    const harness = await testEngine();
    let count = 0;
    harness.onProbe(() => (count += 1));
    const definition = {
      inputs: { type: "object", properties: { n: { type: "number" } } },
      steps: [{ id: "a", type: "probe", ask: "${{ inputs.n }}", cache: "1h" }],
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

async function runWithApproval(
  harness: Awaited<ReturnType<typeof testEngine>>,
  definition: Record<string, unknown>,
) {
  const { id, queue } = await runToEnd(harness, definition);
  const ref = { runId: id, stepId: "ask", item: null };
  await harness.transaction(async (tx) => {
    const approval = (await tx.approvals.findByStep(ref))!;
    const decision = {
      status: "approved",
      decidedAt: harness.now(),
      decidedBy: "ada",
      comment: null,
      answer: null,
    } as const;
    expect(await recordDecision(tx, approval, decision)).toBe(true);
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

import { describe, expect, it } from "vitest";
import { untilPassing } from "../../support/eventually.ts";
import { StepError } from "../../../src/core/step-errors.ts";
import { runToEnd, testEngine } from "../../support/engine.ts";
import { startTimer } from "../../support/expect-cost.ts";

const probe = (id: string, more: object = {}) => ({ id, type: "probe", ask: id, ...more });
const set = (id: string, values: object, more: object = {}) => ({ id, type: "set", values, ...more });

describe("a run", () => {
  it("carries values from its inputs through its steps to its output", async () => {
    const harness = await testEngine();
    const { status, output } = await runToEnd(harness, {
      inputs: { type: "object", properties: { n: { type: "number", default: 3 } } },
      steps: [set("a", { x: "${{ inputs.n * 2 }}" }), set("b", { y: "${{ steps.a.x + 1 }}" })],
      output: { y: "${{ steps.b.y }}" },
    });
    expect({ status, output }).toEqual({ status: "succeeded", output: { y: 7 } });
  });

  it("returns the output of its last step when the definition has none", async () => {
    const { output } = await runToEnd(await testEngine(), { steps: [set("a", { x: 1 })] });
    expect(output).toEqual({ x: 1 });
  });

  it("skips a step whose condition is false, and continues with null as its output", async () => {
    const { states, output } = await runToEnd(await testEngine(), {
      steps: [
        set("a", { x: 1 }, { if: "1 > 2" }),
        set("b", { seen: "${{ steps.a.x }}", how: "${{ steps.a.status }}" }),
      ],
    });
    expect({ states, output }).toEqual({
      states: ["skipped", "succeeded"],
      output: { seen: null, how: "skipped" },
    });
  });

  it("leaves out an optional field of a step that an expression sets to null", async () => {
    const { status, error } = await runToEnd(await testEngine(), {
      steps: [{ id: "a", type: "assert", that: "false", message: "${{ null }}" }],
    });
    expect({ status, error }).toMatchObject({
      status: "failed",
      error: { code: "assert_failed", message: "The condition is not true." },
    });
  });

  it("fails with an error that names the step and the fix, and cancels the other steps", async () => {
    const harness = await testEngine();
    harness.onProbe(() => {
      throw new StepError("database_failed", "no such table: orders", { fix: "Name a table that is there." });
    });
    const { status, error, states, id } = await runToEnd(harness, {
      steps: [probe("a"), set("b", { x: 1 })],
    });
    expect({ status, states }).toEqual({ status: "failed", states: ["failed", "cancelled"] });
    expect(error).toEqual({
      code: "database_failed",
      message: "no such table: orders",
      fix: "Name a table that is there.",
      step_id: "a",
    });
    const [attempt] = await harness.read.runs.lastAttempts({ runId: id, stepId: "a", item: null }, 20);
    expect(attempt).toMatchObject({ status: "failed", error: { code: "database_failed" } });
    const input = { runId: id, what: "attempt_input", stepId: "a", item: null, attempt: 1 } as const;
    expect(await harness.read.runs.valueText(input, { from: 0, chars: 100 })).toEqual({
      text: '{"ask":"a"}',
      chars: 11,
    });
  });

  it("continues after a failed step with on_error: continue", async () => {
    const harness = await testEngine();
    harness.onProbe(() => {
      throw new StepError("http_failed", "gone");
    });
    const { status, output } = await runToEnd(harness, {
      steps: [
        probe("a", { on_error: "continue" }),
        set("b", { code: "${{ steps.a.error.code }}", v: "${{ steps.a.value }}" }),
      ],
    });
    expect({ status, output }).toEqual({ status: "succeeded", output: { code: "http_failed", v: null } });
  });

  it("lets active attempts finish when another step fails, and starts no more", async () => {
    const harness = await testEngine();
    const slow = Promise.withResolvers<void>();
    const slowBegan = Promise.withResolvers<void>();
    const started: unknown[] = [];
    harness.onProbe(async (ask) => {
      started.push(ask);
      if (ask === "slow") {
        slowBegan.resolve();
        await slow.promise;
      }
      if (ask !== "bad") return;
      // A job that is not claimed yet would be cancelled.
      await slowBegan.promise;
      throw new StepError("step_failed", "bad");
    });
    const queue = await harness.executor();
    const id = await harness.start(
      await harness.define({
        steps: [
          probe("slow", { needs: [] }),
          probe("bad", { needs: [] }),
          probe("after", { needs: ["slow"] }),
        ],
      }),
    );
    queue.wake();
    await untilPassing(async () =>
      expect((await harness.find(id)).stepStates.list).toEqual(["queued", "failed", "cancelled"]),
    );
    expect((await harness.find(id)).status).toBe("running");
    slow.resolve();
    await queue.waitUntilIdle();
    expect(await harness.outcome(id)).toMatchObject({
      status: "failed",
      states: ["succeeded", "failed", "cancelled"],
    });
    expect(new Set(started)).toEqual(new Set(["bad", "slow"]));
  });

  it("retries a transient error with growing pauses, and no other error", async () => {
    const harness = await testEngine();
    let attempts = 0;
    harness.onProbe(() => {
      attempts += 1;
      if (attempts < 3) throw new StepError("database_unavailable", "refused");
      return attempts;
    });
    const retry = { attempts: 4, initial: "2s", backoff: "exponential" };
    const { id, queue, status } = await runToEnd(harness, { steps: [probe("a", { retry })] });
    expect(status).toBe("running");
    expect(attempts).toBe(1);
    harness.clock.advance(2_000);
    queue.wake();
    await queue.waitUntilIdle();
    expect(attempts).toBe(2);
    harness.clock.advance(1_900);
    queue.wake();
    await queue.waitUntilIdle();
    expect(attempts).toBe(2);
    harness.clock.advance(2_100);
    queue.wake();
    await queue.waitUntilIdle();
    expect(await harness.outcome(id)).toMatchObject({ status: "succeeded", output: { value: 3 } });
    expect(
      (await harness.read.runs.lastAttempts({ runId: id, stepId: "a", item: null }, 20)).map(
        (one) => one.status,
      ),
    ).toEqual(["failed", "failed", "succeeded"]);

    harness.onProbe(() => {
      throw new StepError("database_failed", "syntax error");
    });
    expect((await runToEnd(harness, { steps: [probe("b", { retry })] })).status).toBe("failed");
  });

  it("waits at least as long as the vendor asks for", async () => {
    const harness = await testEngine();
    let attempts = 0;
    harness.onProbe(() => {
      attempts += 1;
      if (attempts === 1) throw new StepError("model_rate_limited", "slow down", { retryAfterMs: 60_000 });
    });
    const { queue } = await runToEnd(harness, {
      steps: [probe("a", { retry: { attempts: 2, initial: "1s" } })],
    });
    harness.clock.advance(59_000);
    queue.wake();
    await queue.waitUntilIdle();
    expect(attempts).toBe(1);
    harness.clock.advance(1_000);
    queue.wake();
    await queue.waitUntilIdle();
    expect(attempts).toBe(2);
  });

  it("stops an attempt that exceeds its timeout, and reports the timeout", async () => {
    const harness = await testEngine();
    harness.onProbe(
      (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new Error("aborted")));
        }),
    );
    const { error } = await runToEnd(harness, { steps: [probe("a", { timeout: "30ms" })] });
    expect(error).toMatchObject({ code: "timeout", message: '"a" took longer than 0.03 s and was stopped.' });
  });

  it("waits without occupying an executor, and continues at the time", async () => {
    const harness = await testEngine();
    const { id, queue, status } = await runToEnd(harness, {
      steps: [{ id: "nap", type: "wait", for: "10m" }, set("b", { until: "${{ steps.nap.waited_until }}" })],
    });
    expect(status).toBe("waiting");
    expect(await harness.read.jobs.depth()).toEqual({ ready: 0, later: 1, claimed: 0 });
    harness.clock.advance(600_000);
    queue.wake();
    await queue.waitUntilIdle();
    expect(await harness.outcome(id)).toMatchObject({
      status: "succeeded",
      output: { until: "2026-11-21T08:10:00.000Z" },
    });
  });

  it("stops an attempt at the operator's maximum, also of a version that was saved with a longer timeout", async () => {
    const harness = await testEngine({ durationLimits: { max_step_timeout: "30ms" } });
    harness.onProbe(() => new Promise(() => undefined));
    const { error } = await runToEnd(harness, { steps: [probe("a", { timeout: "9999999d" })] });
    expect(error).toMatchObject({ code: "timeout", message: '"a" took longer than 0.03 s and was stopped.' });
  });

  it("ends a wait at the operator's maximum, also of a version that was saved with a longer timeout", async () => {
    const harness = await testEngine({ durationLimits: { max_wait: "2d" } });
    const event = { id: "paid", type: "wait", event: {}, timeout: "9999999d" };
    const { id, queue } = await runToEnd(harness, { steps: [event] });
    expect((await harness.outcome(id)).status).toBe("waiting");
    harness.clock.advance(2 * 24 * 3_600_000);
    queue.wake();
    await queue.waitUntilIdle();
    expect((await harness.outcome(id)).error).toMatchObject({ code: "event_timeout" });
  });

  it("fails when it exceeds the workflow's timeout", async () => {
    const harness = await testEngine();
    const { id, queue } = await runToEnd(harness, {
      timeout: "1m",
      steps: [{ id: "nap", type: "wait", for: "10m" }],
    });
    harness.clock.advance(60_000);
    queue.wake();
    await queue.waitUntilIdle();
    expect(await harness.outcome(id)).toMatchObject({
      status: "failed",
      states: ["cancelled"],
      error: { code: "run_timeout" },
    });
    expect(await harness.read.jobs.depth()).toEqual({ ready: 0, later: 0, claimed: 0 });
  });

  it("is cancelled during an attempt: the attempt is aborted, and no other starts", async () => {
    const harness = await testEngine();
    const begun = Promise.withResolvers<void>();
    harness.onProbe(
      (_, { signal }) =>
        new Promise((_resolve, reject) => {
          begun.resolve();
          signal.addEventListener("abort", () => reject(signal.reason as Error));
        }),
    );
    const queue = await harness.executor();
    const id = await harness.start(await harness.define({ steps: [probe("a"), set("b", { x: 1 })] }));
    queue.wake();
    await begun.promise;
    const expectElapsed = startTimer();
    expect(await harness.stop(id)).toMatchObject({ stopped: true, ended: false });
    await queue.waitUntilIdle();
    expectElapsed(10_000);
    expect(await harness.outcome(id)).toMatchObject({
      status: "cancelled",
      states: ["cancelled", "cancelled"],
      error: null,
    });
    expect(await harness.stop(id)).toMatchObject({ stopped: false });
  });

  it("passes a step the same idempotency key each time that it runs with the same input", async () => {
    const harness = await testEngine();
    const keys: string[] = [];
    harness.onProbe((_, { idempotencyKey }) => {
      keys.push(idempotencyKey);
      if (keys.length === 1) throw new StepError("http_failed", "gone");
    });
    const { id, queue } = await runToEnd(harness, {
      steps: [probe("a", { retry: { attempts: 2, initial: "1s" } })],
    });
    harness.clock.advance(1_000);
    queue.wake();
    await queue.waitUntilIdle();
    expect(new Set(keys).size).toBe(1);
    expect(keys).toHaveLength(2);
    expect(keys[0]).toMatch(new RegExp(`^${id}:a:-:`));
  });

  it("starts the on_failure workflow when it fails", async () => {
    const harness = await testEngine();
    await harness.define(
      {
        inputs: { type: "object", properties: { run_id: { type: "string" }, error: { type: "object" } } },
        steps: [set("seen", { code: "${{ inputs.error.code }}" })],
      },
      "Report",
    );
    const { id } = await runToEnd(harness, {
      on_failure: "report",
      steps: [{ id: "gate", type: "assert", that: "1 == 2", message: "no" }],
    });
    const { items } = await harness.read.runs.page({
      filter: { workflowId: "report" },
      after: null,
      limit: 5,
    });
    expect(items).toMatchObject([{ trigger: "on_failure", status: "succeeded" }]);
    expect(await harness.read.runs.inputs(items[0]!.id)).toMatchObject({ run_id: id });
    expect(await harness.read.runs.runOutput(items[0]!.id)).toEqual({ code: "assert_failed" });
    expect((await harness.find(id)).onFailure).toEqual({
      workflowId: "report",
      runId: items[0]!.id,
      error: null,
    });
  });

  it("fails when its output does not match output_schema", async () => {
    const harness = await testEngine();
    const definition = {
      inputs: { type: "object", properties: { n: { type: "number" } } },
      steps: [set("a", { n: "${{ inputs.n }}" })],
      output_schema: { type: "object", properties: { n: { type: "number", maximum: 5 } }, required: ["n"] },
    };
    const good = await runToEnd(harness, definition, { inputs: { n: 5 } });
    expect([good.status, good.output]).toEqual(["succeeded", { n: 5 }]);
    const bad = await runToEnd(harness, definition, { inputs: { n: 6 } });
    expect(bad).toMatchObject({
      status: "failed",
      output: null,
      error: {
        code: "output_invalid",
        message: expect.stringContaining("n must be at most 5, got 6"),
        details: { errors: [{ path: "n", code: "too_large" }] },
      },
    });
  });

  it("says why the on_failure workflow could not start", async () => {
    const harness = await testEngine();
    await harness.define(
      {
        inputs: { type: "object", properties: { team: { type: "string" } }, required: ["team"] },
        steps: [set("seen", {})],
      },
      "Report",
    );
    const failing = { steps: [{ id: "gate", type: "assert", that: "1 == 2", message: "no" }] };
    const { id, status, error } = await runToEnd(harness, { ...failing, on_failure: "report" });
    expect([status, error?.code]).toEqual(["failed", "assert_failed"]);
    expect((await harness.find(id)).onFailure).toMatchObject({
      workflowId: "report",
      runId: null,
      error: { code: "invalid_input", message: expect.stringContaining("inputs.team is required") },
    });
    await harness.change("report", { status: "archived" });
    const { id: other } = await runToEnd(harness, { ...failing, on_failure: "report" });
    expect((await harness.find(other)).onFailure).toMatchObject({
      runId: null,
      error: { code: "workflow_archived" },
    });
    const { id: plain } = await runToEnd(harness, failing);
    expect((await harness.find(plain)).onFailure).toBeNull();
  });
});

describe("a run that is ending", () => {
  it("does not retry an attempt that fails meanwhile", async () => {
    const harness = await testEngine();
    const slow = Promise.withResolvers<void>();
    let calls = 0;
    harness.onProbe(async (ask) => {
      if (ask === "bad") throw new StepError("step_failed", "bad");
      calls += 1;
      await slow.promise;
      throw new StepError("http_failed", "gone");
    });
    const queue = await harness.executor();
    const id = await harness.start(
      await harness.define({
        steps: [
          probe("slow", { needs: [], retry: { attempts: 5, initial: "1s" } }),
          probe("bad", { needs: [] }),
        ],
      }),
    );
    queue.wake();
    await untilPassing(async () =>
      expect((await harness.find(id)).stepStates.list).toEqual(["queued", "failed"]),
    );
    slow.resolve();
    await queue.waitUntilIdle();
    expect(await harness.outcome(id)).toMatchObject({ status: "failed", error: { step_id: "bad" } });
    expect(calls).toBe(1);
    expect(await harness.read.jobs.depth()).toEqual({ ready: 0, later: 0, claimed: 0 });
  });

  it("ends even if its last active job has no outcome to record", async () => {
    const harness = await testEngine();
    const { id, queue } = await runToEnd(harness, { steps: [{ id: "nap", type: "wait", for: "1m" }] });
    // A second timer job of the same wait is claimed by an executor while the run is stopped.
    const ref = { runId: id, stepId: "nap", item: null };
    await harness.transaction(async (tx) => {
      await tx.jobs.add({
        ...ref,
        kind: "wake",
        priority: 0,
        dueAt: null,
        resource: null,
        attempt: 1,
        retryCount: 0,
      });
      const [job] = await tx.jobs.claim("other", {
        now: harness.now(),
        limit: 1,
        limits: new Map(),
        quarantined: "skip",
      });
      await tx.runs.saveStep(ref, { seq: 99, state: "succeeded" });
      expect(job?.kind).toBe("wake");
    });
    await harness.stop(id);
    expect((await harness.find(id)).finishedAt).toBeNull();
    await harness.transaction((tx) => tx.jobs.reclaim("other"));
    queue.wake();
    await queue.waitUntilIdle();
    expect((await harness.outcome(id)).status).toBe("cancelled");
  });
});

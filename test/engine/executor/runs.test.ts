import { describe, expect, it, vi } from "vitest";
import { StepError } from "../../../src/core/step-errors.ts";
import { recordDecision } from "../../../src/engine/run-state/waits/approval.ts";
import { runToEnd, testEngine } from "../../support/engine.ts";

const probe = (id: string, more: object = {}) => ({ id, type: "probe", ask: id, ...more });
const set = (id: string, values: object, more: object = {}) => ({ id, type: "set", values, ...more });

describe("a run", () => {
  it("carries values from its inputs through its steps to its output", async () => {
    const it_ = await testEngine();
    const { status, output } = await runToEnd(it_, {
      inputs: { type: "object", properties: { n: { type: "number", default: 3 } } },
      steps: [set("a", { x: "${{ inputs.n * 2 }}" }), set("b", { y: "${{ steps.a.x + 1 }}" })],
      output: { y: "${{ steps.b.y }}" },
    });
    expect({ status, output }).toEqual({ status: "succeeded", output: { y: 7 } });
  });

  it("gives the output of its last step when none is defined", async () => {
    const { output } = await runToEnd(await testEngine(), { steps: [set("a", { x: 1 })] });
    expect(output).toEqual({ x: 1 });
  });

  it("skips a step whose condition is false, and goes on with null in its place", async () => {
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

  it("fails with the step, the item and what to do, and cancels the rest", async () => {
    const it_ = await testEngine();
    it_.onProbe(() => {
      throw new StepError("database_failed", "no such table: orders", { fix: "Name a table that is there." });
    });
    const { status, error, states, id } = await runToEnd(it_, { steps: [probe("a"), set("b", { x: 1 })] });
    expect({ status, states }).toEqual({ status: "failed", states: ["failed", "cancelled"] });
    expect(error).toEqual({
      code: "database_failed",
      message: "no such table: orders",
      fix: "Name a table that is there.",
      step_id: "a",
    });
    const [attempt] = await it_.read.runs.attempts(id);
    expect(attempt).toMatchObject({ status: "failed", error: { code: "database_failed" } });
    const input = { runId: id, what: "attempt_input", stepId: "a", item: null, attempt: 1 } as const;
    expect(await it_.read.runs.valueText(input, { from: 0, chars: 100 })).toEqual({
      text: '{"ask":"a"}',
      chars: 11,
    });
  });

  it("goes on after a failure where the step says so", async () => {
    const it_ = await testEngine();
    it_.onProbe(() => {
      throw new StepError("http_failed", "gone");
    });
    const { status, output } = await runToEnd(it_, {
      steps: [
        probe("a", { on_error: "continue" }),
        set("b", { code: "${{ steps.a.error.code }}", v: "${{ steps.a.value }}" }),
      ],
    });
    expect({ status, output }).toEqual({ status: "succeeded", output: { code: "http_failed", v: null } });
  });

  it("lets what is under way finish when another step fails, and starts nothing more", async () => {
    const it_ = await testEngine();
    const slow = Promise.withResolvers<void>();
    const started: unknown[] = [];
    it_.onProbe(async (asked) => {
      started.push(asked);
      if (asked === "bad") throw new StepError("step_failed", "bad");
      if (asked === "slow") await slow.promise;
    });
    const queue = await it_.executor();
    const id = await it_.start(
      await it_.define({
        steps: [
          probe("slow", { needs: [] }),
          probe("bad", { needs: [] }),
          probe("after", { needs: ["slow"] }),
        ],
      }),
    );
    queue.wake();
    await vi.waitFor(async () =>
      expect((await it_.find(id)).stepStates.list).toEqual(["queued", "failed", "cancelled"]),
    );
    expect((await it_.find(id)).status).toBe("running");
    slow.resolve();
    await queue.waitUntilIdle();
    expect(await it_.outcome(id)).toMatchObject({
      status: "failed",
      states: ["succeeded", "failed", "cancelled"],
    });
    expect(new Set(started)).toEqual(new Set(["bad", "slow"]));
  });

  it("repeats what may go away, with growing pauses, and not what does not", async () => {
    const it_ = await testEngine();
    let tries = 0;
    it_.onProbe(() => {
      tries += 1;
      if (tries < 3) throw new StepError("database_unavailable", "refused");
      return tries;
    });
    const retry = { attempts: 4, initial: "2s", backoff: "exponential" };
    const { id, queue, status } = await runToEnd(it_, { steps: [probe("a", { retry })] });
    expect(status).toBe("running");
    expect(tries).toBe(1);
    it_.clock.advance(2_000);
    queue.wake();
    await queue.waitUntilIdle();
    expect(tries).toBe(2);
    it_.clock.advance(1_900);
    queue.wake();
    await queue.waitUntilIdle();
    expect(tries).toBe(2);
    it_.clock.advance(2_100);
    queue.wake();
    await queue.waitUntilIdle();
    expect(await it_.outcome(id)).toMatchObject({ status: "succeeded", output: { value: 3 } });
    expect((await it_.read.runs.attempts(id)).map((one) => one.status)).toEqual([
      "failed",
      "failed",
      "succeeded",
    ]);

    it_.onProbe(() => {
      throw new StepError("database_failed", "syntax error");
    });
    expect((await runToEnd(it_, { steps: [probe("b", { retry })] })).status).toBe("failed");
  });

  it("waits as long as the vendor says", async () => {
    const it_ = await testEngine();
    let tries = 0;
    it_.onProbe(() => {
      tries += 1;
      if (tries === 1) throw new StepError("model_rate_limited", "slow down", { retryAfterMs: 60_000 });
    });
    const { queue } = await runToEnd(it_, { steps: [probe("a", { retry: { attempts: 2, initial: "1s" } })] });
    it_.clock.advance(59_000);
    queue.wake();
    await queue.waitUntilIdle();
    expect(tries).toBe(1);
    it_.clock.advance(1_000);
    queue.wake();
    await queue.waitUntilIdle();
    expect(tries).toBe(2);
  });

  it("stops an attempt when its time is up, and says how long that was", async () => {
    const it_ = await testEngine();
    it_.onProbe(
      (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new Error("told to end")));
        }),
    );
    const { error } = await runToEnd(it_, { steps: [probe("a", { timeout: "30ms" })] });
    expect(error).toMatchObject({ code: "timeout", message: '"a" took longer than 0.03 s and was stopped.' });
  });

  it("waits without holding anything, and goes on when the time has come", async () => {
    const it_ = await testEngine();
    const { id, queue, status } = await runToEnd(it_, {
      steps: [{ id: "nap", type: "wait", for: "10m" }, set("b", { until: "${{ steps.nap.waited_until }}" })],
    });
    expect(status).toBe("waiting");
    expect(await it_.read.jobs.depth()).toEqual({ ready: 0, later: 1, claimed: 0 });
    it_.clock.advance(600_000);
    queue.wake();
    await queue.waitUntilIdle();
    expect(await it_.outcome(id)).toMatchObject({
      status: "succeeded",
      output: { until: "2026-11-21T08:10:00.000Z" },
    });
  });

  it("fails what runs longer than the workflow allows", async () => {
    const it_ = await testEngine();
    const { id, queue } = await runToEnd(it_, {
      timeout: "1m",
      steps: [{ id: "nap", type: "wait", for: "10m" }],
    });
    it_.clock.advance(60_000);
    queue.wake();
    await queue.waitUntilIdle();
    expect(await it_.outcome(id)).toMatchObject({
      status: "failed",
      states: ["cancelled"],
      error: { code: "run_timeout" },
    });
    expect(await it_.read.jobs.depth()).toEqual({ ready: 0, later: 0, claimed: 0 });
  });

  it("is cancelled while an attempt goes on: the attempt is told, nothing more starts", async () => {
    const it_ = await testEngine();
    const begun = Promise.withResolvers<void>();
    it_.onProbe(
      (_, { signal }) =>
        new Promise((_resolve, reject) => {
          begun.resolve();
          signal.addEventListener("abort", () => reject(signal.reason as Error));
        }),
    );
    const queue = await it_.executor();
    const id = await it_.start(await it_.define({ steps: [probe("a"), set("b", { x: 1 })] }));
    queue.wake();
    await begun.promise;
    const asked = performance.now();
    expect(await it_.stop(id)).toMatchObject({ stopped: true, ended: false });
    await queue.waitUntilIdle();
    expect(performance.now() - asked).toBeLessThan(1_000);
    expect(await it_.outcome(id)).toMatchObject({
      status: "cancelled",
      states: ["cancelled", "cancelled"],
      error: null,
    });
    expect(await it_.stop(id)).toMatchObject({ stopped: false });
  });

  it("gives a step the same idempotency key whenever it runs with the same input", async () => {
    const it_ = await testEngine();
    const keys: string[] = [];
    it_.onProbe((_, { idempotencyKey }) => {
      keys.push(idempotencyKey);
      if (keys.length === 1) throw new StepError("http_failed", "gone");
    });
    const { id, queue } = await runToEnd(it_, {
      steps: [probe("a", { retry: { attempts: 2, initial: "1s" } })],
    });
    it_.clock.advance(1_000);
    queue.wake();
    await queue.waitUntilIdle();
    expect(new Set(keys).size).toBe(1);
    expect(keys).toHaveLength(2);
    expect(keys[0]).toMatch(new RegExp(`^${id}:a:-:`));
  });

  it("runs the workflow that its definition names when it failed", async () => {
    const it_ = await testEngine();
    await it_.define(
      {
        inputs: { type: "object", properties: { run_id: { type: "string" }, error: { type: "object" } } },
        steps: [set("seen", { code: "${{ inputs.error.code }}" })],
      },
      "Tell",
    );
    const { id } = await runToEnd(it_, {
      on_failure: "tell",
      steps: [{ id: "gate", type: "assert", that: "1 == 2", message: "no" }],
    });
    const { items } = await it_.read.runs.page({ filter: { workflowId: "tell" }, after: null, limit: 5 });
    expect(items).toMatchObject([{ trigger: "on_failure", status: "succeeded" }]);
    expect(await it_.read.runs.inputs(items[0]!.id)).toMatchObject({ run_id: id });
    expect(await it_.read.runs.runOutput(items[0]!.id)).toEqual({ code: "assert_failed" });
  });
});

describe("a fan-out", () => {
  it("gives its results in the order of the list, whatever order they come in", async () => {
    const it_ = await testEngine();
    it_.onProbe(async (asked) => {
      await new Promise((resolve) => setTimeout(resolve, (5 - Number(asked)) * 3));
      return asked;
    });
    const { output } = await runToEnd(it_, {
      steps: [{ id: "a", type: "probe", for_each: "[1, 2, 3, 4]", ask: "${{ item }}" }],
      output: "${{ steps.a.items.map(i, i.value) }}",
    });
    expect(output).toEqual([1, 2, 3, 4]);
  });

  it("runs as many at a time as it may", async () => {
    const it_ = await testEngine({ slots: 20 });
    let now = 0;
    let most = 0;
    it_.onProbe(async () => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setTimeout(resolve, 5));
      now -= 1;
    });
    const { status } = await runToEnd(it_, {
      steps: [{ id: "a", type: "probe", for_each: "[1,2,3,4,5,6,7,8,9,10]", concurrency: 3, ask: 1 }],
    });
    expect({ status, most }).toEqual({ status: "succeeded", most: 3 });
  });

  it("of nothing succeeds with no items", async () => {
    const { output } = await runToEnd(await testEngine(), {
      steps: [set("a", { x: "${{ item }}" }, { for_each: "[]" })],
      output: "${{ steps.a.items }}",
    });
    expect(output).toEqual([]);
  });

  it("fails with the item that failed, and starts no more of them", async () => {
    const it_ = await testEngine();
    const asked: unknown[] = [];
    it_.onProbe((value) => {
      asked.push(value);
      if (value === 2) throw new StepError("step_failed", "two is bad");
    });
    const { status, error } = await runToEnd(it_, {
      steps: [{ id: "a", type: "probe", for_each: "[1, 2, 3, 4, 5, 6]", concurrency: 1, ask: "${{ item }}" }],
    });
    expect({ status, error }).toMatchObject({
      status: "failed",
      error: { step_id: "a", item: 1, message: "two is bad" },
    });
    expect(asked).toEqual([1, 2]);
  });

  it("keeps each item's failure where it goes on", async () => {
    const it_ = await testEngine();
    it_.onProbe((value) => {
      if (value === 2) throw new StepError("step_failed", "two is bad");
      return value;
    });
    const { status, output } = await runToEnd(it_, {
      steps: [{ id: "a", type: "probe", for_each: "[1, 2, 3]", on_error: "continue", ask: "${{ item }}" }],
      output: "${{ steps.a.items.map(i, i.status) }}",
    });
    expect({ status, output }).toEqual({ status: "succeeded", output: ["succeeded", "failed", "succeeded"] });
  });

  it("of waits waits, and goes on when the last one is over", async () => {
    const it_ = await testEngine();
    const { id, queue, status } = await runToEnd(it_, {
      steps: [{ id: "nap", type: "wait", for_each: "[1, 2, 3, 4, 5, 6]", for: "1m" }],
    });
    expect(status).toBe("waiting");
    for (let turn = 0; turn < 2; turn += 1) {
      it_.clock.advance(60_000);
      queue.wake();
      await queue.waitUntilIdle();
    }
    expect((await it_.outcome(id)).status).toBe("succeeded");
  });

  it("is refused where the list is too long, or none", async () => {
    const it_ = await testEngine();
    const list = { type: "object", properties: { list: {} } };
    const steps = [set("a", { x: 1 }, { for_each: "inputs.list" })];
    const of = async (value: unknown) =>
      (await runToEnd(it_, { inputs: list, steps }, { inputs: { list: value } })).error?.code;
    expect(await of(Array.from({ length: 100_001 }, () => 0))).toBe("too_many_items");
    expect(await of("no list")).toBe("expression_failed");
    expect(await of(null)).toBe("null_value");
  });
});

describe("a workflow step", () => {
  const child = {
    inputs: { type: "object", properties: { n: { type: "number" } } },
    steps: [set("c", { twice: "${{ inputs.n * 2 }}" })],
  };

  it("runs another workflow and gives what that gave", async () => {
    const it_ = await testEngine();
    await it_.define(child, "Child");
    const { output, id } = await runToEnd(it_, {
      steps: [{ id: "sub", type: "workflow", workflow: "child", inputs: { n: 21 } }],
      output: "${{ steps.sub.output.twice }}",
    });
    expect(output).toBe(42);
    const { items } = await it_.read.runs.page({ filter: { workflowId: "child" }, after: null, limit: 5 });
    expect(items).toMatchObject([{ trigger: "workflow", depth: 1, parent: { runId: id, stepId: "sub" } }]);
  });

  it("fails with the reason of the run that it waited for", async () => {
    const it_ = await testEngine();
    await it_.define({ steps: [{ id: "gate", type: "assert", that: "false", message: "closed" }] }, "Child");
    const { error } = await runToEnd(it_, { steps: [{ id: "sub", type: "workflow", workflow: "child" }] });
    expect(error).toMatchObject({ code: "child_failed", step_id: "sub" });
    expect(error?.message).toContain("closed");
  });

  it("passes a cancellation on to the run that it waits for", async () => {
    const it_ = await testEngine();
    await it_.define({ steps: [{ id: "nap", type: "wait", for: "1d" }] }, "Child");
    const { id, queue } = await runToEnd(it_, {
      steps: [{ id: "sub", type: "workflow", workflow: "child" }],
    });
    await it_.stop(id);
    queue.wake();
    await queue.waitUntilIdle();
    const { items } = await it_.read.runs.page({ filter: {}, after: null, limit: 5 });
    expect(items.map((run) => run.status)).toEqual(["cancelled", "cancelled"]);
  });

  it("ends where workflows call each other in a circle", async () => {
    const it_ = await testEngine();
    const { id } = await it_.create({ name: "Loop" });
    await it_.redefine(id, { steps: [{ id: "again", type: "workflow", workflow: "loop" }] });
    const queue = await it_.executor();
    const run = await it_.start(id);
    queue.wake();
    await queue.waitUntilIdle();
    expect(await it_.outcome(run)).toMatchObject({ status: "failed", error: { code: "child_failed" } });
    expect(await it_.read.runs.count({})).toBe(9);
  });
});

describe("limits", () => {
  it("let so many runs of a workflow go on at a time; the next ones follow by themselves", async () => {
    const it_ = await testEngine();
    const gates: (() => void)[] = [];
    it_.onProbe(() => new Promise<void>((resolve) => gates.push(resolve)));
    const queue = await it_.executor();
    const workflow = await it_.define({ concurrency: 2, steps: [probe("a")] });
    const ids = [];
    for (let index = 0; index < 5; index += 1) ids.push(await it_.start(workflow));
    queue.wake();
    for (let ended = 0; ended < 5; ended += 1) {
      await vi.waitFor(async () => expect(gates.length).toBe(Math.min(2 + ended, 5)));
      expect(await it_.read.runs.count({ status: ["running"] })).toBeLessThanOrEqual(2);
      gates[ended]!();
      await vi.waitFor(async () =>
        expect(await it_.read.runs.count({ status: ["succeeded"] })).toBe(ended + 1),
      );
    }
  });

  it("let so many steps hold a connection at a time, over all executors", async () => {
    const it_ = await testEngine({ limits: new Map([["database:probe", 2]]) });
    let now = 0;
    let most = 0;
    it_.onProbe(async () => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setTimeout(resolve, 5));
      now -= 1;
    });
    const queues = [await it_.executor(), await it_.executor()];
    const workflow = await it_.define({
      steps: [probe("a", { needs: [] }), probe("b", { needs: [] }), probe("c", { needs: [] })],
    });
    for (let index = 0; index < 4; index += 1) await it_.start(workflow);
    for (const queue of queues) queue.wake();
    await vi.waitFor(async () => expect(await it_.read.runs.count({ status: ["succeeded"] })).toBe(4));
    expect(most).toBe(2);
  });

  it("let what has priority go first", async () => {
    const it_ = await testEngine({ slots: 1 });
    const order: unknown[] = [];
    it_.onProbe((asked) => void order.push(asked));
    for (const [name, priority] of [
      ["low", -1],
      ["none", undefined],
      ["high", 5],
    ] as const) {
      const definition = { ...(priority !== undefined && { priority }), steps: [probe(name)] };
      await it_.start(await it_.define(definition, name));
    }
    const queue = await it_.executor();
    await queue.waitUntilIdle();
    expect(order).toEqual(["high", "none", "low"]);
  });
});

describe("a cached step", () => {
  it("gives its last output again while it is fresh and its input the same", async () => {
    const it_ = await testEngine();
    let count = 0;
    it_.onProbe(() => (count += 1));
    const definition = {
      inputs: { type: "object", properties: { n: { type: "number" } } },
      steps: [{ id: "a", type: "probe", ask: "${{ inputs.n }}", cache: "1h" }],
    };
    const workflow = await it_.define(definition);
    const queue = await it_.executor();
    const run = async (n: number) => {
      const id = await it_.start(workflow, { inputs: { n } });
      queue.wake();
      await queue.waitUntilIdle();
      return (await it_.outcome(id)).output;
    };
    expect([await run(1), await run(1), await run(2)]).toEqual([{ value: 1 }, { value: 1 }, { value: 2 }]);
    it_.clock.advance(3_600_001);
    expect(await run(1)).toEqual({ value: 3 });
  });
});

describe("a retry", () => {
  it("reuses what is recorded and runs the rest, under the first run's idempotency keys", async () => {
    const it_ = await testEngine();
    const asked: unknown[] = [];
    const keys: string[] = [];
    let broken = true;
    it_.onProbe((value, { idempotencyKey }) => {
      asked.push(value);
      if (value === "b") keys.push(idempotencyKey);
      if (value === "b" && broken) throw new StepError("step_failed", "not yet");
      return value;
    });
    const { id, queue } = await runToEnd(it_, { steps: [probe("a"), probe("b"), probe("c")] });
    broken = false;
    const first = await it_.find(id);
    const again = await it_.start(first.workflowId, { retryOf: first });
    queue.wake();
    await queue.waitUntilIdle();
    expect(await it_.outcome(again)).toMatchObject({
      status: "succeeded",
      states: ["succeeded", "succeeded", "succeeded"],
    });
    expect(asked).toEqual(["a", "b", "b", "c"]);
    expect(keys[0]).toBe(keys[1]);
    expect(await it_.read.runs.step({ runId: again, stepId: "a", item: null })).toMatchObject({
      reusedFrom: id,
    });
    expect((await it_.find(id)).status).toBe("failed");
  });

  it("with a changed step runs that one, and reuses what its change leaves the same", async () => {
    const it_ = await testEngine();
    const asked: unknown[] = [];
    it_.onProbe((value) => {
      asked.push(value);
      return 1;
    });
    const { id, queue } = await runToEnd(it_, {
      steps: [probe("a"), probe("b"), probe("c", { ask: "${{ steps.b.value }}" })],
    });
    const first = await it_.find(id);
    const definition = {
      steps: [probe("a"), probe("b", { ask: "changed" }), probe("c", { ask: "${{ steps.b.value }}" })],
    };
    await it_.start(first.workflowId, { retryOf: first, definition });
    queue.wake();
    await queue.waitUntilIdle();
    expect(asked).toEqual(["a", "b", 1, "changed"]);
  });
});

describe("a run that is ending", () => {
  it("does not repeat an attempt that fails meanwhile", async () => {
    const it_ = await testEngine();
    const slow = Promise.withResolvers<void>();
    let calls = 0;
    it_.onProbe(async (asked) => {
      if (asked === "bad") throw new StepError("step_failed", "bad");
      calls += 1;
      await slow.promise;
      throw new StepError("http_failed", "gone");
    });
    const queue = await it_.executor();
    const id = await it_.start(
      await it_.define({
        steps: [
          probe("slow", { needs: [], retry: { attempts: 5, initial: "1s" } }),
          probe("bad", { needs: [] }),
        ],
      }),
    );
    queue.wake();
    await vi.waitFor(async () => expect((await it_.find(id)).stepStates.list).toEqual(["queued", "failed"]));
    slow.resolve();
    await queue.waitUntilIdle();
    expect(await it_.outcome(id)).toMatchObject({ status: "failed", error: { step_id: "bad" } });
    expect(calls).toBe(1);
    expect(await it_.read.jobs.depth()).toEqual({ ready: 0, later: 0, claimed: 0 });
  });

  it("ends though the last job under way had nothing to settle", async () => {
    const it_ = await testEngine();
    const { id, queue } = await runToEnd(it_, { steps: [{ id: "nap", type: "wait", for: "1m" }] });
    // A second alarm for the same wait, held by an executor, while the run is stopped.
    const unit = { runId: id, stepId: "nap", item: null };
    await it_.transaction(async (tx) => {
      await tx.jobs.add({
        ...unit,
        kind: "wake",
        priority: 0,
        dueAt: null,
        resource: null,
        attempt: 1,
        retryCount: 0,
      });
      const [job] = await tx.jobs.claim("other", {
        now: it_.now(),
        limit: 1,
        limits: new Map(),
        quarantined: "skip",
      });
      await tx.runs.saveStep(unit, { seq: 99, state: "succeeded" });
      expect(job?.kind).toBe("wake");
    });
    await it_.stop(id);
    expect((await it_.find(id)).finishedAt).toBeNull();
    await it_.transaction((tx) => tx.jobs.reclaim("other"));
    queue.wake();
    await queue.waitUntilIdle();
    expect((await it_.outcome(id)).status).toBe("cancelled");
  });
});

describe("runs of other workflows", () => {
  const failing = { steps: [{ id: "gate", type: "assert", that: "false", message: "closed" }] };

  it("that fail together end the fan-out that waits for them", async () => {
    const it_ = await testEngine({ slots: 1 });
    await it_.define(failing, "Child");
    const { status, error } = await runToEnd(it_, {
      steps: [{ id: "sub", type: "workflow", for_each: "[1, 2, 3, 4, 5, 6]", workflow: "child" }],
    });
    expect({ status, error }).toMatchObject({
      status: "failed",
      error: { code: "child_failed", step_id: "sub" },
    });
    expect(await it_.read.jobs.depth()).toEqual({ ready: 0, later: 0, claimed: 0 });
  });

  it("do not keep a run from its time-out once another step has failed", async () => {
    const it_ = await testEngine();
    await it_.define({ steps: [{ id: "nap", type: "wait", for: "2d" }] }, "Child");
    const { id, queue, status } = await runToEnd(it_, {
      timeout: "1h",
      steps: [
        { id: "sub", type: "workflow", workflow: "child", needs: [] },
        { id: "nap", type: "wait", for: "10m", needs: [] },
        { id: "gate", type: "assert", that: "false", message: "closed", needs: ["nap"] },
      ],
    });
    expect(status).toBe("running");
    it_.clock.advance(600_000);
    queue.wake();
    await queue.waitUntilIdle();
    expect(await it_.outcome(id)).toMatchObject({
      status: "running",
      states: ["running", "succeeded", "failed"],
    });
    it_.clock.advance(3_000_000);
    queue.wake();
    await queue.waitUntilIdle();
    expect(await it_.outcome(id)).toMatchObject({ status: "failed" });
    expect(await it_.read.runs.count({ status: ["running", "waiting", "queued"] })).toBe(0);
  });

  it("are started again where the step says so", async () => {
    const it_ = await testEngine();
    await it_.define(failing, "Child");
    const retry = { attempts: 3, initial: "1s", on: ["child_failed"] };
    const { id, queue } = await runToEnd(it_, {
      steps: [{ id: "sub", type: "workflow", workflow: "child", retry }],
    });
    for (let turn = 0; turn < 3; turn += 1) {
      it_.clock.advance(4_000);
      queue.wake();
      await queue.waitUntilIdle();
    }
    expect(await it_.outcome(id)).toMatchObject({ status: "failed", error: { code: "child_failed" } });
    expect(await it_.read.runs.count({ workflowId: "child" })).toBe(3);
    expect((await it_.read.runs.attempts(id)).map((one) => one.status)).toEqual([
      "failed",
      "failed",
      "failed",
    ]);
  });

  it("are stopped when the step's time is up", async () => {
    const it_ = await testEngine();
    await it_.define({ steps: [{ id: "nap", type: "wait", for: "2d" }] }, "Child");
    const { id, queue } = await runToEnd(it_, {
      steps: [{ id: "sub", type: "workflow", workflow: "child", timeout: "5m" }],
    });
    it_.clock.advance(300_000);
    queue.wake();
    await queue.waitUntilIdle();
    expect(await it_.outcome(id)).toMatchObject({
      status: "failed",
      error: { code: "timeout", step_id: "sub" },
    });
    expect(await it_.read.runs.count({ workflowId: "child", status: ["cancelled"] })).toBe(1);
  });

  it("do not wait for the run that waits for them", async () => {
    const it_ = await testEngine();
    const { id } = await it_.create({ name: "Again" });
    await it_.redefine(id, {
      concurrency: 1,
      inputs: { type: "object", properties: { n: { type: "number", default: 2 } } },
      steps: [
        {
          id: "sub",
          type: "workflow",
          if: "inputs.n > 0",
          workflow: "again",
          inputs: { n: "${{ inputs.n - 1 }}" },
        },
      ],
    });
    const queue = await it_.executor();
    const run = await it_.start(id);
    queue.wake();
    await queue.waitUntilIdle();
    expect((await it_.outcome(run)).status).toBe("succeeded");
    expect(await it_.read.runs.count({ status: ["succeeded"] })).toBe(3);
  });
});

describe("runs that wait for their turn", () => {
  it("are let in by one of a version that bounds nothing", async () => {
    const it_ = await testEngine();
    const gate = Promise.withResolvers<void>();
    it_.onProbe(() => gate.promise);
    const queue = await it_.executor();
    const workflow = await it_.define({ steps: [probe("a")] });
    const first = await it_.start(workflow);
    queue.wake();
    await vi.waitFor(async () => expect((await it_.find(first)).status).toBe("running"));
    await it_.redefine(workflow, { concurrency: 1, steps: [probe("a")] });
    const second = await it_.start(workflow);
    expect((await it_.find(second)).admitted).toBe(false);
    gate.resolve();
    await queue.waitUntilIdle();
    expect((await it_.outcome(second)).status).toBe("succeeded");
  });
});

const asking = (after: string) => ({
  steps: [{ id: "ask", type: "approval", message: "Go on?" }, probe("act", { ask: after })],
});

async function approved(it_: Awaited<ReturnType<typeof testEngine>>, definition: Record<string, unknown>) {
  const { id, queue } = await runToEnd(it_, definition);
  const unit = { runId: id, stepId: "ask", item: null };
  await it_.transaction(async (tx) => {
    const approval = (await tx.approvals.findByStep(unit))!;
    const decision = {
      status: "approved",
      decidedAt: it_.now(),
      decidedBy: "ada",
      comment: null,
      answer: null,
    } as const;
    expect(await recordDecision(tx, approval, decision)).toBe(true);
  });
  queue.wake();
  await queue.waitUntilIdle();
  return { first: await it_.find(id), queue };
}

describe("an approval that was given", () => {
  it("holds for a retry of the same work that had failed", async () => {
    const it_ = await testEngine();
    let broken = true;
    it_.onProbe(() => {
      if (broken) throw new StepError("http_failed", "gone");
    });
    const { first, queue } = await approved(it_, asking("pay"));
    expect(first.status).toBe("failed");
    broken = false;
    const again = await it_.start(first.workflowId, { retryOf: first, version: first.version });
    queue.wake();
    await queue.waitUntilIdle();
    expect((await it_.outcome(again)).status).toBe("succeeded");
  });

  it.each(["of work that had succeeded", "with other work"])(
    "is asked for again in a retry %s",
    async (which) => {
      const it_ = await testEngine();
      const other = which === "with other work";
      it_.onProbe(() => {
        if (other) throw new StepError("http_failed", "gone");
      });
      const { first, queue } = await approved(it_, asking("pay"));
      const definition = other ? asking("pay everything") : undefined;
      const again = await it_.start(first.workflowId, { retryOf: first, version: first.version, definition });
      queue.wake();
      await queue.waitUntilIdle();
      expect((await it_.outcome(again)).status).toBe("waiting");
    },
  );
});

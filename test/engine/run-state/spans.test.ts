import { describe, expect, test } from "vitest";
import {
  attemptSpanId,
  parseTrace,
  deserializeTrace,
  runSpanId,
  runTraceId,
} from "../../../src/core/trace-context.ts";
import { noTracer } from "../../../src/core/tracer.ts";
import { stopRun } from "../../../src/engine/run-state/advance-run.ts";
import { runToEnd, type TestEngine, testEngine } from "../../support/engine.ts";
import { recordingTracer } from "../../support/recording-tracer.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER = `00-${TRACE}-00f067aa0ba902b7-01`;
const failing = { steps: [{ id: "a", type: "assert", that: "1 == 2", message: "no" }] };
const probing = { steps: [{ id: "a", type: "probe", ask: 1 }] };

async function traced(samples = true) {
  const tracer = recordingTracer(samples);
  const harness = await testEngine({ tracer });
  return { harness, tracer, spans: tracer.spans };
}

/** The trace headers that a probe step gets to send. */
async function propagated(harness: TestEngine, trace?: string): Promise<unknown> {
  let headers: unknown;
  harness.onProbe((_, ctx) => void (headers = ctx.trace));
  await runToEnd(harness, probing, { trace });
  return headers;
}

describe("the spans of runs", () => {
  test("start a trace when there is none, with the run as its root and with its real times", async () => {
    const { harness, spans } = await traced();
    harness.onProbe(() => harness.clock.advance(5_000));
    const { id } = await runToEnd(harness, probing);
    const [step, run] = spans;
    expect(run).toMatchObject({
      name: "run test",
      trace: { traceId: runTraceId(id), spanId: runSpanId(id) },
      parentId: null,
      attributes: { "millrace.status": "succeeded", "millrace.trigger": "rest" },
      error: null,
    });
    expect(step).toMatchObject({ name: "probe a", parentId: runSpanId(id), error: null });
    const { startedAt, finishedAt } = await harness.find(id);
    expect([run!.start, run!.end]).toEqual([Date.parse(startedAt!), Date.parse(finishedAt!)]);
    expect(step!.end - step!.start).toBe(5_000);
  });

  test("link a retried run to the one that it retries", async () => {
    const { harness, spans } = await traced();
    const { id, queue } = await runToEnd(harness, failing, { trace: CALLER });
    const first = await harness.find(id);
    const again = await harness.start(first.workflowId, { retryOf: first });
    queue.wake();
    await queue.waitUntilIdle();
    expect(spans.find((span) => span.trace.spanId === runSpanId(again))).toMatchObject({
      trace: { traceId: runTraceId(again) },
      link: { traceId: TRACE, spanId: runSpanId(id) },
      error: "assert_failed",
    });
  });

  test("put the on_failure run below the run that failed", async () => {
    const { harness, spans } = await traced();
    const handler = await harness.define({ steps: [{ id: "h", type: "set", values: {} }] }, "Handler");
    await runToEnd(harness, { ...failing, on_failure: handler }, { trace: CALLER });
    const failed = spans.find((span) => span.name === "run test")!;
    expect(spans.find((span) => span.name === "run handler")).toMatchObject({
      parentId: failed.trace.spanId,
      trace: { traceId: TRACE },
    });
  });

  test("report the open attempts of a stopped run as cancelled, once", async () => {
    const { harness, spans } = await traced();
    const id = await harness.start(await harness.define({ steps: [{ id: "w", type: "wait", for: "1h" }] }));
    const queue = await harness.executor();
    await queue.waitUntilIdle();
    await harness.stop(id);
    await queue.waitUntilIdle();
    expect(
      spans.map(({ name, attributes }) => `${name} ${attributes["millrace.status"]}`).toSorted(),
    ).toEqual(["run test cancelled", "wait w cancelled"]);
  });

  test("report a wait that fails as failed, once, even if its run ends with it", async () => {
    const { harness, spans } = await traced();
    const { queue } = await runToEnd(harness, {
      steps: [{ id: "q", type: "approval", message: "?", timeout: "1h" }],
    });
    harness.clock.advance(3_600_001);
    queue.wake();
    await queue.waitUntilIdle();
    expect(spans.map(({ name, error }) => [name, error])).toEqual([
      ["approval q", "approval_timeout"],
      ["run test", "approval_timeout"],
    ]);
    expect(spans[0]!.end - spans[0]!.start).toBeGreaterThanOrEqual(3_600_000);
  });

  test("are reported only after the commit", async () => {
    const { harness, spans } = await traced();
    const id = await harness.start(await harness.define({ steps: [{ id: "w", type: "wait", for: "1h" }] }));
    const rolledBack = harness.transaction(async (tx) => {
      await stopRun(harness.engine.context, tx, id, { status: "cancelled", by: "operator" });
      throw new Error("not to be");
    });
    await expect(rolledBack).rejects.toThrow("not to be");
    expect(spans).toEqual([]);
  });

  test("are not reported when the trace is not sampled, and the decision is propagated", async () => {
    const { harness, spans } = await traced(false);
    expect(await propagated(harness)).toEqual({ traceparent: expect.stringMatching(/-00$/) });
    expect(await propagated(harness, CALLER.replace(/01$/, "00"))).toEqual({
      traceparent: expect.stringMatching(new RegExp(`^00-${TRACE}-.*-00$`)),
    });
    expect(spans).toEqual([]);
  });

  test("follow the sampling decision of the caller", async () => {
    const { harness, spans } = await traced(false);
    await runToEnd(harness, probing, { trace: CALLER });
    expect(spans.map(({ trace }) => trace.traceId)).toEqual([TRACE, TRACE]);
  });

  test("give a run that was started without a trace the same one in every process", async () => {
    const { harness: without } = await traced();
    const id = await without.start(await without.define(probing));
    await without.store.transaction((trx) => trx.updateTable("runs").set({ trace: null }).execute());
    const queue = await without.executor();
    await queue.waitUntilIdle();
    expect((await without.find(id)).trace).toBeNull();
    const { spans } = without.engine.context;
    expect(spans.traceId(await without.find(id))).toBe(runTraceId(id));
  });

  test("begin a new trace for each scheduled run", async () => {
    const { harness, spans } = await traced();
    const id = await harness.define(probing);
    const runs = [
      await harness.start(id, { trigger: "schedule" }),
      await harness.start(id, { trigger: "schedule" }),
    ];
    const queue = await harness.executor();
    await queue.waitUntilIdle();
    expect(new Set(spans.map(({ trace }) => trace.traceId))).toEqual(new Set(runs.map(runTraceId)));
    for (const run of runs)
      expect(deserializeTrace((await harness.find(run)).trace!)).toMatchObject({ flags: 1 });
  });
});

describe("the trace headers of an attempt", () => {
  test("name its own span", async () => {
    const { harness } = await traced();
    const ids: string[] = [];
    harness.onProbe((_, ctx) => {
      ids.push(parseTrace(ctx.trace.traceparent)!.spanId);
      return null;
    });
    const { id } = await runToEnd(
      harness,
      { steps: [{ id: "a", type: "probe", for_each: "[1, 2]", ask: "${{ item }}" }] },
      { trace: `${CALLER} vendor=1` },
    );
    const unit = { runId: id, stepId: "a" };
    expect(ids.toSorted()).toEqual([0, 1].map((item) => attemptSpanId({ ...unit, item }, 1)).toSorted());
  });

  test("are the caller's without tracing, and empty without a caller's trace", async () => {
    const harness = await testEngine({ tracer: noTracer() });
    expect(await propagated(harness, `${CALLER} vendor=1`)).toEqual({
      traceparent: CALLER,
      tracestate: "vendor=1",
    });
    expect(await propagated(harness)).toEqual({});
  });

  test("are empty when propagation is off", async () => {
    const harness = await testEngine({ tracer: noTracer(false) });
    expect(await propagated(harness, CALLER)).toEqual({});
    const on = await testEngine({ tracer: { ...recordingTracer(), propagates: false } });
    expect(await propagated(on, CALLER)).toEqual({});
  });
});

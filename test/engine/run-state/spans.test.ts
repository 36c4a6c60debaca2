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
  const it = await testEngine({ tracer });
  return { it, tracer, spans: tracer.spans };
}

/** The trace headers that a probe step gets to send. */
async function propagated(it: TestEngine, trace?: string): Promise<unknown> {
  let headers: unknown;
  it.onProbe((_, ctx) => void (headers = ctx.trace));
  await runToEnd(it, probing, { trace });
  return headers;
}

describe("the spans of runs", () => {
  test("start a trace when there is none, with the run as its root and with its real times", async () => {
    const { it, spans } = await traced();
    it.onProbe(() => it.clock.advance(5_000));
    const { id } = await runToEnd(it, probing);
    const [step, run] = spans;
    expect(run).toMatchObject({
      name: "run test",
      trace: { traceId: runTraceId(id), spanId: runSpanId(id) },
      parentId: null,
      attributes: { "millrace.status": "succeeded", "millrace.trigger": "rest" },
      error: null,
    });
    expect(step).toMatchObject({ name: "probe a", parentId: runSpanId(id), error: null });
    const { startedAt, finishedAt } = await it.find(id);
    expect([run!.start, run!.end]).toEqual([Date.parse(startedAt!), Date.parse(finishedAt!)]);
    expect(step!.end - step!.start).toBe(5_000);
  });

  test("link a retried run to the one that it retries", async () => {
    const { it, spans } = await traced();
    const { id, queue } = await runToEnd(it, failing, { trace: CALLER });
    const first = await it.find(id);
    const again = await it.start(first.workflowId, { retryOf: first });
    queue.wake();
    await queue.waitUntilIdle();
    expect(spans.find((span) => span.trace.spanId === runSpanId(again))).toMatchObject({
      trace: { traceId: runTraceId(again) },
      link: { traceId: TRACE, spanId: runSpanId(id) },
      error: "assert_failed",
    });
  });

  test("put the on_failure run below the run that failed", async () => {
    const { it, spans } = await traced();
    const handler = await it.define({ steps: [{ id: "h", type: "set", values: {} }] }, "Handler");
    await runToEnd(it, { ...failing, on_failure: handler }, { trace: CALLER });
    const failed = spans.find((span) => span.name === "run test")!;
    expect(spans.find((span) => span.name === "run handler")).toMatchObject({
      parentId: failed.trace.spanId,
      trace: { traceId: TRACE },
    });
  });

  test("report the open attempts of a stopped run as cancelled, once", async () => {
    const { it, spans } = await traced();
    const id = await it.start(await it.define({ steps: [{ id: "w", type: "wait", for: "1h" }] }));
    const queue = await it.executor();
    await queue.waitUntilIdle();
    await it.stop(id);
    await queue.waitUntilIdle();
    expect(
      spans.map(({ name, attributes }) => `${name} ${attributes["millrace.status"]}`).toSorted(),
    ).toEqual(["run test cancelled", "wait w cancelled"]);
  });

  test("report a wait that fails as failed, once, even if its run ends with it", async () => {
    const { it, spans } = await traced();
    const { queue } = await runToEnd(it, {
      steps: [{ id: "q", type: "approval", message: "?", timeout: "1h" }],
    });
    it.clock.advance(3_600_001);
    queue.wake();
    await queue.waitUntilIdle();
    expect(spans.map(({ name, error }) => [name, error])).toEqual([
      ["approval q", "approval_timeout"],
      ["run test", "approval_timeout"],
    ]);
    expect(spans[0]!.end - spans[0]!.start).toBeGreaterThanOrEqual(3_600_000);
  });

  test("are reported only after the commit", async () => {
    const { it, spans } = await traced();
    const id = await it.start(await it.define({ steps: [{ id: "w", type: "wait", for: "1h" }] }));
    const rolledBack = it.transaction(async (tx) => {
      await stopRun(it.engine.context, tx, id, { status: "cancelled", by: "operator" });
      throw new Error("not to be");
    });
    await expect(rolledBack).rejects.toThrow("not to be");
    expect(spans).toEqual([]);
  });

  test("are not reported when the trace is not sampled, and the decision is propagated", async () => {
    const { it, spans } = await traced(false);
    expect(await propagated(it)).toEqual({ traceparent: expect.stringMatching(/-00$/) });
    expect(await propagated(it, CALLER.replace(/01$/, "00"))).toEqual({
      traceparent: expect.stringMatching(new RegExp(`^00-${TRACE}-.*-00$`)),
    });
    expect(spans).toEqual([]);
  });

  test("follow the sampling decision of the caller", async () => {
    const { it, spans } = await traced(false);
    await runToEnd(it, probing, { trace: CALLER });
    expect(spans.map(({ trace }) => trace.traceId)).toEqual([TRACE, TRACE]);
  });

  test("give a run that was started without a trace the same one in every process", async () => {
    const { it: without } = await traced();
    const id = await without.start(await without.define(probing));
    await without.store.transaction((trx) => trx.updateTable("runs").set({ trace: null }).execute());
    const queue = await without.executor();
    await queue.waitUntilIdle();
    expect((await without.find(id)).trace).toBeNull();
    const { spans } = without.engine.context;
    expect(spans.traceId(await without.find(id))).toBe(runTraceId(id));
  });

  test("begin a new trace for each scheduled run", async () => {
    const { it, spans } = await traced();
    const id = await it.define(probing);
    const runs = [await it.start(id, { trigger: "schedule" }), await it.start(id, { trigger: "schedule" })];
    const queue = await it.executor();
    await queue.waitUntilIdle();
    expect(new Set(spans.map(({ trace }) => trace.traceId))).toEqual(new Set(runs.map(runTraceId)));
    for (const run of runs) expect(deserializeTrace((await it.find(run)).trace!)).toMatchObject({ flags: 1 });
  });
});

describe("the trace headers of an attempt", () => {
  test("name its own span", async () => {
    const { it } = await traced();
    const ids: string[] = [];
    it.onProbe((_, ctx) => {
      ids.push(parseTrace(ctx.trace.traceparent)!.spanId);
      return null;
    });
    const { id } = await runToEnd(
      it,
      { steps: [{ id: "a", type: "probe", for_each: "[1, 2]", ask: "${{ item }}" }] },
      { trace: `${CALLER} vendor=1` },
    );
    const unit = { runId: id, stepId: "a" };
    expect(ids.toSorted()).toEqual([0, 1].map((item) => attemptSpanId({ ...unit, item }, 1)).toSorted());
  });

  test("are the caller's without tracing, and empty without a caller's trace", async () => {
    const it = await testEngine({ tracer: noTracer() });
    expect(await propagated(it, `${CALLER} vendor=1`)).toEqual({
      traceparent: CALLER,
      tracestate: "vendor=1",
    });
    expect(await propagated(it)).toEqual({});
  });

  test("are empty when propagation is off", async () => {
    const it = await testEngine({ tracer: noTracer(false) });
    expect(await propagated(it, CALLER)).toEqual({});
    const on = await testEngine({ tracer: { ...recordingTracer(), propagates: false } });
    expect(await propagated(on, CALLER)).toEqual({});
  });
});

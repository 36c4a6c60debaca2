import { describe, expect, it, onTestFinished, vi } from "vitest";
import { parseTrace, type TraceContext } from "../../src/core/trace-context.ts";
import type { FinishedSpan } from "../../src/core/tracer.ts";
import { otlpTracer } from "../../src/telemetry/tracing.ts";
import { otlpReceiver } from "../support/otlp-receiver.ts";

const PARENT = parseTrace("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "vendor=1")!;
const RUN: TraceContext = { ...PARENT, spanId: "b7ad6b7169203331" };
const finished: FinishedSpan = {
  name: "run test",
  kind: "internal",
  trace: RUN,
  parentId: PARENT.spanId,
  start: Date.parse("2020-01-01T00:00:00.123Z"),
  end: Date.parse("2020-01-03T00:00:00.456Z"),
  attributes: { "millrace.run_id": "run_1", "millrace.attempt": 2 },
  error: null,
};

/** A tracer that sends to a collector of its own. */
async function open(env: Record<string, string> = {}) {
  const collector = await otlpReceiver();
  for (const [name, value] of Object.entries({ ...collector.env, ...env })) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const warnings: string[] = [];
  const log = { warn: (_: object, message: string) => void warnings.push(message) } as never;
  const tracer = otlpTracer({ enabled: true, propagates: true }, { version: "1.2.3", process: "test", log });
  return { tracer, warnings, spans: async () => ((await tracer.close()) ? collector.spans : []) };
}

describe("traces over OTLP", () => {
  it("export a span as it is, even when it began long before this process", async () => {
    const { tracer, spans } = await open();
    tracer.recordSpan(finished);
    tracer.recordSpan({
      ...finished,
      trace: { ...RUN, spanId: "b7ad6b7169203332" },
      parentId: null,
      error: "timeout",
    });
    const [run, failed] = await spans();
    expect(run).toMatchObject({
      traceId: RUN.traceId,
      spanId: RUN.spanId,
      parentId: PARENT.spanId,
      state: "vendor=1",
      start: finished.start,
      end: finished.end,
      attributes: finished.attributes,
      status: 0,
      resource: { "service.name": "millrace", "service.version": "1.2.3", "millrace.process": "test" },
    });
    expect(failed).toMatchObject({ parentId: null, status: 2, attributes: { "error.type": "timeout" } });
  });

  it("never end a span before its start, and export its link", async () => {
    const { tracer, spans, warnings } = await open();
    tracer.recordSpan({ ...finished, end: finished.start - 5_000, link: PARENT });
    expect(warnings).toEqual([]);
    expect(await spans()).toEqual([
      expect.objectContaining({
        start: finished.start,
        end: finished.start,
        links: [{ traceId: PARENT.traceId, spanId: PARENT.spanId }],
      }),
    ]);
  });

  it("continue with a caller's decision, flags and state", async () => {
    const { tracer, spans } = await open();
    const sampled = tracer.startSpan("a", "server", { ...PARENT, flags: 3 }, {})!;
    const unsampled = tracer.startSpan("b", "server", { ...PARENT, flags: 2 }, {})!;
    expect([sampled.trace, unsampled.trace]).toEqual([
      { ...PARENT, flags: 3, spanId: expect.stringMatching(/^[0-9a-f]{16}$/) },
      { ...PARENT, flags: 2, spanId: expect.stringMatching(/^[0-9a-f]{16}$/) },
    ]);
    sampled.end({ x: 1 }, { code: "not_found", ours: false });
    unsampled.end({});
    expect(await spans()).toEqual([
      expect.objectContaining({
        name: "a",
        kind: 2,
        status: 0,
        attributes: { x: 1, "error.type": "not_found" },
      }),
    ]);
  });

  it("ask the sampler only at the root of a trace", async () => {
    const { tracer, spans } = await open({ OTEL_TRACES_SAMPLER: "always_off" });
    expect(tracer.shouldSample(RUN.traceId, "run test")).toBe(false);
    const begun = tracer.startSpan("a", "server", undefined, {})!;
    expect(begun.trace.flags).toBe(0);
    begun.end({});
    tracer.recordSpan({ ...finished, trace: { ...RUN, flags: 0 } });
    // Somebody else has begun this one and wants it.
    tracer.recordSpan(finished);
    expect((await spans()).map(({ name, spanId }) => [name, spanId])).toEqual([["run test", RUN.spanId]]);
  });

  it("sample a share of the traces, the same in every process", async () => {
    const { tracer } = await open({
      OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0.5",
    });
    const ids = Array.from({ length: 200 }, (_, i) => (i * 0x9e3779b1 + 1).toString(16).padStart(32, "7"));
    const decisions = ids.map((id) => tracer.shouldSample(id, "run test"));
    expect(new Set(decisions)).toEqual(new Set([true, false]));
    expect(ids.map((id) => tracer.shouldSample(id, "another"))).toEqual(decisions);
    await tracer.close();
  });

  it("log invalid variables", async () => {
    const { tracer, warnings } = await open({ OTEL_TRACES_SAMPLER: "sometimes" });
    expect(warnings).toEqual([expect.stringContaining("OTEL_TRACES_SAMPLER")]);
    await tracer.close();
  });
});

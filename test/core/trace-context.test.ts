import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  attemptSpanId,
  parseTrace,
  deserializeTrace,
  runSpanId,
  runTraceId,
  serializeTrace,
  type TraceContext,
  traceHeaders,
} from "../../src/core/trace-context.ts";

const PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const CONTEXT: TraceContext = {
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: "b7ad6b7169203331",
  flags: 1,
  state: "",
};

const hexOf = (length: number) =>
  fc
    .string({ unit: fc.constantFrom(..."0123456789abcdef".split("")), minLength: length, maxLength: length })
    .filter((one) => /[^0]/.test(one));
const key = fc.stringMatching(/^[a-z0-9][a-z0-9_*/@-]{0,30}$/);
const value = fc.stringMatching(/^[!-+\--<>-~]{1,80}$/);
const state = fc
  .uniqueArray(fc.tuple(key, value), { maxLength: 5, selector: ([name]) => name })
  .map((members) => members.map((one) => one.join("=")).join(","));
const context: fc.Arbitrary<TraceContext> = fc.record({
  traceId: hexOf(32),
  spanId: hexOf(16),
  flags: fc.constantFrom(0, 1, 2, 3),
  state,
});

describe("trace contexts", () => {
  it("survive being sent and being stored", () => {
    fc.assert(
      fc.property(context, (sent) => {
        const { traceparent, tracestate } = traceHeaders(sent);
        expect(parseTrace(traceparent, tracestate)).toEqual(sent);
        expect(deserializeTrace(serializeTrace(sent))).toEqual(sent);
      }),
    );
  });

  it("are parsed from any value without an error, and can be sent on", () => {
    const near = fc.stringMatching(/^[0-9a-f]{1,3}-[0-9a-f]{31,33}-[0-9a-f]{15,17}-[0-9a-f]{1,3}.?$/);
    const anything = fc.oneof(fc.string(), near, fc.constant(PARENT), fc.anything());
    fc.assert(
      fc.property(anything, fc.oneof(fc.string({ maxLength: 600 }), state, fc.anything()), (parent, more) => {
        const read = parseTrace(parent, more);
        if (read === undefined) return;
        const { traceparent, tracestate = "" } = traceHeaders(read);
        expect(traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-3]$/);
        expect(tracestate).toMatch(/^[\x20-\x7e]{0,512}$/);
        expect(parseTrace(traceparent, tracestate)).toEqual(read);
      }),
    );
  });

  it.each([
    ["upper case", PARENT.toUpperCase()],
    ["a trace id of zeros", `00-${"0".repeat(32)}-b7ad6b7169203331-01`],
    ["a span id of zeros", `00-0af7651916cd43dd8448eb211c80319c-${"0".repeat(16)}-01`],
    ["the forbidden version", PARENT.replace(/^00/, "ff")],
    ["more than version 00 has", `${PARENT}-more`],
    ["two of them", `${PARENT}, ${PARENT}`],
    ["a space before it", ` ${PARENT}`],
    ["a line break behind it", `${PARENT}\n`],
    ["something too long", `01${PARENT.slice(2)}-${"a".repeat(300)}`],
    ["a list", [PARENT]],
    ["nothing", undefined],
  ])("ignore %s", (_, parent) => {
    expect(parseTrace(parent)).toBeUndefined();
  });

  it("accept later versions, and drop unknown flags", () => {
    const later = `cc${PARENT.slice(2, -2)}ff-what-else`;
    expect(parseTrace(later)).toEqual({ ...CONTEXT, flags: 3 });
    expect(parseTrace(`cc${PARENT.slice(2)}x`)).toBeUndefined();
  });

  it.each([
    ["a key twice", "a=1,a=2"],
    ["a key in upper case", "A=1"],
    ["a member without a value", "a"],
    ["a value with a character that none can have", "a=\u{e9}"],
    ["33 members", Array.from({ length: 33 }, (_, i) => `k${i}=1`).join(",")],
    ["something too long", `a=${"1".repeat(5_000)}`],
  ])("drop a tracestate that has %s, and keep the trace", (_, malformed) => {
    expect(parseTrace(PARENT, malformed)).toEqual(CONTEXT);
  });

  it("remove white space and empty members of a tracestate", () => {
    expect(parseTrace(PARENT, " a=1 ,, b=2\t,")?.state).toBe("a=1,b=2");
  });

  it("shorten a long tracestate: large members first, then the oldest", () => {
    const large = `large=${"x".repeat(200)}`;
    const small = Array.from({ length: 30 }, (_, i) => `key${i}=${"y".repeat(12)}`);
    const kept = parseTrace(PARENT, [small[0], large, ...small.slice(1)].join(","))!.state;
    expect(kept).not.toContain("large");
    expect(kept.length).toBeLessThanOrEqual(512);
    expect(small.join(",").startsWith(kept)).toBe(true);
    expect(kept.split(",").length).toBeGreaterThan(20);
  });

  it("derive distinct span ids from run and step ids", () => {
    const ref = { runId: "run_1", stepId: "a", item: null };
    const ids = [
      runSpanId("run_1"),
      runSpanId("run_2"),
      attemptSpanId(ref, 1),
      attemptSpanId(ref, 2),
      attemptSpanId({ ...ref, item: 0 }, 1),
    ];
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => /^[0-9a-f]{16}$/.test(id))).toBe(true);
    expect(runTraceId("run_1")).toMatch(/^[0-9a-f]{32}$/);
    expect(runSpanId("run_1")).toBe(runSpanId("run_1"));
  });
});

import { Writable } from "node:stream";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { apiClient } from "../support/http.ts";
import { testInstance } from "../support/instance.ts";
import {
  ACCEPT_HEADERS,
  modernRequest,
  openSession,
  openSse,
  postMessage,
  toolCall,
} from "../support/raw-mcp.ts";
import { recordingTracer } from "../support/recording-tracer.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";
const OTHER = "b7ad6b7169203331";
const traceparent = `00-${TRACE}-${SPAN}-01`;
const inner = { traceparent: `00-${TRACE}-${OTHER}-01` };

async function openTraced() {
  const lines: string[] = [];
  const log = pino(new Writable({ write: (chunk, _, done) => (lines.push(String(chunk)), done()) }));
  const instance = await testInstance({ log });
  const tracer = recordingTracer();
  const { value } = await instance.key();
  const logged = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  return { instance, tracer, logged, key: value, headers: { "X-API-Key": value, ...ACCEPT_HEADERS } };
}

describe("a request over REST", () => {
  it("continues the caller's trace, and logs its id", async () => {
    const { instance, tracer, logged, key } = await openTraced();
    const { url } = await instance.rest({ tracer });
    await apiClient(url, key)("GET", "/workflows", undefined, { traceparent });
    expect(tracer.requests).toEqual([
      expect.objectContaining({
        name: "list_workflows",
        kind: "server",
        traceId: TRACE,
        parentId: SPAN,
        error: undefined,
        attributes: expect.objectContaining({
          "http.request.method": "GET",
          "http.route": "/workflows",
          "http.response.status_code": 200,
        }),
      }),
    ]);
    expect(logged().find(({ msg }) => msg === "list_workflows")).toMatchObject({ trace_id: TRACE });
  });

  it.each([["malformed"], [`${traceparent}-00`], [traceparent.toUpperCase()], ["x".repeat(10_000)]])(
    "starts a new trace if the header is %.60s",
    async (malformed) => {
      const { instance, tracer, key } = await openTraced();
      const { url } = await instance.rest({ tracer });
      const { status } = await apiClient(url, key)("GET", "/workflows", undefined, {
        traceparent: malformed,
      });
      expect(status).toBe(200);
      expect(tracer.requests).toEqual([expect.objectContaining({ parentId: undefined })]);
    },
  );

  it("records the code of an error, and whether the client or the server caused it", async () => {
    const { instance, tracer, key } = await openTraced();
    const { url } = await instance.rest({ tracer });
    await apiClient(url, key)("GET", "/workflows/none");
    expect(tracer.requests).toEqual([
      expect.objectContaining({
        error: { code: "workflow_not_found", ours: false },
        attributes: expect.objectContaining({ "http.response.status_code": 404 }),
      }),
    ]);
  });

  it("creates no span for a refused caller", async () => {
    const { instance, tracer } = await openTraced();
    const { url } = await instance.rest({ tracer });
    await apiClient(url, "wrong")("GET", "/workflows", undefined, { traceparent });
    expect(tracer.requests).toEqual([]);
  });

  it("stores the trace of a run's start, and passes the caller's on if tracing is off", async () => {
    const { instance, tracer, key } = await openTraced();
    const on = await instance.rest({ tracer });
    const off = await instance.rest();
    const silent = await instance.rest({ env: { OTEL_PROPAGATORS: "none" } });
    const definition = { steps: [{ id: "a", type: "set", values: {} }] };
    await apiClient(on.url, key)("POST", "/workflows", { name: "One", description: "", definition });
    const trace = async (url: string, sent: Record<string, string>) => {
      const { body } = await apiClient(url, key)("POST", "/workflows/one/runs", { wait: 0 }, sent);
      return (await instance.read.runs.find(body.id as string))!.trace;
    };
    const sent = { traceparent, tracestate: "vendor=1" };
    const through = await trace(on.url, sent);
    const { spanId } = tracer.requests.at(-1)!;
    expect(through).toBe(`00-${TRACE}-${spanId}-01 vendor=1`);
    expect(await trace(off.url, sent)).toBe(`${traceparent} vendor=1`);
    expect(await trace(off.url, {})).toBeNull();
    expect(await trace(silent.url, sent)).toBeNull();
  });
});

describe("a call over MCP", () => {
  const withMeta = { ...toolCall("list_workflows"), params: { name: "list_workflows", _meta: inner } };

  it("continues the trace of the call, in preference to that of its HTTP request", async () => {
    const { instance, tracer, headers } = await openTraced();
    const { url } = await instance.mcp({ tracer });
    const sent = { ...headers, traceparent };
    const session = { ...(await openSession(url, headers)), traceparent };
    const { stream, messages } = await openSse(url, headers);
    const { headers: modernHeaders, body } = modernRequest(sent, "tools/call", { name: "list_workflows" });
    await postMessage(`${url}/mcp`, sent, toolCall("list_workflows"));
    await postMessage(`${url}/mcp`, sent, withMeta);
    await postMessage(`${url}/mcp`, session, toolCall("list_workflows"));
    await postMessage(`${url}/mcp`, modernHeaders, body);
    const both = { ...body, params: { ...body.params, _meta: { ...body.params._meta, ...inner } } };
    await postMessage(`${url}/mcp`, modernHeaders, both);
    await postMessage(messages, sent, withMeta);
    await stream.waitFor(/"id":2/);
    await postMessage(messages, sent, toolCall("list_workflows", {}, 3));
    await stream.waitFor(/"id":3/);
    expect(tracer.requests.map(({ traceId, parentId }) => [traceId, parentId])).toEqual([
      [TRACE, SPAN],
      [TRACE, OTHER],
      [TRACE, SPAN],
      [TRACE, SPAN],
      [TRACE, OTHER],
      [TRACE, OTHER],
      [TRACE, SPAN],
    ]);
    expect(tracer.requests[0]!.attributes).toMatchObject({
      "rpc.system": "jsonrpc",
      "rpc.method": "tools/call",
      "gen_ai.tool.name": "list_workflows",
    });
  });

  it("ignores an invalid trace context", async () => {
    const { instance, tracer, headers } = await openTraced();
    const { url } = await instance.mcp({ tracer });
    for (const _meta of [{ traceparent: 7 }, { traceparent: "no" }, { traceparent: [traceparent] }]) {
      const { status } = await postMessage(`${url}/mcp`, headers, {
        ...withMeta,
        params: { ...withMeta.params, _meta },
      });
      expect(status).toBe(200);
    }
    expect(tracer.requests.map(({ parentId }) => parentId)).toEqual([undefined, undefined, undefined]);
  });
});

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { mockHttpServer, sendJson } from "../../support/mock-http-server.ts";
import { otlpReceiver } from "../../support/otlp-receiver.ts";
import {
  expectCompleteTrace,
  isRunSpan,
  startTracedServer,
  formatSpanTree,
} from "../../support/traced-server.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER = "00f067aa0ba902b7";
const traceparent = `00-${TRACE}-${CALLER}-01`;
const tracestate = "vendor=abc,other=1";

describe("traces of real processes", () => {
  it("contain a run with everything that it starts and calls, in the caller's trace", async () => {
    let calls = 0;
    const peer = await mockHttpServer((request, response) => {
      if (request.path === "/flaky" && (calls += 1) === 1) sendJson(response, {}, 503);
      else sendJson(response, { said: "a secret answer" });
    });
    const collector = await otlpReceiver();
    const env = { ...collector.env, OTEL_SERVICE_NAME: "shop-flows", OTEL_RESOURCE_ATTRIBUTES: "team=blue" };
    const { call, createWorkflow, waitForRunEnd, program } = await startTracedServer(
      "serve",
      { ...env, OTEL_EXPORTER_OTLP_HEADERS: "x-tenant=a", OTEL_EXPORTER_OTLP_COMPRESSION: "gzip" },
      { http: { allowed_hosts: [peer.host] }, approvals: { by_starter: true } },
    );
    const inner = await createWorkflow("Inner", {
      steps: [{ id: "deep", type: "http", url: `${peer.url}/deep` }],
    });
    const outer = await createWorkflow("Outer", {
      inputs: { type: "object", properties: { name: { type: "string" } } },
      steps: [
        { id: "flaky", type: "http", url: `${peer.url}/flaky`, retry: { attempts: 2, initial: "10ms" } },
        {
          id: "many",
          type: "http",
          for_each: "['one-item', 'two-item']",
          url: `${peer.url}/many`,
          query: { q: "${{ item }}" },
        },
        { id: "child", type: "workflow", workflow: inner },
        { id: "ask", type: "approval", message: "A secret question" },
        { id: "last", type: "set", values: { x: "${{ steps.ask.approved ? inputs.name : '' }}" } },
      ],
    });
    const started = await call(
      "POST",
      `/workflows/${outer}/runs`,
      { inputs: { name: "a secret input" }, wait: 0 },
      { traceparent, tracestate },
    );
    expect(started.status).toBe(202);
    const runId = started.body.id as string;
    const approval = await eventually(
      async () => (await call("GET", `/approvals?run_id=${runId}`)).body[0] as { id: string } | undefined,
      "an approval",
      20_000,
    );
    expect((await call("POST", `/approvals/${approval.id}`, { decision: "approve" })).status).toBe(200);
    expect(await waitForRunEnd(runId)).toMatchObject({ status: "succeeded" });
    await collector.waitForSpan(isRunSpan(runId));
    const { code } = await program.stop();
    expect(code).toBe(0);

    const own = { spans: collector.spans.filter((span) => span.traceId === TRACE) };
    expect(formatSpanTree(own, CALLER)).toEqual([
      "run_workflow: 202",
      "  run outer: succeeded",
      "    approval ask: succeeded",
      "    http flaky: failed",
      "    http flaky: succeeded",
      "    http many [0]: succeeded",
      "    http many [1]: succeeded",
      "    set last: succeeded",
      "    workflow child: succeeded",
      "      run inner: succeeded",
      "        http deep: succeeded",
    ]);
    expectCompleteTrace(collector.spans, TRACE, CALLER);
    // Each call of the peer has the span of its own attempt.
    const sent = peer.received.map(({ path, headers }) => [path.split("?")[0], headers] as const);
    const spanIds = own.spans.filter((span) => span.name.startsWith("http ")).map((span) => span.spanId);
    expect(sent.map(([, headers]) => String(headers["traceparent"])).toSorted()).toEqual(
      spanIds.map((id) => `00-${TRACE}-${id}-01`).toSorted(),
    );
    expect(new Set(sent.map(([, headers]) => headers["tracestate"]))).toEqual(new Set([tracestate]));

    const request = own.spans.find((span) => span.name === "run_workflow");
    expect(request).toMatchObject({
      kind: 2,
      state: tracestate,
      attributes: {
        "http.request.method": "POST",
        "http.route": "/workflows/:workflow_id/runs",
        "http.response.status_code": 202,
        "millrace.request_id": started.headers.get("x-request-id"),
      },
      resource: { "service.name": "shop-flows", team: "blue", "millrace.process": "serve" },
    });
    const failed = own.spans.find((span) => span.attributes["millrace.status"] === "failed");
    expect(failed).toMatchObject({
      kind: 3,
      status: 2,
      attributes: { "error.type": "http_status", "millrace.attempt": 1, "millrace.step_type": "http" },
      resource: { "millrace.process": "worker" },
    });
    // Only ids, states and times: no data of the workflow.
    expect(JSON.stringify(collector.spans)).not.toMatch(/secret|-item|many\?/);
    expect(collector.headers[0]).toMatchObject({ "x-tenant": "a", "content-encoding": "gzip" });
    // The log lines of the request and of the run contain the trace id.
    const lines = program
      .log()
      .split("\n")
      .filter((line) => line.includes(TRACE));
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(
      expect.arrayContaining(["run accepted", "run_workflow", "run succeeded"]),
    );
  }, 60_000);

  it("stay complete when an executor is killed during a step", async () => {
    let calls = 0;
    const peer = await mockHttpServer((_, response) => {
      // The first call is never answered, because its caller is killed.
      if ((calls += 1) > 1) sendJson(response, {});
    });
    const collector = await otlpReceiver();
    const { call, createWorkflow, waitForRunEnd, program } = await startTracedServer("serve", collector.env, {
      http: { allowed_hosts: [peer.host] },
    });
    const id = await createWorkflow("Killed", {
      steps: [
        { id: "slow", type: "http", url: `${peer.url}/slow` },
        { id: "next", type: "http", url: `${peer.url}/next`, query: { a: "${{ steps.slow.status_code }}" } },
      ],
    });
    const { body } = await call("POST", `/workflows/${id}/runs`, { wait: 0 });
    await peer.requestReceived;
    process.kill(executorOf(program.child.pid!), "SIGKILL");
    expect(await waitForRunEnd(body.id)).toMatchObject({ status: "succeeded" });
    const { traceId, parentId } = await collector.waitForSpan(isRunSpan(body.id));
    await program.stop();

    const request = collector.spans.find((span) => span.spanId === parentId)!;
    expect(request).toMatchObject({ name: "run_workflow", parentId: null });
    expectCompleteTrace(collector.spans, traceId, null);
    expect(formatSpanTree(collector, request.spanId)).toEqual([
      "run killed: succeeded",
      "  http next: succeeded",
      "  http slow: interrupted",
      "  http slow: succeeded",
    ]);
    // The calls of the killed executor also have an existing parent span.
    const ids = collector.spans.map((span) => span.spanId);
    for (const { headers } of peer.received)
      expect(ids).toContain(String(headers["traceparent"]).split("-")[2]);
  }, 60_000);

  it.each([
    ["the collector is unreachable", () => Promise.resolve("http://127.0.0.1:9"), 0],
    ["the collector refuses them", async () => (await otlpReceiver(400)).url, 1],
    ["the collector never answers", async () => (await otlpReceiver(null)).url, 0],
  ])(
    "harm no run and keep no process when %s",
    async (_, where, least) => {
      const endpoint = await where();
      const { call, createWorkflow, program } = await startTracedServer("serve", {
        OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
        // A process that waited for this timeout would wait for an hour.
        OTEL_EXPORTER_OTLP_TIMEOUT: "3600000",
        OTEL_BSP_EXPORT_TIMEOUT: "3600000",
        OTEL_BSP_SCHEDULE_DELAY: "10",
        OTEL_BSP_MAX_QUEUE_SIZE: "5",
        OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "5",
      });
      const id = await createWorkflow("Plain", { steps: [{ id: "a", type: "set", values: { x: 1 } }] });
      for (let n = 0; n < 5; n += 1) {
        const { status, body } = await call("POST", `/workflows/${id}/runs`, { wait: 20 });
        expect({ status, run: body.status }).toEqual({ status: 200, run: "succeeded" });
      }
      const { code } = await program.stop();
      expect(code).toBe(0);
      const warned = program
        .log()
        .split("\n")
        .filter((line) => line.includes("traces: "));
      // At most one short line per kind and process, not one per batch.
      expect(warned.length).toBeGreaterThanOrEqual(least);
      expect(warned.length).toBeLessThanOrEqual(4);
      expect(warned.join()).not.toContain("stack");
    },
    60_000,
  );
});

/** The child process of a listener. */
function executorOf(parent: number): number {
  return Number(readFileSync(`/proc/${parent}/task/${parent}/children`, "utf8").trim().split(" ")[0]);
}

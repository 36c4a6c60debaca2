import { describe, expect, it, onTestFinished } from "vitest";
import { createHttpClient } from "../../src/connections/http/index.ts";
import { createMcpServers } from "../../src/connections/mcp-servers/index.ts";
import { createModels } from "../../src/connections/models/index.ts";
import { fixedSecrets } from "../../src/core/secret-source.ts";
import { parseConfig, mockHttpServer, sendJson } from "../support/mock-http-server.ts";
import { mcpHttpServer as mcpPeer } from "../support/mcp-server-http.ts";
import { modelConfig, mockModelServer, VENDORS } from "../support/mock-model-server.ts";
import { callOf } from "../support/call-context.ts";

const trace = {
  traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
  tracestate: "vendor=1",
};
const OWN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
const never = new AbortController().signal;
const STDIO = new URL("../support/mcp-server-stdio.ts", import.meta.url).pathname;

describe("the propagated trace", () => {
  it.each([
    ["goes out with an http request", {}, trace],
    ["yields to the traceparent that a workflow sets", { Traceparent: OWN }, { traceparent: OWN }],
    ["yields to its tracestate", { tracestate: "a=1" }, { tracestate: "a=1" }],
  ])("%s", async (_, headers, expected) => {
    const peer = await mockHttpServer((_request, response) => sendJson(response, {}));
    const client = createHttpClient(parseConfig({ http: { allowed_hosts: [peer.host] } }), fixedSecrets({}));
    await client.send({ method: "GET", url: peer.url, headers, maxBytes: 100, trace }, callOf(never));
    const { traceparent, tracestate } = peer.received[0]!.headers;
    expect({ traceparent, tracestate }).toEqual({
      traceparent: undefined,
      tracestate: undefined,
      ...expected,
    });
  });

  it.each(VENDORS)("is sent with a call of a model of %s", async (vendor) => {
    const peer = await mockModelServer(vendor, { text: "Hello." });
    const all = createModels(modelConfig(vendor, peer), fixedSecrets({ MODEL_KEY: "sk-test-0123456789" }), {
      now: () => 0,
    });
    await all.generate({ model: "writer", prompt: "Hello?", trace }, callOf(never));
    expect(peer.received[0]!.headers).toMatchObject(trace);
  });

  it.each(["streamable", "sse"] as const)(
    "is sent with a tool call over %s in its headers and its _meta, and with no other request",
    async (leg) => {
      const peer = await mcpPeer({ leg });
      const all = createMcpServers(
        parseConfig({ mcp_servers: [{ name: "peer", url: peer.url }] }),
        fixedSecrets({}),
        { now: Date.now },
      );
      onTestFinished(() => all.close());
      const call = (options: { trace?: typeof trace }) =>
        all.call("peer", "meta", {}, { idempotencyKey: "k", ...options }, callOf(never));
      expect(JSON.parse((await call({ trace })) as string)).toMatchObject(trace);
      const carrying = peer.headers.filter((sent) => sent["traceparent"] !== undefined);
      expect(carrying).toEqual([expect.objectContaining(trace)]);
      expect(JSON.parse((await call({})) as string)).not.toHaveProperty("traceparent");
      expect(peer.headers.filter((sent) => sent["traceparent"] !== undefined)).toHaveLength(1);
    },
  );

  it("is sent with a tool call over stdio in its _meta", async () => {
    const peer = { name: "peer", command: process.execPath, args: [STDIO] };
    const all = createMcpServers(parseConfig({ mcp_servers: [peer] }), fixedSecrets({}), { now: Date.now });
    onTestFinished(() => all.close());
    const result = await all.call("peer", "meta", {}, { idempotencyKey: "k", trace }, callOf(never));
    expect(JSON.parse(result as string)).toMatchObject(trace);
  });
});

import { describe, expect, it } from "vitest";
import { checkPublicMcp } from "../../src/commands/doctor/public-mcp.ts";
import { readEnvironment } from "../../src/config/environment.ts";
import { testInstance } from "../support/instance.ts";
import { mockHttpServer, sendJson } from "../support/mock-http-server.ts";
import { prefixProxy } from "../support/prefix-proxy.ts";

const check = (env: Record<string, string>) => checkPublicMcp(readEnvironment(env), fetch);

describe("the check of the public URL of MCP", () => {
  it("asks for every path below the URL that clients use", async () => {
    const proxy = await prefixProxy({ strips: true });
    const instance = await testInstance();
    const env = { MILLRACE_MCP_URL: `${proxy.url}/mcp` };
    const [web, mcp] = [await instance.rest({ env }), await instance.mcp({ env })];
    Object.assign(proxy.targets, { web: web.url, mcp: mcp.url });
    expect(await check({})).toEqual([]);
    expect(await check(env)).toMatchObject([
      { status: "ok", detail: expect.stringMatching(/to the MCP server$/) },
    ]);
    expect(await check({ MILLRACE_MCP_URL: new URL(proxy.url).origin })).toMatchObject([
      { status: "warning", detail: expect.stringMatching(/\/sse, \S+\/messages, \S+\/mcp do not lead/) },
    ]);
  });

  it("finds a proxy that passes on the stream and not the messages", async () => {
    const unauthorized = { type: "urn:millrace:problem:unauthorized" };
    const peer = await mockHttpServer(({ path }, response) =>
      path.endsWith("/messages") ? sendJson(response, {}, 404) : sendJson(response, unauthorized, 401),
    );
    const [result] = await check({ MILLRACE_MCP_URL: `${peer.url}/millrace` });
    expect(result).toMatchObject({ check: "MCP URL", status: "warning" });
    expect(result!.detail).toBe(`${peer.url}/millrace/messages does not lead to the MCP server`);
    expect(result!.fix).toContain(`below ${peer.url}/millrace`);
  });

  it("says that it can't see the URL of a server where OAuth is off", async () => {
    const instance = await testInstance();
    const config = { authentication: { oauth: { enabled: false } } };
    const { url } = await instance.mcp({ config, env: { MILLRACE_MCP_URL: "http://127.0.0.1:9/other/mcp" } });
    const [result] = await check({ MILLRACE_MCP_URL: url });
    expect(result).toMatchObject({ status: "ok", detail: expect.stringContaining("OAuth is off") });
  });

  it("finds a server that was started with another URL, and says what it can't reach", async () => {
    const instance = await testInstance();
    const mcp = await instance.mcp({ env: { MILLRACE_MCP_URL: "http://127.0.0.1:9/other/mcp" } });
    expect(await check({ MILLRACE_MCP_URL: mcp.url })).toMatchObject([
      { status: "warning", detail: expect.stringContaining("another MILLRACE_MCP_URL") },
    ]);
    expect(await check({ MILLRACE_MCP_URL: "http://127.0.0.1:1/millrace" })).toMatchObject([
      { status: "ok", detail: expect.stringContaining("was not checked") },
    ]);
  });
});

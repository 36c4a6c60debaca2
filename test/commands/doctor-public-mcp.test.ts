import { describe, expect, it } from "vitest";
import { checkPublicMcp } from "../../src/commands/doctor/public-mcp.ts";
import { readEnvironment } from "../../src/config/environment.ts";
import { browserApi } from "../support/browser-api.ts";
import { addUser, signIn } from "../support/users.ts";
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

  it("finds a proxy that does not pass on the metadata of OAuth", async () => {
    const peer = await mockHttpServer(({ path }, response) => {
      const metadata = new URL("/.well-known/oauth-protected-resource/millrace/mcp", peer.url).href;
      response.setHeader("WWW-Authenticate", `Bearer resource_metadata="${metadata}"`);
      if (path.startsWith("/.well-known/")) sendJson(response, {}, 404);
      else sendJson(response, { type: "urn:millrace:problem:unauthorized" }, 401);
    });
    const [result] = await check({ MILLRACE_MCP_URL: `${peer.url}/millrace` });
    expect(result).toMatchObject({
      status: "warning",
      detail: expect.stringContaining("find no metadata at"),
    });
    expect(result!.fix).toContain("/.well-known/oauth-protected-resource/millrace");
  });

  it("checks the metadata of each transport, and names those that are missing (checkMcpUrl)", async () => {
    const metadataOf = (path: string) =>
      new URL(`/.well-known/oauth-protected-resource/millrace${path}`, peer.url).href;
    const peer = await mockHttpServer(({ path }, response) => {
      const metadata = metadataOf(path.endsWith("/mcp") ? "/mcp" : "/sse");
      response.setHeader("WWW-Authenticate", `Bearer resource_metadata="${metadata}"`);
      if (path.startsWith("/.well-known/"))
        sendJson(response, { resource: "r" }, path.endsWith("/sse") ? 200 : 404);
      else sendJson(response, { type: "urn:millrace:problem:unauthorized" }, 401);
    });
    const [result] = await check({ MILLRACE_MCP_URL: `${peer.url}/millrace` });
    expect(result).toMatchObject({ status: "warning" });
    expect(result!.detail).toMatch(/find no metadata at \S+\/mcp$/);
  });

  it("warns of a base URL with a path without an MCP URL (missingMcpUrl)", async () => {
    const [result] = await check({ MILLRACE_BASE_URL: "https://example.com/millrace/ui" });
    expect(result).toMatchObject({ check: "MCP URL", status: "warning" });
    expect(result!.detail).toContain(
      "MILLRACE_BASE_URL has the path /millrace, but MILLRACE_MCP_URL is not set",
    );
    expect(result!.fix).toContain("such as https://example.com/millrace/mcp");
    expect(await check({ MILLRACE_BASE_URL: "https://example.com/" })).toEqual([]);
  });

  it("gives people who connect an agent the same result (check_mcp_url), once for all who ask at a time", async () => {
    const instance = await testInstance();
    const paths: string[] = [];
    const peer = await mockHttpServer(({ path }, response) => {
      paths.push(path);
      sendJson(response, {}, 404);
    });
    const { url } = await instance.rest({ env: { MILLRACE_MCP_URL: `${peer.url}/mcp` } });
    const user = await addUser(instance, { email: "ann@example.com", role: "viewer" });
    const browser = browserApi(url, (await signIn(instance, user)).cookie);
    const answers = await Promise.all([1, 2].map(() => browser.request("GET", "/session/mcp-check")));
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(body).toMatchObject({ status: "warning", detail: expect.stringContaining("do not lead") });
    }
    expect(paths.toSorted()).toEqual(["/mcp", "/messages", "/sse"]);
    expect((await fetch(`${url}/session/mcp-check`)).status).toBe(401);
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

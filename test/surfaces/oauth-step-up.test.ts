/** Calls that lack a scope: the client learns to ask the person again, if that can help. */
import * as next from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { userWriter } from "../../src/store/users.ts";
import { memoryProvider } from "../support/oauth-client.ts";
import { connectedClient, consent, site } from "../support/oauth.ts";

const call = (url: string, token: string, name: string, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      Authorization: `Bearer ${token}`,
      ...headers,
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name, arguments: { name: "Test", description: "Test." } },
    }),
  });

const newClient = () => new next.Client({ name: "test", version: "1" });

describe("a call that lacks a scope", () => {
  it("is refused with the scopes to ask for, those that the application has among them", async () => {
    const { mcp, browser, urls } = await site();
    const { tokens } = await connectedClient(browser, urls, {}, { allow: true, scopes: ["read", "run"] });
    const response = await call(`${mcp}/mcp`, tokens.access_token, "create_workflow");
    expect([response.status, response.headers.get("WWW-Authenticate")]).toEqual([
      403,
      `Bearer realm="millrace", error="insufficient_scope", resource_metadata="${mcp}/.well-known/oauth-protected-resource/mcp", scope="read write run"`,
    ]);
    expect(await response.json()).toMatchObject({
      code: "missing_scope",
      detail: expect.stringContaining("Connect it again, and allow this scope."),
    });
    expect((await call(`${mcp}/mcp`, tokens.access_token, "list_workflows")).status).toBe(200);
    expect((await call(`${mcp}/mcp`, tokens.access_token, "no_such_tool")).status).toBe(200);
    expect((await call(`${mcp}/mcp`, tokens.access_token, "describe_key")).status).toBe(200);
  });

  it("gets an error as its result where asking again helps nobody: for keys, and beyond the person's role", async () => {
    const { mcp, browser, urls, instance } = await site();
    const { tokens } = await connectedClient(browser, urls, {}, { allow: true, scopes: ["read"] });
    const user = (await instance.read.users.findByEmail("ann@example.com"))!;
    await instance.store.transaction((trx) => userWriter(trx).update(user.id, { role: "viewer" }));
    const { value } = await instance.key({ owner: "ann@example.com", scopes: ["read"] });
    for (const token of [tokens.access_token, value]) {
      const response = await call(`${mcp}/mcp`, token, "create_workflow");
      expect([response.status, response.headers.get("WWW-Authenticate")]).toEqual([200, null]);
      expect(await response.text()).toContain("missing_scope");
    }
  });

  it("makes the SDK's client ask the person again, and what they allow then works", async () => {
    const { mcp, browser } = await site();
    const memory = memoryProvider();
    const authProvider = memory.provider as next.OAuthClientProvider;
    const url = new URL(`${mcp}/mcp`);
    const open = () => new next.StreamableHTTPClientTransport(url, { authProvider });
    const first = open();
    await expect(newClient().connect(first)).rejects.toThrow(next.UnauthorizedError);
    const narrow = await consent(browser, memory.opened[0]!.href, { allow: true, scopes: ["read"] });
    await first.finishAuth(narrow.searchParams);

    const client = newClient();
    const transport = open();
    await client.connect(transport);
    const workflow = { name: "create_workflow", arguments: { name: "Test", description: "Test." } };
    await expect(client.callTool(workflow)).rejects.toThrow(next.UnauthorizedError);
    const asked = memory.opened[1]!;
    expect(asked.searchParams.get("scope")).toBe("read write");
    const wide = await consent(browser, asked.href);
    await transport.finishAuth(wide.searchParams);
    expect(memory.tokens().scope).toBe("read write");

    const again = newClient();
    await again.connect(open());
    expect(JSON.stringify(await again.callTool(workflow))).toContain('\\"id\\":\\"test\\"');
    await again.close();
  });
});

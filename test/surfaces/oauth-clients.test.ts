import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { UnauthorizedError, type OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as next from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { testInstance } from "../support/instance.ts";
import { memoryProvider } from "../support/oauth-client.ts";
import { browserOf, consent, oauthSite } from "../support/oauth.ts";

describe("the SDK's client with its auth provider", () => {
  it.each([
    [
      "/mcp",
      (url: URL, authProvider: OAuthClientProvider) =>
        new StreamableHTTPClientTransport(url, { authProvider }),
    ],
    ["/sse", (url: URL, authProvider: OAuthClientProvider) => new SSEClientTransport(url, { authProvider })],
  ])("connects to %s by its URL alone, and renews its token", async (path, open) => {
    const instance = await testInstance();
    const site = await oauthSite(instance);
    const browser = await browserOf(instance, site.web);
    const memory = memoryProvider();
    const url = new URL(site.mcp + path);
    const first = open(url, memory.provider);
    await expect(new Client({ name: "test", version: "1" }).connect(first)).rejects.toThrow(
      UnauthorizedError,
    );
    const callback = await consent(browser, memory.opened[0]!.href);
    expect(callback.searchParams.get("iss")).toBe(site.web);
    await first.finishAuth(callback.searchParams.get("code")!);
    const client = new Client({ name: "test", version: "1" });
    await client.connect(open(url, memory.provider));
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("list_workflows");
    await client.close();
    const before = memory.tokens();
    memory.setTokens({ ...before, access_token: "mill_expired" });
    const again = new Client({ name: "test", version: "1" });
    await again.connect(open(url, memory.provider));
    expect((await again.listTools()).tools.length).toBeGreaterThan(5);
    expect(memory.tokens().refresh_token).not.toBe(before.refresh_token);
    expect(memory.opened).toHaveLength(1);
    await again.close();
  });
});

describe("the next SDK's client", () => {
  it("connects by its URL alone", async () => {
    const instance = await testInstance();
    const site = await oauthSite(instance);
    const browser = await browserOf(instance, site.web);
    const memory = memoryProvider();
    const authProvider = memory.provider as next.OAuthClientProvider;
    const url = new URL(`${site.mcp}/mcp`);
    const first = new next.StreamableHTTPClientTransport(url, { authProvider });
    await expect(new next.Client({ name: "test", version: "1" }).connect(first)).rejects.toThrow(
      next.UnauthorizedError,
    );
    const callback = await consent(browser, memory.opened[0]!.href);
    await first.finishAuth(callback.searchParams);
    const client = new next.Client({ name: "test", version: "1" });
    await client.connect(new next.StreamableHTTPClientTransport(url, { authProvider }));
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("list_workflows");
    await client.close();
  });
});

/** Both servers below a path of a host that they share with other applications. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { request } from "node:http";
import express, { type Express, type Router } from "express";
import { describe, expect, it, vi } from "vitest";
import { parseRoute } from "../../src/core/tool.ts";
import { reservedPrefix } from "../../src/surfaces/rest/app.ts";
import { catalogue } from "../../tools/index.ts";
import { CLIENT_NAMES, connect, outputOf } from "../support/mcp.ts";
import { apiClient } from "../support/http.ts";
import { testInstance } from "../support/instance.ts";
import { memoryProvider } from "../support/oauth-client.ts";
import { browserOf, consent } from "../support/oauth.ts";
import { PREFIX, prefixProxy } from "../support/prefix-proxy.ts";
import { rawRequest } from "../support/raw-http.ts";

type Options = Parameters<Awaited<ReturnType<typeof testInstance>>["rest"]>[0];

/** Both servers behind a proxy that removes the prefix or does not. */
async function openPrefixed({ strips, ...options }: { strips: boolean } & Options) {
  const proxy = await prefixProxy({ strips });
  const instance = await testInstance();
  const env = { MILLRACE_BASE_URL: `${proxy.url}/`, MILLRACE_MCP_URL: `${proxy.url}/mcp`, ...options.env };
  const [web, mcp] = [await instance.rest({ ...options, env }), await instance.mcp({ ...options, env })];
  Object.assign(proxy.targets, { web: web.url, mcp: mcp.url });
  const { value: key } = await instance.key();
  return { proxy, instance, key, base: proxy.url, origin: new URL(proxy.url).origin, direct: mcp.url };
}

/** Sends a request with a target of any form, as clients of a forward proxy do. */
const sendTarget = (url: string, target: string) =>
  new Promise<{ status: number | undefined; location: string | undefined }>((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const headers = { Host: "millrace.example.com" };
    const sent = request({ hostname, port, path: target, headers, agent: false }, (res) => {
      res.resume();
      resolve({ status: res.statusCode, location: res.headers.location });
    });
    sent.once("error", reject).end();
  });

const PROXIES = [
  ["removes the prefix", { strips: true }],
  ["passes it on", { strips: false }],
] as const;

describe.each(PROXIES)("behind a proxy that %s", (_name, how) => {
  it.each(CLIENT_NAMES)("MCP works for the client %s", async (way) => {
    const { base, key, proxy } = await openPrefixed(how);
    const client = await connect(way, base, key);
    expect((await client.listTools()).map(({ name }) => name)).toContain("list_workflows");
    expect(outputOf(await client.call("list_workflows"))).toMatchObject({ items: [], total: 0 });
    await client.close();
    expect(proxy.paths.filter((path) => !path.includes(` ${PREFIX}/`))).toEqual([]);
  });

  it.each(["/mcp", "/sse"])("a client connects to %s by its URL alone (OAuth)", async (path) => {
    const { base, origin, instance } = await openPrefixed(how);
    const browser = await browserOf(instance, base);
    const memory = memoryProvider();
    const url = new URL(base + path);
    const options = { authProvider: memory.provider };
    const open = () =>
      path === "/mcp"
        ? new StreamableHTTPClientTransport(url, options)
        : new SSEClientTransport(url, options);
    const first = open();
    await expect(new Client({ name: "test", version: "1" }).connect(first)).rejects.toThrow(
      UnauthorizedError,
    );
    const opened = memory.opened[0]!;
    expect(opened.origin + opened.pathname).toBe(`${base}/oauth/authorize`);
    const callback = await consent(browser, opened.href);
    expect(callback.searchParams.get("iss")).toBe(base);
    await first.finishAuth(callback.searchParams.get("code")!);
    const client = new Client({ name: "test", version: "1" });
    await client.connect(open());
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("list_workflows");
    await client.close();
    expect(origin).not.toBe(base);
  });

  it("the metadata is where RFC 9728 and RFC 8414 put it, and the challenge names it", async () => {
    const { base, origin } = await openPrefixed(how);
    for (const path of ["/mcp", "/sse"]) {
      const refused = await fetch(base + path, { method: path === "/mcp" ? "POST" : "GET" });
      const metadata = `${origin}/.well-known/oauth-protected-resource${PREFIX}${path}`;
      expect(refused.status).toBe(401);
      expect(refused.headers.get("WWW-Authenticate")).toContain(`resource_metadata="${metadata}"`);
      const document: unknown = await (await fetch(metadata)).json();
      expect(document).toMatchObject({ resource: base + path, authorization_servers: [base] });
    }
    const server: unknown = await (
      await fetch(`${origin}/.well-known/oauth-authorization-server${PREFIX}`)
    ).json();
    expect(server).toMatchObject({ issuer: base, token_endpoint: `${base}/oauth/token` });
  });

  it("REST leads only to paths below the prefix", async () => {
    const { base, key } = await openPrefixed(how);
    const call = apiClient(base, key);
    const steps = [{ id: "a", type: "wait", for: "1h" }];
    const created = await call("POST", "/workflows", { name: "A", definition: { steps } });
    expect(created.headers.get("location")).toBe(`${PREFIX}/workflows/a`);
    await call("POST", "/workflows", { name: "B" });
    const page = await call("GET", "/workflows?limit=1");
    expect(page.headers.get("link")).toMatch(new RegExp(`^<${PREFIX}/workflows\\?limit=1&cursor=`));
    const started = await call("POST", "/workflows/a/runs", { wait: 0, version: 1 });
    expect([started.status, started.headers.get("location")]).toEqual([
      202,
      expect.stringMatching(new RegExp(`^${PREFIX}/runs/`)),
    ]);
    for (const [path, target] of [
      ["/", "/ui/"],
      ["/ui", "/ui/"],
      ["/apidoc", "/apidoc/"],
    ])
      expect([path, (await call("GET", path!)).headers.get("location")]).toEqual([path, PREFIX + target!]);
    const llms = (await call("GET", "/llms.txt")).body as string;
    expect([...llms.matchAll(/\]\((\/[^)]*)\)/g)].map(([, path]) => path).join("\n")).toMatch(
      new RegExp(`^(?:${PREFIX}/\\S+\n?)+$`),
    );
    const document = (await call("GET", "/apidoc/openapi.json")).body as { servers: unknown };
    expect(document.servers).toMatchObject([{ url: PREFIX }]);
  });
});

describe("the web interface below a path", () => {
  it("loads its files and signs in below it, with a cookie that other applications of the host do not get", async () => {
    const { base, proxy } = await openPrefixed({ strips: true });
    const { text } = await rawRequest("GET", `${base}/ui/workflows/a`);
    const paths = [...text.matchAll(/(?:src|href|content)="(\/[^"]*)"/g)].map(([, path]) => path!);
    expect(paths.length).toBeGreaterThan(0);
    expect(paths.filter((path) => !path.startsWith(`${PREFIX}/ui/`))).toEqual([]);
    expect(proxy.paths).toEqual([`GET ${PREFIX}/ui/workflows/a`]);
  });
});

describe("a server that is reached directly", () => {
  it("answers at its root, also where its public URL has a path", async () => {
    const { direct, key, base } = await openPrefixed({ strips: true });
    const client = await connect("v1 over SSE", direct, key);
    expect((await client.listTools()).length).toBeGreaterThan(0);
    expect((await fetch(`${direct}/health`)).status).toBe(200);
    expect((await fetch(`${base}/health`)).status).toBe(200);
  });

  it("sends messages to /messages without MILLRACE_MCP_URL", async () => {
    const instance = await testInstance();
    const { url } = await instance.mcp();
    const { value } = await instance.key();
    const stream = await fetch(`${url}/sse`, { headers: { "X-API-Key": value } });
    const { value: chunk } = await stream.body!.getReader().read();
    expect(new TextDecoder().decode(chunk)).toMatch(/^event: endpoint\ndata: \/messages\?sessionId=/);
  });

  it.each(["/mcp", "/sse", "/messages", "/health", "/mcp/sse"])(
    "MCP accepts its own paths below %s, whether a proxy removes it or not",
    async (prefix) => {
      const instance = await testInstance();
      const { url } = await instance.mcp({ env: { MILLRACE_MCP_URL: `http://127.0.0.1:9${prefix}/mcp` } });
      for (const path of ["/mcp", "/messages?sessionId=1", "/health", `${prefix}/mcp`, `${prefix}/health`]) {
        const method = path.endsWith("/health") ? "GET" : "POST";
        const { status } = await fetch(url + path, { method });
        expect([path, status]).toEqual([path, method === "GET" ? 200 : 401]);
      }
    },
  );

  it.each(["", "/millrace"])("accepts absolute request targets at the path %j of its URL", async (prefix) => {
    const instance = await testInstance();
    const at = `http://millrace.example.com${prefix}`;
    const env = { MILLRACE_BASE_URL: at, MILLRACE_MCP_URL: `${at}/mcp` };
    const [web, mcp] = [await instance.rest({ env }), await instance.mcp({ env })];
    for (const { url } of [web, mcp])
      for (const target of [`${at}/health`, `${at}/health?x=1`, "http://millrace.example.com/health"])
        expect([target, (await sendTarget(url, target)).status]).toEqual([target, 200]);
    expect(await sendTarget(web.url, `${at}/apidoc`)).toMatchObject({
      status: 301,
      location: `${prefix}/apidoc/`,
    });
    expect((await sendTarget(web.url, `${at}/apidoc/`)).status).toBe(200);
    expect((await sendTarget(web.url, at)).location).toBe(`${prefix}/ui/`);
  });

  it("refuses a path that it has itself, and one that browsers and proxies may write differently", async () => {
    const instance = await testInstance();
    const start = (url: string) => instance.rest({ env: { MILLRACE_BASE_URL: url } });
    await expect(start("https://example.com/workflows")).rejects.toThrow(/begins with the path \/workflows/);
    await expect(start("https://example.com/apidoc/x")).rejects.toThrow(/begins with the path \/apidoc/);
    for (const path of ["/a%20b", '/a"b', "/a//b", "/ä"])
      await expect((async () => start(`https://example.com${path}`))()).rejects.toThrow(
        /path of plain names/,
      );
    for (const path of ["", "/", "/ui", "/ui/"]) {
      const { url } = await start(`https://example.com${path}`);
      expect((await fetch(`${url}/`, { redirect: "manual" })).headers.get("location")).toBe("/ui/");
    }
  });
});

describe("the paths that a prefix can't have", () => {
  it("include the first name of everything that the web server mounts", async () => {
    const mounted = new Set<string>();
    const note = (path: unknown): void => {
      const [, name = ""] = typeof path === "string" ? path.split("/") : [];
      mounted.add(name);
    };
    const { use, route } = express.application;
    vi.spyOn(express.application, "use").mockImplementation(function (this: Express, ...args: unknown[]) {
      note(args[0]);
      const { stack } = (args[0] ?? {}) as Partial<Router>;
      for (const layer of stack ?? []) [layer.route?.path].flat().forEach(note);
      return Reflect.apply(use, this, args) as Express;
    });
    vi.spyOn(express.application, "route").mockImplementation(function (this: Express, path: unknown) {
      note(path);
      return Reflect.apply(route, this, [path]);
    });
    const instance = await testInstance();
    await instance.rest();
    vi.restoreAllMocks();
    mounted.delete("");
    expect([...mounted]).toEqual(expect.arrayContaining(["ui", "hooks", "oauth", "llms.txt"]));
    // The operations are in routers of their own.
    for (const tool of catalogue) note(parseRoute(tool).path);
    expect([...mounted]).toContain("workflows");
    expect([...mounted].filter((name) => reservedPrefix(`/${name}/x`, catalogue) === undefined)).toEqual([]);
  });
});

describe("a path below /.well-known that a client guesses", () => {
  it("gets 404 with where the metadata is, from both servers", async () => {
    const { direct, base, origin } = await openPrefixed({ strips: true });
    const server = `${origin}/.well-known/oauth-authorization-server${PREFIX}`;
    const resource = `${origin}/.well-known/oauth-protected-resource${PREFIX}/mcp`;
    for (const url of [
      `${direct}/.well-known/oauth-authorization-server`,
      `${direct}/.well-known/oauth-authorization-server/mcp`,
      `${direct}/.well-known/openid-configuration`,
      `${direct}/.well-known/oauth-protected-resource/other`,
      `${direct}/register`,
      `${direct}/authorize?client_id=x`,
      `${base}/.well-known/openid-configuration`,
      `${base}/.well-known/oauth-protected-resource`,
    ]) {
      const response = await fetch(url);
      const { detail } = (await response.json()) as { detail: string };
      expect([url, response.status, detail]).toEqual([url, 404, expect.stringContaining(server)]);
      expect(detail).toContain(resource);
    }
  });

  it("gets 404 that advises an API key where OAuth is off", async () => {
    const instance = await testInstance();
    const config = { authentication: { oauth: { enabled: false } } };
    for (const { url } of [await instance.rest({ config }), await instance.mcp({ config })]) {
      const response = await fetch(`${url}/.well-known/oauth-authorization-server`);
      const { detail } = (await response.json()) as { detail: string };
      expect([response.status, detail]).toEqual([404, expect.stringContaining("send an API key")]);
    }
  });
});

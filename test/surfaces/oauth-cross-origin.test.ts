/** Clients that are web pages: which origins can connect, and that nothing with a cookie is open to them. */
import { describe, expect, it } from "vitest";
import {
  authorizationUrl,
  CALLBACK,
  connectedClient,
  consent,
  listTools,
  register,
  requestToken,
  site,
} from "../support/oauth.ts";

const LISTED = "https://inspector.example.com";
const OWN = "http://localhost:6274";
const FOREIGN = "https://evil.example.com";
const OPTIONS = { config: { authentication: { oauth: { origins: [LISTED] } } } };

const preflight = (url: string, origin: string, method: string) =>
  fetch(url, {
    method: "OPTIONS",
    headers: {
      Origin: origin,
      "Access-Control-Request-Method": method,
      "Access-Control-Request-Headers": "authorization,content-type,mcp-session-id",
    },
  });

const allowedOrigin = (response: Response) => response.headers.get("Access-Control-Allow-Origin");

describe("a web page", () => {
  it("of this machine or of a listed origin can use MCP and get a token, one of another site can't", async () => {
    const { web, mcp } = await site(OPTIONS);
    const endpoints: [string, string][] = [
      [`${web}/.well-known/oauth-authorization-server`, "GET"],
      [`${web}/oauth/register`, "POST"],
      [`${web}/oauth/token`, "POST"],
      [`${web}/oauth/revoke`, "POST"],
      [`${mcp}/.well-known/oauth-protected-resource/mcp`, "GET"],
      [`${mcp}/mcp`, "POST"],
      [`${mcp}/mcp`, "DELETE"],
      [`${mcp}/sse`, "GET"],
      [`${mcp}/messages`, "POST"],
    ];
    for (const [url, method] of endpoints) {
      for (const origin of [OWN, LISTED]) {
        const response = await preflight(url, origin, method);
        expect([url, response.status, allowedOrigin(response)]).toEqual([url, 204, origin]);
        expect(response.headers.get("Access-Control-Allow-Methods")!.split(", ")).toContain(method);
        expect(response.headers.get("Access-Control-Allow-Headers")).toBe("Authorization, *");
        expect(response.headers.get("Vary")).toContain("Origin");
        expect(response.headers.has("Access-Control-Allow-Credentials")).toBe(false);
      }
      expect([url, allowedOrigin(await preflight(url, FOREIGN, method))]).toEqual([url, null]);
    }
  });

  it("reads the challenge of a refusal and the id of its session", async () => {
    const { mcp, browser, urls } = await site(OPTIONS);
    const { tokens } = await connectedClient(browser, urls);
    const initialize = (headers: Record<string, string>) =>
      fetch(`${mcp}/mcp`, {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          Accept: "application/json, text/event-stream",
          Origin: LISTED,
          ...headers,
        },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "initialize",
          params: {
            protocolVersion: "2025-11-25",
            capabilities: {},
            clientInfo: { name: "page", version: "1" },
          },
        }),
      });
    for (const [headers, exposed] of [
      [{}, "WWW-Authenticate"],
      [{ Authorization: `Bearer ${tokens.access_token}` }, "Mcp-Session-Id"],
    ] as const) {
      const response = await initialize(headers);
      expect(allowedOrigin(response)).toBe(LISTED);
      expect(response.headers.get("Access-Control-Expose-Headers")).toContain(exposed);
      expect(response.headers.get(exposed)).not.toBeNull();
      await response.body?.cancel();
    }
    const foreign = await initialize({ Origin: FOREIGN, Authorization: `Bearer ${tokens.access_token}` });
    expect([foreign.status, allowedOrigin(foreign)]).toEqual([403, null]);
    expect((await listTools(`${mcp}/mcp`, tokens.access_token, { Origin: OWN })).status).toBe(200);
  });

  it("of another site reads no answer of the token endpoint, good or bad", async () => {
    const { web, mcp, browser } = await site(OPTIONS);
    const { client_id } = await register(web);
    const { url, verifier } = authorizationUrl(web, { client_id, resource: `${mcp}/mcp` });
    const code = (await consent(browser, url)).searchParams.get("code")!;
    const exchange = {
      grant_type: "authorization_code",
      client_id,
      code,
      redirect_uri: CALLBACK,
      code_verifier: verifier,
    };
    const answers: unknown[] = [];
    for (const [params, origin] of [
      [{ grant_type: "refresh_token", client_id: "unknown" }, FOREIGN],
      [{ ...exchange, code: "unknown" }, FOREIGN],
      [exchange, FOREIGN],
      [exchange, LISTED],
    ] as const) {
      const response = await fetch(`${web}/oauth/token`, {
        method: "POST",
        headers: { Origin: origin },
        body: new URLSearchParams(params),
      });
      answers.push(allowedOrigin(response));
    }
    expect(answers).toEqual([null, null, null, LISTED]);
    expect((await requestToken(web, exchange)).status).toBe(400);
  });

  it("of a listed origin reads nothing that a cookie or a key opens", async () => {
    const { web, browser } = await site(OPTIONS);
    for (const path of [
      "/session",
      "/session/authorization?request=x",
      "/workflows",
      "/api-keys",
      "/oauth/authorize",
      "/ui/",
    ])
      for (const origin of [OWN, LISTED]) {
        const response = await browser.fetch(web + path, undefined, { Origin: origin });
        expect([path, allowedOrigin(response)]).toEqual([path, null]);
        expect(allowedOrigin(await preflight(web + path, origin, "POST"))).toBeNull();
      }
  });

  it.each([
    ["https://x.example.com/path", "lower case and without the default port: https://x.example.com"],
    ["https://X.example.com", "https://x.example.com"],
    ["https://x.example.com:443", "https://x.example.com"],
    ["https://x.example.com/", "https://x.example.com"],
    ["https://münchen.example.com", "https://xn--mnchen-3ya.example.com"],
    ["Tauri://localhost", "tauri://localhost"],
    ["chrome-extension://abcdefghijklmnopabcdefghijklmnop/popup.html", "abcdefghijklmnopabcdefghijklmnop"],
    ["x.example.com", "such as"],
    ["x.example.com:3000", "such as"],
    ["chrome-extension:", "such as"],
    ["tauri://", "such as"],
    ["tauri://user@localhost", "such as"],
    ["tauri://local host", "such as"],
    ["tauri://localhost, https://x.example.com", "such as"],
    ["file://", "such as"],
    ["file:///home/page.html", "such as"],
    ["wss://x.example.com", "such as"],
    ["*", "without a wildcard"],
    ["https://*.example.com", "without a wildcard"],
    ["chrome-extension://*", "without a wildcard"],
    ["null", "every page without an origin"],
  ])("can't be listed as %s", async (origin, reason) => {
    const refused = site({ config: { authentication: { oauth: { origins: [origin] } } } });
    await expect(refused).rejects.toThrow(/must be an origin/);
    await expect(refused).rejects.toThrow(reason);
  });
});

/** As Chromium, Firefox, Safari, VS Code, Tauri, Capacitor, Ionic and Electron programs send them. */
const OF_PROGRAMS = [
  "chrome-extension://abcdefghijklmnopabcdefghijklmnop",
  "moz-extension://0e2b5a51-7b1c-4a7b-9d5c-1f2d3c4b5a69",
  "safari-web-extension://0E2B5A51-7B1C-4A7B-9D5C-1F2D3C4B5A69",
  "vscode-webview://10kbrrqvl8foiqadlf2vq1l9snpjtar16g1350ud9j16se4j4bj9",
  "tauri://localhost",
  "http://tauri.localhost",
  "capacitor://localhost",
  "ionic://localhost",
  "app://obsidian.md",
  "app://-",
  "app://.",
];

describe("a page of a browser extension or a desktop program", () => {
  it("calls MCP and registers if it is listed, and others of its kind can't", async () => {
    const { web, mcp } = await site({ config: { authentication: { oauth: { origins: OF_PROGRAMS } } } });
    const endpoints: [string, string][] = [
      [`${web}/oauth/register`, "POST"],
      [`${mcp}/mcp`, "POST"],
      [`${mcp}/sse`, "GET"],
      [`${mcp}/messages`, "POST"],
    ];
    const call = (origin: string) => fetch(`${mcp}/mcp`, { method: "POST", headers: { Origin: origin } });
    for (const origin of OF_PROGRAMS) {
      for (const [url, method] of endpoints) {
        const response = await preflight(url, origin, method);
        expect([url, response.status, allowedOrigin(response)]).toEqual([url, 204, origin]);
      }
      const unauthorized = await call(origin);
      expect([origin, unauthorized.status, allowedOrigin(unauthorized)]).toEqual([origin, 401, origin]);
      for (const other of [`${origin}x`, `x${origin}`, `${origin}:8080`, `${origin}/`]) {
        const refused = await call(other);
        expect([other, refused.status, allowedOrigin(refused)]).toEqual([other, 403, null]);
      }
    }
  });

  it("is refused with its origin, and with what to do", async () => {
    const { mcp } = await site();
    const detailFor = async (origin: string) => {
      const response = await fetch(`${mcp}/mcp`, { method: "POST", headers: { Origin: origin } });
      expect(response.status).toBe(403);
      return ((await response.json()) as { detail: string }).detail;
    };
    const detail = await detailFor("tauri://localhost");
    expect(detail).toContain("(tauri://localhost)");
    expect(detail).toContain("authentication.oauth.origins");
    for (const origin of [
      "null",
      "file://",
      "https://a.example.com, https://b.example.com",
      "https://X.example.com:443",
    ])
      expect(await detailFor(origin)).not.toContain("authentication.oauth.origins");
  });
});

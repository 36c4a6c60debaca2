/** Attacks on the authorization server: by a registered client, a web page, a stolen token, and requests without any key. */
import { type AddressInfo, createServer } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { digestOf } from "../../src/auth/key-format.ts";
import { DAY, HOUR } from "../../src/core/clock.ts";
import { oauthStateStore } from "../../src/store/oauth-states.ts";
import { oauthAdapter } from "../../src/surfaces/oauth/adapter.ts";
import { fakeClock, testInstance } from "../support/instance.ts";
import {
  authorizationUrl,
  browserOf,
  CALLBACK,
  connectedClient,
  consent,
  decide,
  location,
  openConsent,
  register,
  requestToken,
  site,
} from "../support/oauth.ts";
import { rawRequest } from "../support/raw-http.ts";
import { addMember, addProject } from "../support/projects.ts";

const EVIL = "https://evil.example.com/phish?next=<b>";

it.each([
  ["no person is asked (prompt=none)", { prompt: "none" }],
  ["there is no challenge", { code_challenge: undefined, code_challenge_method: undefined }],
  ["the flow is implicit", { response_type: "token" }],
  ["the resource is another", { resource: "https://other.example.com/mcp" }],
])("A link to Millrace leads to no other site because %s: anybody can register it", async (_, params) => {
  const { web, mcp, browser } = await site();
  for (const redirect_uri of [EVIL, "com.example.evil:/callback"]) {
    const { client_id } = await register(web, { redirect_uris: [redirect_uri] });
    const { url } = authorizationUrl(web, { client_id, redirect_uri, resource: `${mcp}/mcp`, ...params });
    const response = await browser.fetch(url);
    const page = await response.text();
    expect([response.status, location(response)]).toEqual([400, null]);
    // The person can go there, and sees where that is.
    expect(page).toContain(`href="${redirect_uri.split("?")[0]}`);
    expect(page).toMatch(/back to (?:evil\.example\.com|com\.example\.evil:)<\/a>/);
    expect(page).not.toContain("<b>");
    expect(page).toMatch(/<p>[A-Z].*\.<\/p><p>Start again in the application\.<\/p>/);
    expect(response.headers.get("Content-Security-Policy")).toContain("default-src 'none'");
  }
});

it.each(["fragment", "form_post", "web_message", "jwt"])(
  "The code is never sent in another form than the application expects (%s)",
  async (response_mode) => {
    const { web, mcp, browser } = await site();
    const { client_id } = await register(web);
    const { url } = authorizationUrl(web, { client_id, resource: `${mcp}/mcp`, response_mode });
    const response = await browser.fetch(url);
    expect([response.status, location(response)]).toEqual([400, null]);
  },
);

it("A request that is not decided stores little", async () => {
  const { web, mcp, browser, instance } = await site();
  const { client_id } = await register(web);
  const { url } = authorizationUrl(web, { client_id, resource: `${mcp}/mcp`, state: "x".repeat(20_000) });
  expect((await browser.fetch(url)).status).toBe(400);
  const states = await instance.store.read.selectFrom("oauth_states").select("model").execute();
  expect(states).toEqual([{ model: "Client" }]);
});

it("A metadata document is not fetched from a private host that workflows may call", async () => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { web, mcp, browser } = await site({ config: { http: { allowed_hosts: [host] } } });
  const { url } = authorizationUrl(web, { client_id: `https://${host}/c.json`, resource: `${mcp}/mcp` });
  expect([(await browser.fetch(url)).status, connections]).toEqual([400, 0]);
});

it.each(["AuthorizationCode", "RefreshToken"])(
  "Of two uses of a %s at the same time, the second revokes what the first got",
  async (model) => {
    const { store, keys, clock } = await testInstance();
    const revoked: string[] = [];
    const states = oauthStateStore(store, clock);
    const adapter = oauthAdapter({
      states,
      keys,
      clock,
      async revoke(id) {
        revoked.push(id);
      },
    })(model);
    await adapter.upsert("token", { grantId: "key_1", clientId: "client" }, 60);
    // Both have read it before one marks it as used.
    await adapter.consume("token");
    expect(revoked).toEqual([]);
    await expect(adapter.consume("token")).rejects.toMatchObject({ error: "invalid_grant" });
    expect(revoked).toEqual(["key_1"]);
  },
);

it("A token without a refresh token is listed as what it is: active, so that it can be revoked", async () => {
  const clock = fakeClock();
  const { web, mcp, browser } = await site({}, { clock });
  const { client_id } = await register(web, { grant_types: ["authorization_code"] });
  const { url, verifier } = authorizationUrl(web, { client_id, resource: `${mcp}/mcp` });
  const tokens = await requestToken(web, {
    grant_type: "authorization_code",
    client_id,
    code: (await consent(browser, url)).searchParams.get("code")!,
    redirect_uri: CALLBACK,
    code_verifier: verifier,
  });
  expect([tokens.status, tokens.refresh_token]).toEqual([200, undefined]);
  clock.advance(HOUR / 2);
  const [key] = (await (await browser.fetch(`${web}/api-keys`)).json()) as { state: string }[];
  expect(key).toMatchObject({ state: "expiring" });
});

it("A person grants no scope that they lack in the projects that they choose", async () => {
  const { web, mcp, instance } = await site();
  await addProject(instance, "finance");
  const browser = await browserOf(instance, web, { email: "eda@example.com", role: "editor" });
  await addMember(instance, { project: "finance", email: "eda@example.com", role: "viewer" });
  const { client_id } = await register(web);
  const { url } = authorizationUrl(web, { client_id, resource: `${mcp}/mcp` });
  const request = await openConsent(browser, url);
  const wide = { request, allow: true, projects: ["finance"], scopes: ["read", "write"] };
  expect(await decide(browser, web, wide)).toMatchObject({ status: 400, code: "invalid_input" });
  expect(await decide(browser, web, { request, allow: true, projects: ["finance"] })).toMatchObject({
    status: 200,
  });
  const [key] = (await instance.read.apiKeys.page({ filter: {}, after: null, limit: 1 })).items;
  expect(key).toMatchObject({ scopes: ["read"], projects: ["finance"] });
});

it("The name of an access shows whose host it is, however long the host and the name are", async () => {
  const { web, mcp, browser, instance } = await site();
  const redirect_uri = `https://claude.ai.${"a".repeat(40)}.${"b".repeat(40)}.evil.example.com/callback`;
  const { client_id } = await register(web, { client_name: "😀".repeat(80), redirect_uris: [redirect_uri] });
  const { url } = authorizationUrl(web, { client_id, redirect_uri, resource: `${mcp}/mcp` });
  await consent(browser, url);
  const [key] = (await instance.read.apiKeys.page({ filter: {}, after: null, limit: 1 })).items;
  expect(key!.name).toMatch(/^(?:😀)+ \(….*\.evil\.example\.com\)$/u);
  expect([Array.from(key!.name).length, key!.name.isWellFormed()]).toEqual([100, true]);
});

it("An application that renews its token stays registered until its access ends", async () => {
  const clock = fakeClock();
  const oauth = { idle: "120d", longest: "360d" };
  const { browser, urls } = await site({ config: { authentication: { oauth } } }, { clock });
  const { refresh } = await connectedClient(browser, urls);
  clock.advance(100 * DAY);
  expect(await refresh()).toMatchObject({ status: 200 });
});

it.each([
  " https://claude.ai/callback",
  "https://evil.example.com\\@claude.ai/callback",
  "https://claude.ai/call\tback",
  "https://claude.ai/c\u00e4llback",
  "intent://scan/#Intent;scheme=x;end",
  "intent://scan",
  "ws://claude.ai/callback",
  "view-source:https://claude.ai",
  "mailto:eve@example.com",
  "vbscript:x",
  // Handlers of systems, which no list of forbidden schemes has all of.
  "ms-officecmd:%7B%7D",
  "MS-OfficeCmd:x",
  "search:query=x",
  "shell:startup",
  "ms-appinstaller:?source=https://evil.example.com/x.msix",
  "ms-word:ofe|u|https://evil.example.com/x.docx",
  "x-apple.systempreferences:x",
  "zoommtg://evil.example.com",
  "java\nscript:alert(1)",
  "javascript:alert(1)//.example",
  "data:text/html,x.y",
  "unknown-program://callback",
  // Other things that programs with callbacks open.
  "vscode:mcp/install?%7B%7D",
  "vscode://file/etc/passwd",
  "vscode://vscode.git/clone?url=https://evil.example.com",
  "cursor://anysphere.cursor-deeplink/mcp/install?name=x",
  "claude://claude.ai/new?q=x",
  "claude://claude.ai/mcp-auth-callback/../new?q=x",
  "claude://claude.ai/mcp-auth-callback/%2e%2e/new",
  "claude://claude.ai/mcp-auth-callback/..%2Fnew",
  "cursor://eve@anysphere.cursor-mcp/oauth/callback",
  "cursor://anysphere.cursor-mcp:80/oauth/callback",
  "cursor://anysphere.cursor-mcp.evil/oauth/callback",
  "cursor://anysphere.cursor-mcp/oauth/callback#x",
  "warp://mcp/oauth2callback-other",
  "raycast://oauth.evil",
  "com.example.app:/callback#x",
  "com.example.app://eve@host/callback",
  "com..app:/callback",
  "com.:/callback",
])("The redirect URI %j is refused", async (uri) => {
  const { web } = await site();
  expect(await register(web, { redirect_uris: [uri] })).toMatchObject({
    status: 400,
    error: expect.stringMatching(/^invalid_(client_metadata|redirect_uri)$/),
  });
});

it.each([
  "https://claude.ai/api/mcp/auth_callback",
  "https://vscode.dev/redirect",
  "http://127.0.0.1:33418/",
  "http://localhost:8787/callback",
  "http://[::1]:8787/callback",
  "com.example.app:/callback",
  "com.raycast:/oauth?package_name=Extension",
  "claude://claude.ai/mcp-auth-callback/sdk",
  "cursor://anysphere.cursor-mcp/oauth/callback",
  "cursor://anysphere.cursor-retrieval/oauth/user-millrace/callback",
  "vscode://saoudrizwan.claude-dev/mcp-auth/callback/1f2e",
  "vscode-insiders://saoudrizwan.claude-dev/mcp-auth/callback/1f2e",
  "windsurf://saoudrizwan.claude-dev/mcp-auth/callback/1f2e",
  "raycast://oauth?package_name=mcp_server_millrace_(dev)",
  "warp://mcp/oauth2callback",
])("The redirect URI %j of a program that exists is registered", async (uri) => {
  const { web } = await site();
  expect(await register(web, { redirect_uris: [uri] })).toMatchObject({ status: 201, redirect_uris: [uri] });
});

it("A redirect URI that an earlier release registered gets no code and no link, and the others still work", async () => {
  const { web, mcp, browser, instance } = await site();
  const states = oauthStateStore(instance.store, instance.clock);
  const [mixed, only] = [await register(web), await register(web)];
  for (const [{ client_id }, redirect_uris] of [
    [mixed, ["search:x", CALLBACK]],
    [only, ["search:x"]],
  ] as const) {
    const { payload } = (await states.find("Client", digestOf(client_id)))!;
    await states.save("Client", digestOf(client_id), {
      payload: { ...payload, redirect_uris },
      grantId: null,
      expiresAt: instance.clock.now() + DAY,
    });
  }
  for (const { client_id } of [mixed, only])
    for (const params of [{ redirect_uri: "search:x" }, { redirect_uri: "search:x", prompt: "none" }]) {
      const { url } = authorizationUrl(web, { client_id, resource: `${mcp}/mcp`, ...params });
      const response = await browser.fetch(url);
      expect([response.status, location(response)]).toEqual([400, null]);
      expect(await response.text()).not.toContain('href="search:');
    }
  // Without a redirect URI, the only one of the client would be taken.
  const { url: implied } = authorizationUrl(web, { client_id: only.client_id, redirect_uri: undefined });
  const refused = await browser.fetch(implied);
  expect([refused.status, location(refused)]).toEqual([400, null]);
  expect(await refused.text()).not.toContain('href="search:');
  const { url } = authorizationUrl(web, { client_id: mixed.client_id, resource: `${mcp}/mcp` });
  expect((await consent(browser, url)).href).toContain(`${CALLBACK}?code=`);
});

it("An application whose redirect URIs are all refused now renews the access that it has", async () => {
  const { browser, urls, instance } = await site();
  const { client_id, refresh } = await connectedClient(browser, urls);
  const states = oauthStateStore(instance.store, instance.clock);
  const { payload } = (await states.find("Client", digestOf(client_id)))!;
  await states.save("Client", digestOf(client_id), {
    payload: { ...payload, redirect_uris: ["unlisted-program://callback"] },
    grantId: null,
    expiresAt: instance.clock.now() + DAY,
  });
  expect(await refresh()).toMatchObject({ status: 200 });
});

const form = (body: string, headers = {}) => ({
  method: "POST",
  body,
  headers: { "Content-Type": "application/x-www-form-urlencoded", ...headers },
});

it("No request of a stranger makes an endpoint of OAuth fail", async () => {
  const { web, browser } = await site();
  const bad = ["", "grant_type", "client_id[]=1", "client_id=%ff", "client_id=a&client_id=b", "__proto__=1"];
  const grants = ["authorization_code", "refresh_token", "client_credentials", "password", "__proto__"];
  const posts = [
    ...bad.map((body) => form(body)),
    form("client_id=x", { Authorization: "Basic !" }),
    form("client_id=x", { Authorization: "Basic eDp5" }),
    form("client_id=x", { "Content-Encoding": "gzip" }),
    form("client_id=x", { "Content-Type": "application/json" }),
    form("client_id=x", { "Content-Type": "text/plain; charset=no" }),
    form("x".repeat(70_000)),
  ];
  const requests: [string, RequestInit?][] = [
    ...posts.map((post): [string, RequestInit] => ["/oauth/token", post]),
    ...posts.map((post): [string, RequestInit] => ["/oauth/revoke", post]),
    ...grants.map((grant): [string, RequestInit] => [
      "/oauth/token",
      form(`grant_type=${grant}&client_id=x`),
    ]),
    ...["%", "%00", "x".repeat(3_000), "..%2f..", "__proto__"].map((uid): [string] => [
      `/oauth/authorize/${uid}`,
    ]),
    ...[...bad, "resource=x&client_id=https://x", "client_id=constructor", "response_mode=%00"].map(
      (query): [string] => [`/oauth/authorize?${query}`],
    ),
  ];
  const failed: unknown[] = [];
  for (const [path, init] of requests) {
    const { status } = await fetch(web + path, { redirect: "manual", ...init });
    if (status >= 500 || (status < 400 && !path.includes("revoke")))
      failed.push([path.slice(0, 80), init, status]);
  }
  expect(failed).toEqual([]);
  const { client_id } = await register(web);
  for (const state of ["\u0000", "\ud800", "a".repeat(7_000)]) {
    const { url } = authorizationUrl(web, { client_id, state });
    expect((await browser.fetch(url)).status).toBeLessThan(500);
  }
});

it("A code or token is nowhere in the state as it was sent", async () => {
  const { browser, urls, instance } = await site();
  const { tokens, exchange } = await connectedClient(browser, urls);
  const dump = JSON.stringify([
    await instance.store.read.selectFrom("oauth_states").selectAll().execute(),
    await instance.store.read.selectFrom("api_keys").selectAll().execute(),
    await instance.store.read.selectFrom("audit_log").selectAll().execute(),
  ]);
  for (const secret of [tokens.access_token, tokens.refresh_token!, exchange.code, exchange.code_verifier])
    expect(dump.includes(secret)).toBe(false);
  expect(dump).toContain(JSON.stringify(digestOf(tokens.access_token)));
});

it("No header of a request changes where clients and browsers are sent, and cookies need https", async () => {
  const env = {
    MILLRACE_BASE_URL: "https://mill.example.com",
    MILLRACE_MCP_URL: "https://mcp.example.com/mcp",
  };
  const { web, mcp } = await site({ env });
  const spoofed = {
    "X-Forwarded-Host": "evil.example.com",
    "X-Forwarded-Proto": "http",
    Forwarded: "host=evil.example.com;proto=http",
  };
  const evil = { ...spoofed, Host: "evil.example.com" };
  const { client_id } = await register(web);
  const { url } = authorizationUrl(web, { client_id, resource: "https://mcp.example.com/mcp" });
  const answers = [
    await rawRequest("GET", `${web}/.well-known/oauth-authorization-server`, { headers: evil }),
    await rawRequest("GET", `${mcp}/.well-known/oauth-protected-resource/mcp`, {
      headers: { ...spoofed, Host: "mcp.example.com" },
    }),
    await rawRequest("GET", url, { headers: evil }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 303]);
  expect(JSON.stringify(answers.map(({ headers, text }) => [headers, text]))).not.toContain("evil");
  const cookies = answers[2]!.headers["set-cookie"]!;
  expect(cookies.length).toBeGreaterThan(0);
  expect(cookies.filter((cookie) => !cookie.endsWith("; secure; httponly"))).toEqual([]);
  const foreign = await rawRequest("GET", `${mcp}/.well-known/oauth-protected-resource/mcp`, {
    headers: evil,
  });
  expect(foreign.status).toBe(403);
});

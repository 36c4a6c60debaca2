import { type AddressInfo, createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { DAY, HOUR, MINUTE } from "../../src/core/clock.ts";
import { fakeClock } from "../support/instance.ts";
import {
  authorizationUrl,
  browserOf,
  CALLBACK,
  connectedClient,
  consent,
  decide,
  listTools,
  location,
  openConsent,
  readConsent,
  register,
  requestToken,
  site,
} from "../support/oauth.ts";
import { rawRequest } from "../support/raw-http.ts";
import { signedInUser } from "../support/users.ts";

describe("discovery", () => {
  it("leads a client from the address of the MCP server to the authorization server", async () => {
    const { web, mcp } = await site();
    const refused = await listTools(`${mcp}/mcp`, undefined);
    expect([refused.status, refused.challenge]).toEqual([
      401,
      `Bearer realm="millrace", resource_metadata="${mcp}/.well-known/oauth-protected-resource/mcp", scope="read write publish run"`,
    ]);
    const metadata = `${mcp}/.well-known/oauth-protected-resource`;
    for (const path of ["", "/mcp", "/sse"])
      expect(await (await fetch(metadata + path)).json()).toMatchObject({
        resource: mcp + path,
        authorization_servers: [web],
      });
    const server = await (await fetch(`${web}/.well-known/oauth-authorization-server`)).json();
    expect(server).toMatchObject({
      issuer: web,
      code_challenge_methods_supported: ["S256"],
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: true,
    });
  });

  it("offers nothing to a client that sends an API key", async () => {
    const { mcp } = await site();
    const headers = { "X-API-Key": "mill_wrong" };
    expect((await listTools(`${mcp}/mcp`, undefined, headers)).challenge).toBe('ApiKey realm="millrace"');
    const response = await fetch(`${mcp}/.well-known/oauth-protected-resource/mcp`, { headers });
    expect(response.status).toBe(404);
  });

  it.each([
    ["when it is off", { config: { authentication: { oauth: { enabled: false } } } }],
    ["over plain http to another machine", { env: { MILLRACE_BASE_URL: "http://mill.example.com" } }],
    [
      "if tokens would go over plain http to another machine",
      {
        env: {
          MILLRACE_BASE_URL: "https://mill.example.com",
          MILLRACE_MCP_URL: "http://mill.example.com:8000/mcp",
        },
      },
    ],
  ])("does not exist %s", async (_, options) => {
    const { web, mcp } = await site(options);
    expect((await listTools(`${mcp}/mcp`, undefined)).challenge).toBe('ApiKey realm="millrace"');
    const paths = [
      "/.well-known/oauth-authorization-server",
      "/oauth/authorize",
      "/oauth/token",
      "/oauth/register",
    ];
    const statuses = await Promise.all(paths.map(async (path) => (await fetch(web + path)).status));
    expect(statuses).toEqual([404, 404, 404, 404]);
    expect((await fetch(`${mcp}/.well-known/oauth-protected-resource/mcp`)).status).toBe(404);
  });

  it("names no resource for a host with another port than that of the listener", async () => {
    const { mcp } = await site();
    const answer = await rawRequest("GET", `${mcp}/.well-known/oauth-protected-resource/mcp`, {
      headers: { Host: "127.0.0.1:9" },
    });
    expect(answer.status).toBe(404);
  });
});

describe("registration", () => {
  it("registers public clients only, whatever they ask for", async () => {
    const { web } = await site();
    const client = await register(web, {
      token_endpoint_auth_method: "client_secret_post",
      jwks_uri: "https://evil.example.com/jwks",
      sector_identifier_uri: "https://evil.example.com/sector",
      logo_uri: "https://evil.example.com/logo.png",
    });
    expect(client).toMatchObject({
      status: 201,
      token_endpoint_auth_method: "none",
      redirect_uris: [CALLBACK],
    });
    expect(Object.keys(client).filter((name) => /uri$|secret|jwks|logo/.test(name))).toEqual([]);
  });

  it.each([
    [["http://evil.example.com/callback"]],
    [["https://claude.ai@evil.example.com/callback"]],
    [["https://claude.ai/callback#x"]],
    [["javascript:alert(1)"]],
    [["data:text/html,x"]],
    [["/callback"]],
    [[]],
    ["https://claude.ai/callback"],
    [Array.from({ length: 11 }, (_, at) => `https://claude.ai/${at}`)],
    [[`https://claude.ai/${"x".repeat(2_000)}`]],
  ])("refuses the redirect URIs %j", async (redirect_uris) => {
    const { web } = await site();
    const { status, error } = await register(web, { redirect_uris });
    expect([status, error]).toEqual([400, expect.stringMatching(/^invalid_(client_metadata|redirect_uri)$/)]);
  });

  it("is limited per address, and unused registrations are purged", async () => {
    const clock = fakeClock();
    const { web, instance, browser, urls } = await site({}, { clock });
    const { client_id } = await connectedClient(browser, urls);
    const statuses = await Promise.all(Array.from({ length: 35 }, async () => (await register(web)).status));
    expect(statuses.filter((status) => status === 201).length).toBeLessThanOrEqual(29);
    expect(statuses).toContain(429);
    clock.advance(DAY + MINUTE);
    await register(web);
    const rows = await instance.store.read
      .selectFrom("oauth_states")
      .select("payload")
      .where("model", "=", "Client")
      .execute();
    expect(rows.length).toBe(2);
    expect(rows.map(({ payload }) => payload).join()).toContain(client_id);
  });

  it("takes the place of the oldest unused one where there are many, and of none with a token", async () => {
    const clock = fakeClock();
    const { web, instance, browser, urls } = await site({}, { clock });
    const connected = await connectedClient(browser, urls);
    const ofOthers = (index: number) => ({
      model: "Client",
      digest: Buffer.from(`unused ${index}`.padEnd(32)),
      payload: "{}",
      grant_id: null,
      expires_at: clock.now() + HOUR + index,
      consumed_at: null,
    });
    await instance.store.transaction(async (trx) => {
      for (let index = 0; index < 5_000; index += 100)
        await trx
          .insertInto("oauth_states")
          .values(Array.from({ length: 100 }, (_, at) => ofOthers(index + at)))
          .execute();
    });
    const { status, client_id } = await register(web);
    expect(status).toBe(201);
    const rows = await instance.store.read
      .selectFrom("oauth_states")
      .select(["digest", "payload"])
      .where("model", "=", "Client")
      .execute();
    // With the client that has a token.
    expect(rows).toHaveLength(5_001);
    const texts = rows
      .map(({ digest, payload }) => `${Buffer.from(digest).toString()} ${payload}`)
      .join("\n");
    expect(texts).toContain(client_id);
    expect(texts).toContain(connected.client_id);
    expect([0, 1, 4_999].map((index) => texts.includes(`unused ${index} `))).toEqual([false, true, true]);
  });

  it("can be switched off", async () => {
    const { web } = await site({ config: { authentication: { oauth: { registration: false } } } });
    expect((await register(web)).status).toBe(404);
    const metadata = await (await fetch(`${web}/.well-known/oauth-authorization-server`)).json();
    expect(metadata).not.toHaveProperty("registration_endpoint");
  });
});

describe("the request", () => {
  it("is shown with the host that gets the access, whatever name the client uses", async () => {
    const { web, mcp, browser } = await site();
    const { client_id } = await register(web, {
      client_name: "Claude\u202e \u200b by Anthropic",
      redirect_uris: ["https://evil.example.com/callback"],
    });
    const redirect_uri = "https://evil.example.com/callback";
    const { url } = authorizationUrl(web, { client_id, redirect_uri, resource: `${mcp}/mcp` });
    const id = await openConsent(browser, url);
    expect(await readConsent(browser, web, id)).toMatchObject({
      status: 200,
      name: "Claude by Anthropic",
      host: "evil.example.com",
      kind: "web",
      published_by: null,
    });
  });

  it.each([
    ["another path", `${CALLBACK}/other`],
    ["another host", "http://127.0.0.1.evil.example.com/callback"],
    ["a user before the host", "http://127.0.0.1:33418@evil.example.com/callback"],
    ["another scheme", "https://127.0.0.1:33418/callback"],
    ["a query", `${CALLBACK}?next=https://evil.example.com`],
  ])("is never answered to a redirect URI with %s", async (_, redirect_uri) => {
    const { web, mcp, browser } = await site();
    const { client_id } = await register(web);
    const { url } = authorizationUrl(web, { client_id, redirect_uri, resource: `${mcp}/mcp` });
    const response = await browser.fetch(url);
    expect([response.status, location(response)]).toEqual([400, null]);
    expect(response.headers.get("Content-Security-Policy")).toContain("frame-ancestors 'none'");
  });

  it("may come back to any port of a loopback address", async () => {
    const { web, mcp, browser } = await site();
    const { client_id } = await register(web);
    const redirect_uri = CALLBACK.replace("33418", "51999");
    const { url } = authorizationUrl(web, { client_id, redirect_uri, resource: `${mcp}/mcp` });
    expect((await consent(browser, url)).href).toContain("http://127.0.0.1:51999/callback?code=");
  });

  it.each([
    ["no challenge", { code_challenge: undefined, code_challenge_method: undefined }, "invalid_request"],
    ["a plain challenge", { code_challenge_method: "plain" }, "invalid_request"],
    ["a challenge without its method", { code_challenge_method: undefined }, "invalid_request"],
    ["the implicit flow", { response_type: "token" }, "unsupported_response_type"],
    ["another resource", { resource: "https://other.example.com/mcp" }, "invalid_target"],
    ["another path of the resource", { resource: "http://127.0.0.1:8000/admin" }, "invalid_target"],
    ["prompt=none", { prompt: "none" }, "consent_required"],
  ])("is refused with %s", async (_, params, error) => {
    const { web, mcp, browser } = await site();
    const { client_id } = await register(web);
    const { url } = authorizationUrl(web, { client_id, resource: `${mcp}/mcp`, ...params });
    const to = new URL(location(await browser.fetch(url))!);
    // The error of the implicit flow is in the fragment.
    const answer = to.hash === "" ? to.searchParams : new URLSearchParams(to.hash.slice(1));
    expect([to.origin, answer.get("error"), answer.get("iss")]).toEqual([
      new URL(CALLBACK).origin,
      error,
      web,
    ]);
  });

  it("can be decided in the browser that began it only", async () => {
    const { web, mcp, browser, instance } = await site();
    const { client_id } = await register(web);
    const { url } = authorizationUrl(web, { client_id, resource: `${mcp}/mcp` });
    // The attacker begins, and sends the page to a victim who is signed in.
    const attacker = await browserOf(instance, web, { email: "eve@example.com", role: "viewer" });
    const request = await openConsent(attacker, url);
    expect(await readConsent(browser, web, request)).toMatchObject({
      status: 410,
      code: "authorization_expired",
    });
    expect(await decide(browser, web, { request, allow: true })).toMatchObject({ status: 410 });
    // A page that made the victim's browser begin another request changes nothing of what the victim reads.
    const own = await openConsent(browser, url);
    await openConsent(browser, url);
    expect(await decide(browser, web, { request: own, allow: true })).toMatchObject({ status: 410 });
    // A browser sends this cookie to the path of the request only.
    browser.cookies.get(web)!.delete("millrace_oauth_resume");
    const resumed = await browser.fetch(`${web}/oauth/authorize/${request}`);
    expect([resumed.status, location(resumed)]).toEqual([400, null]);
  });

  it("can't be decided by another site, without a session, or twice", async () => {
    const { web, mcp, browser } = await site();
    const { client_id } = await register(web);
    const { url } = authorizationUrl(web, { client_id, resource: `${mcp}/mcp` });
    const request = await openConsent(browser, url);
    const decision = { request, allow: true };
    const foreign = await decide(browser, web, decision, { "Sec-Fetch-Site": "cross-site" });
    expect(foreign).toMatchObject({ status: 403, code: "forbidden_origin" });
    const session = browser.cookies.get(web)!.get("millrace_session")!;
    browser.cookies.get(web)!.delete("millrace_session");
    expect(await decide(browser, web, decision)).toMatchObject({ status: 401 });
    browser.cookies.get(web)!.set("millrace_session", session);
    const changed = browser.cookies.get(web)!.get("millrace_oauth_request.sig")!;
    browser.cookies.get(web)!.set(
      "millrace_oauth_request.sig",
      changed.replace(/^./, (c) => (c === "a" ? "b" : "a")),
    );
    expect(await decide(browser, web, decision)).toMatchObject({ status: 410 });
    browser.cookies.get(web)!.set("millrace_oauth_request.sig", changed);
    expect(await decide(browser, web, decision)).toMatchObject({ status: 200 });
    expect(await decide(browser, web, decision)).toMatchObject({ status: 410 });
  });

  it("is decided each time, by the person who is signed in then", async () => {
    const { web, browser, urls, instance } = await site();
    const first = await connectedClient(browser, urls);
    const ben = await signedInUser(instance, { email: "ben@example.com" });
    browser.cookies.get(web)!.set("millrace_session", ben.cookie.split("=")[1]!);
    const { url, verifier } = authorizationUrl(web, {
      client_id: first.client_id,
      resource: `${urls.mcp}/mcp`,
    });
    const callback = await consent(browser, url);
    const tokens = await requestToken(web, {
      ...first.exchange,
      code: callback.searchParams.get("code")!,
      code_verifier: verifier,
    });
    const key = await instance.read.apiKeys.page({
      filter: { owner: "ben@example.com" },
      after: null,
      limit: 5,
    });
    expect([tokens.status, key.items.length]).toEqual([200, 1]);
    expect(key.items[0]!.lastFour).toBe(tokens.access_token.slice(-4));
  });

  it("tells the client that the person refused", async () => {
    const { web, mcp, browser, instance } = await site();
    const { client_id } = await register(web);
    const { url } = authorizationUrl(web, { client_id, resource: `${mcp}/mcp` });
    const callback = await consent(browser, url, { allow: false });
    expect(Object.fromEntries(callback.searchParams)).toMatchObject({
      error: "access_denied",
      state: "xyz",
      iss: web,
    });
    expect((await instance.read.apiKeys.page({ filter: {}, after: null, limit: 5 })).items).toEqual([]);
  });

  it("offers and grants no scope beyond the role of the person", async () => {
    const { web, mcp, instance } = await site();
    const viewer = await browserOf(instance, web, { email: "vera@example.com", role: "viewer" });
    const { client_id } = await register(web);
    const { url } = authorizationUrl(web, {
      client_id,
      resource: `${mcp}/mcp`,
      scope: "openid offline_access read write run approve admin",
    });
    const request = await openConsent(viewer, url);
    expect((await readConsent(viewer, web, request)).scopes).toEqual(["read"]);
    for (const refused of [{ scopes: ["read", "admin"] }, { projects: ["other"] }])
      expect(await decide(viewer, web, { request, allow: true, ...refused })).toMatchObject({ status: 400 });
  });

  it("grants what the person leaves ticked, and asks for the scopes of a new key by default", async () => {
    const { browser, urls } = await site();
    const { tokens } = await connectedClient(browser, urls, {}, { allow: true, scopes: ["run"] });
    expect(tokens.scope).toBe("read run");
  });
});

describe("metadata documents of clients", () => {
  it.each([
    "https://127.0.0.1:PORT/client.json",
    "https://localhost:PORT/client.json",
    "https://169.254.169.254/x",
  ])("are not fetched from %s", async (pattern) => {
    const { web, mcp, browser } = await site();
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const client_id = pattern.replace("PORT", String(port));
    const { url } = authorizationUrl(web, { client_id, resource: `${mcp}/mcp` });
    const response = await browser.fetch(url);
    expect([response.status, location(response), connections]).toEqual([400, null, 0]);
  });
});

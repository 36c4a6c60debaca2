import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { DAY, HOUR, iso, MINUTE } from "../../src/core/clock.ts";
import { purgeExpired } from "../../src/store/purge.ts";
import { userWriter } from "../../src/store/users.ts";
import { fakeClock } from "../support/instance.ts";
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

describe("codes", () => {
  it("work once; a second use revokes what the first one gave", async () => {
    const { web, mcp, browser, urls } = await site();
    const { tokens, exchange, refresh } = await connectedClient(browser, urls);
    expect((await listTools(`${mcp}/mcp`, tokens.access_token)).status).toBe(200);
    expect(await requestToken(web, exchange)).toMatchObject({ status: 400, error: "invalid_grant" });
    expect((await listTools(`${mcp}/mcp`, tokens.access_token)).status).toBe(401);
    expect(await refresh()).toMatchObject({ status: 400, error: "invalid_grant" });
  });

  it("give tokens to one of two requests at the same time, on two copies", async () => {
    const { web, mcp, browser, instance } = await site();
    const copy = await instance.rest({ env: { MILLRACE_BASE_URL: web } });
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
    const answers = await Promise.all([web, copy.url, web, copy.url].map((at) => requestToken(at, exchange)));
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    expect(answers.filter(({ status }) => status === 400).length).toBeGreaterThanOrEqual(3);
  });

  it.each([
    ["another verifier", { code_verifier: "x".repeat(43) }, "invalid_grant"],
    ["no verifier", { code_verifier: "" }, "invalid_grant"],
    ["another redirect URI", { redirect_uri: "http://127.0.0.1:33418/other" }, "invalid_grant"],
    ["another resource", { resource: "http://127.0.0.1:9/mcp" }, "invalid_target"],
  ])("are refused with %s", async (_, change, error) => {
    const { web, mcp, browser } = await site();
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
    expect(await requestToken(web, { ...exchange, ...change })).toMatchObject({ status: 400, error });
  });

  it("belong to the client that asked", async () => {
    const { web, mcp, browser } = await site();
    const { client_id } = await register(web);
    const other = await register(web);
    const { url, verifier } = authorizationUrl(web, { client_id, resource: `${mcp}/mcp` });
    const code = (await consent(browser, url)).searchParams.get("code")!;
    const exchange = {
      grant_type: "authorization_code",
      code,
      redirect_uri: CALLBACK,
      code_verifier: verifier,
    };
    expect(await requestToken(web, { ...exchange, client_id: other.client_id })).toMatchObject({
      status: 400,
      error: "invalid_grant",
    });
  });

  it("expire after a minute", async () => {
    const clock = fakeClock();
    const { web, mcp, browser } = await site({}, { clock });
    const { client_id } = await register(web);
    const { url, verifier } = authorizationUrl(web, { client_id, resource: `${mcp}/mcp` });
    const code = (await consent(browser, url)).searchParams.get("code")!;
    clock.advance(MINUTE);
    const exchange = { grant_type: "authorization_code", client_id, code, redirect_uri: CALLBACK };
    expect(await requestToken(web, { ...exchange, code_verifier: verifier })).toMatchObject({ status: 400 });
  });
});

describe("tokens", () => {
  it("are for the MCP server only, and for the one that they name", async () => {
    const { web, mcp, browser, urls, instance } = await site();
    const { tokens } = await connectedClient(browser, urls);
    const other = await instance.mcp();
    expect((await listTools(`${mcp}/mcp`, tokens.access_token)).status).toBe(200);
    const elsewhere = await listTools(`${other.url}/mcp`, tokens.access_token);
    expect([elsewhere.status, elsewhere.challenge]).toEqual([
      401,
      expect.stringContaining('error="invalid_token"'),
    ]);
    for (const headers of [
      { Authorization: `Bearer ${tokens.access_token}` },
      { "X-API-Key": tokens.access_token },
    ])
      expect((await fetch(`${web}/workflows`, { headers })).status).toBe(401);
  });

  it("work at one copy as at another if the address of the MCP server is configured", async () => {
    const env = { MILLRACE_BASE_URL: "http://localhost:3000", MILLRACE_MCP_URL: "http://localhost:8000/mcp" };
    const { web, mcp, browser, instance } = await site({ env });
    const { client_id } = await register(web);
    const { url, verifier } = authorizationUrl(web, { client_id, resource: "http://localhost:8000/mcp" });
    const callback = await consent(browser, url);
    expect(callback.searchParams.get("iss")).toBe("http://localhost:3000");
    const tokens = await requestToken(web, {
      grant_type: "authorization_code",
      client_id,
      code: callback.searchParams.get("code")!,
      redirect_uri: CALLBACK,
      code_verifier: verifier,
    });
    const other = await instance.mcp({ env });
    for (const at of [mcp, other.url])
      expect((await listTools(`${at}/mcp`, tokens.access_token)).status).toBe(200);
  });

  it("expire, are renewed, and the renewed one keeps the MCP session", async () => {
    const clock = fakeClock();
    const { mcp, browser, urls, instance } = await site({}, { clock });
    const { tokens, refresh } = await connectedClient(browser, urls);
    clock.advance(HOUR);
    expect((await listTools(`${mcp}/mcp`, tokens.access_token)).status).toBe(401);
    const renewed = await refresh();
    expect([renewed.status, renewed.access_token === tokens.access_token]).toEqual([200, false]);
    expect((await listTools(`${mcp}/mcp`, renewed.access_token)).status).toBe(200);
    const { items } = await instance.read.apiKeys.page({ filter: {}, after: null, limit: 5 });
    expect(items).toHaveLength(1);
  });

  it("a refresh token that is used twice ends the access", async () => {
    const { mcp, browser, urls, instance } = await site();
    const { tokens, refresh } = await connectedClient(browser, urls);
    const renewed = await refresh();
    expect(await refresh()).toMatchObject({ status: 400, error: "invalid_grant" });
    expect((await listTools(`${mcp}/mcp`, renewed.access_token)).status).toBe(401);
    expect(await refresh(renewed.refresh_token)).toMatchObject({ status: 400, error: "invalid_grant" });
    expect(tokens.access_token).not.toBe(renewed.access_token);
    const [entry] = await instance.read.audit.page({
      filter: { operation: "revoke_api_key" },
      before: null,
      limit: 1,
    });
    expect(entry).toMatchObject({ owner: "ann@example.com", target: expect.stringMatching(/^key_/) });
  });

  it("a refresh can narrow the scopes of a token, and not widen them", async () => {
    const { browser, urls } = await site();
    const { refresh, tokens } = await connectedClient(browser, urls, { scope: "read run" });
    expect(tokens.scope).toBe("read run");
    const narrow = await refresh(undefined, { scope: "read" });
    expect(narrow.scope).toBe("read");
    expect(await refresh(narrow.refresh_token, { scope: "read run write" })).toMatchObject({
      status: 400,
      error: "invalid_scope",
    });
  });

  it("end when the person revokes the key, with open streams, and can't be renewed", async () => {
    const { web, mcp, browser, urls, instance } = await site();
    const { tokens, refresh } = await connectedClient(browser, urls);
    const stream = await fetch(`${mcp}/sse`, { headers: { Authorization: `Bearer ${tokens.access_token}` } });
    expect(stream.status).toBe(200);
    const { items } = await instance.read.apiKeys.page({ filter: {}, after: null, limit: 5 });
    const response = await browser.fetch(`${web}/api-keys/${items[0]!.id}/revoke`, "{}", {
      "Content-Type": "application/json",
      "Sec-Fetch-Site": "same-origin",
    });
    expect(response.status).toBe(200);
    expect((await listTools(`${mcp}/mcp`, tokens.access_token)).status).toBe(401);
    expect(await refresh()).toMatchObject({ status: 400, error: "invalid_grant" });
    // The stream ends by itself; reading it to its end would hang otherwise.
    await stream.text();
  });

  it("end when the client revokes them", async () => {
    const { web, mcp, browser, urls } = await site();
    const { tokens, refresh, client_id } = await connectedClient(browser, urls);
    const other = await register(web);
    const revoke = (id: string) =>
      fetch(`${web}/oauth/revoke`, {
        method: "POST",
        body: new URLSearchParams({ client_id: id, token: tokens.refresh_token! }),
      });
    await revoke(other.client_id);
    expect((await listTools(`${mcp}/mcp`, tokens.access_token)).status).toBe(200);
    expect((await revoke(client_id)).status).toBe(200);
    expect((await listTools(`${mcp}/mcp`, tokens.access_token)).status).toBe(401);
    expect(await refresh()).toMatchObject({ status: 400 });
  });

  it("end when the person is deactivated, and shrink with the role", async () => {
    const { mcp, browser, urls, instance } = await site();
    const { tokens, refresh } = await connectedClient(browser, urls);
    const user = (await instance.read.users.findByEmail("ann@example.com"))!;
    const change = (fields: Parameters<ReturnType<typeof userWriter>["update"]>[1]) =>
      instance.store.transaction((trx) => userWriter(trx).update(user.id, fields));
    await change({ role: "viewer" });
    const tools = (await listTools(`${mcp}/mcp`, tokens.access_token)).text;
    expect([tools.includes("list_workflows"), tools.includes("create_workflow")]).toEqual([true, false]);
    await change({ status: "deactivated" });
    expect((await listTools(`${mcp}/mcp`, tokens.access_token)).status).toBe(401);
    expect(await refresh()).toMatchObject({ status: 400, error: "invalid_grant" });
  });

  it("are stored as digests, and are in no log", async () => {
    let text = "";
    const log = pino({ level: "debug" }, { write: (line: string) => void (text += line) });
    const { web, mcp, browser, urls, instance } = await site({}, { log });
    const { tokens, exchange, refresh } = await connectedClient(browser, urls);
    const renewed = await refresh();
    await listTools(`${mcp}/mcp`, renewed.access_token);
    await requestToken(web, exchange);
    expect(text).toContain("authorization refused");
    const states = await instance.store.read.selectFrom("oauth_states").selectAll().execute();
    const stored = states.map((row) => row.payload).join() + text;
    for (const secret of [tokens.access_token, tokens.refresh_token!, exchange.code, renewed.refresh_token!])
      expect(stored.includes(secret)).toBe(false);
  });

  it("leave the list of keys 30 days after their end, however they ended", async () => {
    const clock = fakeClock();
    const { browser, urls, instance } = await site({}, { clock });
    const { value } = await instance.key({ owner: "ann@example.com" });
    const used = await connectedClient(browser, urls);
    clock.advance(MINUTE);
    const revoked = await connectedClient(browser, urls);
    const [latest] = (await instance.read.apiKeys.page({ filter: {}, after: null, limit: 1 })).items;
    await instance.keys.revoke(latest!.id, iso(clock.now()), "operator");
    const left = async () => {
      await purgeExpired(instance.store, clock, { runs: 90 * DAY, audit: 400 * DAY, deliveries: 30 * DAY });
      return instance.read.apiKeys.count({ application: true });
    };
    clock.advance(29 * DAY);
    expect(await left()).toBe(2);
    const renewed = await used.refresh();
    clock.advance(2 * DAY);
    expect(await left()).toBe(1);
    expect(await revoked.refresh()).toMatchObject({ status: 400 });
    expect((await used.refresh(renewed.refresh_token)).status).toBe(200);
    clock.advance(31 * DAY);
    expect(await left()).toBe(1);
    clock.advance(30 * DAY);
    expect([await left(), await instance.read.apiKeys.count({})]).toEqual([0, 1]);
    expect(value).toMatch(/^mill_/);
  });

  it("look like API keys in the list of keys, and can't be rotated", async () => {
    const { web, browser, urls } = await site();
    const { client_id } = await connectedClient(browser, urls);
    const list = (await (await browser.fetch(`${web}/api-keys?application=true`)).json()) as { id: string }[];
    expect(await (await browser.fetch(`${web}/api-keys?application=false`)).json()).toEqual([]);
    expect(list).toEqual([
      expect.objectContaining({
        name: "Test (127.0.0.1)",
        state: "active",
        owner: "ann@example.com",
        application: { client_id, host: "127.0.0.1" },
      }),
    ]);
    const response = await browser.fetch(`${web}/api-keys/${list[0]!.id}/rotate`, "{}", {
      "Content-Type": "application/json",
      "Sec-Fetch-Site": "same-origin",
    });
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
      409,
      "api_key_of_application",
    ]);
  });
});

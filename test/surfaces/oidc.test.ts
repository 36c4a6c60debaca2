import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { HOUR, MINUTE, SECOND } from "../../src/core/clock.ts";
import { safeReturnPath } from "../../src/surfaces/session/oidc-flow.ts";
import { userWriter } from "../../src/store/users.ts";
import { type CookieClient, cookieClient } from "../support/cookie-client.ts";
import { eventually } from "../support/eventually.ts";
import { fakeClock, testInstance } from "../support/instance.ts";
import {
  CLIENT_SECRET,
  type TestOidcProvider,
  testOidcProvider,
  type OidcProviderOptions,
  signInAtProvider,
} from "../support/oidc-provider.ts";
import { addUser, signIn } from "../support/users.ts";

const ANN = { email: "ann@example.com", email_verified: true, groups: ["millrace-admin"] };
const BEN = { email: "ben@example.com", email_verified: true, groups: ["millrace-editor", "staff"] };

interface Given extends Partial<OidcProviderOptions> {
  config?: Record<string, unknown>;
  env?: Record<string, string>;
  away?: boolean;
}

/** A server with a fake clock, and its identity provider. */
async function site({ config = {}, env = {}, away = false, ...options }: Given = {}) {
  const peer = await testOidcProvider({ accounts: { ann: ANN, ben: BEN }, ...options });
  const clock = fakeClock();
  let text = "";
  const log = pino({ level: "info" }, { write: (line: string) => void (text += line) });
  const instance = await testInstance({ clock, log });
  if (away) await peer.stop();
  const start = () =>
    instance.rest({
      authMode: "oidc",
      config: { authentication: { sign_on: config } },
      env: { ...peer.env, ...env },
    });
  const copy = await start();
  const lines = () =>
    text
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { peer, clock, instance, url: copy.url, start, lines, text: () => text };
}

const SAME = { "Sec-Fetch-Site": "same-origin" };

/** Signs in and returns the final location. */
async function enter(
  browser: CookieClient,
  url: string,
  name: string | undefined,
  to = "/ui/",
): Promise<string> {
  const callback = await signInAtProvider(browser, `${url}/login?to=${encodeURIComponent(to)}`, name);
  const response = await browser.fetch(callback);
  expect(response.status).toBe(303);
  return response.headers.get("Location")!;
}

async function session(browser: CookieClient, url: string) {
  const response = await browser.fetch(`${url}/session`, undefined, SAME);
  const body = (await response.json()) as { user?: Record<string, unknown>; code?: string };
  return { status: response.status, ...body };
}

/** A browser that is signed in. */
async function signedIn(url: string, name = "ann"): Promise<CookieClient> {
  const browser = cookieClient();
  expect(await enter(browser, url, name)).toBe("/ui/");
  return browser;
}

/** Holds the provider's next answer at a path back until `release`. */
function heldAnswer(peer: TestOidcProvider, path: string) {
  const asked = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  peer.beforeResponse = async (at) => {
    if (at !== path) return;
    peer.beforeResponse = undefined;
    asked.resolve();
    await held.promise;
  };
  return { asked: asked.promise, release: () => held.resolve() };
}

const issue = (location: string): string | null => new URL(location, "http://x").searchParams.get("error");

describe("signing in at a provider", () => {
  it("returns to the requested page, with the role of the user's groups", async () => {
    const { url, instance } = await site();
    const browser = cookieClient();
    expect(await enter(browser, url, "ben", "/ui/runs?status=failed#x")).toBe("/ui/runs?status=failed#x");
    expect(await session(browser, url)).toMatchObject({
      status: 200,
      mode: "oidc",
      user: { email: "ben@example.com", role: "editor", verified: true },
    });
    const [entry] = await instance.read.audit.page({
      filter: { operation: "sign_in" },
      before: null,
      limit: 1,
    });
    expect(entry).toMatchObject({ target: "ben@example.com", surface: "web" });
    const user = await instance.read.users.findByEmail("ben@example.com");
    expect(user).toMatchObject({ roleSource: "sign_on", lastLoginAt: expect.any(String) });
  });

  it("sets the same session cookie as with a password, and removes the cookie of the sign-in", async () => {
    const { url } = await site();
    const browser = cookieClient();
    const callback = await signInAtProvider(browser, `${url}/login`, "ann");
    const own = browser.cookies.get(url)!;
    expect([...own.keys()]).toEqual(["millrace_sign_on"]);
    const response = await browser.fetch(callback);
    const [over, cookie] = response.headers.getSetCookie();
    expect(over).toMatch(/^millrace_sign_on=; .*Max-Age=0/);
    expect(cookie).toMatch(/^millrace_session=\w{32}; .*HttpOnly; SameSite=Strict/);
    expect([...own.keys()]).toEqual(["millrace_session"]);
  });

  it("binds its cookies to the host over https", async () => {
    const { url } = await site({ env: { MILLRACE_BASE_URL: "https://mill.example.com" } });
    const response = await cookieClient().fetch(`${url}/login`);
    const [flow] = response.headers.getSetCookie();
    expect(flow).toMatch(
      /^__Host-millrace-sign-on=[\w-]+; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    const location = new URL(response.headers.get("Location")!);
    expect(location.searchParams.get("redirect_uri")).toBe("https://mill.example.com/login/callback");
    const state = location.searchParams.get("state")!;
    expect(Buffer.from(/=([\w-]+)/.exec(flow!)![1]!, "base64url").toString("latin1")).not.toContain(state);
  });

  it.each([
    "https://evil.example.com/ui/",
    "//evil.example.com/ui/",
    "/\\evil.example.com/ui/",
    "/ui/..//evil.example.com",
    "/ui/%2e%2e/workflows",
    "/workflows",
    "ui/runs",
    "\t//evil.example.com",
    `/ui/${"x".repeat(2_000)}`,
    ["/ui/a", "/ui/b"],
    undefined,
    "javascript:alert(1)",
  ])("redirects only to pages of the interface: not to %j", (to) => {
    expect(safeReturnPath(to)).toBe("/ui/");
  });

  it("redirects to the start page if another site is requested", async () => {
    const { url } = await site();
    expect(await enter(cookieClient(), url, "ann", "https://evil.example.com/ui/")).toBe("/ui/");
  });

  it("ends the session that the browser had before", async () => {
    const { url, instance } = await site();
    const browser = await signedIn(url);
    const before = browser.cookies.get(url)!.get("millrace_session")!;
    await enter(browser, url, "ann");
    const old = cookieClient();
    old.cookies.set(url, new Map([["millrace_session", before]]));
    expect((await session(old, url)).status).toBe(401);
    const ann = (await instance.read.users.findByEmail("ann@example.com"))!;
    expect(await instance.read.sessions.listByUser(ann.id, "2026-11-21", "2026-01-01")).toHaveLength(1);
  });

  it("accepts no password, and no session that was started with one", async () => {
    const { url, instance } = await site();
    const response = await fetch(`${url}/session`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ email: "ann@example.com", password: "whatever it was" }),
    });
    expect(response.status).toBe(409);
    const before = await signIn(instance, await addUser(instance, { email: "old@example.com" }));
    const asked = await fetch(`${url}/session`, { headers: { Cookie: before.cookie } });
    expect(asked.status).toBe(401);
    // Nor the other way round: such a session would never be renewed at the provider.
    const browser = await signedIn(url);
    const { url: builtIn } = await instance.rest();
    const jar = cookieClient();
    jar.cookies.set(builtIn, browser.cookies.get(url)!);
    expect((await session(jar, builtIn)).status).toBe(401);
  });

  it("logs what to register at the start, and starts without the provider", async () => {
    const { peer, url, lines } = await site({ away: true });
    expect(lines()).toContainEqual(
      expect.objectContaining({
        redirect_uri: `${url}/login/callback`,
        post_logout_redirect_uri: `${url}/ui/sign-in?signed_out=1`,
      }),
    );
    await eventually(() => lines().find(({ msg }) => /trying again/.test(String(msg))), "a warning");
    const response = await cookieClient().fetch(`${url}/login?to=%2Fui%2Fruns`);
    expect(response.headers.get("Location")).toBe("/ui/sign-in?error=provider_unavailable&to=%2Fruns");
    await peer.restart();
    await signedIn(url);
  });
});

describe("a sign-in that fails", () => {
  it("ends at the sign-in page, and can be repeated", async () => {
    const { peer, url } = await site({
      accounts: { ann: ANN, eve: { email: "eve@example.com", email_verified: false } },
    });
    const browser = cookieClient();
    const gone = async (
      name: string | undefined,
      change: (callback: URL) => Promise<void> | void = () => {},
    ) => {
      const callback = new URL(await signInAtProvider(browser, `${url}/login?to=/ui/runs`, name));
      await change(callback);
      const location = (await browser.fetch(callback.href)).headers.get("Location")!;
      expect(new URL(location, url).searchParams.get("to") ?? "/").toMatch(/^\/(runs)?$/);
      expect((await session(browser, url)).status).toBe(401);
      browser.cookies.delete(peer.issuer);
      return issue(location);
    };
    expect(await gone(undefined)).toBe("denied");
    expect(await gone("eve")).toBe("email_not_verified");
    expect(await gone("ann", (callback) => peer.expireCode(callback.href))).toBe("code_expired");
    expect(await gone("ann", (callback) => callback.searchParams.set("iss", "http://127.0.0.1:1"))).toBe(
      "not_verified",
    );
    expect(await gone("ann", (callback) => callback.searchParams.set("state", "other"))).toBe(
      "state_mismatch",
    );
    expect(await gone("ann", (callback) => callback.searchParams.delete("state"))).toBe("state_mismatch");
    expect(await gone("ann", () => browser.cookies.get(url)!.clear())).toBe("flow_expired");
    expect(await gone("ann", () => peer.stop())).toBe("provider_unavailable");
    await peer.restart();
    expect(await enter(browser, url, "ann")).toBe("/ui/");
  });

  it("refuses another nonce", async () => {
    const { peer, url } = await site();
    peer.replaceNonce();
    expect(issue(await enter(cookieClient(), url, "ann"))).toBe("not_verified");
  });

  it("refuses to finish a sign-in that another browser started", async () => {
    const { url } = await site();
    const callback = await signInAtProvider(cookieClient(), `${url}/login`, "ann");
    const victim = cookieClient();
    expect(issue((await victim.fetch(callback)).headers.get("Location")!)).toBe("flow_expired");
    await victim.fetch(`${url}/login`);
    expect(issue((await victim.fetch(callback)).headers.get("Location")!)).toBe("state_mismatch");
    expect((await session(victim, url)).status).toBe(401);
  });

  it("must be finished within ten minutes", async () => {
    const { url, clock } = await site();
    const browser = cookieClient();
    const callback = await signInAtProvider(browser, `${url}/login`, "ann");
    clock.advance(10 * MINUTE);
    expect(issue((await browser.fetch(callback)).headers.get("Location")!)).toBe("flow_expired");
  });

  it("logs the provider's reason, but no code, token or secret", async () => {
    const { peer, url, lines, text } = await site();
    const browser = cookieClient();
    const callback = await signInAtProvider(browser, `${url}/login`, "ann");
    const flow = browser.cookies.get(url)!.get("millrace_sign_on")!;
    await peer.expireCode(callback);
    await browser.fetch(callback);
    expect(lines()).toContainEqual(
      expect.objectContaining({
        operation: "finish_sign_on",
        code: "code_expired",
        reason: "invalid_grant: OAUTH_RESPONSE_BODY_ERROR",
      }),
    );
    await signedIn(url);
    for (const secret of [new URL(callback).searchParams.get("code")!, CLIENT_SECRET, flow, "eyJ"])
      expect(text()).not.toContain(secret);
  });

  it("is limited per address; successful sign-ins do not count", async () => {
    const { peer, url } = await site();
    const browser = cookieClient();
    const guess = async (): Promise<string | null> => {
      const { headers } = await browser.fetch(`${url}/login`);
      const state = new URL(headers.get("Location")!).searchParams.get("state")!;
      const query = new URLSearchParams({ state, code: "guessed", iss: peer.issuer });
      return issue(
        (await browser.fetch(`${url}/login/callback?${query.toString()}`)).headers.get("Location")!,
      );
    };
    for (let time = 0; time < 29; time += 1) expect(await guess()).toBe("code_expired");
    await signedIn(url);
    expect(await guess()).toBe("code_expired");
    expect(await guess()).toBe("too_many_attempts");
  });

  it("refuses users without a role, deactivated users, and an address that belongs to another user", async () => {
    const { peer, url, instance } = await site({ config: { default_role: "none" } });
    peer.accounts.set("kim", { email: "kim@example.com", email_verified: true, groups: ["staff"] });
    expect(issue(await enter(cookieClient(), url, "kim"))).toBe("no_role");
    await signedIn(url, "ben");
    peer.accounts.set("eve", { ...BEN, groups: [] });
    expect(issue(await enter(cookieClient(), url, "eve"))).toBe("address_taken");
    const ben = (await instance.read.users.findByEmail("ben@example.com"))!;
    await instance.store.transaction((trx) => userWriter(trx).update(ben.id, { status: "deactivated" }));
    expect(issue(await enter(cookieClient(), url, "ben"))).toBe("deactivated");
  });
});

describe("the provider's claims about a signed-in user", () => {
  const OLD = 11 * MINUTE;

  it("are renewed when they are old, once for concurrent requests", async () => {
    const { peer, url, clock } = await site();
    const browser = await signedIn(url);
    peer.accounts.set("ann", { ...ANN, groups: ["millrace-viewer"] });
    expect((await session(browser, url)).user).toMatchObject({ role: "admin" });
    clock.advance(OLD);
    const before = peer.requestCounts.get("POST /token")!;
    await Promise.all(Array.from({ length: 6 }, () => session(browser, url)));
    expect(peer.requestCounts.get("POST /token")).toBe(before + 1);
    expect((await session(browser, url)).user).toMatchObject({ role: "viewer" });
    clock.advance(OLD);
    expect((await session(browser, url)).status).toBe(200);
    expect(peer.requestCounts.get("POST /token")).toBe(before + 2);
  });

  it("are renewed by one of several copies", async () => {
    const { peer, url, clock, start } = await site();
    const browser = await signedIn(url);
    const other = await start();
    browser.cookies.set(other.url, browser.cookies.get(url)!);
    clock.advance(OLD);
    const before = peer.requestCounts.get("POST /token")!;
    const all = await Promise.all([url, other.url, url, other.url].map((at) => session(browser, at)));
    expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(peer.requestCounts.get("POST /token")).toBe(before + 1);
  });

  it("are renewed by no other copy while one still waits for slow answers", async () => {
    const { peer, url, clock, start } = await site();
    const browser = await signedIn(url);
    const other = await start();
    browser.cookies.set(other.url, browser.cookies.get(url)!);
    clock.advance(OLD);
    const last = heldAnswer(peer, "/me");
    const slow = session(browser, url);
    await last.asked;
    // The requests for the token, the keys, the claims and the provider's metadata may take 10 s each.
    clock.advance(45 * SECOND);
    expect((await session(browser, other.url)).status).toBe(200);
    last.release();
    expect((await slow).status).toBe(200);
    // The provider revokes all tokens when a refresh token is used twice.
    clock.advance(OLD);
    for (const at of [other.url, url]) expect((await session(browser, at)).status).toBe(200);
  });

  it("do not restore a role that was removed while the answer was in transit", async () => {
    const { peer, url, clock, instance } = await site({ config: { default_role: "none" } });
    const [one, two] = [await signedIn(url), await signedIn(url)];
    clock.advance(OLD);
    const answer = heldAnswer(peer, "/me");
    const late = session(one, url);
    await answer.asked;
    peer.accounts.set("ann", { ...ANN, groups: [] });
    expect((await session(two, url)).status).toBe(401);
    answer.release();
    expect((await late).status).toBe(401);
    const user = await instance.read.users.findByEmail(ANN.email);
    expect(user).toMatchObject({ role: "viewer", status: "invited" });
  });

  it("end the session when the provider has revoked it", async () => {
    const { peer, url, clock, instance, lines } = await site();
    const browser = await signedIn(url);
    await peer.revokeGrants();
    expect((await session(browser, url)).status).toBe(200);
    clock.advance(OLD);
    expect((await session(browser, url)).status).toBe(401);
    expect(lines()).toContainEqual(
      expect.objectContaining({ reason: expect.stringMatching(/invalid_grant/) }),
    );
    const [entry] = await instance.read.audit.page({ filter: {}, before: null, limit: 1 });
    expect(entry).toMatchObject({ operation: "renew_sign_on.ended", target: "ann@example.com" });
  });

  it("end the session of a user who no longer has a role", async () => {
    const { peer, url, clock } = await site({ config: { default_role: "none" } });
    const browser = await signedIn(url, "ben");
    peer.accounts.set("ben", { ...BEN, groups: [] });
    clock.advance(OLD);
    expect((await session(browser, url)).status).toBe(401);
    peer.accounts.set("ben", BEN);
    expect((await session(browser, url)).status).toBe(401);
  });

  it("stay valid for an hour while the provider is unavailable, which is retried every minute", async () => {
    const { peer, url, clock } = await site();
    const browser = await signedIn(url);
    await peer.stop();
    clock.advance(OLD);
    expect((await session(browser, url)).status).toBe(200);
    await peer.restart();
    const before = peer.requestCounts.get("POST /token")!;
    clock.advance(40 * SECOND);
    await session(browser, url);
    expect(peer.requestCounts.get("POST /token")).toBe(before);
    clock.advance(40 * SECOND);
    await session(browser, url);
    expect(peer.requestCounts.get("POST /token")).toBe(before + 1);
    await peer.stop();
    clock.advance(10 * MINUTE + HOUR);
    expect((await session(browser, url)).status).toBe(200);
    clock.advance(MINUTE);
    expect((await session(browser, url)).status).toBe(401);
    await peer.restart();
    expect((await session(browser, url)).status).toBe(401);
  });

  it("are awaited by every request when they are too old", async () => {
    const { peer, url, clock } = await site();
    const browser = await signedIn(url);
    peer.accounts.set("ann", { ...ANN, groups: ["millrace-viewer"] });
    clock.advance(2 * HOUR);
    const all = await Promise.all(Array.from({ length: 4 }, () => session(browser, url)));
    expect(all.map(({ user }) => user?.["role"])).toEqual(["viewer", "viewer", "viewer", "viewer"]);
  });

  it("can't be renewed without a refresh token: the session lasts twelve hours", async () => {
    const { url, clock } = await site({ refreshTokens: false });
    const browser = await signedIn(url);
    clock.advance(12 * HOUR - SECOND);
    expect((await session(browser, url)).status).toBe(200);
    clock.advance(SECOND);
    expect((await session(browser, url)).status).toBe(401);
  });

  it("are stored sealed, so that the database reveals no tokens", async () => {
    const { url, instance } = await site();
    await signedIn(url);
    const [row] = await instance.store.read.selectFrom("sessions").selectAll().execute();
    const kept = Buffer.from(row!.sealed!).toString("latin1");
    expect(kept.length).toBeGreaterThan(200);
    expect(kept).not.toMatch(/eyJ|subject|refreshToken/);
  });
});

describe("signing out", () => {
  it("ends the session here and at the provider, and redirects back", async () => {
    const { peer, url, instance } = await site();
    const browser = await signedIn(url);
    const token = browser.cookies.get(url)!.get("millrace_session")!;
    const out = await browser.fetch(`${url}/logout`, undefined, SAME);
    expect(out.headers.getSetCookie()[0]).toMatch(/^millrace_session=; .*Max-Age=0/);
    const to = new URL(out.headers.get("Location")!);
    expect(to.origin + to.pathname).toBe(`${peer.issuer}/session/end`);
    expect(to.searchParams.get("id_token_hint")).toMatch(/^eyJ/);
    expect(to.searchParams.get("post_logout_redirect_uri")).toBe(`${url}/ui/sign-in?signed_out=1`);
    browser.cookies.get(url)!.set("millrace_session", token);
    expect((await session(browser, url)).status).toBe(401);
    const [entry] = await instance.read.audit.page({
      filter: { operation: "sign_out" },
      before: null,
      limit: 1,
    });
    expect(entry).toMatchObject({ target: "ann@example.com" });
  });

  it("can't be triggered by another site", async () => {
    const { url } = await site();
    const browser = await signedIn(url);
    for (const from of ["cross-site", "same-site"]) {
      const out = await browser.fetch(`${url}/logout`, undefined, { "Sec-Fetch-Site": from });
      expect(out.headers.get("Location")).toBe("/ui/");
    }
    expect((await browser.fetch(`${url}/logout`, "")).status).toBe(405);
    expect((await session(browser, url)).status).toBe(200);
  });

  it("ends at our own page if the provider has no logout page", async () => {
    const { url } = await site({ logout: false });
    const browser = await signedIn(url);
    const out = await browser.fetch(`${url}/logout`, undefined, SAME);
    expect(out.headers.get("Location")).toBe(`${url}/ui/sign-in?signed_out=1`);
    expect((await session(browser, url)).status).toBe(401);
  });

  it("works while the provider is unavailable", async () => {
    const { peer, url, start } = await site();
    const browser = await signedIn(url);
    await peer.stop();
    // This copy has never fetched the provider's metadata.
    const other = await start();
    browser.cookies.set(other.url, browser.cookies.get(url)!);
    const out = await browser.fetch(`${other.url}/logout`, undefined, SAME);
    expect(out.headers.get("Location")).toBe(`${other.url}/ui/sign-in?signed_out=1`);
    expect((await session(browser, url)).status).toBe(401);
  });

  it("works over the API too", async () => {
    const { url } = await site();
    const browser = await signedIn(url);
    const cookie = `millrace_session=${browser.cookies.get(url)!.get("millrace_session")}`;
    const out = await fetch(`${url}/session`, { method: "DELETE", headers: { Cookie: cookie, ...SAME } });
    expect(out.status).toBe(204);
    expect((await session(browser, url)).status).toBe(401);
  });
});

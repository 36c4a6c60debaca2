import { describe, expect, it, onTestFinished, vi } from "vitest";
import { identityOf, type OidcClient, oidcClient } from "../../src/auth/oidc.ts";
import { HOUR, MINUTE, SECOND } from "../../src/core/clock.ts";
import { cookieClient } from "../support/cookie-client.ts";
import { fakeClock } from "../support/clock.ts";
import {
  CLIENT_ID,
  CLIENT_SECRET,
  type TestOidcProvider,
  testOidcProvider,
  type OidcProviderOptions,
  signInAtProvider,
} from "../support/oidc-provider.ts";

const REDIRECT = "http://127.0.0.1:1/login/callback";
const ANN = { email: "Ann@Example.com", email_verified: true, groups: ["millrace-editor"] };

interface ClientOptions extends Partial<OidcProviderOptions> {
  issuer?: (url: string) => string;
}

/** A test provider and a client of it, with a fake clock. */
async function setUp({ issuer = (url) => url, ...options }: ClientOptions = {}) {
  let secret = CLIENT_SECRET;
  const peer = await testOidcProvider({ accounts: { ann: ANN }, ...options });
  const clock = fakeClock();
  const client = oidcClient(
    {
      issuer: new URL(issuer(peer.issuer)),
      clientId: CLIENT_ID,
      clientSecret: () => (options.clientAuth === "none" ? undefined : secret),
      groupsClaim: "groups",
      trustEmails: false,
    },
    clock,
  );
  return { peer, clock, client, setSecret: (next: string) => void (secret = next) };
}

/** Signs in at the provider and returns the callback's URL, before the exchange of its code. */
async function comeBack(client: OidcClient) {
  const { url, flow } = await client.startAuthorization(REDIRECT);
  const at = new URL(await signInAtProvider(cookieClient(), url.href, "ann", REDIRECT));
  return { at, flow, asked: url };
}

async function signOn(client: OidcClient) {
  const { at, flow } = await comeBack(client);
  return client.exchangeCode(at, flow);
}

/** Changes the responses of the token endpoint. */
const changeTokens = (peer: TestOidcProvider, change: (tokens: Record<string, unknown>) => void): void => {
  peer.rewriteResponse = (path, body) => {
    if (path !== "/token") return undefined;
    const tokens = JSON.parse(body) as Record<string, unknown>;
    change(tokens);
    return JSON.stringify(tokens);
  };
};

describe("a sign-on through a provider", () => {
  it("uses the current secret of the client, which can be replaced", async () => {
    const { client, setSecret } = await setUp();
    setSecret("no longer valid");
    await expect(signOn(client)).rejects.toMatchObject({ kind: "provider_refused" });
    setSecret(CLIENT_SECRET);
    expect((await signOn(client)).identity).toMatchObject({ subject: "ann" });
  });

  it("uses PKCE, state and nonce, and returns the identity", async () => {
    const { peer, client } = await setUp();
    const { at, flow, asked } = await comeBack(client);
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      response_type: "code",
      client_id: CLIENT_ID,
      redirect_uri: REDIRECT,
      scope: "openid email profile offline_access",
      code_challenge_method: "S256",
      state: flow.state,
      nonce: flow.nonce,
    });
    expect(asked.href).not.toContain(flow.verifier);
    const { identity, grant } = await client.exchangeCode(at, flow);
    expect(identity).toEqual({
      issuer: peer.issuer,
      subject: "ann",
      email: "ann@example.com",
      emailVerified: true,
      groups: ["millrace-editor"],
    });
    expect(grant).toMatchObject({ subject: "ann", refreshToken: expect.any(String) });
  });

  it("does not request offline access if the provider does not support it", async () => {
    const { client } = await setUp({ scopes: ["openid"] });
    expect((await client.startAuthorization(REDIRECT)).url.searchParams.get("scope")).toBe(
      "openid email profile",
    );
  });

  it.each(["client_secret_basic", "client_secret_post", "none"] as const)(
    "authenticates the client with %s if the provider requires it",
    async (clientAuth) => {
      const { client } = await setUp({ clientAuth });
      expect((await signOn(client)).identity.subject).toBe("ann");
    },
  );

  it("calls the userinfo endpoint only if claims are missing in the ID token", async () => {
    const { peer, client } = await setUp({ allClaimsInIdToken: true });
    expect((await signOn(client)).identity.groups).toEqual(["millrace-editor"]);
    expect(peer.requestCounts.get("GET /me")).toBeUndefined();
  });

  it("accepts a code once, and refuses an expired one", async () => {
    const { peer, client } = await setUp();
    const { at, flow } = await comeBack(client);
    await client.exchangeCode(at, flow);
    await expect(client.exchangeCode(at, flow)).rejects.toMatchObject({
      kind: "code_expired",
      message: expect.stringMatching(/invalid_grant/),
    });
    const again = await comeBack(client);
    await peer.expireCode(again.at.href);
    await expect(client.exchangeCode(again.at, again.flow)).rejects.toMatchObject({ kind: "code_expired" });
  });

  it("refuses a wrong nonce, state, verifier or issuer", async () => {
    const { client } = await setUp();
    const { at, flow } = await comeBack(client);
    const mixedUp = new URL(at);
    mixedUp.searchParams.set("iss", "http://127.0.0.1:1");
    await expect(client.exchangeCode(mixedUp, flow)).rejects.toMatchObject({
      kind: "not_verified",
      message: expect.stringMatching(/iss/),
    });
    const silent = new URL(at);
    silent.searchParams.delete("iss");
    await expect(client.exchangeCode(silent, flow)).rejects.toMatchObject({ kind: "not_verified" });
    await expect(client.exchangeCode(at, { ...flow, state: "other" })).rejects.toMatchObject({
      kind: "not_verified",
    });
    await expect(client.exchangeCode(at, { ...flow, verifier: "o".repeat(43) })).rejects.toMatchObject({
      kind: "code_expired",
    });
    const second = await comeBack(client);
    await expect(client.exchangeCode(second.at, { ...second.flow, nonce: "other" })).rejects.toMatchObject({
      kind: "not_verified",
      message: expect.stringMatching(/nonce/),
    });
  });

  it("distinguishes a cancelled sign-on from a refusal by the provider", async () => {
    const { client } = await setUp();
    const { url, flow } = await client.startAuthorization(REDIRECT);
    const at = new URL(await signInAtProvider(cookieClient(), url.href, undefined, REDIRECT));
    await expect(client.exchangeCode(at, flow)).rejects.toMatchObject({
      kind: "denied",
      message: expect.stringMatching(/access_denied/),
    });
    at.searchParams.set("error", "unauthorized_client");
    await expect(client.exchangeCode(at, flow)).rejects.toMatchObject({ kind: "provider_refused" });
  });

  it.each([
    ["a challenge", { "WWW-Authenticate": 'Basic realm="x"' }, '{"error":"invalid_client"}'],
    ["an error", { "Content-Type": "application/json" }, '{"error":"invalid_client"}'],
    ["nothing", {}, ""],
  ])("reports that the provider refused the client, if a 401 comes with %s", async (_with, headers, body) => {
    const { peer, client } = await setUp();
    const { at, flow } = await comeBack(client);
    peer.cannedResponse = { path: "/token", status: 401, headers, body };
    await expect(client.exchangeCode(at, flow)).rejects.toMatchObject({
      kind: "provider_refused",
      message: "the token endpoint answered 401 (client id or secret)",
    });
    peer.cannedResponse = { path: "/token", status: 401, headers: {}, body: '{"error":"invalid_grant"}' };
    await expect(client.exchangeCode(at, flow)).rejects.toMatchObject({
      message: expect.not.stringContaining("client id"),
    });
  });

  it("never includes a code or a token in an error", async () => {
    const { peer, client } = await setUp();
    const { at, flow } = await comeBack(client);
    const code = at.searchParams.get("code")!;
    let token = "";
    changeTokens(peer, (tokens) => {
      token = String(tokens["access_token"]);
      tokens["id_token"] = `${String(tokens["id_token"]).slice(0, -8)}AAAAAAAA`;
    });
    const issue = (await client.exchangeCode(at, flow).catch((error: unknown) => error)) as Error;
    expect(issue).toMatchObject({ kind: "not_verified" });
    expect(token).not.toBe("");
    for (const secret of [code, token, CLIENT_SECRET, flow.verifier, flow.nonce])
      expect(JSON.stringify([issue.message, issue])).not.toContain(secret);
  });

  it("refuses an ID token that the provider did not sign", async () => {
    const { peer, client } = await setUp();
    changeTokens(peer, (tokens) => {
      const [head, payload, signature] = String(tokens["id_token"]).split(".") as [string, string, string];
      const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as Record<string, unknown>;
      const forged = Buffer.from(JSON.stringify({ ...claims, email: "eve@example.com" })).toString(
        "base64url",
      );
      tokens["id_token"] = [head, forged, signature].join(".");
    });
    await expect(signOn(client)).rejects.toMatchObject({ kind: "not_verified" });
  });

  it("refuses a response that is too large", async () => {
    const { peer, client } = await setUp();
    await client.discover();
    peer.rewriteResponse = (path, body) => (path === "/me" ? body.padEnd(2 * 1024 * 1024) : undefined);
    await expect(signOn(client)).rejects.toMatchObject({
      message: expect.stringMatching(/larger than 1048576 bytes/),
    });
  });
});

describe("the provider's keys and metadata", () => {
  it("are fetched again for an unknown key, but not immediately", async () => {
    const { peer, client } = await setUp();
    await signOn(client);
    expect(peer.requestCounts.get("GET /jwks")).toBe(1);
    peer.rotateKeys();
    await expect(signOn(client)).rejects.toMatchObject({ kind: "not_verified" });
    expect(peer.requestCounts.get("GET /jwks")).toBe(1);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + MINUTE + SECOND });
    onTestFinished(() => void vi.useRealTimers());
    expect((await signOn(client)).identity.subject).toBe("ann");
    expect(peer.requestCounts.get("GET /jwks")).toBe(2);
  });

  it("must name the configured issuer", async () => {
    const { peer, client } = await setUp();
    peer.rewriteResponse = (path, body) =>
      path.startsWith("/.well-known/")
        ? body.replace(/"issuer":"[^"]+"/, '"issuer":"http://127.0.0.1:1"')
        : undefined;
    await expect(client.discover()).rejects.toMatchObject({ kind: "not_verified" });
    // Given the whole address of the metadata, the library would accept any issuer.
    const direct = await setUp({ issuer: (url) => `${url}/.well-known/openid-configuration` });
    await expect(direct.client.discover()).rejects.toMatchObject({
      kind: "not_verified",
      message: expect.stringMatching(/another issuer/),
    });
  });

  it("stay valid while the provider is unavailable, and are fetched once for simultaneous requests", async () => {
    const { peer, client, clock } = await setUp();
    await Promise.all(Array.from({ length: 5 }, () => client.startAuthorization(REDIRECT)));
    const path = "GET /.well-known/openid-configuration";
    expect(peer.requestCounts.get(path)).toBe(1);
    await peer.stop();
    clock.advance(HOUR + 1);
    await client.startAuthorization(REDIRECT);
    await peer.restart();
    clock.advance(20 * SECOND);
    await client.startAuthorization(REDIRECT);
    expect(peer.requestCounts.get(path)).toBe(1);
    clock.advance(20 * SECOND);
    await client.startAuthorization(REDIRECT);
    expect(peer.requestCounts.get(path)).toBe(2);
  });

  it("are fetched at the next request if the first fetch failed", async () => {
    const { peer, client } = await setUp();
    await peer.stop();
    await expect(client.discover()).rejects.toMatchObject({
      kind: "provider_unavailable",
      message: expect.stringMatching(/ECONNREFUSED/),
    });
    await peer.restart();
    expect((await client.startAuthorization(REDIRECT)).url.origin).toBe(peer.issuer);
  });
});

describe("a refresh of an identity", () => {
  it("returns the present claims and the next refresh token", async () => {
    const { peer, client } = await setUp();
    const { grant } = await signOn(client);
    peer.accounts.set("ann", { ...ANN, groups: "millrace-admin" });
    const renewed = await client.refresh({ ...grant, refreshToken: grant.refreshToken! });
    expect(renewed.identity.groups).toEqual(["millrace-admin"]);
    expect(renewed.grant.refreshToken).not.toBe(grant.refreshToken);
  });

  it("keeps the previous ID token if the provider sends no new one", async () => {
    const { peer, client } = await setUp({ allClaimsInIdToken: true });
    const { grant } = await signOn(client);
    changeTokens(peer, (tokens) => delete tokens["id_token"]);
    const renewed = await client.refresh({ ...grant, refreshToken: grant.refreshToken! });
    expect(renewed).toMatchObject({ identity: { subject: "ann" }, grant: { idToken: grant.idToken } });
  });

  it("calls the userinfo endpoint if there is no new ID token, and drops groups that only the old one names", async () => {
    const { peer, client } = await setUp({ allClaimsInIdToken: true });
    const { identity, grant } = await signOn(client);
    expect(identity.groups).not.toEqual([]);
    const { groups: _, ...inNone } = ANN;
    peer.accounts.set("ann", inNone);
    changeTokens(peer, (tokens) => delete tokens["id_token"]);
    const renewed = await client.refresh({ ...grant, refreshToken: grant.refreshToken! });
    expect(renewed.identity).toEqual({ ...identity, groups: [] });
  });

  it("refuses the claims of another person", async () => {
    // The client does not call the userinfo endpoint, which would find the difference too.
    const { client } = await setUp({ allClaimsInIdToken: true });
    const { grant } = await signOn(client);
    const other = { ...grant, subject: "ben", refreshToken: grant.refreshToken! };
    await expect(client.refresh(other)).rejects.toMatchObject({
      kind: "not_verified",
      message: expect.stringMatching(/sub/),
    });
  });

  it("distinguishes a revoked grant from an unavailable provider", async () => {
    const { peer, client } = await setUp();
    const { grant } = await signOn(client);
    const renewable = { ...grant, refreshToken: grant.refreshToken! };
    await peer.stop();
    await expect(client.refresh(renewable)).rejects.toMatchObject({ kind: "provider_unavailable" });
    await peer.restart();
    await peer.revokeGrants();
    await expect(client.refresh(renewable)).rejects.toMatchObject({ kind: "code_expired" });
  });
});

describe("the provider's own logout", () => {
  const BACK = "http://127.0.0.1:1/ui/sign-in?signed_out=1";

  it("gets the ID token and the address to return to, and is absent if the provider has none", async () => {
    const { client } = await setUp();
    const { grant } = await signOn(client);
    const url = (await client.logoutUrl(grant, BACK))!;
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: CLIENT_ID,
      id_token_hint: grant.idToken,
      post_logout_redirect_uri: BACK,
    });
    const huge = (await client.logoutUrl({ ...grant, idToken: "x".repeat(7_000) }, BACK))!;
    expect(huge.searchParams.has("id_token_hint")).toBe(false);
    const without = await setUp({ logout: false });
    expect(await without.client.logoutUrl(grant, BACK)).toBeUndefined();
  });
});

const of = (...sources: Record<string, unknown>[]) =>
  identityOf("https://id.example.com", "1", sources, { groupsClaim: "groups", trustEmails: false });

const trusting = (...sources: Record<string, unknown>[]) =>
  identityOf("https://id.example.com", "1", sources, { groupsClaim: "groups", trustEmails: true });

describe("an identity in a provider's claims", () => {
  it("never combines an address with an email_verified of another source", () => {
    expect(
      of({ email: "eve@example.com" }, { email: "ann@example.com", email_verified: true }),
    ).toMatchObject({
      email: "ann@example.com",
      emailVerified: true,
    });
    expect(of({ email: "eve@example.com" }, { email_verified: true })).toMatchObject({
      email: "eve@example.com",
      emailVerified: false,
    });
  });

  it.each([
    [true, true],
    ["true", true],
    [false, false],
    ["yes", false],
    [1, false],
    [undefined, false],
  ])("reads email_verified %j as %s", (email_verified, expected) => {
    expect(of({ email: "ann@example.com", email_verified }).emailVerified).toBe(expected);
  });

  it("counts an address as verified if the operator trusts the provider and the claim is absent", () => {
    expect(trusting({ email: "ann@example.com" }).emailVerified).toBe(true);
    for (const email_verified of [false, "false", null, 0])
      expect(trusting({ email: "ann@example.com", email_verified }).emailVerified).toBe(false);
  });

  it.each([
    [
      ["a", "b"],
      ["a", "b"],
    ],
    ["a", ["a"]],
    [["a", 7, null, { b: 1 }, "x".repeat(257)], ["a"]],
    [{ a: true }, []],
    [undefined, []],
  ])("reads the groups %j", (groups, expected) => {
    expect(of({ groups }).groups).toEqual(expected);
  });

  it("limits the number of groups, and ignores an invalid address", () => {
    expect(of({ groups: Array.from({ length: 5_000 }, String) }).groups).toHaveLength(1_000);
    expect(of({ email: "not an address", email_verified: true }).email).toBeNull();
    expect(of({}).groups).toEqual([]);
  });
});

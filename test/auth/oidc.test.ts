import { describe, expect, it, onTestFinished, vi } from "vitest";
import { identityOf, type OidcClient, oidcClient } from "../../src/auth/oidc.ts";
import { HOUR, MINUTE, SECOND } from "../../src/core/clock.ts";
import { cookieClient } from "../support/cookie-client.ts";
import { fakeClock } from "../support/instance.ts";
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

interface Given extends Partial<OidcProviderOptions> {
  issuer?: (url: string) => string;
}

/** A client of a provider of its own, on a clock of our own. */
async function client({ issuer = (url) => url, ...options }: Given = {}) {
  const peer = await testOidcProvider({ accounts: { ann: ANN }, ...options });
  const clock = fakeClock();
  const made = oidcClient(
    {
      issuer: new URL(issuer(peer.issuer)),
      clientId: CLIENT_ID,
      clientSecret: options.clientAuth === "none" ? undefined : CLIENT_SECRET,
      groupsClaim: "groups",
      trustEmails: false,
    },
    clock,
  );
  return { peer, clock, client: made };
}

/** Goes to the provider and comes back; the callback is still to be taken in. */
async function comeBack(made: OidcClient) {
  const { url, flow } = await made.startAuthorization(REDIRECT);
  const at = new URL(await signInAtProvider(cookieClient(), url.href, "ann", REDIRECT));
  return { at, flow, asked: url };
}

async function signOn(made: OidcClient) {
  const { at, flow } = await comeBack(made);
  return made.exchangeCode(at, flow);
}

/** Makes the token endpoint's answers say something else. */
const changeTokens = (peer: TestOidcProvider, change: (tokens: Record<string, unknown>) => void): void => {
  peer.rewriteResponse = (path, body) => {
    if (path !== "/token") return undefined;
    const tokens = JSON.parse(body) as Record<string, unknown>;
    change(tokens);
    return JSON.stringify(tokens);
  };
};

describe("the way through a provider", () => {
  it("asks with PKCE, state and nonce, and gives who came back", async () => {
    const { peer, client: made } = await client();
    const { at, flow, asked } = await comeBack(made);
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
    const { identity, grant } = await made.exchangeCode(at, flow);
    expect(identity).toEqual({
      issuer: peer.issuer,
      subject: "ann",
      email: "ann@example.com",
      emailVerified: true,
      groups: ["millrace-editor"],
    });
    expect(grant).toMatchObject({ subject: "ann", refreshToken: expect.any(String) });
  });

  it("does not ask for offline access where the provider does not know it", async () => {
    const { client: made } = await client({ scopes: ["openid"] });
    expect((await made.startAuthorization(REDIRECT)).url.searchParams.get("scope")).toBe(
      "openid email profile",
    );
  });

  it.each(["client_secret_basic", "client_secret_post", "none"] as const)(
    "proves itself by %s where the provider wants that",
    async (clientAuth) => {
      const { client: made } = await client({ clientAuth });
      expect((await signOn(made)).identity.subject).toBe("ann");
    },
  );

  it("asks at the userinfo endpoint only for what the ID token does not say", async () => {
    const { peer, client: made } = await client({ allClaimsInIdToken: true });
    expect((await signOn(made)).identity.groups).toEqual(["millrace-editor"]);
    expect(peer.requestCounts.get("GET /me")).toBeUndefined();
  });

  it("takes a code once, and not an expired one", async () => {
    const { peer, client: made } = await client();
    const { at, flow } = await comeBack(made);
    await made.exchangeCode(at, flow);
    await expect(made.exchangeCode(at, flow)).rejects.toMatchObject({
      kind: "code_expired",
      message: expect.stringMatching(/invalid_grant/),
    });
    const again = await comeBack(made);
    await peer.expireCode(again.at.href);
    await expect(made.exchangeCode(again.at, again.flow)).rejects.toMatchObject({ kind: "code_expired" });
  });

  it("refuses another nonce, another state, another verifier and another issuer", async () => {
    const { client: made } = await client();
    const { at, flow } = await comeBack(made);
    const mixedUp = new URL(at);
    mixedUp.searchParams.set("iss", "http://127.0.0.1:1");
    await expect(made.exchangeCode(mixedUp, flow)).rejects.toMatchObject({
      kind: "not_verified",
      message: expect.stringMatching(/iss/),
    });
    const silent = new URL(at);
    silent.searchParams.delete("iss");
    await expect(made.exchangeCode(silent, flow)).rejects.toMatchObject({ kind: "not_verified" });
    await expect(made.exchangeCode(at, { ...flow, state: "other" })).rejects.toMatchObject({
      kind: "not_verified",
    });
    await expect(made.exchangeCode(at, { ...flow, verifier: "o".repeat(43) })).rejects.toMatchObject({
      kind: "code_expired",
    });
    const second = await comeBack(made);
    await expect(made.exchangeCode(second.at, { ...second.flow, nonce: "other" })).rejects.toMatchObject({
      kind: "not_verified",
      message: expect.stringMatching(/nonce/),
    });
  });

  it("tells that somebody cancelled from what the provider refuses", async () => {
    const { client: made } = await client();
    const { url, flow } = await made.startAuthorization(REDIRECT);
    const at = new URL(await signInAtProvider(cookieClient(), url.href, undefined, REDIRECT));
    await expect(made.exchangeCode(at, flow)).rejects.toMatchObject({
      kind: "denied",
      message: expect.stringMatching(/access_denied/),
    });
    at.searchParams.set("error", "unauthorized_client");
    await expect(made.exchangeCode(at, flow)).rejects.toMatchObject({ kind: "provider_refused" });
  });

  it.each([
    ["a challenge", { "WWW-Authenticate": 'Basic realm="x"' }, '{"error":"invalid_client"}'],
    ["an error", { "Content-Type": "application/json" }, '{"error":"invalid_client"}'],
    ["nothing", {}, ""],
  ])("says that the client was refused, where a 401 comes with %s", async (_with, headers, body) => {
    const { peer, client: made } = await client();
    const { at, flow } = await comeBack(made);
    peer.cannedResponse = { path: "/token", status: 401, headers, body };
    await expect(made.exchangeCode(at, flow)).rejects.toMatchObject({
      kind: "provider_refused",
      message: "the token endpoint answered 401 (client id or secret)",
    });
    peer.cannedResponse = { path: "/token", status: 401, headers: {}, body: '{"error":"invalid_grant"}' };
    await expect(made.exchangeCode(at, flow)).rejects.toMatchObject({
      message: expect.not.stringContaining("client id"),
    });
  });

  it("never says a code or a token in a fault", async () => {
    const { peer, client: made } = await client();
    const { at, flow } = await comeBack(made);
    const code = at.searchParams.get("code")!;
    let token = "";
    changeTokens(peer, (tokens) => {
      token = String(tokens["access_token"]);
      tokens["id_token"] = `${String(tokens["id_token"]).slice(0, -8)}AAAAAAAA`;
    });
    const issue = (await made.exchangeCode(at, flow).catch((error: unknown) => error)) as Error;
    expect(issue).toMatchObject({ kind: "not_verified" });
    expect(token).not.toBe("");
    for (const secret of [code, token, CLIENT_SECRET, flow.verifier, flow.nonce])
      expect(JSON.stringify([issue.message, issue])).not.toContain(secret);
  });

  it("believes no ID token whose signature is not the provider's", async () => {
    const { peer, client: made } = await client();
    changeTokens(peer, (tokens) => {
      const [head, payload, signature] = String(tokens["id_token"]).split(".") as [string, string, string];
      const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as Record<string, unknown>;
      const forged = Buffer.from(JSON.stringify({ ...claims, email: "eve@example.com" })).toString(
        "base64url",
      );
      tokens["id_token"] = [head, forged, signature].join(".");
    });
    await expect(signOn(made)).rejects.toMatchObject({ kind: "not_verified" });
  });

  it("reads no more than an answer may have", async () => {
    const { peer, client: made } = await client();
    await made.discover();
    peer.rewriteResponse = (path, body) => (path === "/me" ? body.padEnd(2 * 1024 * 1024) : undefined);
    await expect(signOn(made)).rejects.toMatchObject({
      message: expect.stringMatching(/larger than 1048576 bytes/),
    });
  });
});

describe("the provider's keys and metadata", () => {
  it("are asked for again when a key is not known, but not at once", async () => {
    const { peer, client: made } = await client();
    await signOn(made);
    expect(peer.requestCounts.get("GET /jwks")).toBe(1);
    peer.rotateKeys();
    await expect(signOn(made)).rejects.toMatchObject({ kind: "not_verified" });
    expect(peer.requestCounts.get("GET /jwks")).toBe(1);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + MINUTE + SECOND });
    onTestFinished(() => void vi.useRealTimers());
    expect((await signOn(made)).identity.subject).toBe("ann");
    expect(peer.requestCounts.get("GET /jwks")).toBe(2);
  });

  it("must name the issuer that is configured", async () => {
    const { peer, client: made } = await client();
    peer.rewriteResponse = (path, body) =>
      path.startsWith("/.well-known/")
        ? body.replace(/"issuer":"[^"]+"/, '"issuer":"http://127.0.0.1:1"')
        : undefined;
    await expect(made.discover()).rejects.toMatchObject({ kind: "not_verified" });
    // With the whole address of the metadata the library would take any.
    const direct = await client({ issuer: (url) => `${url}/.well-known/openid-configuration` });
    await expect(direct.client.discover()).rejects.toMatchObject({
      kind: "not_verified",
      message: expect.stringMatching(/another issuer/),
    });
  });

  it("go on counting while the provider is away, and are asked for once by many", async () => {
    const { peer, client: made, clock } = await client();
    await Promise.all(Array.from({ length: 5 }, () => made.startAuthorization(REDIRECT)));
    const path = "GET /.well-known/openid-configuration";
    expect(peer.requestCounts.get(path)).toBe(1);
    await peer.stop();
    clock.advance(HOUR + 1);
    await made.startAuthorization(REDIRECT);
    await peer.restart();
    clock.advance(20 * SECOND);
    await made.startAuthorization(REDIRECT);
    expect(peer.requestCounts.get(path)).toBe(1);
    clock.advance(20 * SECOND);
    await made.startAuthorization(REDIRECT);
    expect(peer.requestCounts.get(path)).toBe(2);
  });

  it("are asked for at the next need when the provider was away at first", async () => {
    const { peer, client: made } = await client();
    await peer.stop();
    await expect(made.discover()).rejects.toMatchObject({
      kind: "provider_unavailable",
      message: expect.stringMatching(/ECONNREFUSED/),
    });
    await peer.restart();
    expect((await made.startAuthorization(REDIRECT)).url.origin).toBe(peer.issuer);
  });
});

describe("renewing what a provider has said", () => {
  it("gives what it says by now, with the next refresh token", async () => {
    const { peer, client: made } = await client();
    const { grant } = await signOn(made);
    peer.accounts.set("ann", { ...ANN, groups: "millrace-admin" });
    const renewed = await made.refresh({ ...grant, refreshToken: grant.refreshToken! });
    expect(renewed.identity.groups).toEqual(["millrace-admin"]);
    expect(renewed.grant.refreshToken).not.toBe(grant.refreshToken);
  });

  it("goes by the ID token from before where there is no new one", async () => {
    const { peer, client: made } = await client({ allClaimsInIdToken: true });
    const { grant } = await signOn(made);
    changeTokens(peer, (tokens) => delete tokens["id_token"]);
    const renewed = await made.refresh({ ...grant, refreshToken: grant.refreshToken! });
    expect(renewed).toMatchObject({ identity: { subject: "ann" }, grant: { idToken: grant.idToken } });
  });

  it("asks who they are by now where there is no new ID token, and no group counts that only the old one names", async () => {
    const { peer, client: made } = await client({ allClaimsInIdToken: true });
    const { identity, grant } = await signOn(made);
    expect(identity.groups).not.toEqual([]);
    const { groups: _, ...inNone } = ANN;
    peer.accounts.set("ann", inNone);
    changeTokens(peer, (tokens) => delete tokens["id_token"]);
    const renewed = await made.refresh({ ...grant, refreshToken: grant.refreshToken! });
    expect(renewed.identity).toEqual({ ...identity, groups: [] });
  });

  it("takes nobody else for the same person", async () => {
    // Nothing is asked at the userinfo endpoint, which would notice too.
    const { client: made } = await client({ allClaimsInIdToken: true });
    const { grant } = await signOn(made);
    const other = { ...grant, subject: "ben", refreshToken: grant.refreshToken! };
    await expect(made.refresh(other)).rejects.toMatchObject({
      kind: "not_verified",
      message: expect.stringMatching(/sub/),
    });
  });

  it("tells a grant that was taken back from a provider that is away", async () => {
    const { peer, client: made } = await client();
    const { grant } = await signOn(made);
    const renewable = { ...grant, refreshToken: grant.refreshToken! };
    await peer.stop();
    await expect(made.refresh(renewable)).rejects.toMatchObject({ kind: "provider_unavailable" });
    await peer.restart();
    await peer.revokeGrants();
    await expect(made.refresh(renewable)).rejects.toMatchObject({ kind: "code_expired" });
  });
});

describe("the provider's own logout", () => {
  const BACK = "http://127.0.0.1:1/ui/sign-in?signed_out=1";

  it("is told who goes and where to, and left out where there is none", async () => {
    const { client: made } = await client();
    const { grant } = await signOn(made);
    const url = (await made.logoutUrl(grant, BACK))!;
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: CLIENT_ID,
      id_token_hint: grant.idToken,
      post_logout_redirect_uri: BACK,
    });
    const huge = (await made.logoutUrl({ ...grant, idToken: "x".repeat(7_000) }, BACK))!;
    expect(huge.searchParams.has("id_token_hint")).toBe(false);
    const without = await client({ logout: false });
    expect(await without.client.logoutUrl(grant, BACK)).toBeUndefined();
  });
});

const of = (...sources: Record<string, unknown>[]) =>
  identityOf("https://id.example.com", "1", sources, { groupsClaim: "groups", trustEmails: false });

const trusting = (...sources: Record<string, unknown>[]) =>
  identityOf("https://id.example.com", "1", sources, { groupsClaim: "groups", trustEmails: true });

describe("what a provider says of somebody", () => {
  it("never takes an address and whether it is theirs from two places", () => {
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
  ])("takes email_verified %j for %s", (email_verified, expected) => {
    expect(of({ email: "ann@example.com", email_verified }).emailVerified).toBe(expected);
  });

  it("takes an address for verified where the operator says so and the provider says nothing", () => {
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

  it("bounds the groups, and knows no address that is none", () => {
    expect(of({ groups: Array.from({ length: 5_000 }, String) }).groups).toHaveLength(1_000);
    expect(of({ email: "not an address", email_verified: true }).email).toBeNull();
    expect(of({}).groups).toEqual([]);
  });
});

/** A real OpenID Connect provider on loopback with a login form, which tests can make misbehave. */
import { generateKeyPairSync } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Provider } from "oidc-provider";
import { onTestFinished } from "vitest";
import type { CookieClient } from "./cookie-client.ts";

export const CLIENT_ID = "millrace";
export const CLIENT_SECRET = "for loopback only";

/** The claims of an account, by the name for signing in. */
interface Account {
  email?: string;
  email_verified?: boolean | string;
  groups?: string | string[];
}

export interface TestOidcProvider {
  /** The issuer, at 127.0.0.1 whatever Millrace's host is. */
  issuer: string;
  /** The accounts by name, which tests may change. */
  accounts: Map<string, Account>;
  /** The environment of a Millrace process that uses the provider. */
  env: Record<string, string>;
  /** The number of requests by method and path: `POST /token`. */
  requestCounts: Map<string, number>;
  /** Signs with a new key from now on. */
  rotateKeys(): void;
  /** Replaces the nonce of later sign-ins, like a replay of an older response. */
  replaceNonce(): void;
  /** Changes the response of a path; undefined for no change. */
  rewriteResponse: ((path: string, body: string) => string | undefined) | undefined;
  /** Replaces the response of a path. */
  cannedResponse: { path: string; status: number; headers: Record<string, string>; body: string } | undefined;
  /** Delays the response of a path. */
  beforeResponse: ((path: string) => Promise<void>) | undefined;
  /** Expires the code in a callback's URL. */
  expireCode(callback: string): Promise<void>;
  /** Revokes all refresh tokens. */
  revokeGrants(): Promise<void>;
  stop(): Promise<void>;
  restart(): Promise<void>;
}

export interface OidcProviderOptions {
  accounts: Record<string, Account>;
  /** The client authentication of Millrace; without one it has no secret. */
  clientAuth?: "client_secret_basic" | "client_secret_post" | "none";
  refreshTokens?: boolean;
  /** Whether the ID token contains all claims; otherwise the userinfo endpoint returns them. */
  allClaimsInIdToken?: boolean;
  logout?: boolean;
  scopes?: string[];
}

/** Starts a server that is closed at the end of the test. */
export async function testOidcProvider(options: OidcProviderOptions): Promise<TestOidcProvider> {
  const accounts = new Map(Object.entries(options.accounts));
  const requestCounts = new Map<string, number>();
  const adapter = memory();
  let nonce: string | undefined;
  let provider: Provider;
  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const path = new URL(req.url!, issuer).pathname;
    const line = `${req.method} ${path}`;
    requestCounts.set(line, (requestCounts.get(line) ?? 0) + 1);
    if (path === peer.cannedResponse?.path) {
      res.writeHead(peer.cannedResponse.status, peer.cannedResponse.headers).end(peer.cannedResponse.body);
      return;
    }
    if (path.startsWith("/interaction/")) return logIn(provider, accounts, req, res);
    if (nonce !== undefined && path === "/auth") req.url = req.url!.replace(/nonce=[^&]+/, `nonce=${nonce}`);
    if (peer.beforeResponse !== undefined) holdAnswer(res, () => peer.beforeResponse?.(path));
    if (peer.rewriteResponse !== undefined) changeAnswer(res, (body) => peer.rewriteResponse?.(path, body));
    await provider.callback()(req, res);
  };
  const server = createServer((req, res) => void answer(req, res));
  const listen = (port: number): Promise<void> =>
    new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  const stop = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  await listen(0);
  onTestFinished(async () => {
    if (server.listening) await stop();
  });
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  let generation = 0;
  const rotateKeys = (): void => {
    generation += 1;
    provider = providerOf(issuer, accounts, adapter, options, `key-${generation}`);
  };
  rotateKeys();
  const peer: TestOidcProvider = {
    issuer,
    accounts,
    requestCounts,
    env: {
      MILLRACE_OIDC_ISSUER: issuer,
      MILLRACE_OIDC_CLIENT_ID: CLIENT_ID,
      ...(options.clientAuth !== "none" && { MILLRACE_OIDC_CLIENT_SECRET: CLIENT_SECRET }),
    },
    rotateKeys,
    replaceNonce: () => (nonce = "a-nonce-of-another-day"),
    rewriteResponse: undefined,
    cannedResponse: undefined,
    beforeResponse: undefined,
    async expireCode(callback) {
      const code = await provider.AuthorizationCode.find(new URL(callback).searchParams.get("code")!);
      await code!.destroy();
    },
    async revokeGrants() {
      for (const key of adapter.rows.keys()) if (key.startsWith("RefreshToken:")) adapter.rows.delete(key);
    },
    stop,
    restart: () => listen(port),
  };
  return peer;
}

/** Accepts any redirect URI on this machine, also below /millrace: Millrace's port is unknown until it runs, and the provider starts first. */
const isOurs = (uri: string): boolean =>
  /^https?:\/\/(127\.0\.0\.1|localhost)(:\d+)?(?:\/millrace)?\/(login\/callback|oauth2\/idpresponse|ui\/sign-in\?signed_out=1|logout)$/.test(
    uri,
  );

function providerOf(
  issuer: string,
  accounts: ReadonlyMap<string, Account>,
  adapter: ReturnType<typeof memory>,
  {
    clientAuth = "client_secret_basic",
    refreshTokens = true,
    allClaimsInIdToken = false,
    logout = true,
    scopes = ["openid", "offline_access"],
  }: OidcProviderOptions,
  kid: string,
): Provider {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const provider = new Provider(issuer, {
    adapter: adapter.of,
    clients: [
      {
        client_id: CLIENT_ID,
        ...(clientAuth !== "none" && { client_secret: CLIENT_SECRET }),
        token_endpoint_auth_method: clientAuth,
        redirect_uris: ["http://127.0.0.1/login/callback"],
        post_logout_redirect_uris: [],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        id_token_signed_response_alg: "ES256",
      },
    ],
    clientAuthMethods: [clientAuth],
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), kid, use: "sig", alg: "ES256" }] },
    cookies: { keys: ["for loopback only"] },
    findAccount: (_ctx, name) => {
      const account = accounts.get(name);
      return account && { accountId: name, claims: () => ({ sub: name, ...account }) };
    },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["groups"] },
    conformIdTokenClaims: !allClaimsInIdToken,
    scopes,
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: logout, logoutSource } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    issueRefreshToken: () => refreshTokens,
    rotateRefreshToken: true,
    // Users are not asked for consent.
    async loadExistingGrant(ctx) {
      const { client, session } = ctx.oidc;
      const grant = new ctx.oidc.provider.Grant({
        clientId: client!.clientId,
        accountId: session!.accountId!,
      });
      grant.addOIDCScope("openid email profile offline_access");
      await grant.save();
      return grant;
    },
    ttl: {
      AccessToken: 600,
      AuthorizationCode: 60,
      Grant: 86_400,
      IdToken: 600,
      Interaction: 600,
      RefreshToken: 86_400,
      Session: 86_400,
    },
  });
  const { prototype } = provider.Client as unknown as { prototype: Record<string, unknown> };
  prototype["redirectUriAllowed"] = isOurs;
  prototype["postLogoutRedirectUriAllowed"] = isOurs;
  provider.on("server_error", (_ctx, error) => {
    throw error;
  });
  return provider;
}

const page = (res: ServerResponse, title: string, body: string): void => {
  res.writeHead(200, { "Content-Type": "text/html; charset=utf-8" });
  res.end(
    `<!doctype html><html lang="en"><title>${title}</title><main><h1>${title}</h1>${body}</main></html>`,
  );
};

async function logIn(
  provider: Provider,
  accounts: ReadonlyMap<string, Account>,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  if (req.method === "GET") {
    page(
      res,
      "The provider",
      `<form method="post"><label>Name <input name="name" autofocus></label><button>Log in</button><button name="deny" value="1">Cancel</button></form>`,
    );
    return;
  }
  const form = new URLSearchParams(await text(req));
  const name = form.get("name") ?? "";
  if (form.has("deny") || !accounts.has(name)) {
    await provider.interactionFinished(req, res, { error: "access_denied" });
  } else {
    await provider.interactionFinished(req, res, { login: { accountId: name } });
  }
}

/** Signs out without a question when the ID token identifies the session; the form submits itself. */
function logoutSource(ctx: { body?: unknown; oidc: { params?: unknown } }, form: string): void {
  const isKnown = (ctx.oidc.params as { id_token_hint?: string }).id_token_hint !== undefined;
  ctx.body = `<!doctype html><html lang="en"><title>Log out</title><main><h1>Log out?</h1>${form}<button form="op.logoutForm" name="logout" value="yes">Log out</button></main>${
    isKnown
      ? `<script>const f = document.forms[0]; f.insertAdjacentHTML("beforeend", '<input type="hidden" name="logout" value="yes">'); f.submit();</script>`
      : ""
  }</html>`;
}

/** Lets a test change a JSON response. */
function changeAnswer(res: ServerResponse, change: (body: string) => string | undefined): void {
  const end = res.end.bind(res);
  res.end = ((body?: unknown, ...rest: never[]) => {
    const changed = typeof body === "string" || Buffer.isBuffer(body) ? change(String(body)) : undefined;
    if (changed === undefined) return end(body as never, ...rest);
    if (!res.headersSent) res.setHeader("Content-Length", Buffer.byteLength(changed));
    return end(changed);
  }) as typeof res.end;
}

/** Lets a test delay a response. */
function holdAnswer(res: ServerResponse, released: () => Promise<void> | undefined): void {
  const end = res.end.bind(res) as (...args: unknown[]) => ServerResponse;
  res.end = ((...args: unknown[]) => {
    void Promise.resolve(released()).then(() => end(...args));
    return res;
  }) as typeof res.end;
}

/** The provider's storage, which outlives a change of its keys. */
function memory() {
  const rows = new Map<string, Record<string, unknown>>();
  const of = (model: string) => {
    const key = (id: string) => `${model}:${id}`;
    const byUid = (uid: string) =>
      [...rows].find(([name, row]) => name.startsWith(`${model}:`) && row["uid"] === uid)?.[1];
    return {
      upsert: async (id: string, row: Record<string, unknown>) => void rows.set(key(id), row),
      find: async (id: string) => rows.get(key(id)),
      findByUid: async (uid: string) => byUid(uid),
      findByUserCode: async () => undefined,
      destroy: async (id: string) => void rows.delete(key(id)),
      consume: async (id: string) => void (rows.get(key(id))!["consumed"] = Math.floor(Date.now() / 1_000)),
      async revokeByGrantId(grantId: string) {
        for (const [name, row] of rows) if (row["grantId"] === grantId) rows.delete(name);
      },
    };
  };
  return { rows, of };
}

/**
 * Follows Millrace's `/login`, or its redirect, through the provider's form, like a browser.
 * @param name undefined to cancel
 * @returns the callback's URL, which has not been requested yet
 */
export async function signInAtProvider(
  browser: CookieClient,
  begin: string,
  name: string | undefined,
  redirectUri = new URL("/login/callback", begin).href,
): Promise<string> {
  let response = await browser.fetch(begin);
  for (let steps = 0; steps < 10; steps += 1) {
    const location = response.headers.get("Location");
    if (location === null) {
      const form = name === undefined ? "deny=1" : `name=${name}`;
      response = await browser.fetch(response.url, form);
      continue;
    }
    const next = new URL(location, response.url).href;
    if (next.startsWith(redirectUri)) return next;
    response = await browser.fetch(next);
  }
  throw new Error("the provider leads in circles");
}

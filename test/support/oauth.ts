/** Applications that connect by signing in: a client of MCP, and the browser of the person who decides. */
import { createHash, randomBytes } from "node:crypto";
import { expect } from "vitest";
import type { CookieClient } from "./cookie-client.ts";
import { cookieClient } from "./cookie-client.ts";
import { type TestInstance, testInstance } from "./instance.ts";
import { signedInUser } from "./users.ts";

export const CALLBACK = "http://127.0.0.1:33418/callback";
const SAME = { "Sec-Fetch-Site": "same-origin" };

type Options = Parameters<TestInstance["rest"]>[0];

/** Both servers, which know each other. */
export async function oauthSite(instance: TestInstance, options: Options = {}) {
  const web = await instance.rest(options);
  const mcp = await instance.mcp(options);
  return { web: web.url, mcp: mcp.url };
}

/** The browser of a new person who is signed in. */
export async function browserOf(
  instance: TestInstance,
  web: string,
  person: Parameters<typeof signedInUser>[1] = {},
): Promise<CookieClient> {
  const { cookie } = await signedInUser(instance, person);
  const browser = cookieClient();
  const [name, value] = cookie.split("=");
  browser.cookies.set(new URL(web).origin, new Map([[name!, value!]]));
  return browser;
}

interface ConsentRequest {
  name: string;
  kind: string;
  host: string;
  published_by: string | null;
  scopes: string[];
  projects: { id: string; name: string }[];
}

/** The URL of the web server whose authorization endpoint a URL is. */
const baseOf = (url: string): string => url.slice(0, url.indexOf("/oauth/authorize"));

/** Opens the URL of an authorization. @returns the id of the request on the consent page */
export async function openConsent(browser: CookieClient, url: string): Promise<string> {
  const response = await browser.fetch(url, undefined, { "Sec-Fetch-Site": "cross-site" });
  const location = response.headers.get("Location") ?? "";
  expect([response.status, new URL(location, url).href.split("?")[0]]).toEqual([
    303,
    `${baseOf(url)}/ui/authorize`,
  ]);
  return new URL(location, url).searchParams.get("request")!;
}

/** Reads the request as the consent page does. */
export async function readConsent(browser: CookieClient, web: string, id: string) {
  const response = await browser.fetch(`${web}/session/authorization?request=${id}`, undefined, SAME);
  return { status: response.status, ...((await response.json()) as ConsentRequest & { code?: string }) };
}

/** Sends a decision as the consent page does. */
export async function decide(
  browser: CookieClient,
  web: string,
  decision: Record<string, unknown>,
  headers: Record<string, string> = SAME,
) {
  const response = await browser.fetch(`${web}/session/authorization`, JSON.stringify(decision), {
    "Content-Type": "application/json",
    ...headers,
  });
  return {
    status: response.status,
    ...((await response.json()) as { continue_at?: string; code?: string }),
  };
}

/** Decides a request, and goes on to the application. @returns the URL that the application gets */
export async function consent(
  browser: CookieClient,
  url: string,
  decision: Record<string, unknown> = { allow: true },
): Promise<URL> {
  const request = await openConsent(browser, url);
  const { status, continue_at: next } = await decide(browser, baseOf(url), { request, ...decision });
  expect(status).toBe(200);
  const response = await browser.fetch(new URL(url).origin + next!);
  expect(response.status).toBe(303);
  return new URL(response.headers.get("Location")!);
}

/** Registers a client. */
export async function register(web: string, metadata: Record<string, unknown> = {}) {
  const response = await fetch(`${web}/oauth/register`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ client_name: "Test", redirect_uris: [CALLBACK], ...metadata }),
  });
  return {
    status: response.status,
    ...((await response.json()) as { client_id: string; error?: string; error_description?: string }),
  };
}

/** An authorization URL with its PKCE verifier. */
export function authorizationUrl(web: string, params: Record<string, string | undefined>) {
  const verifier = randomBytes(32).toString("base64url");
  const all = {
    response_type: "code",
    redirect_uri: CALLBACK,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    state: "xyz",
    ...params,
  };
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { url: `${web}/oauth/authorize?${new URLSearchParams(given).toString()}`, verifier };
}

interface Tokens {
  access_token: string;
  refresh_token?: string;
  expires_in: number;
  scope: string;
  token_type: string;
  error?: string;
  error_description?: string;
}

/** Sends a request to the token endpoint. */
export async function requestToken(web: string, params: Record<string, string>) {
  const response = await fetch(`${web}/oauth/token`, { method: "POST", body: new URLSearchParams(params) });
  return { status: response.status, ...((await response.json()) as Tokens) };
}

/** A registered client with tokens, which a person has authorized. */
export async function connectedClient(
  browser: CookieClient,
  { web, mcp }: { web: string; mcp: string },
  params: Record<string, string | undefined> = {},
  decision?: Record<string, unknown>,
) {
  const { client_id } = await register(web);
  const { url, verifier } = authorizationUrl(web, { client_id, resource: `${mcp}/mcp`, ...params });
  const callback = await consent(browser, url, decision);
  const code = callback.searchParams.get("code")!;
  const exchange = {
    grant_type: "authorization_code",
    client_id,
    code,
    redirect_uri: CALLBACK,
    code_verifier: verifier,
  };
  const tokens = await requestToken(web, exchange);
  const refresh = (refresh_token = tokens.refresh_token!, more: Record<string, string> = {}) =>
    requestToken(web, { grant_type: "refresh_token", client_id, refresh_token, ...more });
  return { client_id, callback, exchange, tokens, refresh };
}

/** Lists the tools over MCP with a token. @returns the status, and the challenge of a refusal */
export async function listTools(
  url: string,
  token: string | undefined,
  headers: Record<string, string> = {},
) {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }),
  });
  const text = await response.text();
  return { status: response.status, challenge: response.headers.get("WWW-Authenticate"), text };
}

/** Both servers, and the browser of an editor who is signed in. */
export async function site(options: Options = {}, given: Parameters<typeof testInstance>[0] = {}) {
  const instance = await testInstance(given);
  const urls = await oauthSite(instance, options);
  const browser = await browserOf(instance, urls.web);
  return { instance, ...urls, urls, browser };
}

/** Where a response redirects to; null for nowhere. */
export const location = (response: Response): string | null => response.headers.get("Location");

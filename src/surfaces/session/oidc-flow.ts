/** The state of a sign-in flow, in an encrypted cookie of the browser that started it; valid for ten minutes. */
import { parseCookie, stringifySetCookie } from "cookie";
import type { Request } from "express";
import { z } from "zod";
import { seal, unseal } from "../../auth/sealing.ts";
import { cookieAttributes, type CookieScope } from "../../auth/sessions.ts";
import { MINUTE, SECOND } from "../../core/clock.ts";

/** How long a flow is valid, in milliseconds. */
const FLOW_MS = 10 * MINUTE;
/** Maximum length of the path to return to, in characters. */
const MAX_PATH_LENGTH = 2_000;
const HOME = "/ui/";

const StoredFlow = z.strictObject({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  /** The path to return to. */
  to: z.string(),
  /** The browser's earlier session, which ends when the new one starts. */
  previous: z.string().nullable(),
  /** When the flow began, in milliseconds since 1970. */
  at: z.number(),
});
export type StoredFlow = z.infer<typeof StoredFlow>;

const FLOW_COOKIE = { name: "millrace-sign-on", plainName: "millrace_sign_on" };

/** The `Set-Cookie` that stores a flow, or removes it. SameSite=Lax, so that it is sent with the redirect from the provider. */
export function flowCookie(key: Buffer, flow: StoredFlow | null, scope: CookieScope): string {
  return stringifySetCookie({
    ...cookieAttributes(scope, FLOW_COOKIE),
    value: flow === null ? "" : seal(key, flow).toString("base64url"),
    sameSite: "lax",
    maxAge: flow === null ? 0 : FLOW_MS / SECOND,
  });
}

/** The flow of this browser; undefined for none and for an expired one. */
export function readFlowCookie(
  key: Buffer,
  req: Request,
  scope: CookieScope,
  now: number,
): StoredFlow | undefined {
  const cookie = parseCookie(req.headers.cookie ?? "")[cookieAttributes(scope, FLOW_COOKIE).name];
  if (cookie === undefined) return undefined;
  const { data } = StoredFlow.safeParse(unseal(key, Buffer.from(cookie, "base64url")));
  return data !== undefined && now - data.at < FLOW_MS ? data : undefined;
}

/** The requested path, without the prefix of the public URL, if it is a page of the web interface, else its home page, which prevents open redirects. */
export function safeReturnPath(to: unknown): string {
  if (typeof to !== "string" || to.length > MAX_PATH_LENGTH) return HOME;
  const base = "http://base.invalid";
  const url = URL.parse(to, base);
  if (!to.startsWith("/") || url?.origin !== base || !url.pathname.startsWith(HOME)) return HOME;
  return url.pathname + url.search + url.hash;
}

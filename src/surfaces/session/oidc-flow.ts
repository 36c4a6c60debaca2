/** One way to the provider and back, in a cookie of the browser that began it: sealed, for ten minutes. */
import { parseCookie, stringifySetCookie } from "cookie";
import type { Request } from "express";
import { z } from "zod";
import { seal, unseal } from "../../auth/sealing.ts";
import { MINUTE, SECOND } from "../../core/clock.ts";

const FLOW_MS = 10 * MINUTE;
const LONGEST_PLACE = 2_000;
const HOME = "/ui/";

const StoredFlow = z.strictObject({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  /** Where to go afterwards. */
  to: z.string(),
  /** The session that the browser had before: it ends when the new one begins. */
  previous: z.string().nullable(),
  at: z.number(),
});
export type StoredFlow = z.infer<typeof StoredFlow>;

const nameOf = (secure: boolean): string => (secure ? "__Host-millrace-sign-on" : "millrace_sign_on");

/** The `Set-Cookie` that keeps it, or takes it away. It comes along when the provider's page leads back here. */
export function flowCookie(key: Buffer, flow: StoredFlow | null, secure: boolean): string {
  return stringifySetCookie({
    name: nameOf(secure),
    value: flow === null ? "" : seal(key, flow).toString("base64url"),
    path: "/",
    httpOnly: true,
    secure,
    sameSite: "lax",
    maxAge: flow === null ? 0 : FLOW_MS / SECOND,
  });
}

/** The one that this browser has begun, unless that is too long ago. */
export function readFlowCookie(
  key: Buffer,
  req: Request,
  secure: boolean,
  now: number,
): StoredFlow | undefined {
  const cookie = parseCookie(req.headers.cookie ?? "")[nameOf(secure)];
  if (cookie === undefined) return undefined;
  const { data } = StoredFlow.safeParse(unseal(key, Buffer.from(cookie, "base64url")));
  return data !== undefined && now - data.at < FLOW_MS ? data : undefined;
}

/** A page of the interface, whatever was asked for: nobody is led elsewhere from here. */
export function safeReturnPath(to: unknown): string {
  if (typeof to !== "string" || to.length > LONGEST_PLACE) return HOME;
  const here = "http://here.invalid";
  const url = URL.parse(to, here);
  if (!to.startsWith("/") || url?.origin !== here || !url.pathname.startsWith(HOME)) return HOME;
  return url.pathname + url.search + url.hash;
}

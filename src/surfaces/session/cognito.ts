/** Sign-in behind an Application Load Balancer with AWS Cognito: the balancer's headers, and signing out. */
import { createHash } from "node:crypto";
import { parseCookie, stringifySetCookie } from "cookie";
import type { Express, Request, Response } from "express";
import type { albVerifier } from "../../auth/alb.ts";
import { isCrossSiteNavigation } from "../../auth/csrf.ts";
import type { SessionLimits, Sessions } from "../../auth/sessions.ts";
import { findUpToDateUser, type SignOnPolicy } from "../../auth/sign-on.ts";
import { iso, MINUTE } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import { newSessionId } from "../../core/ids.ts";
import type { Services } from "../invoke.ts";
import { rejectOtherMethods } from "../rest/methods.ts";
import { sendPlainPage } from "../web/plain-page.ts";
import { completeSignIn, signOnEndedError } from "./complete-sign-in.ts";
import { clientAddressOf, browserNameOf } from "./authenticate.ts";
import type { SignOnProvider } from "./endpoint.ts";

export interface CognitoOptions {
  services: Pick<Services, "read" | "write" | "clock" | "log">;
  sessions: Sessions;
  limits: SessionLimits;
  policy: SignOnPolicy;
  verify: ReturnType<typeof albVerifier>;
  /**
   * When the state was restored from a backup, in milliseconds since 1970. Earlier sign-ins are refused, because the
   * backup does not say which of them have ended.
   */
  notBefore: number;
  clientId: string;
  /** The user pool's domain; undefined when not configured. */
  domain: URL | undefined;
  /** The public base URL. */
  baseUrl: () => string;
  /** Whether an address is the load balancer's; undefined when its addresses are not configured. */
  isProxy: ((address: string) => boolean) | undefined;
}

/** The load balancer splits its session over several cookies. */
const ALB_COOKIE = /^AWSELBAuthSessionCookie(?:-\d)?$/;
const ALB_COOKIES = ["AWSELBAuthSessionCookie-0", "AWSELBAuthSessionCookie-1"];
/** Set before the redirect to the user pool's logout page, to recognise the request that returns from it. */
const LOGOUT_COOKIE = "millrace_left";

/** The sign-in of `--auth-mode cognito`. */
export function cognitoProvider(options: CognitoOptions): SignOnProvider {
  const { services, sessions, limits, policy, verify } = options;
  const { read, clock, log } = services;
  let warnedAt = -Infinity;

  /** Whether the load balancer may have set the headers. */
  function isFromBalancer(req: Request): boolean {
    // The balancer forwards requests with these headers unchanged, so the other headers are the client's own.
    if (req.headers["x-api-key"] !== undefined || req.headers.authorization !== undefined) return false;
    const peer = req.socket.remoteAddress ?? "";
    if (options.isProxy === undefined || options.isProxy(peer)) return true;
    if (clock.now() - warnedAt > MINUTE) {
      warnedAt = clock.now();
      log.warn({ peer }, "load balancer headers ignored: the peer is not in MILLRACE_TRUSTED_PROXIES");
    }
    return false;
  }

  return {
    async authenticate(req) {
      if (req.headers["x-amzn-oidc-data"] === undefined || !isFromBalancer(req)) return undefined;
      const { identity, loginKey, authenticatedAt } = (await verifyHeaders(req))!;
      const digest = createHash("sha256").update(loginKey).digest();
      const found = await sessions.findByDigest(digest);
      if (found?.over === true && found.user.status === "active") throw signOnEndedError();
      const user = found && (await findUpToDateUser(read, policy, identity));
      if (found !== undefined && user !== undefined) return { session: found.session, user };
      const expiresAt = authenticatedAt + limits.maxAgeMs;
      if (expiresAt <= clock.now() || authenticatedAt < options.notBefore) throw signOnEndedError();
      const client = browserNameOf(req);
      const requestId = req.res!.locals["requestId"] as string;
      const session = {
        id: newSessionId(),
        digest,
        createdAt: iso(authenticatedAt),
        lastSeenAt: iso(clock.now()),
        expiresAt: iso(expiresAt),
        client,
        address: clientAddressOf(req),
        external: true,
        endedAt: null,
      };
      return completeSignIn(services, policy, identity, session, { client, requestId });
    },

    mount(app: Express) {
      app
        .route("/logout")
        .get((req, res) => signOut(options, req, res))
        .all(rejectOtherMethods(["GET"]));
    },
  };

  /** Verifies the headers. The reason of a refusal is logged, not returned. */
  async function verifyHeaders(req: Request) {
    try {
      return await verify(req.headers);
    } catch (error) {
      if (error instanceof AppError) {
        const reason = (error.cause as Error | undefined)?.message;
        const requestId = req.res!.locals["requestId"] as string;
        log.warn({ request_id: requestId, ip: req.ip, reason }, "load balancer sign-in refused");
      }
      throw error;
    }
  }
}

/** Signs out. The load balancer forwards this path without identity headers, so only its own session can be ended. */
function signOut({ domain, clientId, baseUrl }: CognitoOptions, req: Request, res: Response): void {
  const cookies = parseCookie(req.headers.cookie ?? "");
  const secure = new URL(baseUrl()).protocol === "https:";
  const logoutCookie = { path: `${req.baseUrl}/logout`, httpOnly: true, secure, sameSite: "lax" } as const;
  const removal = { path: "/", httpOnly: true, secure: true, maxAge: 0 } as const;
  const names = new Set([...ALB_COOKIES, ...Object.keys(cookies).filter((name) => ALB_COOKIE.test(name))]);
  const expired = [...names].map((name) => stringifySetCookie({ name, value: "", ...removal }));
  res.setHeader("Cache-Control", "no-store");
  const isReturning = cookies[LOGOUT_COOKIE] !== undefined;
  if (!isReturning && isCrossSiteNavigation(req.headers)) {
    sendPlainPage(
      res,
      200,
      "Sign out of Millrace?",
      `<p><a href="${req.baseUrl}/logout">Sign out</a></p><p><a href="${req.baseUrl}/ui/">Stay</a></p>`,
    );
  } else if (isReturning || domain === undefined) {
    res.setHeader("Set-Cookie", [
      ...expired,
      stringifySetCookie({ name: LOGOUT_COOKIE, value: "", ...logoutCookie, maxAge: 0 }),
    ]);
    sendPlainPage(res, 200, "You are signed out", `<p><a href="${req.baseUrl}/ui/">Sign in again</a></p>`);
  } else {
    res.setHeader("Set-Cookie", [
      ...expired,
      stringifySetCookie({ name: LOGOUT_COOKIE, value: "1", ...logoutCookie, maxAge: 300 }),
    ]);
    const logoutUrl = new URL("/logout", domain);
    logoutUrl.searchParams.set("client_id", clientId);
    logoutUrl.searchParams.set("logout_uri", `${baseUrl()}/logout`);
    res.redirect(303, logoutUrl.href);
  }
}

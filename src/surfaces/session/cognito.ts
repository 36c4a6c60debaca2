/** Behind an Application Load Balancer that signs people in with AWS Cognito: its headers in, and the way out. */
import { createHash, randomBytes } from "node:crypto";
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
import { completeSignIn, signOnEndedError } from "./complete-sign-in.ts";
import { clientAddressOf, browserNameOf } from "./authenticate.ts";
import type { SignOnProvider } from "./endpoint.ts";

export interface CognitoOptions {
  services: Pick<Services, "read" | "write" | "clock" | "log">;
  sessions: Sessions;
  limits: SessionLimits;
  policy: SignOnPolicy;
  verify: ReturnType<typeof albVerifier>;
  /** When the state came back from a backup (ms): which of the logins made before had ended by then is not known. */
  notBefore: number;
  clientId: string;
  /** The user pool's own pages; undefined where nobody has named them. */
  domain: URL | undefined;
  /** Where people reach us. */
  baseUrl: () => string;
  /** Whether a peer is the load balancer, by its address; undefined where nobody has said which addresses it has. */
  isProxy: ((address: string) => boolean) | undefined;
}

/** The load balancer's session, in as many cookies as it needs. */
const ALB_COOKIE = /^AWSELBAuthSessionCookie(?:-\d)?$/;
const ALB_COOKIES = ["AWSELBAuthSessionCookie-0", "AWSELBAuthSessionCookie-1"];
/** Says that the way to the user pool's logout was gone: what comes back from there is at its end. */
const LEFT_COOKIE = "millrace_left";

/** The sign-on of `--auth-mode cognito`. */
export function cognitoProvider(options: CognitoOptions): SignOnProvider {
  const { services, sessions, limits, policy, verify } = options;
  const { read, clock, log } = services;
  let warnedAt = -Infinity;

  /** Whether the headers may be the load balancer's. */
  function isFromBalancer(req: Request): boolean {
    // With these it forwards a request as it is, to be let in by its key: the headers are then the client's own.
    if (req.headers["x-api-key"] !== undefined || req.headers.authorization !== undefined) return false;
    const peer = req.socket.remoteAddress ?? "";
    if (options.isProxy === undefined || options.isProxy(peer)) return true;
    if (clock.now() - warnedAt > MINUTE) {
      warnedAt = clock.now();
      log.warn({ peer }, "a load balancer's headers came from elsewhere (MILLRACE_TRUSTED_PROXIES): ignored");
    }
    return false;
  }

  return {
    async authenticate(req) {
      if (req.headers["x-amzn-oidc-data"] === undefined || !isFromBalancer(req)) return undefined;
      const { identity, loginKey, authenticatedAt } = (await verified(req))!;
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
        .get((req, res) => leave(options, req, res))
        .all(rejectOtherMethods(["GET"]));
    },
  };

  /** What the headers say; why they are refused is for the log. */
  async function verified(req: Request) {
    try {
      return await verify(req.headers);
    } catch (error) {
      if (error instanceof AppError) {
        const reason = (error.cause as Error | undefined)?.message;
        const requestId = req.res!.locals["requestId"] as string;
        log.warn({ request_id: requestId, ip: req.ip, reason }, "a load balancer's sign-on was refused");
      }
      throw error;
    }
  }
}

/** The load balancer forwards this path to everybody: it says nothing of who asks, so there is only its own session to end. */
function leave({ domain, clientId, baseUrl }: CognitoOptions, req: Request, res: Response): void {
  const cookies = parseCookie(req.headers.cookie ?? "");
  const secure = new URL(baseUrl()).protocol === "https:";
  const own = { path: "/logout", httpOnly: true, secure, sameSite: "lax" } as const;
  const gone = { path: "/", httpOnly: true, secure: true, maxAge: 0 } as const;
  const names = new Set([...ALB_COOKIES, ...Object.keys(cookies).filter((name) => ALB_COOKIE.test(name))]);
  const expired = [...names].map((name) => stringifySetCookie({ name, value: "", ...gone }));
  res.setHeader("Cache-Control", "no-store");
  const isBack = cookies[LEFT_COOKIE] !== undefined;
  if (!isBack && isCrossSiteNavigation(req.headers)) {
    page(res, "Sign out of Millrace?", `<p><a href="/logout">Sign out</a></p><p><a href="/ui/">Stay</a></p>`);
  } else if (isBack || domain === undefined) {
    res.setHeader("Set-Cookie", [
      ...expired,
      stringifySetCookie({ name: LEFT_COOKIE, value: "", ...own, maxAge: 0 }),
    ]);
    page(res, "You are signed out", `<p><a href="/ui/">Sign in again</a></p>`);
  } else {
    res.setHeader("Set-Cookie", [
      ...expired,
      stringifySetCookie({ name: LEFT_COOKIE, value: "1", ...own, maxAge: 300 }),
    ]);
    const out = new URL("/logout", domain);
    out.searchParams.set("client_id", clientId);
    out.searchParams.set("logout_uri", `${baseUrl()}/logout`);
    res.redirect(303, out.href);
  }
}

const STYLE = `:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
main { max-width: 24rem; margin: 4rem auto; padding: 0 1rem }
h1 { font-size: 1.4rem }
a { color: light-dark(#0b7285, #66d9e8) }`;

/** A page without anything that would have to be loaded. */
function page(res: Response, title: string, body: string): void {
  const nonce = randomBytes(16).toString("base64");
  res.setHeader(
    "Content-Security-Policy",
    `default-src 'none'; style-src 'nonce-${nonce}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
  );
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><style nonce="${nonce}">${STYLE}</style>`;
  res
    .type("html")
    .send(
      `<!doctype html><html lang="en"><head>${head}</head><body><main><h1>${title}</h1>${body}</main></body></html>`,
    );
}

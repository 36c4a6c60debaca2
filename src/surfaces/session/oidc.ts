/** The sign-on of `--auth-mode oidc`: to the provider, back with what it says, and out again. */
import type { Express, Request, Response } from "express";
import type { SignInErrorCode } from "../../../schemas/sign-on.ts";
import { isCrossSiteNavigation } from "../../auth/csrf.ts";
import type { OidcClient } from "../../auth/oidc.ts";
import { OidcError } from "../../auth/oidc-errors.ts";
import { sessionCookie } from "../../auth/sessions.ts";
import type { SignOnPolicy } from "../../auth/sign-on.ts";
import { HOUR, iso } from "../../core/clock.ts";
import { toAppError } from "../../core/errors.ts";
import { secondsSince } from "../../core/meter.ts";
import type { Services } from "../invoke.ts";
import { rejectOtherMethods } from "../rest/methods.ts";
import { completeSignIn } from "./complete-sign-in.ts";
import { clientAddressOf, browserNameOf, findCookieSession, isSecure } from "./authenticate.ts";
import type { SignOnProvider, SignInServices } from "./endpoint.ts";
import { flowCookie, readFlowCookie, safeReturnPath } from "./oidc-flow.ts";
import { writeIntentOf, claimsRefresher, sealGrant, unsealGrant } from "./oidc-renewal.ts";

/** How long a session lasts at most where the provider can't be asked again. */
const UNRENEWED_MS = 12 * HOUR;
const CALLBACK = "/login/callback";
const SIGN_IN = "/ui/sign-in";

export interface OidcProviderOptions {
  services: Services;
  signIn: Pick<SignInServices, "sessions" | "limits" | "throttle" | "https">;
  policy: SignOnPolicy;
  client: OidcClient;
  /** Seals what a browser keeps for us on its way; the same on all copies. */
  flowKey: Buffer;
  /** How old what the provider said of somebody may become, in milliseconds. */
  refreshMs: number;
  /** Where people reach us. */
  baseUrl: () => string;
}

/** Somebody does not come in, and is told why on the page for signing in. */
class NotIn extends Error {
  readonly errorCode: SignInErrorCode;
  /** @param message for the log */
  constructor(errorCode: SignInErrorCode, message: string) {
    super(message);
    this.errorCode = errorCode;
  }
}

export function oidcProvider(options: OidcProviderOptions): SignOnProvider {
  const { services, signIn, policy, client, flowKey, refreshMs, baseUrl } = options;
  const { clock, log, write } = services;
  const upToDate = claimsRefresher({
    services,
    policy,
    client,
    refreshMs,
    find: (req) => findCookieSession(signIn, req),
  });
  const redirectUri = (): string => baseUrl() + CALLBACK;
  const signedOutUrl = (): string => `${baseUrl()}${SIGN_IN}?signed_out=1`;

  /** Sends a browser to the provider. */
  async function toProvider(req: Request, res: Response): Promise<string> {
    await signIn.throttle.consume("to_provider", { address: clientAddressOf(req) });
    const previous = (await findCookieSession(signIn, req))?.session.id ?? null;
    const { url, flow } = await client.startAuthorization(redirectUri());
    const kept = { ...flow, to: safeReturnPath(req.query["to"]), previous, at: clock.now() };
    res.setHeader("Set-Cookie", flowCookie(flowKey, kept, isSecure(signIn, req)));
    return url.href;
  }

  /** Takes in who comes back. */
  async function fromProvider(req: Request, res: Response): Promise<string> {
    const secure = isSecure(signIn, req);
    const flow = readFlowCookie(flowKey, req, secure, clock.now());
    // Whoever has begun elsewhere must not be signed in here (login CSRF).
    if (flow === undefined)
      throw new NotIn("flow_expired", "the browser has no sign-in flow, or it has expired");
    if (req.query["state"] !== flow.state)
      throw new NotIn("state_mismatch", "the state belongs to another sign-in flow");
    const over = flowCookie(flowKey, null, secure);
    res.setHeader("Set-Cookie", over);
    res.locals["to"] = flow.to;
    const address = clientAddressOf(req);
    const attempt = await signIn.throttle.consume("from_provider", { address });
    const at = new URL(redirectUri());
    at.search = new URL(req.originalUrl, at).search;
    const { identity, grant } = await client.exchangeCode(at, flow);

    const name = browserNameOf(req);
    const { token, record } = signIn.sessions.create(name, address);
    const renewable = grant.refreshToken !== undefined;
    const soonest = iso(clock.now() + UNRENEWED_MS);
    const expiresAt = renewable || record.expiresAt < soonest ? record.expiresAt : soonest;
    const session = { ...record, expiresAt };
    const claims = {
      sealed: sealGrant(token, grant),
      claimsAt: renewable ? iso(clock.now()) : expiresAt,
    };
    const asked = { client: name, requestId: res.locals["requestId"] as string };
    await completeSignIn(services, policy, identity, session, asked, async (tx) => {
      if (!(await tx.sessions.saveClaims(session.id, claims, null))) {
        throw new Error("a new session already has a grant");
      }
      if (flow.previous !== null) await tx.sessions.end(flow.previous);
    });
    await attempt.markSucceeded();
    res.setHeader("Set-Cookie", [over, sessionCookie(token, secure, signIn.limits)]);
    return flow.to;
  }

  /** Signs out here, and at the provider where it has a page for that. */
  async function out(req: Request, res: Response): Promise<string> {
    if (isCrossSiteNavigation(req.headers)) return "/ui/";
    const found = await findCookieSession(signIn, req);
    const claims = found && (await services.read.sessions.claims(found.session.id));
    if (found !== undefined) {
      await write(writeIntentOf("sign_out", found, req), async (tx) => {
        if (await tx.sessions.end(found.session.id)) await tx.recordAudit(found.user.email);
      });
    }
    res.setHeader("Set-Cookie", sessionCookie(null, isSecure(signIn, req), signIn.limits));
    // What the browser kept of answers is gone with the session.
    res.setHeader("Clear-Site-Data", '"cache"');
    const grant = found && unsealGrant(found.token, claims?.sealed ?? null);
    try {
      return (await client.logoutUrl(grant, signedOutUrl()))?.href ?? signedOutUrl();
    } catch (error) {
      if (!(error instanceof OidcError)) throw error;
      log.warn({ reason: error.message }, "somebody signed out here, and not at the identity provider");
      return signedOutUrl();
    }
  }

  /** A page that does its work and leads on: on what went wrong, to the page that says so. */
  const leading =
    (operation: string, work: (req: Request, res: Response) => Promise<string>) =>
    async (req: Request, res: Response): Promise<void> => {
      const start = performance.now();
      const line = { operation, request_id: res.locals["requestId"] as string, surface: "web", ip: req.ip };
      res.locals["observed"] = true;
      res.setHeader("Cache-Control", "no-store");
      let location: string;
      let status = 303;
      try {
        location = await work(req, res);
        log.info(line, operation);
      } catch (thrown) {
        const { code, reason, status: refusedStatus } = refusalOf(thrown);
        status = refusedStatus;
        log[code === "internal" ? "error" : "warn"]({ ...line, code, reason }, `${operation} refused`);
        const to = (res.locals["to"] as string | undefined) ?? safeReturnPath(req.query["to"]);
        location = `${SIGN_IN}?${new URLSearchParams({ error: code, to: to.slice("/ui".length) }).toString()}`;
      }
      services.meter.operationCompleted({
        name: operation,
        surface: "web",
        status,
        seconds: secondsSince(start),
      });
      res.redirect(303, location);
    };

  return {
    async authenticate(req) {
      const found = await findCookieSession(signIn, req);
      return found && upToDate(found, req);
    },

    mount(app: Express) {
      const pages = [
        ["/login", leading("begin_sign_on", toProvider)],
        [CALLBACK, leading("finish_sign_on", fromProvider)],
        ["/logout", leading("sign_out", out)],
      ] as const;
      for (const [path, handle] of pages)
        app
          .route(path)
          .get(handle)
          .all(rejectOtherMethods(["GET"]));
    },

    onListening() {
      const register = { redirect_uri: redirectUri(), post_logout_redirect_uri: signedOutUrl() };
      log.info(register, "people sign in at the identity provider; these two are to be registered there");
      client.discover().catch((error: unknown) => {
        const reason = (error as Error).message;
        log.warn(
          { reason },
          "the identity provider can't be used now: it is asked again when somebody comes",
        );
      });
    },
  };
}

/** The code that the sign-in page shows, the HTTP status to count it under, and the reason for the log. */
function refusalOf(thrown: unknown): { code: SignInErrorCode; status: number; reason: unknown } {
  if (thrown instanceof NotIn) return { code: thrown.errorCode, status: 403, reason: thrown.message };
  if (thrown instanceof OidcError) {
    return {
      code: thrown.kind,
      status: thrown.kind === "provider_unavailable" ? 502 : 403,
      reason: thrown.message,
    };
  }
  const error = toAppError(thrown);
  const { code, status, message } = error;
  if (code === "sign_on_refused")
    return { code: error.details.reason as SignInErrorCode, status, reason: message };
  if (code === "too_many_attempts") return { code, status, reason: message };
  if (code === "busy" || code === "storage_unavailable") return { code: "busy", status, reason: message };
  return { code: "internal", status, reason: error.cause ?? error };
}

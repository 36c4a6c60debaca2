/** The sign-in of `--auth-mode oidc`: the redirect to the provider, the callback, and signing out. */
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
import { clientAddressOf, browserNameOf, cookieScopeOf, findCookieSession } from "./authenticate.ts";
import type { SignOnProvider, SignInServices } from "./endpoint.ts";
import { flowCookie, readFlowCookie, safeReturnPath } from "./oidc-flow.ts";
import { claimsRefresher, sealGrant, unsealGrant } from "./oidc-renewal.ts";
import { signedInWriteIntent } from "./write-intent.ts";

/** Maximum lifetime of a session without a refresh token, in milliseconds. */
const MAX_UNREFRESHED_MS = 12 * HOUR;
const CALLBACK = "/login/callback";
const SIGN_IN = "/ui/sign-in";

export interface OidcProviderOptions {
  services: Services;
  signIn: Pick<SignInServices, "sessions" | "limits" | "throttle" | "https" | "pathPrefix">;
  policy: SignOnPolicy;
  client: OidcClient;
  /** Encrypts the flow cookie; the same on all copies of the server. */
  flowKey: Buffer;
  /** Maximum age of a user's claims, in milliseconds. */
  refreshMs: number;
  /** The public base URL. */
  baseUrl: () => string;
}

/** A refused sign-in, whose code the sign-in page explains. */
class SignInRefused extends Error {
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
  const refreshClaims = claimsRefresher({
    services,
    policy,
    client,
    refreshMs,
    find: (req) => findCookieSession(signIn, req),
  });
  const redirectUri = (): string => baseUrl() + CALLBACK;
  const signedOutUrl = (): string => `${baseUrl()}${SIGN_IN}?signed_out=1`;

  /** Starts a flow. @returns the provider's URL to redirect to */
  async function beginSignIn(req: Request, res: Response): Promise<string> {
    await signIn.throttle.consume("to_provider", { address: clientAddressOf(req) });
    const previous = (await findCookieSession(signIn, req))?.session.id ?? null;
    const { url, flow } = await client.startAuthorization(redirectUri());
    const stored = { ...flow, to: safeReturnPath(req.query["to"]), previous, at: clock.now() };
    res.setHeader("Set-Cookie", flowCookie(flowKey, stored, cookieScopeOf(signIn, req)));
    return url.href;
  }

  /** Handles the redirect from the provider. @returns the path to return to */
  async function finishSignIn(req: Request, res: Response): Promise<string> {
    const scope = cookieScopeOf(signIn, req);
    const flow = readFlowCookie(flowKey, req, scope, clock.now());
    // A flow that another browser started must not sign this one in (login CSRF).
    if (flow === undefined)
      throw new SignInRefused("flow_expired", "the browser has no sign-in flow, or it has expired");
    if (req.query["state"] !== flow.state)
      throw new SignInRefused("state_mismatch", "the state belongs to another sign-in flow");
    const removedFlow = flowCookie(flowKey, null, scope);
    res.setHeader("Set-Cookie", removedFlow);
    res.locals["to"] = flow.to;
    const address = clientAddressOf(req);
    const attempt = await signIn.throttle.consume("from_provider", { address });
    const callback = new URL(redirectUri());
    callback.search = new URL(req.originalUrl, callback).search;
    const { identity, grant } = await client.exchangeCode(callback, flow);

    const name = browserNameOf(req);
    const { token, record } = signIn.sessions.create(name, address);
    const renewable = grant.refreshToken !== undefined;
    const latest = iso(clock.now() + MAX_UNREFRESHED_MS);
    const expiresAt = renewable || record.expiresAt < latest ? record.expiresAt : latest;
    const session = { ...record, expiresAt };
    const claims = {
      sealed: sealGrant(token, grant),
      claimsAt: renewable ? iso(clock.now()) : expiresAt,
    };
    const request = { client: name, requestId: res.locals["requestId"] as string };
    await completeSignIn(services, policy, identity, session, request, async (tx) => {
      if (!(await tx.sessions.saveClaims(session.id, claims, null))) {
        throw new Error("a new session already has a grant");
      }
      if (flow.previous !== null) await tx.sessions.end(flow.previous);
    });
    await attempt.markSucceeded();
    res.setHeader("Set-Cookie", [removedFlow, sessionCookie(token, scope, signIn.limits)]);
    return flow.to;
  }

  /** Signs out here, and at the provider if it has an endpoint for that. @returns the URL to redirect to */
  async function signOut(req: Request, res: Response): Promise<string> {
    if (isCrossSiteNavigation(req.headers)) return "/ui/";
    const found = await findCookieSession(signIn, req);
    const claims = found && (await services.read.sessions.claims(found.session.id));
    if (found !== undefined) {
      await write(signedInWriteIntent("sign_out", found, req), async (tx) => {
        if (await tx.sessions.end(found.session.id)) await tx.recordAudit(found.user.email);
      });
    }
    res.setHeader("Set-Cookie", sessionCookie(null, cookieScopeOf(signIn, req), signIn.limits));
    // The browser's cache must not outlive the session.
    res.setHeader("Clear-Site-Data", '"cache"');
    const grant = found && unsealGrant(found.token, claims?.sealed ?? null);
    try {
      return (await client.logoutUrl(grant, signedOutUrl()))?.href ?? signedOutUrl();
    } catch (error) {
      if (!(error instanceof OidcError)) throw error;
      log.warn({ reason: error.message }, "signed out here, but not at the identity provider");
      return signedOutUrl();
    }
  }

  /** A handler that redirects to the URL or the path of this server that `work` returns, or to the sign-in page with the code of an error. */
  const redirecting =
    (operation: string, work: (req: Request, res: Response) => Promise<string>) =>
    async (req: Request, res: Response): Promise<void> => {
      const start = performance.now();
      const logFields = {
        operation,
        request_id: res.locals["requestId"] as string,
        surface: "web",
        ip: req.ip,
      };
      res.locals["observed"] = true;
      res.setHeader("Cache-Control", "no-store");
      let location: string;
      let status = 303;
      try {
        location = await work(req, res);
        log.info(logFields, operation);
      } catch (thrown) {
        const { code, reason, status: refusedStatus } = refusalOf(thrown);
        status = refusedStatus;
        log[code === "internal" ? "error" : "warn"]({ ...logFields, code, reason }, `${operation} refused`);
        const to = (res.locals["to"] as string | undefined) ?? safeReturnPath(req.query["to"]);
        location = `${SIGN_IN}?${new URLSearchParams({ error: code, to: to.slice("/ui".length) }).toString()}`;
      }
      services.meter.operationCompleted({
        name: operation,
        surface: "web",
        status,
        seconds: secondsSince(start),
      });
      res.redirect(303, location.startsWith("/") ? signIn.pathPrefix + location : location);
    };

  return {
    async authenticate(req) {
      const found = await findCookieSession(signIn, req);
      return found && refreshClaims(found, req);
    },

    mount(app: Express) {
      const pages = [
        ["/login", redirecting("begin_sign_on", beginSignIn)],
        [CALLBACK, redirecting("finish_sign_on", finishSignIn)],
        ["/logout", redirecting("sign_out", signOut)],
      ] as const;
      for (const [path, handle] of pages)
        app
          .route(path)
          .get(handle)
          .all(rejectOtherMethods(["GET"]));
    },

    onListening() {
      const urls = { redirect_uri: redirectUri(), post_logout_redirect_uri: signedOutUrl() };
      log.info(urls, "register these two URLs at the identity provider");
      client.discover().catch((error: unknown) => {
        const reason = (error as Error).message;
        log.warn({ reason }, "identity provider not available, trying again at the next sign-in");
      });
    },
  };
}

/** The code that the sign-in page shows, the HTTP status to count it under, and the reason for the log. */
function refusalOf(thrown: unknown): { code: SignInErrorCode; status: number; reason: unknown } {
  if (thrown instanceof SignInRefused) return { code: thrown.errorCode, status: 403, reason: thrown.message };
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

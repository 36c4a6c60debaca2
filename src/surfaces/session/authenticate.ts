/** Who may come in over REST: a key, or the session of a browser that asks from our own pages. */
import type { Request } from "express";
import {
  browserName,
  type CookieSession,
  principalOf,
  type AuthenticatedSession,
} from "../../auth/sessions.ts";
import { rejectCrossSiteRequest } from "../../auth/csrf.ts";
import type { Actor, Principal } from "../../core/ports.ts";
import { clientName } from "../client-name.ts";
import type { Admission } from "../admission.ts";
import type { SignInServices } from "./endpoint.ts";

/** Whether a request reached us by https, as far as we can know. */
export const isSecure = (signIn: Pick<SignInServices, "https">, req: Request): boolean =>
  signIn.https ?? req.secure;

/**
 * The living session of a request, if it has one.
 * @throws AppError forbidden_origin when another site's page sent it
 */
export async function authenticateSession(
  signIn: SignInServices,
  req: Request,
): Promise<AuthenticatedSession | undefined> {
  const found = await (signIn.provider ? signIn.provider.authenticate(req) : byPassword(signIn, req));
  // After the look-up: a cookie of something else on this host is no business of ours.
  if (found !== undefined) rejectCrossSiteRequest(req.method, req.headers, signIn.origins);
  return found;
}

/** By the cookie that our own sign-in has set. */
export const findCookieSession = async (
  signIn: Pick<SignInServices, "sessions" | "https">,
  req: Request,
): Promise<CookieSession | undefined> =>
  req.headers.cookie === undefined
    ? undefined
    : signIn.sessions.findByCookie(req.headers, isSecure(signIn, req));

/** Not one that a provider has vouched for, whom nobody would ask again here. */
async function byPassword(signIn: SignInServices, req: Request): Promise<AuthenticatedSession | undefined> {
  const found = await findCookieSession(signIn, req);
  return found?.claimsAt === null ? found : undefined;
}

/** The browser that a request comes from, so that people know their sessions apart. */
export const browserNameOf = (req: Request): string => browserName(clientName(req.headers["user-agent"]));

/** Where a request comes from: an IP address, as far as it is known. */
export const clientAddressOf = (req: Request): string => req.ip ?? "unknown";

export type AdmitRequest = (req: Request) => Promise<Principal>;

/** A key goes before a session: who sends one means it. */
export function requestAuthenticator(gate: Admission, signIn: SignInServices): AdmitRequest {
  return async (req) => {
    const { headers } = req;
    if (headers["x-api-key"] === undefined && headers.authorization === undefined) {
      const found = await authenticateSession(signIn, req);
      if (found !== undefined) {
        const principal = principalOf(found);
        gate.checkRateLimit(principal);
        return principal;
      }
    }
    return gate.admit(headers);
  };
}

/** Browsers of people who are signed in are told from scripts. */
export function clientOf(req: Request, { kind }: Principal): Actor["client"] {
  return kind === "session"
    ? { surface: "web", name: browserNameOf(req) }
    : { surface: "rest", name: clientName(req.headers["user-agent"]) };
}

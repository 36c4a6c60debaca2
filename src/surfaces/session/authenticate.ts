/** Authentication over REST: by API key, or by the session of a browser whose page has our origin. */
import type { Request } from "express";
import {
  browserName,
  type CookieScope,
  type CookieSession,
  principalOf,
  type AuthenticatedSession,
} from "../../auth/sessions.ts";
import { rejectCrossSiteRequest } from "../../auth/csrf.ts";
import type { Actor, Principal } from "../../core/ports.ts";
import { userAgentName } from "../client-name.ts";
import type { Admission } from "../admission.ts";
import type { SignInServices } from "./endpoint.ts";

/** Whether a request came over https: by the configured URL, else by the connection or a trusted proxy's header. */
const isSecure = (signIn: Pick<SignInServices, "https">, req: Request): boolean => signIn.https ?? req.secure;

/** The URL of the MCP server for the client of a request. */
export function mcpUrlOf(signIn: Pick<SignInServices, "https" | "mcpUrl">, req: Request): string {
  // With an empty Host header Express leaves hostname undefined, against its types.
  const { hostname = "" } = req as { hostname?: string };
  return signIn.mcpUrl(hostname, isSecure(signIn, req));
}

/** The cookies of a request. */
export const cookieScopeOf = (
  signIn: Pick<SignInServices, "https" | "pathPrefix">,
  req: Request,
): CookieScope => ({ secure: isSecure(signIn, req), pathPrefix: signIn.pathPrefix });

/**
 * Finds the valid session of a request; undefined for none.
 * @throws AppError forbidden_origin when another site's page sent it
 */
export async function authenticateSession(
  signIn: SignInServices,
  req: Request,
): Promise<AuthenticatedSession | undefined> {
  const found = await (signIn.provider
    ? signIn.provider.authenticate(req)
    : authenticateByCookie(signIn, req));
  // After the look-up, because a cookie of another application on this host is no session of ours.
  if (found !== undefined) rejectCrossSiteRequest(req.method, req.headers, signIn.origins);
  return found;
}

/** Finds the session of our session cookie. */
export const findCookieSession = async (
  signIn: Pick<SignInServices, "sessions" | "https" | "pathPrefix">,
  req: Request,
): Promise<CookieSession | undefined> =>
  req.headers.cookie === undefined
    ? undefined
    : signIn.sessions.findByCookie(req.headers, cookieScopeOf(signIn, req));

/** Refuses sessions that began at an identity provider, because nothing would refresh their claims in this mode. */
async function authenticateByCookie(
  signIn: SignInServices,
  req: Request,
): Promise<AuthenticatedSession | undefined> {
  const found = await findCookieSession(signIn, req);
  return found?.claimsAt === null ? found : undefined;
}

/** The browser of a request, as the list of sessions shows it. */
export const browserNameOf = (req: Request): string => browserName(userAgentName(req.headers["user-agent"]));

/** The IP address of a request, or "unknown". */
export const clientAddressOf = (req: Request): string => req.ip ?? "unknown";

export type AdmitRequest = (req: Request) => Promise<Principal>;

/** Authenticates requests. A key takes precedence over a session, because it is sent on purpose. */
export function requestAuthenticator(admission: Admission, signIn: SignInServices): AdmitRequest {
  return async (req) => {
    const { headers } = req;
    if (headers["x-api-key"] === undefined && headers.authorization === undefined) {
      const found = await authenticateSession(signIn, req);
      if (found !== undefined) {
        const principal = principalOf(found, await signIn.sessions.accessOf(found.user));
        admission.checkRateLimit(principal);
        return principal;
      }
    }
    return admission.admit(headers);
  };
}

/** The client that is recorded for a request: `web` with a session, `rest` with a key. */
export function clientOf(req: Request, { kind }: Principal): Actor["client"] {
  return kind === "session"
    ? { surface: "web", name: browserNameOf(req) }
    : { surface: "rest", name: userAgentName(req.headers["user-agent"]) };
}

/** The session endpoints as routes: cross-site requests refused, input parsed, cookies set, everything logged. */
import type { Express, Request, Response } from "express";
import { rejectCrossSiteRequest } from "../../auth/csrf.ts";
import { principalOf, sessionCookie, type AuthenticatedSession } from "../../auth/sessions.ts";
import { AppError, ERRORS } from "../../core/errors.ts";
import { parseInput } from "../../core/issues.ts";
import { secondsSince } from "../../core/meter.ts";
import { ROLE_SCOPES, type SessionInfo } from "../../../schemas/user.ts";
import type { Services } from "../invoke.ts";
import { fromExpressError, readSmallBody } from "../rest/body.ts";
import { rejectOtherMethods } from "../rest/methods.ts";
import { clientAddressOf, browserNameOf, isSecure, authenticateSession } from "./authenticate.ts";
import type { SessionContext, SessionEndpoint, SignInServices } from "./endpoint.ts";
import { sessionEndpoints } from "./endpoints.ts";

/** Adds them to the application. */
export function mountSession(app: Express, services: Services, signIn: SignInServices): void {
  for (const [path, endpoints] of Map.groupBy(sessionEndpoints, (endpoint) => endpoint.path)) {
    const route = app.route(path);
    for (const endpoint of endpoints) {
      const handle = (req: Request, res: Response) => answer(services, signIn, endpoint, req, res);
      route[endpoint.method.toLowerCase() as "get" | "post" | "delete"](handle);
    }
    route.all(rejectOtherMethods(endpoints.map(({ method }) => method)));
  }
  signIn.provider?.mount(app);
}

async function answer(
  services: Services,
  signIn: SignInServices,
  endpoint: SessionEndpoint,
  req: Request,
  res: Response,
): Promise<void> {
  const start = performance.now();
  const line = { operation: endpoint.name, request_id: res.locals["requestId"] as string, surface: "web" };
  const meet = (status: number): void =>
    services.meter.operationCompleted({
      name: endpoint.name,
      surface: "web",
      status,
      seconds: secondsSince(start),
    });
  const elapsed = (): number => Math.round((performance.now() - start) * 100) / 100;
  res.locals["observed"] = true;
  res.setHeader("Cache-Control", "no-store");
  try {
    rejectCrossSiteRequest(req.method, req.headers, signIn.origins);
    if (endpoint.builtInOnly && signIn.mode !== "built-in") throw elsewhere(endpoint.name);
    const current = await authenticateSession(signIn, req).catch((error: unknown) => {
      // A sign-on that is over, or was never good, is nobody's; who asks how to sign in is told that all the same.
      if (!endpoint.requiresSession && error instanceof AppError && error.code === "unauthorized")
        return undefined;
      throw error;
    });
    if (endpoint.requiresSession && current === undefined) throw notSignedIn();
    await readSmallBody(req, res, endpoint.method === "POST");
    const input = parseInput(endpoint.input, endpoint.method === "POST" ? (req.body ?? {}) : req.query);
    const output = await endpoint.run(input, contextOf(services, signIn, endpoint, current, req, res));
    services.log.info({ ...line, ms: elapsed() }, endpoint.name);
    meet(endpoint.status);
    res.status(endpoint.status);
    if (endpoint.output === null) res.end();
    else res.setHeader("Content-Type", "application/json").end(JSON.stringify(endpoint.output.parse(output)));
  } catch (thrown) {
    const error = fromExpressError(thrown);
    meet(error.status);
    const level = ERRORS[error.code].log;
    const refused = level === "info";
    services.log[level](
      {
        ...line,
        ms: elapsed(),
        ip: req.ip,
        code: error.code,
        ...(!refused && { err: error.cause ?? error }),
      },
      `${endpoint.name} ${refused ? "refused" : "failed"}`,
    );
    throw error;
  }
}

const notSignedIn = (): AppError =>
  new AppError(
    "unauthorized",
    "Nobody is signed in with this browser. Sign in at /ui/ (scripts send X-API-Key).",
  );

const elsewhere = (name: string): AppError =>
  new AppError(
    "sign_on_elsewhere",
    `There are no passwords here, so no ${name}: people come in through the identity provider. Begin at /ui/.`,
  );

function contextOf(
  services: Services,
  signIn: SignInServices,
  endpoint: SessionEndpoint,
  current: AuthenticatedSession | undefined,
  req: Request,
  res: Response,
): SessionContext {
  const secure = isSecure(signIn, req);
  // An empty Host header is none to Express, whatever its types say.
  const { hostname = "" } = req as { hostname?: string };
  const client = browserNameOf(req);
  const address = clientAddressOf(req);
  const toSessionInfo = ({ user, session }: AuthenticatedSession): SessionInfo => ({
    user: {
      id: user.id,
      email: user.email,
      role: user.role,
      verified: user.verifiedAt !== null,
      scopes: [...ROLE_SCOPES[user.role]],
    },
    session: {
      id: session.id,
      current: true,
      client: session.client,
      address: session.address,
      created_at: session.createdAt,
      seen_at: session.lastSeenAt,
      expires_at: session.expiresAt,
    },
    mode: signIn.mode,
    version: signIn.version,
    mail: services.accounts.mailEnabled,
    mcp_url: signIn.mcpUrl(hostname, secure),
  });
  return {
    services,
    signIn,
    current,
    address,
    client,
    toSessionInfo,
    write: (user, effect, who = user.email) => {
      const session = { id: current?.session.id ?? "none" };
      const principal = { ...principalOf({ user, session }), owner: who };
      return services.write(
        {
          operation: endpoint.name,
          actor: { principal, client: { surface: "web", name: client } },
          requestId: res.locals["requestId"] as string,
        },
        effect,
      );
    },
    async createSession(tx, user) {
      if (current !== undefined) await tx.sessions.end(current.session.id);
      const { token, record } = signIn.sessions.create(client, address);
      const session = { ...record, userId: user.id };
      await tx.sessions.insert(session);
      return { user, session, token };
    },
    sendSessionCookie(begun) {
      res.setHeader("Set-Cookie", sessionCookie(begun.token, secure, signIn.limits));
      return toSessionInfo(begun);
    },
    clearSessionCookie() {
      res.setHeader("Set-Cookie", sessionCookie(null, secure, signIn.limits));
      // What the browser kept of answers (its cache may be on a disk) is gone with the session.
      res.setHeader("Clear-Site-Data", '"cache"');
    },
  };
}

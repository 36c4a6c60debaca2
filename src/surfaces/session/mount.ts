/** Mounts the session endpoints: refuses cross-site requests, parses input, sets cookies and logs. */
import type { Express, Request, Response } from "express";
import { rejectCrossSiteRequest } from "../../auth/csrf.ts";
import { NO_ACCESS, scopesOf } from "../../core/access.ts";
import { principalOf, sessionCookie, type AuthenticatedSession } from "../../auth/sessions.ts";
import { AppError, ERRORS } from "../../core/errors.ts";
import { parseInput } from "../../core/issues.ts";
import { secondsSince } from "../../core/meter.ts";
import type { SessionInfo } from "../../../schemas/user.ts";
import type { Services } from "../invoke.ts";
import { fromExpressError, readSmallBody } from "../rest/body.ts";
import { rejectOtherMethods } from "../rest/methods.ts";
import {
  clientAddressOf,
  browserNameOf,
  cookieScopeOf,
  mcpUrlOf,
  authenticateSession,
} from "./authenticate.ts";
import type { SessionContext, SessionEndpoint, SignInServices } from "./endpoint.ts";
import { sessionEndpoints } from "./endpoints.ts";
import { sessionWriteIntent } from "./write-intent.ts";

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
  signIn.oauth?.mount(app);
}

async function answer(
  services: Services,
  signIn: SignInServices,
  endpoint: SessionEndpoint,
  req: Request,
  res: Response,
): Promise<void> {
  const start = performance.now();
  const logFields = {
    operation: endpoint.name,
    request_id: res.locals["requestId"] as string,
    surface: "web",
  };
  const recordStatus = (status: number): void =>
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
    if (endpoint.builtInOnly && signIn.mode !== "built-in") throw signOnElsewhere(endpoint.name);
    const current = await authenticateSession(signIn, req).catch((error: unknown) => {
      // An ended or invalid sign-in must not keep the client from reading how to sign in.
      if (!endpoint.requiresSession && error instanceof AppError && error.code === "unauthorized")
        return undefined;
      throw error;
    });
    if (endpoint.requiresSession && current === undefined) throw notSignedIn();
    const issues = await readSmallBody(req, res, endpoint.method === "POST");
    const input = parseInput(
      endpoint.input,
      endpoint.method === "POST" ? (req.body ?? {}) : req.query,
      issues,
    );
    const output = await endpoint.run(input, contextOf(services, signIn, endpoint, current, req, res));
    services.log.info({ ...logFields, ms: elapsed() }, endpoint.name);
    recordStatus(endpoint.status);
    res.status(endpoint.status);
    if (endpoint.output === null) res.end();
    else res.setHeader("Content-Type", "application/json").end(JSON.stringify(endpoint.output.parse(output)));
  } catch (thrown) {
    const error = fromExpressError(thrown);
    recordStatus(error.status);
    const level = ERRORS[error.code].log;
    const refused = level === "info";
    services.log[level](
      {
        ...logFields,
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
  new AppError("unauthorized", "This browser is not signed in. Sign in at /ui/ (scripts send X-API-Key).");

const signOnElsewhere = (name: string): AppError =>
  new AppError(
    "sign_on_elsewhere",
    `${name} is not available, because users sign in at the identity provider. Start at /ui/.`,
  );

function contextOf(
  services: Services,
  signIn: SignInServices,
  endpoint: SessionEndpoint,
  current: AuthenticatedSession | undefined,
  req: Request,
  res: Response,
): SessionContext {
  const scope = cookieScopeOf(signIn, req);
  const client = browserNameOf(req);
  const address = clientAddressOf(req);
  const toSessionInfo = async ({ user, session }: AuthenticatedSession): Promise<SessionInfo> => ({
    user: {
      id: user.id,
      email: user.email,
      role: user.role,
      verified: user.verifiedAt !== null,
      scopes: [...scopesOf(await signIn.sessions.accessOf(user))],
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
    oauth: signIn.oauth !== undefined,
    mcp_url: mcpUrlOf(signIn, req),
  });
  return {
    services,
    signIn,
    current,
    address,
    client,
    toSessionInfo,
    write: (user, effect, owner = user.email) => {
      const session = { id: current?.session.id ?? "none" };
      const principal = { ...principalOf({ user, session }, NO_ACCESS), owner };
      const requestId = res.locals["requestId"] as string;
      return services.write(sessionWriteIntent(endpoint.name, principal, { client, requestId }), effect);
    },
    async createSession(tx, user) {
      if (current !== undefined) await tx.sessions.end(current.session.id);
      const { token, record } = signIn.sessions.create(client, address);
      const session = { ...record, userId: user.id };
      await tx.sessions.insert(session);
      return { user, session, token };
    },
    sendSessionCookie(started) {
      res.setHeader("Set-Cookie", sessionCookie(started.token, scope, signIn.limits));
      return toSessionInfo(started);
    },
    pendingAuthorization: async () => signIn.oauth?.pendingRequest(req, res),
    clearSessionCookie() {
      res.setHeader("Set-Cookie", sessionCookie(null, scope, signIn.limits));
      // The browser's cache, which may be on disk, must not outlive the session.
      res.setHeader("Clear-Site-Data", '"cache"');
    },
  };
}

/** Session endpoints: they need no key, set cookies, and are not part of the catalogue. */
import type { Express, Request } from "express";
import type { z } from "zod";
import type { AuthMode, SessionInfo } from "../../../schemas/user.ts";
import type { Passwords } from "../../auth/passwords.ts";
import type { Sessions, SessionLimits, AuthenticatedSession } from "../../auth/sessions.ts";
import type { Throttle } from "../../auth/throttle.ts";
import type { ErrorCode } from "../../core/errors.ts";
import type { UserRecord } from "../../core/account-ports.ts";
import type { Writers } from "../../core/ports.ts";
import type { McpUrlCheck } from "../../core/public-mcp.ts";
import type { Services } from "../invoke.ts";
import type { AuthorizationRequest, AuthorizationServer } from "../oauth/server.ts";

/** Sign-in at an identity provider. */
export interface SignOnProvider {
  /**
   * Finds the session of a request, and creates it with the first request after the sign-in.
   * @throws AppError sign_on_refused, unauthorized
   */
  authenticate(req: Request): Promise<AuthenticatedSession | undefined>;
  /** Adds the routes of the provider: sign-in, callback and sign-out. */
  mount(app: Express): void;
  /** Called once, when the public base URL is known. */
  onListening?(): void;
}

/** Services of the session endpoints, besides those of every operation. */
export interface SignInServices {
  mode: AuthMode;
  /** The authorization server for applications; undefined when it is off. */
  oauth: AuthorizationServer | undefined;
  /** Undefined when users have their passwords here. */
  provider: SignOnProvider | undefined;
  sessions: Sessions;
  limits: SessionLimits;
  passwords: Passwords;
  throttle: Throttle;
  /** Origins that are accepted besides the Host of the request: that of the base URL. */
  origins: readonly string[];
  /** Whether the public URL is https; undefined to decide by request. */
  https: boolean | undefined;
  /** The path in front of those of the web server in its public URL; empty for none. */
  pathPrefix: string;
  /** Maximum random delay before the link for a forgotten password is created, in milliseconds. */
  resetDelayMs: number;
  /** The URL that agents connect to. @param hostname the host name of the request */
  mcpUrl(hostname: string, secure: boolean): string;
  /** Checks the configured one from this machine; all callers share a result for some seconds. */
  checkMcpUrl(): Promise<McpUrlCheck>;
  version: string;
}

/** The context of an endpoint, besides its input. */
export interface SessionContext {
  services: Services;
  signIn: SignInServices;
  /** The session of the request; undefined without one. */
  current: AuthenticatedSession | undefined;
  /** The IP address of the request. */
  address: string;
  client: string;
  /**
   * Runs `effect` in one write transaction, on behalf of a user.
   * @param owner recorded in the audit log instead of the user's address, for a request that is not authenticated
   */
  write<T>(user: UserRecord, effect: (tx: Writers) => Promise<T>, owner?: string): Promise<T>;
  /**
   * Starts a session inside a write transaction; after the commit, `sendSessionCookie` sets its cookie. The browser's earlier
   * session is ended, which prevents session fixation.
   */
  createSession(tx: Writers, user: UserRecord): Promise<AuthenticatedSession & { token: string }>;
  sendSessionCookie(started: AuthenticatedSession & { token: string }): Promise<SessionInfo>;
  /** The undecided request of an application that began in this browser. */
  pendingAuthorization(): Promise<AuthorizationRequest | undefined>;
  /** Removes the session cookie. */
  clearSessionCookie(): void;
  toSessionInfo(signedIn: AuthenticatedSession): Promise<SessionInfo>;
}

export interface SessionEndpoint<I extends z.ZodObject = z.ZodObject, O extends z.ZodType = z.ZodType> {
  /** The operation's name in the log, the audit log and the OpenAPI document, such as `sign_in`. */
  name: string;
  title: string;
  description: string;
  method: "GET" | "POST" | "DELETE";
  path: `/session${string}`;
  /** Whether it answers 401 without a session. */
  requiresSession: boolean;
  /** Answers 409 when users sign in at an identity provider. */
  builtInOnly?: true;
  errors: readonly ErrorCode[];
  input: I;
  /** The status of success: 200 and 201 with `output`, 202 and 204 without. */
  status: 200 | 201 | 202 | 204;
  output: O | null;
  run(input: z.output<I>, ctx: SessionContext): Promise<z.input<O> | void>;
}

export const defineEndpoint = <I extends z.ZodObject, O extends z.ZodType>(
  endpoint: SessionEndpoint<I, O>,
): SessionEndpoint => endpoint;

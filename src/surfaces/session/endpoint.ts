/** One endpoint of signing in: it needs no key, sets cookies, and is no operation of the catalogue. */
import type { Express, Request } from "express";
import type { z } from "zod";
import type { AuthMode, SessionInfo } from "../../../schemas/user.ts";
import type { Passwords } from "../../auth/passwords.ts";
import type { Sessions, SessionLimits, AuthenticatedSession } from "../../auth/sessions.ts";
import type { Throttle } from "../../auth/throttle.ts";
import type { ErrorCode } from "../../core/errors.ts";
import type { UserRecord } from "../../core/account-ports.ts";
import type { Writers } from "../../core/ports.ts";
import type { Services } from "../invoke.ts";

/** A sign-on by an identity provider, as a mode of its own. */
export interface SignOnProvider {
  /**
   * Who a request's browser is signed in as, by what the sign-on left with it; the session is made at its first sight.
   * @throws AppError sign_on_refused, unauthorized
   */
  authenticate(req: Request): Promise<AuthenticatedSession | undefined>;
  /** Adds its pages: where the way to the provider and back, and out, goes along. */
  mount(app: Express): void;
  /** Called once, when the address is known that people reach us by. */
  onListening?(): void;
}

/** What signing in stands on, beside the services of every operation. */
export interface SignInServices {
  mode: AuthMode;
  /** Undefined where people have their password here. */
  provider: SignOnProvider | undefined;
  sessions: Sessions;
  limits: SessionLimits;
  passwords: Passwords;
  throttle: Throttle;
  /** Origins that count as our own, beside the Host of the request (the base URL's). */
  origins: readonly string[];
  /** Whether people reach us by https; undefined where each request says so. */
  https: boolean | undefined;
  /** A link for a forgotten password is made at some moment within this time (ms). */
  resetDelayMs: number;
  /** Where agents connect. @param hostname the one that the person has reached us by */
  mcpUrl(hostname: string, secure: boolean): string;
  version: string;
}

/** What an endpoint is handed beside its input. */
export interface SessionContext {
  services: Services;
  signIn: SignInServices;
  /** Who is signed in, if anybody. */
  current: AuthenticatedSession | undefined;
  /** Where the request came from: an IP address. */
  address: string;
  client: string;
  /**
   * Runs `effect` in one write transaction, in the name of a user.
   * @param who whom the audit log names instead, where nobody has shown to be that user
   */
  write<T>(user: UserRecord, effect: (tx: Writers) => Promise<T>, who?: string): Promise<T>;
  /**
   * Begins a session inside a write transaction; once that is committed, `welcome` hands its cookie over. A session that
   * the browser had before is ended, so that a planted one is worth nothing (session fixation).
   */
  createSession(tx: Writers, user: UserRecord): Promise<AuthenticatedSession & { token: string }>;
  sendSessionCookie(begun: AuthenticatedSession & { token: string }): SessionInfo;
  /** Takes the cookie away. */
  clearSessionCookie(): void;
  toSessionInfo(signedIn: AuthenticatedSession): SessionInfo;
}

export interface SessionEndpoint<I extends z.ZodObject = z.ZodObject, O extends z.ZodType = z.ZodType> {
  /** `sign_in`: for the log, the audit log and the OpenAPI document. */
  name: string;
  title: string;
  description: string;
  method: "GET" | "POST" | "DELETE";
  path: `/session${string}`;
  /** Whether it is only for who is signed in: 401 otherwise. */
  requiresSession: boolean;
  /** Only where people have their password here: 409 where an identity provider vouches for them. */
  builtInOnly?: true;
  errors: readonly ErrorCode[];
  input: I;
  /** The success: 200 with `output`, 201 where it makes something, 202 and 204 with nothing. */
  status: 200 | 201 | 202 | 204;
  output: O | null;
  run(input: z.output<I>, ctx: SessionContext): Promise<z.input<O> | void>;
}

export const defineEndpoint = <I extends z.ZodObject, O extends z.ZodType>(
  endpoint: SessionEndpoint<I, O>,
): SessionEndpoint => endpoint;

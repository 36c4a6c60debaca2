/** Errors of an OpenID Connect provider, by what can be done about them. */
import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from "openid-client";
import { proxyErrorOf } from "../core/proxy-tunnel.ts";
import type { SignInErrorCode } from "../../schemas/sign-on.ts";

type Kind = Extract<
  SignInErrorCode,
  "denied" | "code_expired" | "provider_refused" | "provider_unavailable" | "not_verified"
>;

export class OidcError extends Error {
  override readonly name = "OidcError";
  readonly kind: Kind;

  /** @param message for the log: error codes and messages of the library, never an authorization code or a token */
  constructor(kind: Kind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/**
 * Detects that the token endpoint refuses the client (RFC 6749, section 5.2). openid-client reports a 401 in three ways: as a
 * challenge, as an error in the body, or as a response that does not conform.
 * @returns undefined if the client is not refused
 */
export function clientAuthenticationError(status: number, body: string): OidcError | undefined {
  if (status !== 401 || body.includes('"invalid_grant"')) return undefined;
  return new OidcError("provider_refused", "the token endpoint answered 401 (client id or secret)");
}

const AWAY_CODES: ReadonlySet<unknown> = new Set([
  "OAUTH_TIMEOUT",
  "OAUTH_ABORT",
  "OAUTH_RESPONSE_IS_NOT_CONFORM",
  "OAUTH_RESPONSE_IS_NOT_JSON",
  "OAUTH_PARSE_ERROR",
]);
/** Temporary errors (RFC 6749, section 4.1.2.1). */
const AWAY_ERRORS: ReadonlySet<string> = new Set(["server_error", "temporarily_unavailable"]);

/** Converts an error of openid-client. */
export function toOidcError(thrown: unknown): OidcError {
  if (thrown instanceof OidcError) return thrown;
  // An OidcError that openid-client wrapped.
  if (thrown instanceof ClientError && thrown.cause instanceof OidcError) return thrown.cause;
  const proxy = proxyErrorOf(thrown);
  if (proxy !== undefined) return new OidcError("provider_unavailable", proxy.message);
  return new OidcError(kindOf(thrown), reasonOf(thrown));
}

function kindOf(thrown: unknown): Kind {
  if (thrown instanceof AuthorizationResponseError) {
    if (thrown.error === "access_denied") return "denied";
    return AWAY_ERRORS.has(thrown.error) ? "provider_unavailable" : "provider_refused";
  }
  if (thrown instanceof ResponseBodyError) {
    if (thrown.status >= 500 || AWAY_ERRORS.has(thrown.error)) return "provider_unavailable";
    return thrown.error === "invalid_grant" ? "code_expired" : "provider_refused";
  }
  if (thrown instanceof WWWAuthenticateChallengeError) return "provider_refused";
  if (thrown instanceof ClientError && thrown.code !== undefined)
    return AWAY_CODES.has(thrown.code) ? "provider_unavailable" : "not_verified";
  // `fetch` throws a TypeError for every network error.
  return "provider_unavailable";
}

/** Joins error codes and messages of the library along the causes; none of them contains what the provider sent. */
function reasonOf(thrown: unknown): string {
  const reasons = new Set<string>();
  for (let error = thrown, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth += 1) {
    const { name, message, code } = error as NodeJS.ErrnoException;
    if ("error" in error && typeof error.error === "string") reasons.add(printable(error.error));
    if (error instanceof ClientError || name === "OperationProcessingError") reasons.add(printable(message));
    if (typeof code === "string") reasons.add(printable(code));
  }
  return [...reasons].join(": ") || "no usable response";
}

const printable = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, 120);

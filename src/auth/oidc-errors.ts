/** What went wrong between us and an OpenID Connect provider, told apart by what can be done about it. */
import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from "openid-client";
import type { SignInErrorCode } from "../../schemas/sign-on.ts";

type Kind = Extract<
  SignInErrorCode,
  "denied" | "code_expired" | "provider_refused" | "provider_unavailable" | "not_verified"
>;

export class OidcError extends Error {
  override readonly name = "OidcFault";
  readonly kind: Kind;

  /** @param message for the log: codes and the library's own words, never a code or a token */
  constructor(kind: Kind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/**
 * What the token endpoint's answer says of us, told apart before the library reads it: that throws a 401 as a challenge,
 * as an error in the body, or as an answer that is not conform.
 * @returns undefined where it does not refuse the client (RFC 6749, section 5.2)
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
/** RFC 6749, section 4.1.2.1: it may be better in a while. */
const AWAY_ERRORS: ReadonlySet<string> = new Set(["server_error", "temporarily_unavailable"]);

/** What openid-client has thrown, as one of ours. */
export function toOidcError(thrown: unknown): OidcError {
  if (thrown instanceof OidcError) return thrown;
  // One of ours that went through the library.
  if (thrown instanceof ClientError && thrown.cause instanceof OidcError) return thrown.cause;
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
  // `fetch` throws a TypeError for whatever keeps it from an answer.
  return "provider_unavailable";
}

/** Codes all the way down, and what the library says itself: what the other side has sent stands in none of these. */
function reasonOf(thrown: unknown): string {
  const reasons = new Set<string>();
  for (let error = thrown, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth += 1) {
    const { name, message, code } = error as NodeJS.ErrnoException;
    if ("error" in error && typeof error.error === "string") reasons.add(plain(error.error));
    if (error instanceof ClientError || name === "OperationProcessingError") reasons.add(plain(message));
    if (typeof code === "string") reasons.add(plain(code));
  }
  return [...reasons].join(": ") || "no answer that can be used";
}

const plain = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, 120);

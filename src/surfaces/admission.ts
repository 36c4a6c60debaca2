/** Authenticates requests and enforces the rate limit, for REST and MCP alike. */
import type { IncomingHttpHeaders } from "node:http";
import type { Authenticator } from "../auth/authenticate.ts";
import { AppError } from "../core/errors.ts";
import type { Principal } from "../core/principal.ts";
import { requestWindow } from "./request-window.ts";

/** @param resource the URL of the MCP server that was asked, for which tokens of applications are valid */
export type Admit = (headers: IncomingHttpHeaders, resource?: string) => Promise<Principal>;

export interface Admission {
  /** Authenticates a request by its API key and counts it. @throws AppError unauthorized, rate_limited */
  admit: Admit;
  /** Counts a request that was authenticated in another way. @throws AppError rate_limited */
  checkRateLimit(principal: Principal): void;
}

/**
 * @param perMinute requests per minute of each key or signed-in user, on this process; undefined for no limit
 * @param now monotonic time, in milliseconds
 */
export function admission(
  authenticator: Authenticator,
  perMinute: number | undefined,
  now = (): number => performance.now(),
): Admission {
  if (perMinute === undefined) return { admit: authenticator.authenticate, checkRateLimit() {} };
  const count = requestWindow(perMinute, now);

  function checkRateLimit({ kind, keyId, lineage }: Principal): void {
    // All sessions of a user count together, so signing in again resets nothing.
    const isSession = kind === "session";
    const seconds = count(isSession ? lineage : keyId);
    if (seconds === undefined) return;
    throw new AppError(
      "rate_limited",
      `${isSession ? "You have used your" : "This key has used its"} ${perMinute} requests of this minute. Try again in ${seconds} s.`,
      { headers: { "Retry-After": String(seconds) } },
    );
  }

  return {
    checkRateLimit,
    async admit(headers, resource) {
      const principal = await authenticator.authenticate(headers, resource);
      checkRateLimit(principal);
      return principal;
    },
  };
}

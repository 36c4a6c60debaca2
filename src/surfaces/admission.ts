/** Authenticates requests and enforces the rate limit, for REST and MCP alike. */
import type { IncomingHttpHeaders } from "node:http";
import { LRUCache } from "lru-cache";
import type { Authenticator } from "../auth/authenticate.ts";
import { MINUTE } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import type { Principal } from "../core/ports.ts";

export type Admit = (headers: IncomingHttpHeaders) => Promise<Principal>;

export interface Admission {
  /** Authenticates a request by its API key and counts it. @throws AppError unauthorized, rate_limited */
  admit: Admit;
  /** Counts a request that was authenticated in another way. @throws AppError rate_limited */
  checkRateLimit(principal: Principal): void;
}

/** Maximum number of keys and users whose requests are counted. Beyond it, the count of the least recent one is dropped. */
const MAX_COUNTED = 10_000;

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
  // A window begins with the first request of a key or user, and ends a minute later.
  const windows = new LRUCache<string, { requests: number }>({
    max: MAX_COUNTED,
    ttl: MINUTE,
    ttlResolution: 0,
    perf: { now },
  });

  function checkRateLimit({ kind, keyId, lineage }: Principal): void {
    // All sessions of a user count together, so signing in again resets nothing.
    const isSession = kind === "session";
    const subject = isSession ? lineage : keyId;
    const window = windows.get(subject) ?? { requests: 0 };
    if (window.requests === 0) windows.set(subject, window);
    window.requests += 1;
    if (window.requests <= perMinute!) return;
    const seconds = Math.max(1, Math.ceil(windows.getRemainingTTL(subject) / 1000));
    throw new AppError(
      "rate_limited",
      `${isSession ? "You have used your" : "This key has used its"} ${perMinute} requests of this minute. Try again in ${seconds} s.`,
      { headers: { "Retry-After": String(seconds) } },
    );
  }

  return {
    checkRateLimit,
    async admit(headers) {
      const principal = await authenticator.authenticate(headers);
      checkRateLimit(principal);
      return principal;
    },
  };
}

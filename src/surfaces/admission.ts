/** Who may come in at all: a living key or session, within its rate. The same for REST and MCP. */
import type { IncomingHttpHeaders } from "node:http";
import type { Authenticator } from "../auth/authenticate.ts";
import { AppError } from "../core/errors.ts";
import type { Principal } from "../core/ports.ts";

export type Admit = (headers: IncomingHttpHeaders) => Promise<Principal>;

export interface Admission {
  /** Gives whose key it is. @throws AppError unauthorized, rate_limited */
  admit: Admit;
  /**
   * Counts a request of somebody who was let in by another way than a key.
   * @throws AppError rate_limited
   */
  checkRateLimit(principal: Principal): Promise<void>;
}

/** @param perMinute requests per key, or person signed in, and minute on this process; undefined for no limit */
export async function admission(
  authenticator: Authenticator,
  perMinute: number | undefined,
): Promise<Admission> {
  // Who sets no limit does not pay for it: the library brings a dozen stores along, 7 MB.
  if (perMinute === undefined) return { admit: authenticator.authenticate, checkRateLimit: async () => {} };
  const { RateLimiterMemory, RateLimiterRes } = await import("rate-limiter-flexible");
  const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 });

  async function checkRateLimit({ kind, keyId, lineage }: Principal): Promise<void> {
    // A person with many sessions is one: a new sign-in gives no new minute.
    const session = kind === "session";
    const used = await limiter.consume(session ? lineage : keyId).catch((refused: unknown) => refused);
    if (!(used instanceof RateLimiterRes)) throw used;
    if (used.consumedPoints <= perMinute!) return;
    const seconds = Math.ceil(used.msBeforeNext / 1000);
    throw new AppError(
      "rate_limited",
      `${session ? "You have used your" : "This key has used its"} ${perMinute} requests of this minute. Go on in ${seconds} s.`,
      { headers: { "Retry-After": String(seconds) } },
    );
  }

  return {
    checkRateLimit,
    async admit(headers) {
      const principal = await authenticator.authenticate(headers);
      await checkRateLimit(principal);
      return principal;
    },
  };
}

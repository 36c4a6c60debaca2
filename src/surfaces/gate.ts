/** Who may come in at all: a living key, within its rate. The same for REST and MCP. */
import type { IncomingHttpHeaders } from "node:http";
import type { Authenticator } from "../auth/authenticate.ts";
import { AppError } from "../core/errors.ts";
import type { Principal } from "../core/ports.ts";

export type Admit = (headers: IncomingHttpHeaders) => Promise<Principal>;

/**
 * @param perMinute requests per key and minute on this process; undefined for no limit
 * @returns a function that gives the principal, or throws AppError unauthorized or rate_limited
 */
export async function gate(authenticator: Authenticator, perMinute: number | undefined): Promise<Admit> {
  if (perMinute === undefined) return authenticator.authenticate;
  // Who sets no limit does not pay for it: the library brings a dozen stores along, 7 MB.
  const { RateLimiterMemory, RateLimiterRes } = await import("rate-limiter-flexible");
  const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 });
  return async (headers) => {
    const principal = await authenticator.authenticate(headers);
    const used = await limiter.consume(principal.keyId).catch((refused: unknown) => refused);
    if (!(used instanceof RateLimiterRes)) throw used;
    if (used.consumedPoints > perMinute) {
      const seconds = Math.ceil(used.msBeforeNext / 1000);
      throw new AppError(
        "rate_limited",
        `This key has used its ${perMinute} requests of this minute. Go on in ${seconds} s.`,
        { headers: { "Retry-After": String(seconds) } },
      );
    }
    return principal;
  };
}

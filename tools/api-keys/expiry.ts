/** The expiry of an API key in a request. */
import { text } from "../../schemas/text.ts";
import type { Issue } from "../../schemas/problem.ts";
import { parseExpiry } from "../../src/core/api-key-lifecycle.ts";
import { DAY } from "../../src/core/clock.ts";

/** Maximum lifetime of a key: ten years with up to three leap days. */
const MAX_LIFETIME_MS = 3_653 * DAY;

export const Expiry = text(40, 1)
  .refine((expiry) => parseExpiry(expiry) !== undefined, {
    message: "must be a date such as 2027-01-31, or a time such as 2027-01-31T12:00:00Z",
    params: { code: "wrong_format" },
  })
  .meta({
    description:
      "When the key expires, at most ten years ahead: a time, or a date for the end of that day (24:00 UTC). Default: never.",
    example: "2027-01-31",
  });

/**
 * Parses an expiry and checks that it is in the allowed range.
 * @param now milliseconds since the epoch
 * @returns the expiry in ISO 8601, undefined when none is given; and its issues
 */
export function validateExpiry(
  expiry: string | undefined,
  now: number,
): { expiresAt?: string; issues: Issue[] } {
  const expiresAt = expiry === undefined ? undefined : parseExpiry(expiry);
  if (expiresAt === undefined) return { issues: [] };
  const lifetimeMs = Date.parse(expiresAt) - now;
  if (lifetimeMs > 0 && lifetimeMs <= MAX_LIFETIME_MS) return { expiresAt, issues: [] };
  const issue =
    lifetimeMs <= 0
      ? { code: "too_small", message: "is in the past", fix: "Send a date or time in the future." }
      : {
          code: "too_large",
          message: "is more than ten years ahead",
          fix: "Send an earlier date, or none.",
        };
  return { expiresAt, issues: [{ path: "expires_at", ...issue }] };
}

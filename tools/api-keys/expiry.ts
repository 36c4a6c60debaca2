/** When a key is to end, as a person writes it. */
import { text } from "../../schemas/text.ts";
import type { Issue } from "../../schemas/problem.ts";
import { parseExpiry } from "../../src/core/api-key-lifecycle.ts";
import { DAY } from "../../src/core/clock.ts";

/** Ten years, with the leap days that they can have. */
const LONGEST_LIFE_MS = 3_653 * DAY;

export const Expiry = text(40, 1)
  .refine((written) => parseExpiry(written) !== undefined, {
    message: "must be a day such as 2027-01-31, or a moment such as 2027-01-31T12:00:00Z",
    params: { code: "wrong_format" },
  })
  .meta({
    description:
      "When it ends, at most ten years ahead: a moment, or a day, with which it ends (24:00 UTC). Never, when left out.",
    example: "2027-01-31",
  });

/**
 * @param now milliseconds
 * @returns ISO 8601 (undefined where none was given), and what is wrong with it
 */
export function validateExpiry(
  written: string | undefined,
  now: number,
): { expiresAt?: string; issues: Issue[] } {
  const expiresAt = written === undefined ? undefined : parseExpiry(written);
  if (expiresAt === undefined) return { issues: [] };
  const life = Date.parse(expiresAt) - now;
  if (life > 0 && life <= LONGEST_LIFE_MS) return { expiresAt, issues: [] };
  const issue =
    life <= 0
      ? { code: "too_small", message: "has passed already", fix: "Give a day or moment that lies ahead." }
      : {
          code: "too_large",
          message: "lies more than ten years ahead",
          fix: "Give an earlier one, or none.",
        };
  return { expiresAt, issues: [{ path: "expires_at", ...issue }] };
}

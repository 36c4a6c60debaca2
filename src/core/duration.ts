/** Parses durations such as `500ms`, `30s`, `10m`, `1h30m` and `2d`. */
import { DURATION_PATTERN } from "../../schemas/field-values.ts";
import { DAY, HOUR, MINUTE, SECOND } from "./clock.ts";

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: SECOND, m: MINUTE, h: HOUR, d: DAY };
const PART = /(\d{1,9})(ms|s|m|h|d)/g;

/**
 * Parses a duration.
 * @returns milliseconds
 * @throws RangeError when the text is not a duration
 */
export function durationMs(text: string): number {
  if (!DURATION_PATTERN.test(text)) throw new RangeError(`"${text}" is not a duration such as 30s or 1h30m`);
  let total = 0;
  for (const [, count, unit] of text.matchAll(PART)) total += Number(count) * UNITS[unit!]!;
  return total;
}

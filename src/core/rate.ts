/** Parses rates such as `5/s`, `100/m`, `1000/h` and `500/d`. */
import { RATE_PATTERN } from "../../schemas/field-values.ts";
import { DAY, HOUR, MINUTE, SECOND } from "./clock.ts";

const UNITS: Readonly<Record<string, number>> = { s: SECOND, m: MINUTE, h: HOUR, d: DAY };

/**
 * Parses a rate.
 * @returns the pause between two starts, in milliseconds, rounded up so that the rate is never exceeded
 * @throws RangeError when the text is not a rate
 */
export function rateIntervalMs(text: string): number {
  const [, count, unit] = RATE_PATTERN.exec(text) ?? [];
  if (count === undefined) throw new RangeError(`"${text}" is not a rate such as 5/s or 100/m`);
  return Math.ceil(UNITS[unit!]! / Number(count));
}

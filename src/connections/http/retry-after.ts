import { DAY, SECOND } from "../../core/clock.ts";

/**
 * Returns how long a server asks to wait (RFC 9110 §10.2.3: seconds or a date; also `retry-after-ms` of some model vendors),
 * in milliseconds, at most a day.
 * @param headers with names in lower case
 * @param now in milliseconds
 * @returns undefined without the header, or if its format is unknown
 */
export function retryAfterMs(
  headers: Readonly<Record<string, string | undefined>>,
  now: number,
): number | undefined {
  const precise = headers["retry-after-ms"]?.trim() ?? "";
  if (/^\d{1,12}(\.\d{1,9})?$/.test(precise)) return bounded(Number(precise));
  const value = headers["retry-after"]?.trim() ?? "";
  if (/^\d{1,12}(\.\d{1,9})?$/.test(value)) return bounded(Number(value) * SECOND);
  // Other formats that Date.parse accepts (a year, a negative number) are no HTTP dates.
  const date = /^[A-Za-z]{3,9},? /.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : bounded(date - now);
}

const bounded = (milliseconds: number): number => Math.ceil(Math.min(Math.max(milliseconds, 0), DAY));

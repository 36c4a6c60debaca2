import { DAY, SECOND } from "../../core/clock.ts";

/**
 * How long a peer asks to be left alone (RFC 9110 §10.2.3: seconds or a date; also `retry-after-ms`, as some vendors
 * of models send it), in milliseconds and a day at most.
 * @param headers with names in lower case
 * @param now in milliseconds
 * @returns undefined where it does not say, or says it in no known form
 */
export function retryAfterMs(
  headers: Readonly<Record<string, string | undefined>>,
  now: number,
): number | undefined {
  const precise = headers["retry-after-ms"]?.trim() ?? "";
  if (/^\d{1,12}(\.\d{1,9})?$/.test(precise)) return bounded(Number(precise));
  const said = headers["retry-after"]?.trim() ?? "";
  if (/^\d{1,12}(\.\d{1,9})?$/.test(said)) return bounded(Number(said) * SECOND);
  // Anything else that Date.parse takes (a bare year, a negative number) is no HTTP date.
  const date = /^[A-Za-z]{3,9},? /.test(said) ? Date.parse(said) : Number.NaN;
  return Number.isNaN(date) ? undefined : bounded(date - now);
}

const bounded = (milliseconds: number): number => Math.ceil(Math.min(Math.max(milliseconds, 0), DAY));

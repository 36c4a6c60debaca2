import { DAY, SECOND } from "../../core/clock.ts";

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Seconds or milliseconds. */
const AMOUNT = /^\d{1,14}(\.\d{1,9})?$/;
/** A number of seconds that is a time, not a duration: 2001-09-09 and later. */
const MIN_EPOCH_SECONDS = 1e9;
const MIN_EPOCH_MS = 1e12;

/**
 * Returns how long a server asks to wait, in milliseconds, at most a day: by `Retry-After` (RFC 9110, section 10.2.3: seconds or a
 * date) and `retry-after-ms` of some model vendors, or else by the rate limit that is used up (`x-ratelimit-remaining: 0`) and when it
 * begins again (`x-ratelimit-reset`: seconds, or a time in seconds or milliseconds since 1970). Times are compared with the `Date` of
 * the response, so a wrong clock does not matter, neither ours nor theirs.
 * @param headers with names in lower case
 * @param now in milliseconds, for a response without a date
 * @returns undefined without these headers, or if their format is unknown
 */
export function retryAfterMs(headers: Headers, now: number): number | undefined {
  const precise = amountOf(headers, "retry-after-ms");
  if (precise !== undefined) return bounded(precise);
  const seconds = amountOf(headers, "retry-after");
  if (seconds !== undefined) return bounded(seconds * SECOND);
  const sentAt = dateOf(headers, "date") ?? now;
  const date = dateOf(headers, "retry-after");
  if (date !== undefined) return bounded(date - sentAt);
  return usedUpMs(headers, sentAt);
}

/** How long a rate limit is used up; undefined if it is not. */
function usedUpMs(headers: Headers, sentAt: number): number | undefined {
  const prefix = ["x-ratelimit", "ratelimit"].find((name) => amountOf(headers, `${name}-remaining`) === 0);
  const reset = amountOf(headers, `${prefix}-reset`);
  if (reset === undefined) return undefined;
  if (reset >= MIN_EPOCH_MS) return bounded(reset - sentAt);
  return bounded(reset >= MIN_EPOCH_SECONDS ? reset * SECOND - sentAt : reset * SECOND);
}

const textOf = (headers: Headers, name: string): string => {
  const value = headers[name];
  return typeof value === "string" ? value.trim() : "";
};

function amountOf(headers: Headers, name: string): number | undefined {
  const value = textOf(headers, name);
  return AMOUNT.test(value) ? Number(value) : undefined;
}

/** In milliseconds. */
function dateOf(headers: Headers, name: string): number | undefined {
  const value = textOf(headers, name);
  // Other formats that Date.parse accepts (a year, a negative number) are no HTTP dates. All HTTP dates are in UTC, the oldest form
  // does not say so.
  const isDate = /^[A-Za-z]{3,9},? /.test(value);
  const date = isDate ? Date.parse(value.endsWith("GMT") ? value : `${value} GMT`) : Number.NaN;
  return Number.isNaN(date) ? undefined : date;
}

const bounded = (milliseconds: number): number => Math.ceil(Math.min(Math.max(milliseconds, 0), DAY));

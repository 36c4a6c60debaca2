/** Time comes from here, so that a test can turn it. */
export interface Clock {
  /** The present moment, in milliseconds since 1970 UTC. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

// From the year 10000 on ISO 8601 writes a sign before the year, which sorts before every digit.
const LATEST = Date.parse("9999-12-31T23:59:59.999Z");

/** A moment as the store and the wire hold it: ISO 8601, UTC, milliseconds; sorts as text. Ends with the year 9999. */
export const iso = (milliseconds: number): string => new Date(Math.min(milliseconds, LATEST)).toISOString();

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Time comes from here, so that a test can turn it. */
export interface Clock {
  /** The present moment, in milliseconds since 1970 UTC. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** A moment as the store and the wire hold it: ISO 8601, UTC, milliseconds; sorts as text. */
export const iso = (milliseconds: number): string => new Date(milliseconds).toISOString();

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

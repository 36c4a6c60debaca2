/** The source of the current time, which tests replace. */
export interface Clock {
  /** The current time, in whole milliseconds since 1970 UTC. */
  now(): number;
  /** Whether the clock may decide what is due: it agrees with the clocks of the other processes. Left out, it always does. */
  isAgreed?(): boolean;
}

export const systemClock: Clock = { now: () => Date.now() };

/** Whether a clock may decide what is due. */
export const isAgreed = (clock: Clock): boolean => clock.isAgreed?.() ?? true;

// From the year 10000 on, ISO 8601 puts a sign before the year, which would sort before every digit.
const MAX_TIME = Date.parse("9999-12-31T23:59:59.999Z");

/** Formats a time as ISO 8601 in UTC with milliseconds, which sorts as text. The latest time is the end of the year 9999. */
export const iso = (milliseconds: number): string => new Date(Math.min(milliseconds, MAX_TIME)).toISOString();

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

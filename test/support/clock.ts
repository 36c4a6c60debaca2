/** A clock that a test controls. */
import { type Repeat, repeat } from "../../src/app/repeat.ts";
import type { Clock } from "../../src/core/clock.ts";

/** A clock that changes only when the test advances it. */
export interface FakeClock extends Clock {
  advance(milliseconds: number): void;
}

/** @param start milliseconds since 1970 */
export function fakeClock(start = Date.parse("2026-11-21T08:00:00Z")): FakeClock {
  let now = start;
  return { now: () => now, advance: (milliseconds) => void (now += milliseconds) };
}

/**
 * How executors begin what they do from time to time: by timers where time is real. With a clock that a test advances, only the
 * test begins it, so that nothing which becomes due begins between two of its lines.
 */
export const repeatBy = (clock: Clock): Repeat => ("advance" in clock ? () => () => {} : repeat);

/** A clock that a test controls. */
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

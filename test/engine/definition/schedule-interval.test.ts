import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE, SECOND } from "../../../src/core/clock.ts";
import { findCloseTimes } from "../../../src/engine/definition/schedule-interval.ts";

/** The distance of two times that are too close, in milliseconds. */
function gap(cron: string, minMs: number): number | undefined {
  const close = findCloseTimes(cron, minMs);
  return close && close.second - close.first;
}

describe("the shortest interval of a schedule", () => {
  it.each<[string, number, number]>([
    ["* * * * * *", MINUTE, SECOND],
    ["*/30 * * * * *", MINUTE, 30 * SECOND],
    ["0,59 * * * * *", MINUTE, 59 * SECOND],
    // The two are in different minutes.
    ["0,40 */2 * * * *", MINUTE, 40 * SECOND],
    ["59 59 23 * * *", 2 * DAY, DAY],
    ["* * * * *", 2 * MINUTE, MINUTE],
    ["0,1 0 1 1 *", 5 * MINUTE, MINUTE],
    // Across midnight.
    ["0 0,23 * * *", 2 * HOUR, HOUR],
    ["0 0,23 1,2 1 *", 2 * HOUR, HOUR],
    ["0 0,23 28,29 2 *", 2 * HOUR, HOUR],
    ["*/5 8-17 * * MON-FRI", 15 * MINUTE, 5 * MINUTE],
    ["0 8 * * MON,TUE", 2 * DAY, DAY],
    ["@hourly", 2 * HOUR, HOUR],
    ["@daily", 2 * DAY, DAY],
  ])("%s is too short for %d ms: %d ms", (cron, minMs, found) => {
    expect(gap(cron, minMs)).toBe(found);
  });

  it.each<[string, number]>([
    ["* * * * *", MINUTE],
    ["0 * * * * *", MINUTE],
    ["30 * * * * *", MINUTE],
    ["*/15 * * * *", 15 * MINUTE],
    ["0 0,23 * * 1", 2 * HOUR],
    ["0 8 * * MON", 7 * DAY],
    ["0 0 29 2 *", 30 * DAY],
    ["* * * * * *", 0],
    ["@weekly", DAY],
  ])("%s is long enough for %d ms", (cron, minMs) => {
    expect(gap(cron, minMs)).toBeUndefined();
  });
});

import { describe, expect, it } from "vitest";
import { formatRelativeTime } from "../../../src/web/ui/relative-time.ts";

/** Local time; 21 November 2026 is a Saturday. */
const on = (day: number, hour: number, minute = 0): number => new Date(2026, 10, day, hour, minute).getTime();

describe("a relative time", () => {
  it.each([
    ["Monday morning on Saturday evening", on(23, 7), on(21, 19, 48), "in 2 days"],
    ["Sunday evening on Saturday morning", on(22, 20), on(21, 8), "tomorrow"],
    ["Sunday morning on Saturday evening", on(22, 7), on(21, 19), "in 12 hours"],
    ["Thursday evening on Saturday morning", on(19, 22), on(21, 8), "2 days ago"],
    ["Friday morning on Saturday noon", on(20, 9), on(21, 12), "yesterday"],
    ["midnight a month ahead, seen in the evening", on(51, 0), on(21, 19), "in 29 days"],
    ["a few minutes ago", on(21, 7, 57), on(21, 8), "3 minutes ago"],
    ["a time slightly ahead of an outdated clock", on(21, 8) + 5_000, on(21, 8), "now"],
  ])("is %s", (_what, at, now, words) => {
    expect(formatRelativeTime(at, now)).toBe(words);
  });
});

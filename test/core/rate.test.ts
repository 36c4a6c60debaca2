import { describe, expect, it } from "vitest";
import { rateIntervalMs } from "../../src/core/rate.ts";

describe("a rate", () => {
  it.each([
    ["5/s", 200],
    ["3/s", 334],
    ["100/m", 600],
    ["1000/h", 3_600],
    ["1/d", 86_400_000],
    ["999999/m", 1],
  ])("of %s starts every %i ms", (rate, interval) => expect(rateIntervalMs(rate)).toBe(interval));

  it.each(["0/s", "5", "5/", "5/w", "5 /s", "-1/s", "1.5/s", "", "05/s"])("is not %j", (text) =>
    expect(() => rateIntervalMs(text)).toThrow(RangeError),
  );
});

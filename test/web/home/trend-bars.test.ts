import { describe, expect, it } from "vitest";
import { barHeights, dayText } from "../../../src/web/home/trend-bars.ts";

describe("the bars of the home page", () => {
  it("are relative to the busiest day, and show one failure among thousands", () => {
    expect(
      barHeights([
        { succeeded: 50, failed: 50 },
        { succeeded: 0, failed: 0 },
        { succeeded: 25, failed: 0 },
      ]),
    ).toEqual([
      { succeeded: 50, failed: 50 },
      { succeeded: 0, failed: 0 },
      { succeeded: 25, failed: 0 },
    ]);
    expect(barHeights([{ succeeded: 9_999, failed: 1 }])).toEqual([{ succeeded: 96, failed: 4 }]);
  });

  it("have a text that says where counting stopped", () => {
    expect(dayText({ date: "2026-11-21", succeeded: 10_001, failed: 3 })).toMatch(
      /21.*: 10,000\+ succeeded, 3 failed$/,
    );
  });
});

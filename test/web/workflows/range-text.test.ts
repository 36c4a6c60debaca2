import { describe, expect, it } from "vitest";
import { rangeText } from "../../../src/web/workflows/range-text.ts";

describe("the range of a backfill", () => {
  it("is shown in days of the schedule's time zone, as it was typed", () => {
    const range = {
      from: "2026-09-30T22:00:00.000Z",
      to: "2026-10-31T22:59:59.999Z",
      timezone: "Europe/Berlin",
    };
    expect(rangeText(range, "en-US")).toBe("Oct 1, 2026 to Oct 31, 2026 (Europe/Berlin)");
    const day = { ...range, to: "2026-10-01T21:59:59.999Z" };
    expect(rangeText(day, "en-US")).toBe("Oct 1, 2026 (Europe/Berlin)");
  });

  it("is shown with times where it ends within a day", () => {
    const range = { from: "2026-10-01T00:00:00.000Z", to: "2026-10-02T08:30:00.000Z", timezone: "UTC" };
    expect(rangeText(range, "en-US")).toMatch(
      /^Oct 1, 2026, 12:00:00.AM to Oct 2, 2026, 8:30:00.AM \(UTC\)$/,
    );
  });
});

import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { RunGroup } from "../../../schemas/run-groups.ts";
import {
  countDays,
  describeCount,
  describeDays,
  lastDays,
  successRate,
  sumDays,
} from "../../../src/web/runs/last-days.ts";

/** Node reads the variable again whenever it is set. */
function inTimeZone(name: string): void {
  vi.stubEnv("TZ", name);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
}

const group = (day: string, succeeded: number, failed: number, running = 0): RunGroup => ({
  by: { day },
  runs: succeeded + failed + running,
  statuses: { succeeded, failed, running },
  first: { run_id: "run_1", created_at: `${day}T08:00:00.000Z` },
  last: { run_id: "run_2", created_at: `${day}T09:00:00.000Z` },
});

describe("lastDays", () => {
  it("begins at local midnight 13 days ago, across the change of the clock in autumn", () => {
    inTimeZone("Europe/Berlin");
    // 23:30 of summer time would be 22:30 after the change.
    const { days, since } = lastDays(Date.parse("2026-11-01T23:30:00+01:00"));
    expect(days).toHaveLength(14);
    expect(days[0]).toBe("2026-10-19");
    expect(days[13]).toBe("2026-11-01");
    expect(days.slice(5, 8)).toEqual(["2026-10-24", "2026-10-25", "2026-10-26"]);
    expect(since).toBe("2026-10-18T22:00:00.000Z");
  });

  it("has each day once across the change of the clock in spring", () => {
    inTimeZone("America/New_York");
    const { days, since } = lastDays(Date.parse("2026-03-09T00:30:00-04:00"), 3);
    expect(days).toEqual(["2026-03-07", "2026-03-08", "2026-03-09"]);
    expect(since).toBe("2026-03-07T05:00:00.000Z");
  });

  it("ends with the local day, which may be another one than in UTC", () => {
    inTimeZone("Pacific/Auckland");
    expect(lastDays(Date.parse("2026-11-20T12:00:00Z"), 2).days).toEqual(["2026-11-20", "2026-11-21"]);
  });
});

describe("countDays", () => {
  const counts = countDays(
    ["2026-11-19", "2026-11-20", "2026-11-21"],
    [group("2026-11-19", 3, 0), group("2026-11-21", 5, 1, 2), group("2026-11-22", 70, 0)],
  );

  it("has zeros for days without runs, and leaves other days out", () => {
    expect(counts).toEqual([
      { day: "2026-11-19", runs: 3, succeeded: 3, failed: 0 },
      { day: "2026-11-20", runs: 0, succeeded: 0, failed: 0 },
      { day: "2026-11-21", runs: 8, succeeded: 5, failed: 1 },
    ]);
    expect(sumDays(counts)).toEqual({ runs: 11, succeeded: 8, failed: 1 });
  });

  it("is described in words", () => {
    expect(describeDays("Weekly revenue", counts)).toBe(
      "Weekly revenue: 11 runs in 3 days, 1 failed; most on 2026-11-21: 8",
    );
    expect(describeDays("New", countDays(["2026-11-19", "2026-11-20"], []))).toBe("New: 0 runs in 2 days");
    expect(describeCount({ runs: 1, failed: 0 })).toBe("1 run");
    expect(describeCount({ runs: 40, failed: 2 })).toBe("40 runs, 2 failed");
  });
});

const rate = (succeeded: number, failed: number) => successRate({ runs: 2_000, succeeded, failed });

it("successRate is 100 % only without failures, and unknown while nothing has ended", () => {
  expect(rate(308, 4)).toBe("98.7 %");
  expect(rate(1_999, 1)).toBe("99.9 %");
  expect(rate(12, 0)).toBe("100 %");
  expect(rate(0, 3)).toBe("0 %");
  expect(rate(0, 0)).toBeUndefined();
});

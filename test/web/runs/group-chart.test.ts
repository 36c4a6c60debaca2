import { describe, expect, it } from "vitest";
import type { RunGroup } from "../../../schemas/run-groups.ts";
import { chartChoices, groupChart, timesBetween } from "../../../src/web/runs/group-chart.ts";

const RUN = { run_id: "run_1", created_at: "2026-11-20T08:00:00.000Z" };

const group = (
  by: RunGroup["by"],
  statuses: RunGroup["statuses"],
  more: Partial<RunGroup> = {},
): RunGroup => ({
  by,
  runs: Object.values(statuses).reduce((sum, count) => sum + count, 0),
  statuses,
  first: RUN,
  last: RUN,
  ...more,
});

const NAMES = new Map([
  ["weekly", "Weekly"],
  ["weekly-2", "Weekly"],
]);

const chartOf = (groups: RunGroup[], groupBy: string[], choice = "", days = {}) =>
  groupChart({ groups, groupBy, choice, measures: ["output.total"], names: NAMES, days });

describe("groupChart", () => {
  it("stacks the statuses of each day, also of days without runs", () => {
    const groups = [
      group({ day: "2026-10-24" }, { succeeded: 2 }),
      group({ day: "2026-10-26" }, { succeeded: 1, failed: 1, waiting: 1 }),
    ];
    expect(chartOf(groups, ["day"], "", { from: "2026-10-23", to: "2026-10-26" })).toEqual({
      chart: {
        kind: "bar",
        xAxis: { name: "Day", kind: "text" },
        series: ["succeeded", "failed", "waiting"].map((name) => ({ name, kind: "number" })),
        layout: "stacked",
        colors: ["green.7", "red.7", "yellow.6"],
      },
      rows: [
        { Day: "2026-10-23", succeeded: 0, failed: 0, waiting: 0 },
        { Day: "2026-10-24", succeeded: 2, failed: 0, waiting: 0 },
        { Day: "2026-10-25", succeeded: 0, failed: 0, waiting: 0 },
        { Day: "2026-10-26", succeeded: 1, failed: 1, waiting: 1 },
      ],
    });
  });

  it("has a part for each of the eight most frequent values of the second key, and one of the rest", () => {
    const groups = Array.from({ length: 11 }, (_, index) =>
      group({ version: 1, "output.n": index }, { succeeded: index + 1 }),
    );
    const { chart, rows } = chartOf(groups, ["version", "output.n"])!;
    expect(chart.series.map(({ name }) => name)).toEqual(["10", "9", "8", "7", "6", "5", "4", "3", "other"]);
    expect(chart.colors).toHaveLength(9);
    expect(rows).toEqual([{ Version: "v1", 10: 11, 9: 10, 8: 9, 7: 8, 6: 7, 5: 6, 4: 5, 3: 4, other: 6 }]);
  });

  it("keeps workflows of the same name apart, and runs without a value", () => {
    const groups = [
      group({ "output.n": 1 }, { succeeded: 4 }),
      group({ workflow_id: "weekly", "output.n": 1 }, { succeeded: 3 }),
      group({ workflow_id: "weekly-2" }, { succeeded: 2 }),
    ];
    const { rows } = chartOf(groups, ["output.n", "workflow_id"])!;
    expect(rows).toEqual([
      { "output.n": "1", "Single steps": 4, Weekly: 3, "Weekly (2)": 0 },
      { "output.n": "none", "Single steps": 0, Weekly: 0, "Weekly (2)": 2 },
    ]);
  });

  it("has the colors of statuses where they are the second key", () => {
    const groups = [
      group({ version: 1, status: "failed" }, { failed: 9 }),
      group({ version: 1, status: "succeeded" }, { succeeded: 5 }),
    ];
    expect(chartOf(groups, ["version", "status"])!.chart.colors).toEqual(["red.7", "green.7"]);
  });

  it("shows a measure in place of the counts, with gaps where there are no numbers", () => {
    const measure = { runs: 1, min: 1, max: 3, sum: "4.5", mean: 2 };
    const groups = [
      group({ version: 1 }, { succeeded: 2 }, { measures: { "output.total": measure } }),
      group({ version: 2 }, { failed: 1 }, { duration_ms: { median: 20, p95: 40 } }),
    ];
    const shown = (choice: string) => chartOf(groups, ["version"], choice)!.rows;
    expect(shown("sum:output.total")).toEqual([
      { Version: "v1", "output.total: sum": 4.5 },
      { Version: "v2", "output.total: sum": null },
    ]);
    expect(shown("p95")).toEqual([
      { Version: "v1", "95th percentile of durations in ms": null },
      { Version: "v2", "95th percentile of durations in ms": 40 },
    ]);
    expect(chartOf(groups, ["version"], "sum:output.total")!.chart.layout).toBe("grouped");
    // A choice of an old link.
    expect(shown("sum:output.other")).toEqual(shown(""));
  });

  it("adds nothing up that can't be added: means have no part of the rest", () => {
    const groups = Array.from({ length: 9 }, (_, index) =>
      group({ version: 1, "output.n": index }, { succeeded: 1 }, { duration_ms: { median: index, p95: 9 } }),
    );
    expect(chartOf(groups, ["version", "output.n"], "median")!.chart.series).toHaveLength(8);
  });

  it("is left out without a key, and with too many bars", () => {
    const many = Array.from({ length: 201 }, (_, index) => group({ "output.n": index }, { succeeded: 1 }));
    expect(chartOf(many, ["output.n"])).toBeUndefined();
    expect(chartOf(many.slice(1), ["output.n"])!.rows).toHaveLength(200);
    expect(chartOf([group({}, { succeeded: 1 })], [])).toBeUndefined();
  });
});

describe("timesBetween", () => {
  it("has each hour, day and month from the first to the last one", () => {
    expect(timesBetween("hour", ["2026-11-21T22:00", "2026-11-22T01:00"])).toEqual([
      "2026-11-21T22:00",
      "2026-11-21T23:00",
      "2026-11-22T00:00",
      "2026-11-22T01:00",
    ]);
    expect(timesBetween("day", ["2028-03-01", "2028-02-28"])).toEqual([
      "2028-02-28",
      "2028-02-29",
      "2028-03-01",
    ]);
    expect(timesBetween("month", ["2026-12", "2027-03"])).toEqual([
      "2026-12",
      "2027-01",
      "2027-02",
      "2027-03",
    ]);
  });

  it("is empty for other keys, and where the times are too many", () => {
    expect(timesBetween("version", ["1", "9"])).toEqual([]);
    expect(timesBetween("day", ["2020-01-01", "2026-01-01"])).toEqual([]);
  });
});

it("chartChoices has the four numbers of each measure", () => {
  expect(chartChoices(["output.total"]).map(({ value }) => value)).toEqual([
    "",
    "median",
    "p95",
    "min:output.total",
    "max:output.total",
    "mean:output.total",
    "sum:output.total",
  ]);
});

import { describe, expect, it } from "vitest";
import { readState, toGroupsQuery, writeState } from "../../../src/web/runs/statistics-state.ts";

/** Noon of a local day. */
const NOW = new Date(2026, 10, 21, 12).getTime();
const read = (query: string) => readState(new URLSearchParams(query), NOW);

const STATE = {
  filters: { workflow: "weekly-revenue", status: ["failed" as const], since: "2026-11-01" },
  groupBy: ["version", 'output.region in ["north", "south"]'],
  where: "output.total > 1000 && run.version != 3",
  measures: ["output.total", "max(output.a, output.b)"],
  trials: true,
  chart: "mean:output.total",
};

describe("the state of the statistics", () => {
  it("is written to the URL and read back, also expressions with commas", () => {
    expect(readState(new URLSearchParams(writeState(STATE).toString()), NOW)).toEqual(STATE);
  });

  it("of a link without choices is the last 14 days, by day", () => {
    const bare = {
      filters: { status: [], since: "2026-11-08" },
      groupBy: ["day"],
      where: "",
      measures: [],
      trials: false,
      chart: "",
    };
    expect(read("")).toEqual(bare);
    expect(read("project=finance")).toEqual(bare);
    expect(read("status=failed").filters).toEqual({ status: ["failed"], since: "2026-11-08" });
    expect(read("until=2026-10-01").filters).toEqual({ status: [], until: "2026-10-01" });
  });

  it("keeps that nothing is grouped or filtered", () => {
    const all = { ...STATE, filters: { status: [] }, groupBy: [] };
    expect(readState(writeState(all), NOW)).toEqual(all);
  });

  it("has no empty and no repeated expressions", () => {
    expect(read("group=day&group=+day+&group=&number=+&where=+")).toMatchObject({
      groupBy: ["day"],
      measures: [],
      where: "",
    });
  });
});

it("toGroupsQuery leaves out what is not chosen, and trials unless they are", () => {
  const query = toGroupsQuery(read("group="), { project: "finance" });
  expect(query).toEqual({
    project: "finance",
    trial: false,
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    max_groups: 1_000,
  });
  expect(toGroupsQuery(STATE, {})).toMatchObject({
    workflow_id: "weekly-revenue",
    status: ["failed"],
    since: new Date(2026, 10, 1).toISOString(),
    where: STATE.where,
    group_by: STATE.groupBy,
    measures: STATE.measures,
  });
  expect(toGroupsQuery(STATE, {})).not.toHaveProperty("trial");
});

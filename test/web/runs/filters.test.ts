import { describe, expect, it } from "vitest";
import { isFiltered, toQuery, readFilters, writeFilters } from "../../../src/web/runs/filters.ts";

const read = (query: string) => readFilters(new URLSearchParams(query));

describe("run filters", () => {
  it("are written to the URL and read back", () => {
    const filters = {
      workflow: "weekly-revenue",
      status: ["failed" as const, "waiting" as const],
      trigger: "schedule" as const,
      since: "2026-11-20",
      until: "2026-11-21T08:00:00Z",
      search: "no such column",
    };
    expect(readFilters(writeFilters(filters))).toEqual(filters);
  });

  it("have a backfill only with its workflow", () => {
    const filters = { workflow: "weekly-revenue", backfill: "bf_1", status: [] };
    expect(readFilters(writeFilters(filters))).toEqual(filters);
    expect(read("backfill=bf_1")).toEqual({ status: [] });
  });

  it("ignore unknown values in the URL", () => {
    expect(read("status=failed,late&trigger=toString&since=yesterday&until=2026-99-99&workflow=")).toEqual({
      status: ["failed"],
    });
  });

  it("report whether any is set", () => {
    expect(isFiltered(read("x=1"))).toBe(false);
    expect(isFiltered(read("status=failed"))).toBe(true);
    expect(isFiltered(read("search=%20"))).toBe(false);
    expect(isFiltered(read("search=run_8dkq"))).toBe(true);
  });

  it("query from local midnight to the end of the last day", () => {
    const { since, until } = toQuery(read("since=2026-11-20&until=2026-11-20"));
    expect(since).toBe(new Date(2026, 10, 20).toISOString());
    expect(until).toBe(new Date(2026, 10, 21).toISOString());
  });

  it("query by an exact timestamp, without filters that are not set", () => {
    expect(toQuery(read("since=2026-11-20T08:00:00Z"))).toEqual({ since: "2026-11-20T08:00:00Z" });
  });
});

import { describe, expect, it } from "vitest";
import {
  isFiltered,
  isSearch,
  readFilters,
  toListQuery,
  toQuery,
  writeFilters,
} from "../../../src/web/runs/filters.ts";

const read = (query: string) => readFilters(new URLSearchParams(query));

describe("run filters", () => {
  it("are written to the URL and read back", () => {
    const filters = {
      search: "INV-2041 betrag",
      where: 'output.total > 1000 && inputs.region == "north"',
      workflow: "weekly-revenue",
      status: ["failed" as const, "waiting" as const],
      trigger: "schedule" as const,
      since: "2026-11-20",
      until: "2026-11-21T08:00:00Z",
    };
    expect(readFilters(writeFilters(filters))).toEqual(filters);
  });

  it("ignore unknown values in the URL", () => {
    expect(read("status=failed,late&trigger=toString&since=yesterday&until=2026-99-99&workflow=")).toEqual({
      status: ["failed"],
    });
  });

  it("query by words and a condition in lists only: other operations on runs don't know them", () => {
    const filters = read("search=inv&where=output%20%3D%3D%201&status=failed");
    expect(toListQuery(filters)).toEqual({ search: "inv", where: "output == 1", status: ["failed"] });
    expect(toQuery(filters)).toEqual({ status: ["failed"] });
    expect(isSearch(filters)).toBe(true);
    expect(isSearch(read("status=failed"))).toBe(false);
  });

  it("report whether any is set", () => {
    expect(isFiltered(read("x=1"))).toBe(false);
    expect(isFiltered(read("status=failed"))).toBe(true);
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

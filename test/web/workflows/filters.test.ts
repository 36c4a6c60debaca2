import { describe, expect, it } from "vitest";
import { parseFilters, isFiltered, searchIssue, withFilter } from "../../../src/web/workflows/filters.ts";

const read = (query: string) => parseFilters(new URLSearchParams(query));

describe("the filters of the workflow list", () => {
  it("are parsed from the URL, without values that the server would reject", () => {
    expect(read("")).toEqual({ sort: "-updated_at" });
    expect(read("search=+net+revenue&tag=finance&status=archived&sort=name")).toEqual({
      search: "net revenue",
      tag: "finance",
      status: "archived",
      sort: "name",
    });
    expect(read("status=gone&sort=size&search=a+b+c+d+e+f+g+h+i")).toEqual({ sort: "-updated_at" });
  });

  it("are written to the URL one by one, without defaults", () => {
    const before = new URLSearchParams("tag=finance&sort=name");
    expect(withFilter(before, "search", "net").toString()).toBe("tag=finance&sort=name&search=net");
    expect(withFilter(before, "tag", "").toString()).toBe("sort=name");
    expect(withFilter(before, "sort", "-updated_at").toString()).toBe("tag=finance");
    expect(before.toString()).toBe("tag=finance&sort=name");
  });

  it("accept at most eight different words", () => {
    expect(searchIssue("a b c d e f g h A")).toBeUndefined();
    expect(searchIssue("a b c d e f g h i")).toBe("At most 8 different words");
    expect(searchIssue("x".repeat(201))).toBe("At most 200 characters");
  });

  it("report whether they hide workflows", () => {
    expect([isFiltered(read("sort=name")), isFiltered(read("tag=x"))]).toEqual([false, true]);
  });
});

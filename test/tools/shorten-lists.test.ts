import { describe, expect, it } from "vitest";
import { shortenLists } from "../../tools/runs/shorten-lists.ts";

const rows = (count: number) => Array.from({ length: count }, (_, id) => ({ id, region: "north" }));

describe("a preview of a value with lists", () => {
  it("has the first items that fit, and names the full length of each list", () => {
    const { preview, lists } = shortenLists({ rows: rows(1_000), row_count: 1_000 }, 500)!;
    expect(JSON.parse(preview)).toEqual({ rows: rows(10), row_count: 1_000 });
    expect(lists).toEqual({ rows: 1_000 });
    expect(JSON.parse(shortenLists({ rows: rows(1_000) }, 100)!.preview)).toEqual({ rows: rows(3) });
  });

  it("shortens lists in lists, and a value that is one", () => {
    const { preview, lists } = shortenLists([{ tags: Array(50).fill("a") }, ...rows(99)], 600)!;
    expect(JSON.parse(preview)[0].tags).toHaveLength(20);
    expect(lists).toEqual({ "": 100, "[0].tags": 50 });
  });

  it.each([
    ["whose text is long", { text: "x".repeat(1_000), rows: rows(30) }],
    ["without long lists", { text: "x".repeat(1_000), rows: [] }],
    ["with many lists", Object.fromEntries(rows(100).map(({ id }) => [`l${id}`, rows(30)]))],
  ])("is not made of one %s", (_what, value) => {
    expect(shortenLists(value, 500)).toBeUndefined();
  });
});

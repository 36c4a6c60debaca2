import { describe, expect, it } from "vitest";
import { diffValues } from "../../../src/web/runs/diff-values.ts";

describe("the differences of two values", () => {
  it("are named by their paths, with what is there before and after", () => {
    const before = { rows: [{ n: 1 }, { n: 2 }], gone: true, same: { x: [null] } };
    const after = { rows: [{ n: 1 }, { n: 3 }, { n: 4 }], same: { x: [null] }, text: "new" };
    expect(diffValues(before, after)).toEqual({
      listed: [
        { path: "rows[1].n", before: "2", after: "3" },
        { path: "rows[2]", before: undefined, after: '{"n":4}' },
        { path: "gone", before: "true", after: undefined },
        { path: "text", before: undefined, after: '"new"' },
      ],
      total: 4,
      isCapped: false,
    });
  });

  it("are none for equal values, and one for values of different kinds", () => {
    expect(diffValues({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }).total).toBe(0);
    expect(diffValues([1], { 0: 1 }).listed).toEqual([{ path: "", before: "[1]", after: '{"0":1}' }]);
    expect(diffValues(undefined, null).listed).toEqual([{ path: "", before: undefined, after: "null" }]);
  });

  it("are all counted, listed up to a limit, and marked where they are cut", () => {
    const list = Array.from({ length: 80 }, (_, index) => index);
    const found = diffValues(
      list,
      list.map((n) => n + 1),
    );
    expect([found.listed.length, found.total, found.isCapped]).toEqual([50, 80, false]);
    expect(diffValues("", "x".repeat(500)).listed[0]!.after).toContain("(502 characters)");
    const long = Array.from({ length: 100_001 }, () => 0);
    expect(diffValues(long, [...long]).isCapped).toBe(true);
  });
});

/** What a value is to the eye, and how long ones are parted. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { groupForTree, isSmallTree } from "../../../src/web/values/json-groups.ts";
import { isTruncated, classifyValue } from "../../../src/web/values/classify-value.ts";
import { splitOffsets } from "../../../src/web/values/text-parts.ts";

describe("kinds of values", () => {
  it.each([
    [undefined, "nothing"],
    [null, "nothing"],
    ["", "nothing"],
    [[], "nothing"],
    [{}, "nothing"],
    [0, "plain"],
    [false, "plain"],
    ["x", "text"],
    [{ text: "x", usage: {}, finish_reason: "stop" }, "text"],
    [{ text: null, object: { a: 1 } }, "json"],
    [{ text: "x", channel: "y" }, "json"],
    [{ rows: [] }, "rows"],
    [[{ a: 1 }], "rows"],
    [[1, 2], "json"],
  ])("%j is %s", (value, kind) => {
    expect(classifyValue(value).kind).toBe(kind);
  });

  it("knows what the server cut", () => {
    expect(isTruncated({ truncated: true, chars: 9, preview: "{", ref: "output" })).toBe(true);
    expect(isTruncated({ rows: [], truncated: true })).toBe(false);
    expect(isTruncated(null)).toBe(false);
  });
});

describe("long text", () => {
  it("is parted without losing or splitting a character", () => {
    const unit = fc.constantFrom("a".repeat(1_999), "\n", "😀", "b".repeat(7_001));
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 60 }), (text) => {
        const marks = splitOffsets(text);
        const parts = marks.slice(1).map((end, at) => text.slice(marks[at], end));
        expect(parts.join("")).toBe(text);
        for (const part of parts) {
          expect(part.length).toBeLessThanOrEqual(20_000);
          expect(part.isWellFormed()).toBe(true);
        }
      }),
    );
  });
});

const leavesOf = (value: unknown): unknown[] =>
  typeof value === "object" && value !== null ? Object.values(value).flatMap(leavesOf) : [value];
const widest = (value: unknown): number =>
  typeof value === "object" && value !== null
    ? Math.max(Object.keys(value).length, ...Object.values(value).map(widest))
    : 0;

describe("trees", () => {
  it.each([0, 100, 101, 10_000, 10_001, 30_000])(
    "shows %i values in groups that open one by one",
    (count) => {
      const list = Array.from({ length: count }, (_, n) => n);
      const shown = groupForTree(list);
      expect(leavesOf(shown)).toEqual(list);
      expect(widest(shown)).toBeLessThanOrEqual(100);
      expect(widest(groupForTree(Object.fromEntries(list.map((n) => [`key ${n}`, n]))))).toBeLessThanOrEqual(
        100,
      );
    },
  );

  it("names groups by their places in the whole list", () => {
    const shown = groupForTree(Array.from({ length: 10_150 }, () => 0)) as Record<string, object>;
    expect(Object.keys(shown)).toEqual(["[0 … 9999]", "[10000 … 10149]"]);
    expect(Object.keys(shown["[10000 … 10149]"]!)).toEqual(["[10000 … 10099]", "[10100 … 10149]"]);
  });

  it("leaves small values as they are, and cuts long text", () => {
    const value = { a: [1, null, "x"], b: {} };
    expect(groupForTree(value)).toEqual(value);
    expect(isSmallTree(value)).toBe(true);
    expect(isSmallTree(Array.from({ length: 61 }, () => 0))).toBe(false);
    expect(groupForTree("x".repeat(6_000))).toMatch(/^x{5000}… \(6,000 characters\)$/);
  });
});

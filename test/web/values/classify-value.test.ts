/** How values are classified for display, and how long ones are split. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { groupForTree, isSmallTree } from "../../../src/web/values/json-groups.ts";
import { isTruncated, classifyValue } from "../../../src/web/values/classify-value.ts";
import { splitOffsets } from "../../../src/web/values/text-parts.ts";

describe("kinds of values", () => {
  it.each([
    [undefined, "empty"],
    [null, "empty"],
    ["", "empty"],
    [[], "empty"],
    [{}, "empty"],
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

  it("recognizes values that the server truncated", () => {
    expect(isTruncated({ truncated: true, chars: 9, preview: "{", ref: "output" })).toBe(true);
    expect(isTruncated({ rows: [], truncated: true })).toBe(false);
    expect(isTruncated(null)).toBe(false);
  });
});

describe("long text", () => {
  it("is split without losing or splitting a character", () => {
    const unit = fc.constantFrom("a".repeat(1_999), "\n", "😀", "b".repeat(7_001));
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 60 }), (text) => {
        const offsets = splitOffsets(text);
        const parts = offsets.slice(1).map((end, index) => text.slice(offsets[index], end));
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
const maxChildren = (value: unknown): number =>
  typeof value === "object" && value !== null
    ? Math.max(Object.keys(value).length, ...Object.values(value).map(maxChildren))
    : 0;

describe("the JSON tree", () => {
  it.each([0, 100, 101, 10_000, 10_001, 30_000])("splits %i values into groups of at most 100", (count) => {
    const list = Array.from({ length: count }, (_, n) => n);
    const tree = groupForTree(list);
    expect(leavesOf(tree)).toEqual(list);
    expect(maxChildren(tree)).toBeLessThanOrEqual(100);
    expect(
      maxChildren(groupForTree(Object.fromEntries(list.map((n) => [`key ${n}`, n])))),
    ).toBeLessThanOrEqual(100);
  });

  it("names groups by their indexes in the whole list", () => {
    const tree = groupForTree(Array.from({ length: 10_150 }, () => 0)) as Record<string, object>;
    expect(Object.keys(tree)).toEqual(["[0 … 9999]", "[10000 … 10149]"]);
    expect(Object.keys(tree["[10000 … 10149]"]!)).toEqual(["[10000 … 10099]", "[10100 … 10149]"]);
  });

  it("keeps small values, and truncates long strings", () => {
    const value = { a: [1, null, "x"], b: {} };
    expect(groupForTree(value)).toEqual(value);
    expect(isSmallTree(value)).toBe(true);
    expect(isSmallTree(Array.from({ length: 61 }, () => 0))).toBe(false);
    expect(groupForTree("x".repeat(6_000))).toMatch(/^x{5000}… \(6,000 characters\)$/);
  });
});

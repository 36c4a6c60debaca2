import * as fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { exceedsDepth, MAX_JSON_DEPTH, text } from "../../schemas/text.ts";
import { WorkflowDefinition, WorkflowTags } from "../../schemas/workflow.ts";
import { issuesOf } from "../../src/core/issues.ts";
import type { z } from "zod";

function codes(schema: z.ZodType, value: unknown): string[] {
  const parsed = schema.safeParse(value, { reportInput: true });
  return parsed.success ? [] : issuesOf(parsed.error, schema).map((issue) => issue.code);
}

const nested = (depth: number, open = '{"a":', close = "}"): unknown =>
  JSON.parse(`${open.repeat(depth)}1${close.repeat(depth)}`);

const depthOf = (value: unknown): number =>
  typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

describe("text", () => {
  it("counts code points, as JSON Schema does, not UTF-16 units", () => {
    expect(codes(text(3), "𝒳𝒴𝒵")).toEqual([]);
    expect(codes(text(3), "𝒳𝒴𝒵a")).toEqual(["too_long"]);
    expect(codes(text(3), "abcd")).toEqual(["too_long"]);
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 30 }), fc.nat(20), (value, max) => {
        fc.pre(!value.includes("\u0000"));
        expect(codes(text(max), value).includes("too_long")).toBe(Array.from(value).length > max);
      }),
    );
  });

  it.each(["", " ", "\t\r\n", "\u00a0\u2003\u3000", "\ufeff"])(
    "takes %j for empty where it must not be",
    (value) => {
      expect(codes(text(10, 1), value)).toEqual(["too_short"]);
      expect(codes(text(10), value)).toEqual([]);
    },
  );

  it.each(["a\u0000b", "\ud83d", "\ude00", "a\ude00\ud83d"])("refuses %j", (value) => {
    expect(codes(text(10), value)).toEqual(["invalid_text"]);
  });

  it("reports both that a text is too long and that it can't be stored", () => {
    expect(codes(text(2), "abc\u0000")).toEqual(["too_long", "invalid_text"]);
  });

  it("returns valid text unchanged", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (value) => {
        fc.pre(!value.includes("\u0000"));
        expect(text(1_000).parse(value)).toBe(value);
      }),
    );
  });

  it("refuses a megabyte without counting it", () => {
    const counting = vi.spyOn(String.prototype, Symbol.iterator);
    onTestFinished(() => counting.mockRestore());
    expect(codes(text(200), "x".repeat(1024 * 1024))).toEqual(["too_long"]);
    expect(counting).not.toHaveBeenCalled();
    expect(codes(text(200), "x".repeat(300))).toEqual(["too_long"]);
    expect(counting).toHaveBeenCalledOnce();
  });
});

describe("tags", () => {
  it("reports all issues at once: those of the items and of the list", () => {
    expect(codes(WorkflowTags, ["a", "a", "x".repeat(51), " "])).toEqual([
      "too_long",
      "too_short",
      "duplicate",
    ]);
  });

  it("takes tags for the same that differ in case or in the form of their letters, and names both", () => {
    const parsed = WorkflowTags.safeParse(["Größe", "a", "GRO\u0308SSE"]);
    expect(parsed.error!.issues[0]!.message).toBe(
      "must not contain the same tag twice: Größe and GRO\u0308SSE differ only in case or in how their accents are written",
    );
  });

  it("does not check the items of a list that is too long", () => {
    expect(
      codes(
        WorkflowTags,
        Array.from({ length: 21 }, () => "x".repeat(51)),
      ),
    ).toEqual(["too_long"]);
  });
});

describe("exceedsDepth", () => {
  it.each([
    [1, 0, false],
    ["text", 0, false],
    [null, 0, false],
    [{}, 0, true],
    [{}, 1, false],
    [{ a: [] }, 1, true],
    [{ a: [] }, 2, false],
    [[[1], { a: { b: 2 } }], 2, true],
    [[[1], { a: { b: 2 } }], 3, false],
  ])("compares the depth of %j with %i", (value, max, deeper) => {
    expect(exceedsDepth(value, max)).toBe(deeper);
  });

  it("agrees with a recursive count", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(8), (value, max) => {
        expect(exceedsDepth(value, max)).toBe(depthOf(value) > max);
      }),
    );
  });

  it.each([
    ["objects", '{"a":', "}"],
    ["arrays", "[", "]"],
  ])("survives 100,000 nested %s", (_, open, close) => {
    expect(exceedsDepth(nested(100_000, open, close), MAX_JSON_DEPTH)).toBe(true);
    expect(exceedsDepth(nested(100_000, open, close), 100_000)).toBe(false);
    expect(exceedsDepth(nested(100_000, open, close), 99_999)).toBe(true);
  });

  it("survives 100,000 sibling values", () => {
    expect(exceedsDepth({ a: Array.from({ length: 100_000 }, () => ({})) }, 3)).toBe(false);
  });

  it("limits definitions to exactly 64 levels", () => {
    expect(codes(WorkflowDefinition, nested(MAX_JSON_DEPTH))).toEqual([]);
    expect(codes(WorkflowDefinition, nested(MAX_JSON_DEPTH + 1))).toEqual(["too_deep"]);
    expect(codes(WorkflowDefinition, nested(100_000))).toEqual(["too_deep"]);
  });

  it("accepts only objects as definitions", () => {
    for (const value of [[], "text", 1, true, null])
      expect(codes(WorkflowDefinition, value)).toEqual(["wrong_type"]);
  });
});

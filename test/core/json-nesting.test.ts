import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exceedsDepth } from "../../schemas/text.ts";
import { assertRequestDepth, isNestedDeeper, MAX_REQUEST_DEPTH } from "../../src/core/json-nesting.ts";

/** The real depth of a value, in levels. */
function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** The depth that is counted in a text, in levels. */
function countedDepth(json: string | Uint8Array): number {
  let depth = 0;
  while (isNestedDeeper(json, depth)) depth += 1;
  return depth;
}

/** Texts and keys of what the count must not take for structure. */
const confusing = fc.oneof(
  fc.string({
    unit: fc.constantFrom(
      "[",
      "{",
      "]",
      "}",
      '"',
      "\\",
      "\\\\",
      '\\"',
      "/",
      "u005b",
      "é",
      "字",
      "𝄞",
      "\u005b",
    ),
  }),
  fc.string({ unit: "binary" }),
);

const value = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "large", maxDepth: 12 },
    confusing,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(null, true, false),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(confusing, tie("value"), { maxKeys: 3 }),
  ),
})).value;

/** Escapes every character of a text, as JSON may. */
const escaped = (text: string): string =>
  Array.from(
    { length: text.length },
    (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");

const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);

describe("isNestedDeeper", () => {
  it("counts in the bytes of every JSON value the depth that the value has", () => {
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 1, "\t"), (json, indent) => {
        const text = JSON.stringify(json, null, indent);
        expect(countedDepth(text)).toBe(depthOf(json));
        expect(countedDepth(Buffer.from(text))).toBe(depthOf(json));
        for (const max of [0, 1, 5]) expect(isNestedDeeper(text, max)).toBe(exceedsDepth(json, max));
      }),
      { numRuns: 2_000 },
    );
  });

  it("counts the same where every character of every text is escaped", () => {
    fc.assert(
      fc.property(fc.array(confusing, { maxLength: 4 }), fc.nat({ max: 10 }), (texts, around) => {
        const list = `[${texts.map((text) => `"${escaped(text)}"`).join(",")}]`;
        expect(JSON.parse(list)).toEqual(texts);
        expect(countedDepth("[".repeat(around) + list + "]".repeat(around))).toBe(around + 1);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ["an unclosed list", "[".repeat(7), 7],
    ["a text that never ends", `[["${"[".repeat(9)}`, 2],
    ["a text that ends with a backslash", '["\\', 1],
    ["a quote after two backslashes", String.raw`["\\",[[]]]`, 3],
    ["a quote after three backslashes", String.raw`["\\\",[[]]"]`, 1],
    ["siblings", "[[],[],[[]],{}]", 3],
    ["nothing", "", 0],
  ])("counts %s", (_, text, depth) => {
    expect(countedDepth(text)).toBe(depth);
  });

  it("counts at least what a parser reads, of any text that is no JSON", () => {
    fc.assert(
      fc.property(value, fc.nat(), (json, cut) => {
        const text = JSON.stringify(json);
        const part = text.slice(0, cut % (text.length + 1));
        expect(countedDepth(part)).toBeLessThanOrEqual(depthOf(json));
        expect(countedDepth(`${part}${"[".repeat(20)}`)).toBeGreaterThanOrEqual(countedDepth(part));
      }),
      { numRuns: 500 },
    );
  });
});

describe("assertRequestDepth", () => {
  it("accepts the deepest request, and names the limit where one is deeper", () => {
    expect(() => assertRequestDepth(nested(MAX_REQUEST_DEPTH))).not.toThrow();
    expect(() => assertRequestDepth(nested(MAX_REQUEST_DEPTH + 1))).toThrow("deeper than 200 levels");
  });
});

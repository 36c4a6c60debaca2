import * as fc from "fast-check";
import { RE2JS } from "re2js";
import { describe, expect, it } from "vitest";
import { portablePattern } from "../../../src/core/listed-inputs/portable-pattern.ts";
import { refusedByVendors } from "../../support/vendor-rules.ts";

const { raw } = String;

describe("portablePattern", () => {
  it.each([
    ["^[A-Z]{2}-\\d+$", "^[A-Z]{2}-\\d+$"],
    [raw`\A\d{4}\z`, raw`^\d{4}$`],
    [raw`(?P<year>\d)(?<month>\d)(?:x)`, raw`(\d)(\d)(?:x)`],
    [raw`^.+\:\-\.\/$`, raw`^[^\n]+:-\.\/$`],
    [raw`^\S[^\s]$`, raw`^[^\t\n\f\r ][^\t\n\f\r ]$`],
    ["[]a][^]a]", raw`[\]a][^\]a]`],
    [raw`[\d-z[]`, raw`[\d\-z\[]`],
    ["a{,3}b{c}]", raw`a\{,3\}b\{c\}\]`],
  ])("writes %s for JavaScript and Python", (pattern, written) => {
    expect(portablePattern(pattern)).toBe(written);
  });

  it.each([
    "(?i)^a",
    "(?s).",
    "a(?i:b)",
    raw`^\pL+$`,
    raw`\P{Greek}`,
    "[[:alpha:]]",
    raw`\Qa.b\E`,
    raw`\x{1F600}`,
    raw`[\S]`,
    raw`\a`,
    "[😀]",
    "^*",
  ])("has no form of %s", (pattern) => {
    expect(RE2JS.compile(pattern)).toBeDefined();
    expect(portablePattern(pattern)).toBeUndefined();
  });

  it("matches every text that RE2 finds the pattern in, and is compiled by all", () => {
    let portable = 0;
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...TOKENS), { minLength: 1, maxLength: 7 }),
        fc.array(fc.string({ unit: fc.constantFrom(...CHARACTERS), maxLength: 4 }), { minLength: 8 }),
        (tokens, texts) => {
          const pattern = tokens.join("");
          const compiled = compiledBy(pattern);
          const written = compiled && portablePattern(pattern);
          if (compiled === undefined || written === undefined) return;
          portable += 1;
          const field = { type: "string", pattern: written };
          expect(refusedByVendors({ type: "object", properties: { field } })).toEqual([]);
          for (const text of texts.filter((each) => compiled.matcher(each).find()))
            expect(text).toMatch(new RegExp(written, "u"));
        },
      ),
      { numRuns: 3_000 },
    );
    expect(portable).toBeGreaterThan(500);
  });
});

const CHARACTERS = [
  "a",
  "b",
  "A",
  "1",
  "_",
  "-",
  "]",
  "{",
  "}",
  " ",
  "\n",
  "\r",
  "\v",
  "\u2028",
  "\u00a0",
  "é",
  "😀",
];
// prettier-ignore
const TOKENS = [
  "a", "b", "1", "-", "_", ".", "^", "$", "|", "*", "+", "?", "*?", "{1,2}", "{2}", "{0,}", "{", "}", ",", "(", ")", "(?:", "(?P<n>",
  "[", "[^", "]", "a-b", "[]-a]", "[^a-]", "[a-b-1]", "[\\d-_]", "[\\s]", "[^\\s]", "[\\W]", "[^\\D]", "[\\]\\-^]", "[a&&b]",
  "\\A", "\\z", "\\d", "\\D", "\\w", "\\W", "\\s", "\\S", "\\b", "\\B", "\\n", "\\.", "\\-", "\\_", "\\]", "\\x61", "\\v", "é", "\u2028",
];

function compiledBy(pattern: string): RE2JS | undefined {
  try {
    return RE2JS.compile(pattern);
  } catch {
    return undefined;
  }
}

import * as fc from "fast-check";
import { RE2JS } from "re2js";
import { describe, expect, it } from "vitest";
import { portablePattern } from "../../../src/core/listed-inputs/portable-pattern.ts";
import { refusedByVendors } from "../../support/vendor-rules.ts";

const { raw } = String;

describe("portablePattern", () => {
  it.each([
    ["^[A-Z]{2}-\\d+$", "^[A-Z]{2}-[0-9]+$"],
    [raw`\A\d{4}\z`, raw`^[0-9]{4}$`],
    [raw`\D\w\W\s[^\w-]`, raw`[^0-9][0-9A-Za-z_][^0-9A-Za-z_][\t\n\f\r ][^0-9A-Za-z_\-]`],
    [raw`(?P<year>\d)(?<month>\d)(?:x)`, raw`([0-9])([0-9])(?:x)`],
    [raw`^.+\:\-\.\/$`, raw`^[^\n]+:-\.\/$`],
    [raw`^\S[^\s]$`, raw`^[^\t\n\f\r ][^\t\n\f\r ]$`],
    ["[]a][^]a]", raw`[\]a][^\]a]`],
    [raw`[\d-z[]`, raw`[0-9\-z\[]`],
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
    raw`[\W]`,
    raw`\bfoo\B`,
    raw`\a`,
    "[😀]",
    "^*",
  ])("has no form of %s", (pattern) => {
    expect(RE2JS.compile(pattern)).toBeDefined();
    expect(portablePattern(pattern)).toBeUndefined();
  });

  it("matches the texts that RE2 finds the pattern in, and no others, and is compiled by all", () => {
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
          const matching = new RegExp(written, "u");
          for (const text of texts) expect(matching.test(text)).toBe(compiled.matcher(text).find());
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

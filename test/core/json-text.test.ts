import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  findJsonLosses,
  jsonLossIssues,
  type NumberTooLargeError,
  parseExactJson,
} from "../../src/core/json-text.ts";

const losses = (text: string) => findJsonLosses(text).map(({ kind, path }) => `${kind} ${path.join(".")}`);

describe("findJsonLosses", () => {
  it.each<[string, string, string[]]>([
    ["an integer that loses digits", '{"a": [1, 9007199254740993]}', ["inexact_integer a.1"]],
    ["a negative one", "[-9007199254740993]", ["inexact_integer 0"]],
    ["a very long one", `{"a": ${"9".repeat(400)}}`, ["inexact_integer a"]],
    ["a number that is too large", '{"a": {"b": 1e400}}', ["not_finite a.b"]],
    ["a key that occurs twice", '{"a": {"b": 1, "c": 2, "b": 3}}', ["duplicate_key a.b"]],
    ["a key that is escaped once", String.raw`{"ab": 1, "a\u0062": 2}`, ["duplicate_key ab"]],
    ["the same key of other objects as none", '[{"a": 1}, {"a": {"a": 1}}]', []],
    ["a large integer that is exact as none", "[10000000000000000, 9007199254740992, 1e300]", []],
    ["digits in text as none", '{"9007199254740993": "1e400 \\" 9007199254740993"}', []],
    ["the number alone", "9007199254740993", ["inexact_integer "]],
    [
      "all of them",
      '{"a": 1e999, "b": [], "a": -12345678901234567890}',
      ["not_finite a", "duplicate_key a", "inexact_integer a"],
    ],
  ])("reports %s", (_, text, expected) => {
    expect(losses(text)).toEqual(expected);
  });

  it("says what to write instead", () => {
    expect(jsonLossIssues('{"id": 9007199254740993}')).toEqual([
      {
        path: "id",
        code: "inexact_integer",
        message: "must be an integer that a number can hold, up to 9007199254740991, got 9007199254740993",
        fix: 'Write it as text: "9007199254740993".',
      },
    ]);
  });

  it("finds nothing in what JSON.stringify writes, whatever the keys and texts", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, indent) => {
        expect(findJsonLosses(JSON.stringify(value, null, indent))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});

describe("parseExactJson", () => {
  it("returns integers beyond 2^53 as text with all digits, and everything else as JSON.parse", () => {
    const text =
      '{"ids": [9007199254740993, -12345678901234567890, 9007199254740991], "x": 1e20, "s": "9007199254740993"}';
    expect(parseExactJson(text, 64)).toEqual({
      ids: ["9007199254740993", "-12345678901234567890", 9007199254740991],
      x: 1e20,
      s: "9007199254740993",
    });
  });

  it("keeps every integer, as a number or as text", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }), (n) => {
        const parsed = parseExactJson(`{"n": ${n}}`, 64) as { n: number | string };
        expect(BigInt(parsed.n)).toBe(n);
        expect(typeof parsed.n).toBe(
          n <= BigInt(Number.MAX_SAFE_INTEGER) && n >= -BigInt(Number.MAX_SAFE_INTEGER) ? "number" : "string",
        );
      }),
    );
  });

  it("refuses a number that is too large after any number of other losses", () => {
    const long = Array.from({ length: 101 }, () => "12345678901234567890").join(", ");
    expect(() => parseExactJson(`[${long}, 1e400]`, 64)).toThrow("The number at [101] is too large.");
  });

  it("refuses a number that is too large, with its path", () => {
    expect(() => parseExactJson('{"a": [1, 1e400]}', 64)).toThrow(
      expect.objectContaining({ path: "a[1]" }) as NumberTooLargeError,
    );
  });
});

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nearMatch } from "../../src/core/near-match.ts";

const word = fc.string({ unit: fc.constantFrom(...Array.from("abcdefgh_")), minLength: 1, maxLength: 14 });

describe("nearMatch", () => {
  it.each([
    ["nmae", ["name", "description"], "name"],
    ["NAME", ["name"], "name"],
    ["tag", ["tags", "status"], "tags"],
    ["sqlit", ["duckdb", "sqlite"], "sqlite"],
    ["postgres", ["postgresql", "mysql"], "postgresql"],
    ["databse", ["database"], "database"],
    ["weekly-revenu", ["weekly-revenue-2", "weekly-revenue"], "weekly-revenue"],
    ["stauts", ["status", "sort"], "status"],
    ["GRO\u0308\u00DFE", ["Gr\u00F6sse"], "Gr\u00F6sse"],
    ["re\u0301sume\u0301", ["r\u00E9sum\u00E9", "resume"], "r\u00E9sum\u00E9"],
  ])("matches %s with one of %j", (typed, allowed, meant) => {
    expect(nearMatch(typed, allowed)).toBe(meant);
  });

  it.each([
    ["a", ["b"]],
    ["id", ["ip", "ab"]],
    ["cat", ["tag", "dog"]],
    ["foo", ["from", "for_all"]],
    ["abc", ["axy"]],
    ["tag", ["status", "sort", "search"]],
    ["host", ["port"]],
    ["owner", ["name", "tags"]],
    ["", ["a", "ab"]],
    ["x".repeat(100_000), ["x"]],
  ])("finds no match for %.20s in %j", (typed, allowed) => {
    expect(nearMatch(typed, allowed)).toBeUndefined();
  });

  it("is symmetric for two words", () => {
    fc.assert(
      fc.property(word, word, (a, b) => {
        expect(nearMatch(a, [b]) === b).toBe(nearMatch(b, [a]) === a);
      }),
      { numRuns: 2_000 },
    );
  });

  it("shares at least half of its letters with a word of up to five letters", () => {
    fc.assert(
      fc.property(word, fc.array(word), (typed, allowed) => {
        const near = nearMatch(typed.slice(0, 5), allowed) ?? "";
        const shared = Array.from(near).filter((letter) => typed.includes(letter));
        expect(shared.length).toBeGreaterThanOrEqual(near.length / 2);
      }),
      { numRuns: 2_000 },
    );
  });

  it("finds the word itself among any other allowed words", () => {
    fc.assert(
      fc.property(word, fc.array(word), (typed, others) => {
        expect(nearMatch(typed, [...others, typed])).toBe(typed);
      }),
    );
  });
});

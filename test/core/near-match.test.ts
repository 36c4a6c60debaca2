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
  ])("takes %s for one of %j", (typed, allowed, meant) => {
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
  ])("has no advice for %.20s among %j", (typed, allowed) => {
    expect(nearMatch(typed, allowed)).toBeUndefined();
  });

  it("takes two words for each other in both directions or in neither", () => {
    fc.assert(
      fc.property(word, word, (a, b) => {
        expect(nearMatch(a, [b]) === b).toBe(nearMatch(b, [a]) === a);
      }),
      { numRuns: 2_000 },
    );
  });

  it("keeps at least half of the letters of a word of up to five", () => {
    fc.assert(
      fc.property(word, fc.array(word), (typed, allowed) => {
        const near = nearMatch(typed.slice(0, 5), allowed) ?? "";
        const kept = Array.from(near).filter((letter) => typed.includes(letter));
        expect(kept.length).toBeGreaterThanOrEqual(near.length / 2);
      }),
      { numRuns: 2_000 },
    );
  });

  it("finds the word itself whatever else is allowed", () => {
    fc.assert(
      fc.property(word, fc.array(word), (typed, others) => {
        expect(nearMatch(typed, [...others, typed])).toBe(typed);
      }),
    );
  });
});

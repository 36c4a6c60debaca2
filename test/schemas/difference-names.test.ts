import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AcceptDifferences } from "../../schemas/backtest-rule.ts";
import {
  coveringName,
  differenceName,
  fewNames,
  NAME_ROOTS,
  normalName,
} from "../../schemas/difference-names.ts";
import { caseCount, testSeed } from "../support/random.ts";

const key = fc.oneof(
  fc.constantFrom("a", "b", "total", "items", "input", "steps", ""),
  fc.string({ unit: "binary", maxLength: 70 }),
  fc.string({ unit: "grapheme-ascii", minLength: 55, maxLength: 70 }),
);
const path = fc
  .tuple(fc.constantFrom(...NAME_ROOTS), fc.array(fc.oneof(key, fc.nat(9)), { maxLength: 8 }))
  .map(([root, keys]) => keys.toSpliced(0, 0, root));

describe("differenceName", () => {
  it("leaves out indexes, and stops before a key that no name can hold", () => {
    expect(differenceName(["output", "rows", 3, "total"])).toBe("output.rows.total");
    for (const odd of ["a.b", "a b", "a[0]", "", "a\u200bb", "x".repeat(65)])
      expect(differenceName(["output", "rows", odd, "total"])).toBe("output.rows");
    expect(differenceName(["steps", "s".repeat(64), "added"])).toBe(`steps.${"s".repeat(64)}.added`);
  });

  it("makes only names that a request can accept, alone and shortened", () => {
    const numRuns = caseCount(500, 100_000);
    fc.assert(
      fc.property(
        fc.array(path, { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 1, max: 10 }),
        (paths, limit) => {
          const names = paths.map(differenceName);
          const few = fewNames(names, limit);
          expect(AcceptDifferences.safeParse(few.slice(0, 100)).success).toBe(true);
          expect(few.length).toBeLessThanOrEqual(Math.max(limit, NAME_ROOTS.length));
          for (const name of names) expect([name, coveringName(name, few)]).not.toEqual([name, undefined]);
          // None of them covers another one.
          for (const name of few)
            expect(
              coveringName(
                name,
                few.filter((other) => other !== name),
              ),
            ).toBe(undefined);
        },
      ),
      { numRuns, seed: testSeed(`${numRuns} lists of names`) },
    );
  });
});

describe("fewNames", () => {
  it("shortens any number of names", () => {
    const names = Array.from({ length: 200_000 }, (_, index) => `output.rows.k${index}`);
    expect(fewNames([...names, "output.note"], 100)).toEqual(["output.note", "output.rows"]);
  });
});

describe("normalName", () => {
  it("removes brackets of indexes, and no others", () => {
    expect(normalName("output.rows[].total")).toBe("output.rows.total");
    expect(normalName("output[12].rows[3]")).toBe("output.rows");
    // As backtests show places of a fan-out.
    expect(normalName("steps.send.items[3].input.items")).toBe("steps.send.input.items");
    for (const written of ['output["note"]', "steps.pay[input]", "output.note ", "output..a", "note"])
      expect(AcceptDifferences.safeParse([written]).success).toBe(false);
  });
});

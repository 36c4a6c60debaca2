/** Random values in numbers that take too long to be repeated for each change of a mutation test. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isKeyValue } from "../../src/auth/key-format.ts";

const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const letter = fc.constantFrom(...Array.from(LETTERS));

describe("key values", () => {
  it("do not pass the checksum by chance", () => {
    const guess = fc.array(letter, { minLength: 36, maxLength: 36 }).map((one) => `mill_${one.join("")}`);
    fc.assert(
      fc.property(guess, (value) => {
        expect(isKeyValue(value)).toBe(false);
      }),
      { numRuns: 2_000 },
    );
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (value) => {
        expect(isKeyValue(value)).toBe(false);
      }),
    );
  });
});

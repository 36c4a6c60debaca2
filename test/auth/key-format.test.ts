import * as fc from "fast-check";
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { digestOf, isKeyValue, newKeyValue, randomBase62 } from "../../src/auth/key-format.ts";

const SCANNER = /\bmill_[0-9A-Za-z]{36}\b/;
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const letter = fc.constantFrom(...Array.from(ALPHABET));
const where = fc.nat(40);

/** Each run generates its own keys, which fast-check's seed does not determine, so a failure shows the key. */
const key = fc.constant(undefined).map(newKeyValue);

describe("key values", () => {
  it("have the documented format, match secret scanners, and pass their checksum", () => {
    fc.assert(
      fc.property(key, fc.string(), (value, around) => {
        expect(value).toMatch(/^mill_[0-9A-Za-z]{36}$/);
        expect(SCANNER.exec(`KEY="${value}" ${around}`)?.[0]).toBe(value);
        expect(isKeyValue(value)).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it("fail the checksum with any character changed", () => {
    // 30 characters are 240 bits: a change of one lies within 8 bits in a row, and CRC32 finds every such burst.
    const passed: unknown[] = [];
    for (let round = 0; round < 5; round += 1) {
      const value = newKeyValue();
      for (let index = 0; index < value.length; index += 1) {
        for (const other of `${ALPHABET}_- é`) {
          if (other === value[index]) continue;
          const changed = value.slice(0, index) + other + value.slice(index + 1);
          if (isKeyValue(changed)) passed.push([value, changed]);
        }
      }
    }
    expect(passed).toEqual([]);
  });

  it("fail the checksum with two adjacent characters swapped", () => {
    fc.assert(
      fc.property(key, fc.integer({ min: 0, max: 39 }), (value, at) => {
        fc.pre(value[at] !== value[at + 1]);
        const swapped = value.slice(0, at) + value[at + 1]! + value[at]! + value.slice(at + 2);
        expect({ swapped, passes: isKeyValue(swapped) }).toEqual({ swapped, passes: false });
      }),
      { numRuns: 2_000 },
    );
  });

  it("are refused if they are truncated, extended or surrounded by other text", () => {
    fc.assert(
      fc.property(key, where, letter, (value, at, added) => {
        const others = [
          value.slice(0, at) + value.slice(at + 1),
          value.slice(0, at) + added + value.slice(at),
          ` ${value}`,
          `${value}\n`,
          `Bearer ${value}`,
          value.toUpperCase(),
          value.replace("mill_", "milk_"),
          value + value,
        ];
        for (const other of others)
          expect({ other, passes: isKeyValue(other) }).toEqual({ other, passes: false });
      }),
    );
  });

  it("are stored as their SHA-256 digest", () => {
    const value = newKeyValue();
    expect(digestOf(value).toString("hex")).toBe(createHash("sha256").update(value).digest("hex"));
  });
});

describe("randomBase62", () => {
  it("returns the requested length", () => {
    for (const length of [0, 1, 12, 30, 1_000]) expect(randomBase62(length)).toHaveLength(length);
  });

  it("uses each of the 62 characters equally often", () => {
    const count = 62_000;
    const seen = new Map<string, number>();
    for (const one of randomBase62(count)) seen.set(one, (seen.get(one) ?? 0) + 1);
    expect([...seen.keys()].toSorted().join("")).toBe(ALPHABET);
    // χ² with 61 degrees of freedom: above 150 once in 10⁹ runs. Taking bytes modulo 62 would give about 400.
    const expected = count / 62;
    const chiSquared = [...seen.values()].reduce((sum, n) => sum + (n - expected) ** 2 / expected, 0);
    expect(chiSquared).toBeLessThan(150);
  });
});

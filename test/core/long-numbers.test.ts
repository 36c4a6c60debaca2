import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  calculateExactly,
  canonicalDigits,
  ceilExactly,
  compareNumbers,
  floorExactly,
  roundExactly,
  truncateExactly,
} from "../../src/core/long-number-arithmetic.ts";
import { isLongNumber, MAX_LONG_NUMBER_CHARS, readNumber } from "../../schemas/long-numbers.ts";

describe("readNumber", () => {
  it.each([
    ["0", 0],
    ["-12.5", -12.5],
    ["9007199254740991", 9007199254740991],
    ["9007199254740992", "9007199254740992"],
    ["-9007199254740993", "-9007199254740993"],
    ["1000000000000000000", "1000000000000000000"],
    ["90071992547409.25", 90071992547409.25],
    ["900719925474099.23", "900719925474099.23"],
    ["0.30000000000000004", 0.30000000000000004],
    ["0.12345678901234567890", "0.12345678901234567890"],
    ["5.00000000000000000000", 5],
    ["1e18", 1e18],
    ["1E+2", 100],
    ["1.5e-7", 1.5e-7],
    ["123456789012345678e-2", "1234567890123456.78"],
    ["-1234567890123456789e2", "-123456789012345678900"],
    ["1e400", `1${"0".repeat(400)}`],
    ["-1.5e-400", `-0.${"0".repeat(399)}15`],
  ])("reads %s without a loss", (text, value) => {
    expect(readNumber(text)).toBe(value);
  });

  it.each([
    "",
    "01",
    "+1",
    ".5",
    "5.",
    "1e",
    "0x1F",
    "1_000",
    " 1",
    "NaN",
    "Infinity",
    "1e1000",
    "1e999999999",
    "1e-1000",
  ])("returns undefined for %j", (text) => {
    expect(readNumber(text)).toBeUndefined();
  });

  it("returns undefined for more digits than a long number may have", () => {
    expect(readNumber("9".repeat(MAX_LONG_NUMBER_CHARS))).toBe("9".repeat(MAX_LONG_NUMBER_CHARS));
    expect(readNumber("9".repeat(MAX_LONG_NUMBER_CHARS + 1))).toBeUndefined();
  });

  it("returns every finite double that it reads in the notation of JavaScript", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const isLarge = Number.isInteger(value) && !Number.isSafeInteger(value);
        const expected = isLarge && !String(value).includes("e") ? String(value) : value;
        expect(readNumber(String(value))).toBe(expected === 0 ? 0 : expected);
      }),
      { seed: 29, numRuns: 2_000 },
    );
  });

  it("keeps each digit of what a double can't hold", () => {
    const digits = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n });
    fc.assert(
      fc.property(digits, fc.integer({ min: 0, max: 40 }), (integer, decimals) => {
        const text = decimalText(integer, decimals);
        const read = readNumber(text);
        expect(String(read)).toSatisfy(
          (written: string) => written === text || canonicalDigits(read!) === canonicalDigits(text),
        );
        expect(isLongNumber(text)).toBe(typeof read === "string");
      }),
      { seed: 29, numRuns: 2_000 },
    );
  });
});

const decimalText = (integer: bigint, decimals: number): string => {
  const digits = String(integer)
    .replace("-", "")
    .padStart(decimals + 1, "0");
  const sign = integer < 0n ? "-" : "";
  return decimals === 0
    ? `${sign}${digits}`
    : `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
};

describe("isLongNumber", () => {
  it.each([
    "9007199254740991",
    "0009007199254740993",
    "+9007199254740993",
    "9007199254740993 ",
    "1e400",
    "12345678901234567890e1",
    "5.00000000000000000000",
    "1234-5678-9012-3456",
    2 ** 60,
    null,
    ["9007199254740993"],
  ])("does not take %j for one", (value) => {
    expect(isLongNumber(value)).toBe(false);
  });
});

describe("exact arithmetic", () => {
  const number = fc.oneof(
    fc.maxSafeInteger(),
    fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map((value) => readNumber(String(value))!),
  );

  it("calculates with integers as BigInt does", () => {
    fc.assert(
      fc.property(number, number, (a, b) => {
        const [left, right] = [BigInt(a), BigInt(b)];
        expect(calculateExactly("+", a, b)).toBe(readNumber(String(left + right)));
        expect(calculateExactly("-", a, b)).toBe(readNumber(String(left - right)));
        expect(calculateExactly("*", a, b)).toBe(readNumber(String(left * right)));
        expect(Math.sign(compareNumbers(a, b))).toBe(left < right ? -1 : Number(left > right));
      }),
      { seed: 29 },
    );
  });

  it.each([
    ["/", "9007199254740993", 2, "4503599627370496.5"],
    ["/", "1000000000000000000", 3, "333333333333333333.33333333333333333333"],
    ["%", "9007199254740993", 2, 1],
    ["%", "-9007199254740993", 10, -3],
    ["+", "900719925474099.23", 0.02, "900719925474099.25"],
    ["-", "900719925474099.23", "900719925474099.03", 0.2],
  ] as const)("%s of %s and %s", (op, a, b, result) => {
    expect(calculateExactly(op, a, b)).toBe(result);
  });

  it("returns undefined if a result would have too many digits", () => {
    const large = "9".repeat(600);
    expect(calculateExactly("*", large, large)).toBeUndefined();
  });

  it("compares by value, whatever the spelling", () => {
    expect(compareNumbers("900719925474099.230", "900719925474099.23")).toBe(0);
    expect(compareNumbers("1000000000000000000", 1e18)).toBe(0);
    expect(compareNumbers("1000000000000000001", 1e18)).toBe(1);
    expect(compareNumbers(-1, "-1000000000000000001")).toBe(1);
  });

  it("rounds half away from zero", () => {
    expect(roundExactly("1234567890123456.785", 2)).toBe("1234567890123456.79");
    expect(roundExactly("-1234567890123456.785", 2)).toBe("-1234567890123456.79");
    expect(roundExactly("0.12345678901234567890", 4)).toBe(0.1235);
    expect(truncateExactly("-9007199254740993.9")).toBe("-9007199254740993");
    expect(floorExactly("-9007199254740993.1")).toBe("-9007199254740994");
    expect(ceilExactly("9007199254740993.1")).toBe("9007199254740994");
    expect(ceilExactly("-9007199254740993.9")).toBe("-9007199254740993");
  });
});

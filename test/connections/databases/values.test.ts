import { describe, expect, it } from "vitest";
import {
  decimalToJson,
  integerToJson,
  parseJsonText,
  singleToJson,
  toIsoTimestamp,
} from "../../../src/connections/databases/values.ts";

describe("decimalToJson", () => {
  it.each([
    ["0.10", 0.1],
    ["00042", 42],
    ["-0000012.50", -12.5],
    ["900719925474099.23", "900719925474099.23"],
    ["2.3333333333333333", "2.3333333333333333"],
    ["2.3333333333333335", 2.3333333333333335],
    ["0009007199254740993", "9007199254740993"],
    ["1e-45", 1e-45],
    ["1.7e+308", 1.7e308],
    ["NaN", null],
    ["-Infinity", null],
    ["-inf", null],
    ["9".repeat(1_001), "9".repeat(1_001)],
  ])("converts %s", (text, value) => {
    expect(decimalToJson(text)).toBe(value);
  });
});

describe("integerToJson", () => {
  it("keeps integers beyond 53 bits as long numbers", () => {
    const integers = [9007199254740991n, 9007199254740992n, -9007199254740993n, 2n ** 128n];
    expect(integers.map(integerToJson)).toEqual([
      9007199254740991,
      "9007199254740992",
      "-9007199254740993",
      "340282366920938463463374607431768211456",
    ]);
  });
});

describe("singleToJson", () => {
  it.each([
    [0.1, 0.1],
    [-16_777_217, -16_777_216],
    [3.402_823_5e38, 3.402_823_5e38],
    [1e-45, 1e-45],
    [1.000_000_1, 1.000_000_1],
    [NaN, null],
    [-Infinity, null],
  ])("writes the float nearest to %s as %s", (value, short) => {
    expect(singleToJson(Math.fround(value))).toBe(short);
  });
});

describe("toIsoTimestamp", () => {
  it.each([
    ["2026-01-02 03:04:05+00", "2026-01-02T03:04:05Z"],
    ["2026-01-02 03:04:05.678+05:30", "2026-01-02T03:04:05.678+05:30"],
    ["1880-01-01 00:00:00+00:53:28", "1880-01-01T00:00:00+00:53:28"],
    ["10000-01-01 00:00:00", "10000-01-01T00:00:00"],
    ["infinity", "infinity"],
    ["0044-03-15 12:00:00+00 BC", "0044-03-15 12:00:00+00 BC"],
  ])("converts %s to %s", (text, iso) => {
    expect(toIsoTimestamp(text)).toBe(iso);
  });
});

/** JSON with numbers that are short as they are written, and long with all their digits. */
const listOf = (count: number): string =>
  JSON.stringify(Array.from({ length: count }, () => 0)).replaceAll("0", "1e990");

describe("parseJsonText", () => {
  it.each([
    ['{"id": 1533947986218845197}', { id: "1533947986218845197" }],
    ["[0.12345678901234567890]", ["0.12345678901234567890"]],
    ["[12345678.12345678]", [12345678.12345678]],
    ["[123456789.123456789]", ["123456789.123456789"]],
    ["1e400", `1${"0".repeat(400)}`],
    ["[1e-400]", [`0.${"0".repeat(399)}1`]],
    ["[1e300, 1e-300, 1.5E+3]", [1e300, 1e-300, 1500]],
    ['{"a": ["1533947986218845197", null, true]}', { a: ["1533947986218845197", null, true] }],
    ['{"__proto__": 12345678901234567890}', JSON.parse('{"__proto__": "12345678901234567890"}')],
    ["[1e2000]", ["1e2000"]],
    [`[${"9".repeat(1_001)}]`, ["9".repeat(1_001)]],
    ["not JSON", "not JSON"],
    ['{"a": 1, "a": 2}', '{"a": 1, "a": 2}'],
  ])("keeps every digit of %s", (text, value) => {
    expect(parseJsonText(text)).toEqual(value);
  });

  it("leaves JSON a text whose exponents would make it more than twice as long", () => {
    const digits = `1${"0".repeat(990)}`;
    expect(parseJsonText(listOf(60))).toEqual(Array.from({ length: 60 }, () => digits));
    expect(parseJsonText(listOf(100_000))).toBe(listOf(100_000));
    // Numbers that are long as they are written add nothing.
    const ids = `[${Array.from({ length: 10_000 }, () => "9007199254740993").join()}]`;
    expect(parseJsonText(ids)).toHaveLength(10_000);
  });
});

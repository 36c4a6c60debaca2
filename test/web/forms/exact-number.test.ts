import { describe, expect, it } from "vitest";
import { NumberTooLongError, parseJson, readTyped } from "../../../src/web/forms/exact-number.ts";

describe("readTyped", () => {
  it.each<[string, number | string]>([
    ["10", 10],
    ["-3.50", -3.5],
    ["007", 7],
    ["0.0000001", 1e-7],
    ["0.1", 0.1],
    ["0", 0],
    ["9007199254740991", 9007199254740991],
    ["9007199254740993", "9007199254740993"],
    ["10000000000000000", "10000000000000000"],
    ["-900719925474099.23", "-900719925474099.23"],
    ["0.12345678901234567890", "0.12345678901234567890"],
    [".5", 0.5],
    ["5.", 5],
    ["6.02e23", 6.02e23],
    ["1e21", 1e21],
    ["1e400", `1${"0".repeat(400)}`],
    ["1e-400", `0.${"0".repeat(399)}1`],
    ["1e4000", "1e4000"],
    ["-", "-"],
    ["+", "+"],
    ["1 000", "1 000"],
  ])("keeps all digits of %s", (typed, sent) => {
    expect(readTyped(typed)).toBe(sent);
  });
});

describe("parseJson", () => {
  it("keeps all digits of numbers, and refuses those that are too long", () => {
    expect(
      parseJson(
        '{"id": 9007199254740993, "n": [0.10, 900719925474099.23, "9007199254740993"], "x": [1e3, 1e25, 1e400]}',
      ),
    ).toEqual({
      id: "9007199254740993",
      n: [0.1, "900719925474099.23", "9007199254740993"],
      x: [1000, 1e25, `1${"0".repeat(400)}`],
    });
    expect(() => parseJson("[1e4000]")).toThrow(NumberTooLongError);
    expect(() => parseJson("[1")).toThrow(SyntaxError);
  });
});

import { describe, expect, it } from "vitest";
import { ExponentError, parseJson, readNumber } from "../../../src/web/forms/exact-number.ts";

describe("a number that somebody types", () => {
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
    ["1e400", "1e400"],
    ["1e-400", "1e-400"],
    ["-", "-"],
  ])("is sent with all of its digits: %s", (typed, sent) => {
    expect(readNumber(typed)).toBe(sent);
  });

  it("keeps its digits inside JSON", () => {
    expect(
      parseJson('{"id": 9007199254740993, "n": [0.10, 900719925474099.23, "9007199254740993"], "x": 1e3}'),
    ).toEqual({
      id: "9007199254740993",
      n: [0.1, "900719925474099.23", "9007199254740993"],
      x: 1000,
    });
    expect(() => parseJson("[1e400]")).toThrow(ExponentError);
    expect(() => parseJson("[1")).toThrow(SyntaxError);
  });
});

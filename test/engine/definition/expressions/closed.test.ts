import { describe, expect, it } from "vitest";
import { checkCel, checkValue } from "../../../../src/engine/definition/expressions/index.ts";
import { typeScope } from "./scope.ts";
import { commonTime } from "../../../support/slowness.ts";

const findings = (source: string): string[] =>
  checkCel(source, typeScope).issues.map(({ code, severity }) => `${severity ?? "error"} ${code}`);

describe("a part of an expression that reads nothing", () => {
  it.each([
    "[1, 2][5]",
    "5 / 0",
    "timestamp('x')",
    "duration('x')",
    "duration('1 hour')",
    "[1, 2][-1]",
    "{'a': 1}[string(1)]",
    "parse_json('{')",
    "'a'.substring(2)",
    "int('a')",
    "round(1.5, 20)",
    "'b'.matches('[' + 'a')",
    "inputs.n + 5 / 0",
    "inputs.n + int('x') > 1 ? 1 : 2",
    "5 / 0 ?? 1",
    "steps.revenue.rows.map(r, r.total).sort('d' + 'esc').size() + [1, 2].map(x, x / 0).size()",
    "string([1].map(x, [2].map(y, x / (y - 2))))",
  ])("is an issue in %s, because every run fails", (source) => {
    expect(findings(source)).toEqual(["error always_fails"]);
  });

  it.each([
    "inputs.n > 1 ? 5 / 0 : 1",
    "inputs.nothing ?? 5 / 0",
    "inputs.n > 1 && 5 / 0 > 1",
    "steps.revenue.rows.map(r, r.total + 5 / 0)",
    "steps.revenue.rows.filter(r, r.region == 'a' && timestamp('x') > timestamp(0))",
  ])("is a warning in %s, because only some runs evaluate it", (source) => {
    expect(findings(source)).toEqual(["warning always_fails"]);
  });

  it.each([
    "[1, 2][1]",
    "timestamp('2026-01-01') + duration('1h')",
    "steps.revenue.rows.map(r, [r.total, 1][0])",
    "[1, 2].map(x, x + inputs.n)",
    "[0, 1].exists(x, 1 / x == 1)",
    "has({'a': 1}.a)",
    "range(1000000).map(x, range(1000000)).size()",
    "'x' + inputs.name",
  ])("is none in %s", (source) => {
    expect(findings(source)).toEqual([]);
  });

  it("is quoted with its place and a fix", () => {
    expect(checkCel("inputs.n + [1, 2][5]", typeScope).issues).toEqual([
      {
        code: "always_fails",
        message:
          "always fails: reads item 5 of a list that has 2 items (in `inputs.n + [1, 2][5]`, character 12)",
        fix: "Indexes start at 0. Test the size of the list first.",
      },
    ]);
  });

  it("is reported beside other issues, but not twice", () => {
    expect(findings("inputs.nope + 5 / 0")).toEqual(["error unknown_field", "error always_fails"]);
    expect(findings("'a' - 1")).toEqual(["error wrong_type"]);
  });

  it("does not keep the checker busy, however many there are", () => {
    const heavy = Array.from({ length: 300 }, () => "${{ range(90000).map(x, x + 1).size() }}");
    const check = (): void => expect(checkValue(heavy, typeScope).issues).toEqual([]);
    expect(commonTime(check, 1_500)).toBeLessThan(1_500);
  });
});

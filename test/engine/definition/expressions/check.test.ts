import { describe, expect, it } from "vitest";
import { BOOLEAN, listOf, nullable, NUMBER, objectOf, STRING } from "../../../../src/core/shapes.ts";
import { checkCel, checkValue } from "../../../../src/engine/definition/expressions/index.ts";
import type { ExpressionIssue } from "../../../../src/engine/definition/expressions/index.ts";
import { typeScope } from "./scope.ts";

const issuesOf = (source: string): ExpressionIssue[] => checkCel(source, typeScope).issues;

describe("the check of an expression", () => {
  it.each([
    ["steps.revenue.rows[0].regoin", "unknown_field", "region"],
    ["steps.skipped.rows[0].regoin", "unknown_field", "region"],
    ["steps.revenue.rows.map(r, r.totl).sum()", "unknown_field", "total"],
    ["steps.revenue.rows.filter(r, r.total > 1).sort_by(r, r.regio)[0]", "unknown_field", "region"],
    ["steps.revenue.rows.group_by(r, r.region).north[0].totals", "unknown_field", "total"],
    ["has(inputs.nmae)", "unknown_field", "name"],
    ['{"first": 1}.frist', "unknown_field", "first"],
    ["steps.revenu.rows", "unknown_step", "revenue"],
    ["input.n", "unknown_name", "inputs"],
    ["revenue.rows", "unknown_name", "steps.revenue"],
    ["item.x", "unknown_name", undefined],
    ["sums([1])", "unknown_function", "sum"],
    ["inputs.name.toUpperCase()", "unknown_function", "upper"],
    ["inputs.name.length", "wrong_type", "size()"],
    ["steps.revenue.rows.region", "wrong_type", undefined],
    ['"a" - 1', "wrong_type", undefined],
    ["inputs.name < 3", "wrong_type", undefined],
    ['"n: " + inputs.n', "wrong_type", undefined],
    ["inputs.name.sum()", "wrong_type", undefined],
    ["steps.revenue.rows.sum()", "wrong_type", undefined],
    ["steps.revenue.rows.map(r, r.region).sum()", "wrong_type", undefined],
    ['inputs.n == "5"', "wrong_type", undefined],
    ["inputs.nothing == 'x'", "wrong_type", undefined],
    ["steps.revenue.rows ? 1 : 2", "wrong_type", undefined],
    ["!inputs.n", "wrong_type", undefined],
    ["-inputs.name", "wrong_type", undefined],
    ["inputs.n.map(x, x)", "wrong_type", undefined],
    ['run.started_at > timestamp("2026-01-01")', "wrong_type", undefined],
    ['steps.revenue.rows["0"]', "wrong_type", undefined],
    ["steps.revenue.rows.map(r, r[timestamp(0)])", "wrong_type", undefined],
    ['[1].sort_by(x, x, "down")', "wrong_type", undefined],
    ["split(inputs.name)", "wrong_type", undefined],
    ['inputs.name.matches("(?=a)")', "bad_regex", undefined],
    ['inputs.name.matches("(a{900}){900}")', "bad_regex", undefined],
    ['inputs.name.matches("((a{10}){10}b{90}){10}" + "")', undefined, undefined],
    ['format_date(run.started_at, "YYYY-MM-DD")', "wrong_type", undefined],
    ["inputs.n = 5", "expression_syntax", undefined],
    ["inputs?.n", "expression_syntax", undefined],
    ["[1].map(1, 2)", "expression_syntax", undefined],
    ["has(1)", "expression_syntax", undefined],
    ["1e99999", "expression_syntax", undefined],
    ["steps[inputs.name].x", "unknown_step", undefined],
    [`1 + ${"1".padStart(10_000, " ")}`, "expression_too_long", undefined],
    ["(".repeat(300) + "1" + ")".repeat(300), "expression_too_deep", undefined],
    ["-".repeat(9_999) + "1", "expression_too_deep", undefined],
    [Array.from({ length: 4_000 }, () => "1").join("+"), "expression_too_deep", undefined],
  ])("reports for %s: %s", (source, code, suggestion) => {
    const issues = issuesOf(source);
    expect(issues.map((issue) => issue.code)).toEqual(code === undefined ? [] : [code]);
    expect(issues[0]?.did_you_mean).toBe(suggestion);
    expect(issues.every(({ message }) => /\(in `.*`, .*character \d+\)$/s.test(message))).toBe(true);
  });

  it("distinguishes a step that does not run before this one from one that does not exist", () => {
    const [issue] = issuesOf("steps.later.x");
    expect(issue).toMatchObject({ code: "not_an_ancestor", fix: "Add later to this step's needs." });
    expect(issuesOf("steps.latr.x")[0]).toMatchObject({ code: "unknown_step", did_you_mean: "later" });
  });

  it("lists what is allowed", () => {
    expect(issuesOf("inputs.x1")[0]?.allowed).toEqual(["n", "name", "since", "nothing", "nested"]);
    expect(issuesOf("steps.zzz")[0]?.allowed).toEqual(["revenue", "skipped", "open"]);
  });

  it("finds all issues at once", () => {
    const codes = issuesOf('inputs.nmae + steps.nope.x + ("a" - 1)').map((issue) => issue.code);
    expect(codes).toEqual(["unknown_field", "unknown_step", "wrong_type"]);
  });

  it.each([
    "steps.open.whatever[3].more - 1",
    "inputs.nothing + 1",
    "inputs.nothing == 1",
    "steps.revenue.rows[0].note.size()",
    "steps.skipped.rows.map(r, r.total).sum() > 1",
    "parse_json(inputs.name).a.b",
    "[inputs.n, 'a'].map(x, x + 1)",
    "1 == null",
    "inputs[inputs.name]",
    "dyn(inputs.name) - 1",
  ])("accepts %s, which can succeed at run time", (source) => {
    expect(issuesOf(source).filter(({ severity }) => severity === undefined)).toEqual([]);
  });

  it("accepts item and index in a fan-out", () => {
    const fanOut = { ...typeScope, item: objectOf({ a: NUMBER }), index: NUMBER };
    expect(checkCel("item.a + index", fanOut)).toEqual({ shape: NUMBER, issues: [] });
    expect(checkCel("item.b", fanOut).issues[0]).toMatchObject({ code: "unknown_field" });
    expect(checkCel("itm.a", fanOut).issues[0]).toMatchObject({ did_you_mean: "item" });
  });

  it.each([
    ["true", BOOLEAN],
    ["steps.revenue.rows.map(r, r.total)", listOf(NUMBER)],
    [
      "steps.revenue.rows.group_by(r, r.region)",
      { kind: "map", of: listOf(objectOf({ region: STRING, total: NUMBER, note: nullable(STRING) })) },
    ],
    ["timestamp(run.started_at)", STRING],
    ["[duration('1s')]", listOf(NUMBER)],
    ["steps.skipped.row_count", nullable(NUMBER)],
    ["inputs.n > 1 ? 1 : null", nullable(NUMBER)],
    ["{'a': inputs.n, 'b': [inputs.name]}", objectOf({ a: NUMBER, b: listOf(STRING) })],
    ["steps.revenue.rows.map(r, r.region).unique().join()", STRING],
  ])("knows the shape of %s", (source, shape) => {
    expect(checkCel(source, typeScope)).toEqual({ shape, issues: [] });
  });
});

describe("the check of a value", () => {
  it("reports the place of each issue", () => {
    const { issues } = checkValue(
      { a: ["x", "n ${{ inputs.m }}"], "b.c": { d: "${{ 1 + }}" }, e: "${{" },
      typeScope,
    );
    expect(issues.map(({ path, code }) => ({ path, code }))).toEqual([
      { path: ["b.c", "d"], code: "expression_syntax" },
      { path: ["e"], code: "expression_syntax" },
      { path: ["a", 1], code: "unknown_field" },
    ]);
  });

  it("returns the shape of the output", () => {
    const value = {
      n: "${{ inputs.n }}",
      text: "n: ${{ inputs.n }}",
      list: ["${{ inputs.name }}", "b"],
      plain: { yes: true, no: null },
    };
    expect(checkValue(value, typeScope)).toEqual({
      shape: objectOf({
        n: NUMBER,
        text: STRING,
        list: listOf(STRING),
        plain: objectOf({ yes: BOOLEAN, no: { kind: "null" } }),
      }),
      issues: [],
    });
  });

  it("reports at most 100 issues", () => {
    const value = Array.from({ length: 500 }, () => "${{ nope }}");
    expect(checkValue(value, typeScope).issues).toHaveLength(100);
  });

  it("rejects a value that is nested too deep without a stack overflow", () => {
    let value: unknown = "${{ inputs.n }}";
    for (let level = 0; level < 50_000; level++) value = [value];
    expect(checkValue(value, typeScope).issues[0]?.code).toBe("expression_too_deep");
  });
});

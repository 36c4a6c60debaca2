import { describe, expect, it } from "vitest";
import { compileCel } from "../../../../src/engine/definition/expressions/index.ts";
import { evaluate, failure, scope } from "./scope.ts";

describe("numbers in expressions", () => {
  it.each([
    ["inputs.n * 2", 10],
    ["inputs.n % 2 == 1", true],
    ["5 / 2 == 2.5", true],
    ["1 == 1.0", true],
    ["3 > 2.5 && 2 < 2.5", true],
    ["steps.revenue.rows[inputs.n - 3].total", 1],
    ["steps.revenue.rows[steps.revenue.rows.size() - 1].region", "north"],
    ["size(steps.revenue.rows) * 2", 6],
    ["-inputs.n + 1u + 0x10", 12],
    ["6 / 2", 3],
    ["7 % 2.5", 2],
    ["0 * -1", 0],
  ])("%s is %j", (source, value) => {
    expect(evaluate(source)).toBe(value);
  });

  it.each(["1 / 0", "1 % 0", "1e308 * 10"])("%s fails instead of returning infinity", (source) => {
    expect(failure(source).code).toBe("expression_failed");
  });
});

describe("null in expressions", () => {
  it.each([
    ["inputs.nothing.a.b", null],
    ["steps.skipped.rows[0].region", null],
    ["inputs.nothing && true", false],
    ["true || inputs.nothing", true],
    ["!inputs.nothing", true],
    ["inputs.nothing ? 1 : 2", 2],
    ["inputs.nothing == null", true],
    ["null in [1, null]", true],
    ["[inputs.nothing, {'a': null}]", [null, { a: null }]],
    ["steps.revenue.rows.filter(r, r.note != null).size()", 1],
    ["has(inputs.nothing)", false],
    ["has(inputs.missing.more)", false],
    ["has(inputs.nested.a.b)", true],
  ])("%s is %j", (source, value) => {
    expect(evaluate(source)).toEqual(value);
  });

  it.each([
    ["1 + inputs.nothing", "inputs.nothing"],
    ["inputs.nothing < 1", "inputs.nothing"],
    ["-inputs.nothing", "inputs.nothing"],
    ["steps.skipped.rows.size()", "steps.skipped.rows"],
    ["steps.skipped.rows.map(r, r)", "steps.skipped.rows"],
    ["steps.revenue.rows[inputs.nothing]", "inputs.nothing"],
    ["1 in inputs.nothing", "inputs.nothing"],
    ["steps.revenue.rows.map(r, r.note).max()", "item 1 of steps.revenue.rows.map(r, r.note)"],
    ["[1, null].sum()", "item 2 of [1, null]"],
    ["steps.revenue.rows.sort_by(r, r.note)", "r.note of item 1"],
    ["steps.revenue.rows.group_by(r, r.note)", "r.note of item 1"],
    ["{inputs.nothing: 1}", "inputs.nothing"],
  ])("%s fails with null_value for %s", (source, name) => {
    const error = failure(source);
    expect(error.code).toBe("null_value");
    expect(error.message).toMatch(`${name} is null`);
    expect(error.options.details).toMatchObject({ null_value: name, expression: source });
  });
});

describe("the fix of null_value", () => {
  it.each([
    ["1 + inputs.nothing", "Handle null first, for example inputs.nothing == null ? … : …."],
    ["[1, null].sum()", "Leave null out with filter, or replace it with x ?? y."],
    ["[1, null].max()", "Leave null out with filter, or replace it with x ?? y."],
    ["steps.revenue.rows.sort_by(r, r.note)", "Leave null out with filter, or replace it with x ?? y."],
    ["steps.revenue.rows.group_by(r, r.note)", "Leave null out with filter, or replace it with x ?? y."],
  ])("of %s is %s", (source, fix) => {
    expect(failure(source).options.fix).toBe(fix);
  });
});

describe("x ?? y in expressions", () => {
  it.each([
    ["inputs.nothing ?? 1", 1],
    ["inputs.n ?? 1", 5],
    ["false ?? true", false],
    ["inputs.nothing ?? null", null],
    ["inputs.nothing.a.b ?? 'none'", "none"],
    ["inputs.missing ?? 1", 1],
    ["inputs.nested.x.y.z ?? 1", 1],
    ["inputs.nested.a.b ?? 1", 1],
    ["steps.revenue.rows[3].total ?? -1", -1],
    ["steps.revenue.rows[0].note ?? 'no note'", "no note"],
    ["inputs['n' + 'ope'] ?? 2", 2],
    ["inputs.nothing ?? inputs.missing ?? 3", 3],
    ["(inputs.nothing ?? 1) + 1", 2],
    // Like ?? of JavaScript and C#, it binds less tightly than every operator but ?:.
    ["inputs.nothing ?? 1 + 1", 2],
    ["inputs.nothing ?? false || true", true],
    ["false || inputs.nothing ?? true", false],
    ["inputs.nothing ?? 1 == 1 ? 'yes' : 'no'", "yes"],
    ["inputs.n ?? 1 / 0", 5],
    ["steps.revenue.rows.map(r, r.note ?? '-')", ["-", "x", "-"]],
  ])("%s is %j", (source, value) => {
    expect(evaluate(source)).toEqual(value);
  });

  it.each([
    ["1 / 0 ?? 1", "divides by zero"],
    ["inputs.name.first ?? 1", "reads the field first of text"],
    ["steps.revenue.rows.total ?? 1", "reads the field total of a list"],
    ["steps.revenue.rows[0.5] ?? 1", "uses a list index that is not an integer"],
    ["inputs.nothing ?? 1 / 0", "divides by zero"],
    ["inputs[inputs.nothing] ?? 1", "inputs.nothing is null"],
  ])("%s fails, because nothing but null and absence has a default", (source, message) => {
    expect(failure(source).message).toContain(message);
  });

  it("takes linear time however deeply it is nested", () => {
    const source = Array.from({ length: 60 }).reduce<string>((of) => `(${of}.a ?? inputs).a`, "inputs");
    expect(evaluate(`${source} ?? 7`)).toBe(7);
  });
});

describe("fields in expressions", () => {
  it("are reported with a near match, the expression and the position if they are missing", () => {
    const error = failure("inputs.nested.a.b + inputs.nmae");
    expect(error.code).toBe("expression_failed");
    expect(error.message).toBe(
      "The expression reads the field nmae, which the object lacks " +
        "(in `inputs.nested.a.b + inputs.nmae`, character 28). Did you mean name?",
    );
    expect(error.options.details).toMatchObject({
      unknown_field: "nmae",
      did_you_mean: "name",
      position: 27,
    });
  });

  it.each(["__proto__", "constructor", "toString", "hasOwnProperty"])(
    "never read %s from a prototype",
    (name) => {
      expect(failure(`inputs.${name}`).options.details).toMatchObject({ unknown_field: name });
      expect(failure(`inputs["${name}"]`).options.details).toMatchObject({ unknown_field: name });
      expect(failure(`{"a": 1}["${name.slice(0, 2)}" + "${name.slice(2)}"]`).code).toBe("expression_failed");
      expect(evaluate(`has(inputs.${name}) || "${name}" in inputs`)).toBe(false);
      expect(failure(`steps.${name}`).code).toBe("expression_failed");
      expect(failure(name === "__proto__" ? "run.__proto__" : name).code).toBe("expression_failed");
    },
  );

  it("keep an own field named __proto__", () => {
    const value = evaluate('{"__proto__": {"polluted": 1}}') as Record<string, unknown>;
    expect(JSON.stringify(value)).toBe('{"__proto__":{"polluted":1}}');
    expect(value["polluted"]).toBeUndefined();
    expect(JSON.stringify(evaluate('["__proto__"].group_by(x, x)'))).toBe('{"__proto__":["__proto__"]}');
  });

  it("report how many items a list has when an index is out of range", () => {
    expect(failure("steps.revenue.rows[3]").message).toContain("item 3 of a list that has 3 items");
    expect(failure("steps.revenue.rows[-1]").code).toBe("expression_failed");
    expect(failure("steps.revenue.rows[0.5]").code).toBe("expression_failed");
  });

  it("are quoted with at most 200 characters of the expression", () => {
    const error = failure(`inputs.nope + "${"x".repeat(900)}"`);
    expect(error.message).toContain("xx…`");
    expect(error.message.length).toBeLessThan(400);
  });

  it("are located by line in an expression of several lines", () => {
    expect(failure("inputs.n +\n  inputs.nope").message).toContain("line 2, character 10");
  });
});

describe("conditions in expressions", () => {
  it.each([
    ["inputs.nope > 1 || true", true],
    ["inputs.nope > 1 && false", false],
    ["[1, 2].exists(x, x == 2 || x.foo)", true],
    ["[1, 2].all(x, x > 1 && inputs.nope)", false],
    ["[1, 2, 2].exists_one(x, x == 1)", true],
    ["[1, 2, 2].exists_one(x, x == 2)", false],
  ])("%s is %j, by the logic of CEL", (source, value) => {
    expect(evaluate(source)).toBe(value);
  });

  it("reject a value that is not a boolean", () => {
    expect(failure("inputs.name && true").message).toContain("uses inputs.name as a condition");
  });
});

describe("an expression", () => {
  it("names the steps that it reads", () => {
    const { stepIds } = compileCel('steps.a.x + steps["b"].map(steps, steps.c).size()');
    expect([...stepIds]).toEqual(["a", "b"]);
  });

  it("can be bare, one whole ${{ }}, or a boolean", () => {
    expect(compileCel(" ${{ inputs.n }} ").evaluate(scope)).toBe(5);
    expect(compileCel(true)).toMatchObject({ isConstant: true });
    expect(compileCel(false).evaluate(scope)).toBe(false);
    expect(compileCel("1").isConstant).toBe(false);
  });

  it("reads its loop variable, not the outer name", () => {
    expect(evaluate("[1, 2].map(inputs, [10].map(x, inputs + x))")).toEqual([[11], [12]]);
  });

  it.each(["inputs.n ==", "a b", "", "${{ 1 }} + 1", "steps", "keys(steps)", "nope(1)", "size()", 'b"x"'])(
    "throws invalid_input when %j does not compile",
    (source) => {
      expect(() => compileCel(source)).toThrow(
        expect.objectContaining({ name: "AppError", code: "invalid_input" }),
      );
    },
  );
});

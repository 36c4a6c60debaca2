import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  listOf,
  nullable,
  NUMBER,
  objectOf,
  type Shape,
  STRING,
  BOOLEAN,
} from "../../../../src/core/shapes.ts";
import { StepError } from "../../../../src/core/step-errors.ts";
import { checkCel, compileCel, type TypeScope } from "../../../../src/engine/definition/expressions/index.ts";
import { stepResultShape } from "../../../../src/engine/definition/check/step-shapes.ts";
import { scope } from "./scope.ts";

const row = objectOf({ total: nullable(NUMBER), region: STRING });
const output = objectOf({ rows: listOf(row), row_count: NUMBER });

const typeScope: TypeScope = {
  inputs: objectOf({
    n: nullable(NUMBER),
    s: nullable(STRING),
    b: nullable(BOOLEAN),
    list: nullable(listOf(nullable(NUMBER))),
    o: nullable(objectOf({ x: nullable(NUMBER), y: NUMBER })),
    m: NUMBER,
  }),
  run: objectOf({}),
  steps: {
    tried: stepResultShape({ on_error: "continue" }, output),
    maybe: stepResultShape({ if: "inputs.b" }, output),
    both: stepResultShape({ if: "inputs.b", on_error: "continue" }, output),
    each: stepResultShape({ for_each: "inputs.list", on_error: "continue" }, output),
  },
  otherSteps: new Set(),
};

const findings = (source: string): string[] =>
  checkCel(source, typeScope).issues.map(({ code, severity }) => `${severity ?? "error"} ${code}`);

const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.oneof(value, fc.constant(null));

const isOf = (shape: Shape, value: unknown): boolean =>
  value === null
    ? shape.nullable === true || shape.kind === "null" || shape.kind === "any"
    : shape.kind === "any" || shape.kind === typeof value;

describe("a value that may be null", () => {
  it.each([
    "inputs.n + 1",
    "-inputs.n",
    "inputs.n > 1",
    "inputs.m in inputs.list",
    "inputs.s.upper()",
    "inputs.list.map(x, 1)",
    "inputs.list.filter(x, x != null)",
    "(inputs.list ?? []).sum()",
    "(inputs.list ?? []).max()",
    "(inputs.list ?? []).sort()",
    "(inputs.list ?? []).map(x, x * 2)",
    "[1][inputs.n]",
    "{inputs.s: 1}",
    "steps.tried.rows.size()",
    "steps.maybe.row_count + 1",
    "(steps.each.items ?? []).map(i, i.row_count).sum()",
    "[{'a': inputs.n}].sort_by(x, x.a)",
    "[{'a': inputs.s}].group_by(x, x.a)",
    "[1].max() + 1",
    "inputs.n == null ? inputs.n + 1 : 0",
    "inputs.n != null || inputs.n > 1",
    "inputs.s != null && inputs.n > 1",
    "has(inputs.o.x) ? inputs.o.x + inputs.n : 0",
    "steps.maybe.error == null ? steps.maybe.row_count + 1 : 0",
    "steps.both.error == null ? steps.both.row_count + 1 : 0",
    "steps.tried.error == null || steps.tried.row_count > 1",
    "(steps.each.items ?? []).filter(i, i.status == 'failed').map(i, i.row_count + 1)",
    "inputs.b ? 1 : inputs.n + 1",
    "inputs.list[0] + 1",
    "inputs.n > 1 && inputs.n < 3",
    "inputs.m > 1 && inputs.n < 3",
  ])("is a warning in %s", (source) => {
    expect(findings(source)).toEqual(["warning maybe_null"]);
  });

  it.each([
    "inputs.s + 1",
    "inputs.s == 1",
    "inputs.n.upper()",
    "inputs.s.sum()",
    "inputs.n ? 1 : 2",
    "-inputs.s",
    "inputs.n.x",
    "inputs.n.map(x, x)",
    "inputs.list.map(x, x.upper())",
    "inputs.o.z",
    "(inputs.n ?? 0).upper()",
    "[1].filter(x, inputs.n ?? false)",
  ])("is an error in %s, because whatever is not null does not fit", (source) => {
    expect(findings(source).filter((finding) => finding.startsWith("error"))).toHaveLength(1);
  });

  it.each([
    "inputs.n == null ? 0 : inputs.n + 1",
    "null == inputs.n ? 0 : inputs.n + 1",
    "inputs.n != null ? inputs.n + 1 : 0",
    "inputs.n != null && inputs.n > 1",
    "inputs.n == null || inputs.n > 1",
    "!(inputs.n == null) && inputs.n > 1",
    "!(inputs.n == null || inputs.m > 1) ? inputs.n + 1 : 0",
    "has(inputs.n) ? inputs.n + 1 : 0",
    "has(inputs.o.x) ? inputs.o.x + inputs.o.y : 0",
    "inputs.o.x != null ? inputs.o.y + 1 : 0",
    "inputs.o != null ? inputs.o.y + 1 : 0",
    "inputs.n == 3 ? inputs.n + 1 : 0",
    "inputs.s != null && inputs.s.size() > 1 && inputs.s.upper() == 'A'",
    "(inputs.n ?? 0) + 1",
    "inputs.n ?? inputs.m",
    "inputs.b ?? false ? 1 : 2",
    "inputs.b && true",
    "inputs.n == inputs.m",
    "'n: ' + string(inputs.n ?? 0)",
    "(inputs.list ?? []).map(x, x ?? 0).sum()",
    "(inputs.list ?? []).filter(x, x != null).map(x, x * 2).sum()",
    "(inputs.list ?? []).map(x, x != null, x * 2)",
    "[3, 4].max() == null ? 0 : [3, 4].max() + 1",
    "null in (inputs.list ?? [])",
    "inputs.n in [1, 2]",
    "steps.tried.error == null ? steps.tried.row_count + 1 : 0",
    "has(steps.tried.error) ? 0 : steps.tried.row_count + 1",
    "steps.tried.error != null ? 0 : steps.tried.rows.map(r, r.region.upper()).size()",
    "steps.tried.rows == null ? 0 : steps.tried.row_count + 1",
    "steps.maybe.status == 'succeeded' ? steps.maybe.row_count + 1 : 0",
    "steps.both.status == 'succeeded' && steps.both.row_count > 1",
    "steps.both.rows != null && steps.both.row_count > 1",
    "steps.each.error == null ? steps.each.items.filter(i, i.error == null).map(i, i.row_count).sum() : 0",
  ])("may be used in %s", (source) => {
    expect(findings(source)).toEqual([]);
  });

  it("says how to handle it", () => {
    expect(checkCel("1 + inputs.o.x", typeScope).issues).toEqual([
      {
        code: "maybe_null",
        message: "applies + to inputs.o.x, which may be null (in `1 + inputs.o.x`, character 14)",
        fix: "Write (inputs.o.x ?? 0), or test it first: inputs.o.x != null.",
        severity: "warning",
        place: { source: "1 + inputs.o.x", offset: 13 },
      },
    ]);
    expect(checkCel("steps.tried.rows.map(r, r.total).sum()", typeScope).issues).toMatchObject([
      {
        message: expect.stringContaining("uses steps.tried.rows, which may be null, in map"),
        fix: expect.stringContaining("(steps.tried.rows ?? [])"),
      },
      {
        message: expect.stringContaining(
          "passes steps.tried.rows.map(r, r.total), whose items may be null, to sum",
        ),
        fix: expect.stringContaining("Write r.total ?? 0 in the map"),
      },
    ]);
  });

  it("is reported once for each expression", () => {
    expect(findings("inputs.n + inputs.n * inputs.n")).toEqual(["warning maybe_null"]);
    expect(
      findings(
        "[1].map(x, inputs.list).map(x, x.size()).size() + [2].map(y, inputs.s).map(x, x.upper()).size()",
      ),
    ).toHaveLength(2);
  });
});

describe("the precedence of ??", () => {
  it.each([
    ["inputs.n ?? 0 > 5", "Write (inputs.n ?? 0) > …, or put parentheses around the default."],
    [
      "inputs.b ?? false && inputs.m > 1",
      "Write (inputs.b ?? false) && …, or put parentheses around the default.",
    ],
    ["inputs.n ?? 0 + inputs.m", "Write (inputs.n ?? 0) + …, or put parentheses around the default."],
  ])("is a warning in %s", (source, fix) => {
    expect(checkCel(source, typeScope).issues).toMatchObject([
      { code: "precedence", severity: "warning", fix },
    ]);
  });

  it.each([
    "inputs.n ?? (0 > 5)",
    "(inputs.n ?? 0) > 5",
    "inputs.n ?? 60 * 60",
    "inputs.n ?? inputs.m + 1",
    "inputs.n ?? -1",
  ])("is none in %s", (source) => {
    expect(findings(source)).toEqual([]);
  });
});

describe("expressions over values that may be null", () => {
  const number = fc.constantFrom("inputs.n", "inputs.m", "inputs.o.x", "inputs.o.y", "inputs.list[0]", "1");
  const condition = fc.oneof(
    fc.tuple(number, fc.constantFrom("==", "!=")).map(([x, op]) => `${x} ${op} null`),
    fc.tuple(number, fc.constantFrom("==", "!=", ">"), number).map(([x, op, y]) => `${x} ${op} ${y}`),
    fc.constantFrom(
      "has(inputs.n)",
      "has(inputs.o.x)",
      "inputs.b",
      "inputs.b ?? true",
      "inputs.o != null",
      "inputs.list != null && inputs.list.size() > 0",
    ),
  );
  const conditions = fc.letrec<{ c: string }>((tie) => ({
    c: fc.oneof(
      { depthSize: "small" },
      condition,
      fc.tuple(tie("c"), fc.constantFrom("&&", "||"), tie("c")).map(([a, op, b]) => `(${a} ${op} ${b})`),
      tie("c").map((c) => `!(${c})`),
    ),
  })).c;
  const sources = fc.letrec<{ e: string }>((tie) => ({
    e: fc.oneof(
      { depthSize: "small" },
      number,
      fc.tuple(tie("e"), fc.constantFrom("+", "*"), tie("e")).map(([a, op, b]) => `(${a} ${op} ${b})`),
      fc.tuple(conditions, tie("e"), tie("e")).map(([c, a, b]) => `(${c} ? ${a} : ${b})`),
      fc.tuple(tie("e"), tie("e")).map(([a, b]) => `(${a} ?? ${b})`),
      conditions.map((c) => `(inputs.list ?? []).filter(x, x != null && ${c}).map(x, x + 1).sum()`),
    ),
  })).e;
  const inputs = fc.record({
    n: maybe(fc.integer({ min: -3, max: 3 })),
    s: maybe(fc.string()),
    b: maybe(fc.boolean()),
    list: maybe(fc.array(maybe(fc.integer({ min: 0, max: 3 })), { minLength: 1, maxLength: 3 })),
    o: maybe(fc.record({ x: maybe(fc.integer({ min: 0, max: 3 })), y: fc.integer({ min: 0, max: 3 }) })),
    m: fc.integer({ min: 0, max: 3 }),
  });

  it("never fail on null where the checker does not warn", () => {
    let silent = 0;
    fc.assert(
      fc.property(sources, fc.array(inputs, { minLength: 5, maxLength: 5 }), (source, values) => {
        if (findings(source).length > 0) return;
        silent += 1;
        const compiled = compileCel(source);
        for (const value of values) {
          try {
            compiled.evaluate({ ...scope, inputs: value });
          } catch (error) {
            if (!(error instanceof StepError) || error.code === "null_value") throw error;
          }
        }
      }),
      { numRuns: 3_000 },
    );
    expect(silent).toBeGreaterThan(500);
  });

  it("have the shapes that the checker claims", () => {
    let evaluated = 0;
    fc.assert(
      fc.property(fc.oneof(sources, conditions), inputs, (source, value) => {
        const { shape } = checkCel(source, typeScope);
        let result: unknown;
        try {
          result = compileCel(source).evaluate({ ...scope, inputs: value });
        } catch {
          return;
        }
        evaluated += 1;
        if (!isOf(shape, result))
          throw new Error(`${source} is ${String(result)}, not ${JSON.stringify(shape)}`);
      }),
      { numRuns: 3_000 },
    );
    expect(evaluated).toBeGreaterThan(500);
  });
});

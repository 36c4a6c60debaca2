import { describe, expect, it } from "vitest";
import {
  compileCel,
  compileValue,
  MAX_EXPRESSION_COST,
  MAX_EXPRESSION_OUTPUT,
} from "../../../../src/engine/definition/expressions/index.ts";
import { StepError } from "../../../../src/core/step-errors.ts";
import { evaluate, failure, scope } from "./scope.ts";
import { commonTime } from "../../../support/slowness.ts";

const rows = Array.from({ length: 1_000 }, (_, id) => ({ id, name: `customer ${id}` }));
const inputs = { rows };

const deep = (): unknown => JSON.parse("[".repeat(50_000) + "]".repeat(50_000));

function failInLoop(): void {
  const error = failure(
    "inputs.rows.map(a, inputs.rows.map(b, inputs.rows.map(c, a.id * b.id).sum()).sum()).sum()",
    inputs,
  );
  expect(error.code).toBe("expression_limit");
  expect(error.message).toContain("more work than is allowed: 100,000,000 units");
  expect(error.options.details).toMatchObject({ bound: "work", limit: MAX_EXPRESSION_COST });
}

describe("the limits of an expression", () => {
  it("interrupt a hot loop", () => {
    expect(commonTime(failInLoop, 5_000)).toBeLessThan(5_000);
  });

  it("refuse lists that a full thread could not allocate", () => {
    const text = "a,".repeat(524_288);
    const long = text + text;
    for (const expression of [
      "range(600000) + range(600000)",
      "[range(600000), range(600000)].flatten()",
      "inputs.long.split(',')",
      "inputs.long.split('')",
      "(inputs.long + '😀').split('')",
      "inputs.long.replace(',', ';')",
      "parse_csv(inputs.long, {'header': false})",
      "range(600000).unique()",
      "range(300000).group_by(i, i)",
    ]) {
      const error = failure(expression, { long });
      expect(error.options.details).toMatchObject({ bound: "list", limit: 1_000_000 });
      expect(error.code).toBe("expression_limit");
    }
    expect(evaluate("(range(500000) + range(500000)).size()")).toBe(1_000_000);
    expect(evaluate("inputs.text.split(',').size()", { text })).toBe(524_289);
  });

  it("interrupt a regular expression over a long text", () => {
    // The text has no repetitions, so the matcher can't reuse its states.
    let seed = 1;
    const text = Array.from({ length: 400_000 }, () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % 64 < 32 ? "a" : "b";
    }).join("");
    const some = 'inputs.rows.exists(r, inputs.rows.exists(q, inputs.text.matches("a[ab]{300}[cd]")))';
    for (const [source, values] of [
      ['inputs.text.matches("[ab]*a[ab]{300}[cd]")', { text }],
      [some, { rows, text: text.slice(0, 320) }],
    ] as const) {
      const match = (): void => expect(failure(source, values).code).toBe("expression_limit");
      expect(commonTime(match, 5_000)).toBeLessThan(5_000);
    }
  });

  it("count the work of all expressions of a value together", () => {
    const slow = "${{ inputs.rows.map(a, inputs.rows.map(b, a.id * b.id).sum()).sum() }}";
    const evaluateAll = (): void =>
      expect(() =>
        compileValue(Array.from({ length: 200 }, () => slow)).evaluate({ ...scope, inputs }),
      ).toThrow(expect.objectContaining({ code: "expression_limit" }));
    expect(commonTime(evaluateAll, 5_000)).toBeLessThan(5_000);
  });

  it.each([
    "inputs.rows.map(a, inputs.rows.map(b, 'aaaaaaaaaa').join()).join()",
    "'aaaaaaaaaaaaaaaaaaaa'.replace('', 'bbbbbbbbbbbbbbbbbbbb').replace('', inputs.rows.map(r, r.name).join()).replace('b', inputs.rows.map(r, r.name).join())",
    "inputs.rows.map(a, inputs.rows.map(b, inputs.rows)).flatten().flatten()",
  ])("reject a value that is too large: %s", (source) => {
    expect(failure(source, inputs).code).toBe("expression_limit");
  });

  it("name the limit that the output exceeded, with its size", () => {
    const nine = "[1, 2, 3, 4, 5, 6, 7, 8, 9]";
    const source = `${nine}.map(a, ${nine}.map(b, ${nine}.map(c, inputs.rows)))`;
    const error = failure(source, inputs);
    expect(error.code).toBe("expression_limit");
    expect(error.message).toContain("returns more than 1,048,576 bytes of JSON");
    expect(error.options.details).toMatchObject({ bound: "output", limit: MAX_EXPRESSION_OUTPUT });
  });

  it("count the output in bytes of JSON, over the whole value", () => {
    const value = { a: "${{ inputs.s }}", b: "${{ inputs.s }}" };
    const unicodeScope = { ...scope, inputs: { s: 'é"\u0001' } };
    const bytes =
      Buffer.byteLength(JSON.stringify(compileValue(value).evaluate(unicodeScope))) - '{"a":,"b":}'.length;
    expect(compileValue(value, { maxOutputBytes: bytes }).evaluate(unicodeScope)).toEqual({
      a: 'é"\u0001',
      b: 'é"\u0001',
    });
    expect(() => compileValue(value, { maxOutputBytes: bytes - 1 }).evaluate(unicodeScope)).toThrow(
      StepError,
    );
    const list = compileCel("[inputs.s, {'a': 1.5, 'é': null}]");
    const exact = Buffer.byteLength(JSON.stringify(list.evaluate(unicodeScope)));
    expect(() =>
      compileCel("[inputs.s, {'a': 1.5, 'é': null}]", { maxOutputBytes: exact }).evaluate(unicodeScope),
    ).not.toThrow();
    expect(() =>
      compileCel("[inputs.s, {'a': 1.5, 'é': null}]", { maxOutputBytes: exact - 1 }).evaluate(unicodeScope),
    ).toThrow(StepError);
  });

  it("end the evaluation even if another part of the expression decides the result", () => {
    const source = "inputs.rows.all(a, inputs.rows.all(b, inputs.rows.all(c, c.id >= 0))) || true";
    expect(failure(source, inputs).code).toBe("expression_limit");
  });

  it.each(["inputs.deep", "inputs.deep == inputs.same", "[inputs.deep].unique()", "to_json(inputs.deep)"])(
    "hold for the depth before the stack overflows: %s",
    (source) => {
      const error = failure(source, { deep: deep(), same: deep() });
      expect(error.code).toBe("expression_limit");
      expect(error.options.details).toMatchObject({ bound: "depth", limit: 200 });
    },
  );

  it("cost well under 0.1 ms", () => {
    const compiled = compileCel("steps.revenue.row_count > 0 && inputs.n == 5");
    const evaluateOften = (): void => {
      for (let round = 0; round < 10_000; round++) compiled.evaluate(scope);
    };
    expect(commonTime(evaluateOften, 1_000)).toBeLessThan(1_000);
    expect(evaluate("1")).toBe(1);
  });
});

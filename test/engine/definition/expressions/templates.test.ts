import { describe, expect, it } from "vitest";
import { compileValue } from "../../../../src/engine/definition/expressions/index.ts";
import { scope } from "./scope.ts";

const resolve = (value: unknown): unknown => compileValue(value).evaluate(scope);

describe("a template", () => {
  it.each([
    ["${{ inputs.n }}", 5],
    ["  ${{ inputs.nested }}\n", { a: { b: 1 } }],
    ["n is ${{ inputs.n }}.", "n is 5."],
    ["${{ inputs.n }}${{ inputs.name }}", "5Ann"],
    ["<${{ inputs.nothing }}>", "<>"],
    ["-${{ inputs.nested }} ${{ [1, 'a'] }}", '-{"a":{"b":1}} [1,"a"]'],
    ["at ${{ timestamp(run.started_at) }}", "at 2026-11-21T08:00:00.000Z"],
    ["took ${{ duration('90s') }}", "took 90"],
    ["${{ \"}}\" + '}}' }}", "}}}}"],
    ["${{ {'a': {'b': 1}}}}", { a: { b: 1 } }],
    ["a ${{ {'a': {'b': 1}} }} b", 'a {"a":{"b":1}} b'],
    ['${{ """a}}"b""" }}', 'a}}"b'],
    ["${{ inputs.n // }}\n }}", 5],
    ["$${{ inputs.n }}", "${{ inputs.n }}"],
    ["$${{ a }} ${{ inputs.n }}", "${{ a }} 5"],
    ["$$ $ {{ }} }}", "$$ $ {{ }} }}"],
    ["{{ name }} of another template", "{{ name }} of another template"],
    ['${{ "{{ inputs.n }}" }}', "{{ inputs.n }}"],
    ["${{ '\\'}}' }}", "'}}"],
  ])("%j evaluates to %j", (text, value) => {
    expect(resolve(text)).toEqual(value);
  });

  it.each(["{{ inputs.n }}", "Hello {{inputs.name}}!", "${{ inputs.n }} and {{- steps.rows.row_count }}"])(
    "is rejected without its $: %s",
    (text) => {
      expect(() => compileValue(text)).toThrow(/lacks the \$ before \{\{/);
    },
  );

  it("is evaluated in every string, however deep, but not in keys", () => {
    const value = { "${{ k }}": [{ a: "${{ inputs.n }}", b: 1, c: null, d: true }, "x${{ inputs.name }}"] };
    expect(resolve(value)).toEqual({ "${{ k }}": [{ a: 5, b: 1, c: null, d: true }, "xAnn"] });
  });

  it("is constant if it contains no expression", () => {
    const compiled = compileValue({ a: ["b", "$${{ c }}"], d: 1 });
    expect(compiled.isConstant).toBe(true);
    expect(compiled.evaluate(scope)).toEqual({ a: ["b", "${{ c }}"], d: 1 });
    expect(compileValue(["${{ 1 }}"]).isConstant).toBe(false);
  });

  it("lists the steps that all of its parts read", () => {
    const { stepIds } = compileValue({ a: "${{ steps.x.y }}", b: ["and ${{ steps.z }}"] });
    expect([...stepIds]).toEqual(["x", "z"]);
  });

  it.each(["${{ inputs.n", "a ${{ 'x }} b", "${{ }}", "${{ 1 + }}", "${{ a // }}"])(
    "reports %j as an issue",
    (text) => {
      expect(() => compileValue({ deep: [text] })).toThrow(
        expect.objectContaining({
          code: "invalid_input",
          details: { errors: [expect.objectContaining({ path: "deep[0]", code: "expression_syntax" })] },
        }),
      );
    },
  );

  it("sets an own field named __proto__", () => {
    const value = JSON.parse('{"__proto__": {"a": "${{ inputs.n }}"}}') as unknown;
    expect(JSON.stringify(resolve(value))).toBe('{"__proto__":{"a":5}}');
  });
});

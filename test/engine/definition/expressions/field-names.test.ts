import { describe, expect, it } from "vitest";
import { ANY, NUMBER, objectOf, STRING } from "../../../../src/core/shapes.ts";
import { checkCel, checkValue } from "../../../../src/engine/definition/expressions/index.ts";
import type { ExpressionIssue, TypeScope } from "../../../../src/engine/definition/expressions/index.ts";
import { typeScope } from "./scope.ts";

const scope: TypeScope = {
  ...typeScope,
  inputs: objectOf({
    größe: NUMBER,
    "Kunde Nr": STRING,
    "my-field": NUMBER,
    "a.b": NUMBER,
    "2fa": STRING,
    in: NUMBER,
    class: NUMBER,
    my: NUMBER,
    total: NUMBER,
    tax: NUMBER,
  }),
  steps: { ...typeScope.steps, my_step: objectOf({ value: NUMBER }), called: ANY },
};

const rewritten = (source: string, { rewrite }: ExpressionIssue): string =>
  (rewrite?.edits ?? []).reduceRight(
    (text, { start, end, text: inserted }) => text.slice(0, start) + inserted + text.slice(end),
    source,
  );

describe("names of fields that are no names in CEL", () => {
  it.each([
    ["inputs.größe + 1", 'inputs["größe"] + 1'],
    ["inputs.Kunde Nr", 'inputs["Kunde Nr"]'],
    ["inputs.Kunde Nr.size()", 'inputs["Kunde Nr"].size()'],
    ["inputs.my-field", 'inputs["my-field"]'],
    ["inputs.my-field * 2", 'inputs["my-field"] * 2'],
    ["inputs.total - inputs.my-field", 'inputs.total - inputs["my-field"]'],
    ["inputs.a.b", 'inputs["a.b"]'],
    ["inputs.2fa", 'inputs["2fa"]'],
    ["steps.my-step.value", "steps.my_step.value"],
    ["inputs.größe === 1 and inputs.Kunde Nr != 'x'", 'inputs["größe"] == 1 && inputs["Kunde Nr"] != \'x\''],
    ['inputs.größe + size(".größe")', 'inputs["größe"] + size(".größe")'],
    // Without a declared field, where no other reading is possible.
    ["steps.called.größe", 'steps.called["größe"]'],
    ["steps.called.@type", 'steps.called["@type"]'],
    ["steps.called.$oid", 'steps.called["$oid"]'],
  ])("are put in brackets: bracketNames makes of %s %s", (source, correct) => {
    const { issues } = checkCel(source, scope);
    expect(issues).toHaveLength(1);
    expect(issues[0]!.fix).toContain(`Write ${correct}.`);
    expect(rewritten(source, issues[0]!)).toBe(correct);
    expect(checkCel(correct, scope).issues).toEqual([]);
  });

  it("are left alone beside a name that stands for a text in a rewrite", () => {
    const { issues } = checkCel("inputs.my-field + __text7__ + '__text0__'", scope);
    expect(issues.length).toBeGreaterThan(0);
    expect(JSON.stringify(issues)).not.toMatch(/undefined|brackets|\["my-field/);
  });

  it("are put in brackets inside templates too, with the path of the value", () => {
    const { issues } = checkValue({ a: ["Size: ${{ inputs.größe }} of ${{ inputs.my-field }}"] }, scope);
    expect(issues.map(({ path, fix }) => [path, fix])).toEqual([
      [["a", 0], 'Write inputs["größe"].'],
      [["a", 0], 'Write inputs["my-field"].'],
    ]);
  });

  it.each(["inputs.in", "inputs.class", "inputs.total-inputs.tax", 'inputs["my-field"]', "inputs.my-1"])(
    "leave what CEL reads alone: %s",
    (source) => expect(checkCel(source, scope).issues).toEqual([]),
  );

  it.each([
    ["inputs.total-tax", "Write inputs.tax."],
    ["steps.called.first-name", 'If a field is named first-name, write x["first-name"].'],
    ["größe + 1", 'write other fields in brackets: inputs["größe"].'],
  ])("are no more than a hint where another reading is possible: %s", (source, fix) => {
    const { issues } = checkCel(source, scope);
    expect(issues.map((issue) => issue.fix)).toEqual([expect.stringContaining(fix)]);
    expect(rewritten(source, issues[0]!)).not.toContain("[");
  });

  it("are searched for in a limited number of expressions (dottedNamesOf)", () => {
    const values = Array.from({ length: 50 }, () => "${{ inputs.my-field }}");
    const { issues } = checkValue(values, { ...scope, inputs: objectOf({ "my-field": NUMBER }) });
    expect(issues).toHaveLength(20 + 2 * 30);
  });
});

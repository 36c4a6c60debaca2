import { describe, expect, it } from "vitest";
import { compileOutputSchema } from "../../../src/connections/models/output-schema.ts";
import type { JsonSchema } from "../../../src/core/json-schema/index.ts";
import { AppError } from "../../../src/core/errors.ts";
import { StepError } from "../../../src/core/step-errors.ts";
import { expectCost } from "../../support/expect-cost.ts";
import { eventually } from "../../support/eventually.ts";

function issues(schema: JsonSchema, value: unknown): string[] {
  const check = compileOutputSchema(schema);
  if ("unusable" in check) throw new Error(check.unusable);
  const parsed = check.parse([value])[0]!;
  return "issues" in parsed ? parsed.issues : [];
}
const unusable = (schema: JsonSchema): string | undefined => {
  const check = compileOutputSchema(schema);
  return "unusable" in check ? check.unusable : undefined;
};

function matchLongTexts(): void {
  expect(issues({ pattern: "^(a+)+$" }, `${"a".repeat(50_000)}!`)).toHaveLength(1);
  const properties = { patternProperties: { "^(a|a)*$": false } };
  expect(issues(properties, { [`${"a".repeat(1_000)}!`]: 1 })).toEqual([]);
}

describe("schemaCheck", () => {
  it("reports every issue of a small value", () => {
    const schema = { type: "array", items: { type: "integer" } };
    expect(issues(schema, [1, "a", 2.5])).toEqual([
      "[1] must be an integer, got text",
      "[2] must be an integer, got 2.5",
    ]);
    expect(issues(schema, [1, 2])).toEqual([]);
  });

  it("reports the first issue of a large value", () => {
    expect(
      issues(
        { items: { type: "string" } },
        Array.from({ length: 50_000 }, () => 1),
      ),
    ).toHaveLength(1);
  });

  it("checks formats, and accepts the $schema of draft 2020-12", () => {
    expect(issues({ format: "date" }, "2026-02-31")).toEqual(["the answer must be a valid date"]);
    expect(issues({ prefixItems: [{ type: "string" }] }, [1])).toEqual(["[0] must be text, got a number"]);
    expect(unusable({ $schema: "http://json-schema.org/draft-07/schema#" })).toContain("2020-12");
  });

  it("checks several patterns separately", () => {
    const schema = { properties: { a: { pattern: "^x+$" }, b: { pattern: "^y+$" } } };
    expect(issues(schema, { a: "xx", b: "yy" })).toEqual([]);
    expect(issues(schema, { a: "yy", b: "xx" })).toHaveLength(2);
  });

  it("matches patterns in linear time", async () => {
    await expectCost(900, matchLongTexts);
  });

  it.each([
    [{ type: "objekt" }, "type must be one of"],
    [{ pattern: "(?=a)b" }, "(?="],
    [{ pattern: "(a)\\1" }, "invalid escape sequence"],
    [{ pattern: "(" }, "missing closing )"],
    [{ $ref: "https://example.com/other.json" }, "external references are not supported"],
    [{ $ref: "#/$defs/none" }, "refers to a place that does not exist"],
    [{ $async: true, type: "string" }, "$async is not a known field"],
    [{ description: "x".repeat(70_000) }, "at most 65536"],
  ])("reports why %o can't be used", (schema, reason) => {
    expect(unusable(schema)).toContain(reason);
  });

  it("refuses a schema that is nested too deep", () => {
    let schema: JsonSchema = {};
    for (let depth = 0; depth < 70; depth += 1) schema = { not: schema };
    expect(unusable(schema)).toContain("32 levels");
  });

  it("stops a check that does not end", async () => {
    const twice = { properties: { a: { $ref: "#" } }, required: ["b"] };
    let value: Record<string, unknown> = {};
    for (let depth = 0; depth < 60; depth += 1) value = { a: value, b: 1 };
    const schema = { anyOf: [twice, { ...twice, minProperties: 1 }] };
    const refusal = await eventually(() => {
      try {
        return issues(schema, value);
      } catch (error) {
        // Too little processor time says nothing about the check.
        return error instanceof StepError && error.transient ? undefined : error;
      }
    }, "a second of processor time");
    expect(refusal).toMatchObject({ code: "model_invalid_output", transient: false });
  });

  it("reports as a temporary failure of the step that the machine is too busy for a check", () => {
    const check = compileOutputSchema({ type: "object" }, () => {
      throw new AppError("busy", "The machine is too busy.");
    });
    const parse = "parse" in check ? check.parse : () => [];
    expect(() => parse([{}])).toThrow(
      expect.objectContaining({
        code: "model_invalid_output",
        message: "The answer was not checked against output_schema, because the machine is too busy.",
        transient: true,
      }),
    );
  });
});

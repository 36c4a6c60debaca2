import { describe, expect, it } from "vitest";
import {
  inputsValidator,
  schemaIssues,
  shapeOfReturnedValue,
  shapeOfSchema,
} from "../../../src/core/json-schema/index.ts";
import { NUMBER, objectOf, openObjectOf } from "../../../src/core/shapes.ts";
import { expectCost } from "../../support/expect-cost.ts";

const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });
const codes = (schema: unknown) => schemaIssues(schema).map(({ path, code }) => `${path!.join(".")} ${code}`);
const value = (schema: Record<string, unknown> | null, inputs: unknown) => {
  const parsed = inputsValidator(schema).parse(inputs);
  return "value" in parsed
    ? parsed.value
    : parsed.issues.map(({ path, code }) => `${path!.join(".")} ${code}`);
};

describe("inputsValidator", () => {
  it("fills in defaults at every depth, and leaves the input unchanged", () => {
    const schema = object({
      a: { type: "number", default: 1 },
      b: object({ c: { default: [] } }, { default: {} }),
    });
    const given = { a: 2 };
    expect(value(schema, given)).toEqual({ a: 2, b: { c: [] } });
    expect(given).toEqual({ a: 2 });
    expect(value(schema, undefined)).toEqual({ a: 1, b: { c: [] } });
  });

  it("copies a default each time", () => {
    const schema = object({ list: { type: "array", default: [] } });
    (value(schema, {}) as { list: unknown[] }).list.push("left over");
    expect(value(schema, {})).toEqual({ list: [] });
  });

  it("refuses text for a number", () => {
    expect(value(object({ n: { type: "number" } }), { n: "1" })).toEqual(["n wrong_type"]);
  });

  it("refuses unknown inputs unless the schema allows them", () => {
    expect(inputsValidator(object({ since: {} })).parse({ sinc: 1 })).toMatchObject({
      issues: [{ path: ["sinc"], code: "unknown_key", did_you_mean: "since", allowed: ["since"] }],
    });
    expect(value(object({ since: {} }, { additionalProperties: true }), { sinc: 1 })).toEqual({
      sinc: 1,
      since: null,
    });
    expect(value(object({ a: {} }, { allOf: [{ properties: { b: {} } }] }), { a: 1, b: 1 })).toEqual({
      a: 1,
      b: 1,
    });
    expect(value(null, { a: 1 })).toEqual(["a unknown_key"]);
  });

  it.each<[string, object, unknown, string]>([
    ["a missing one", object({ a: {} }, { required: ["a"] }), {}, "a missing"],
    ["a date that is none", object({ a: { format: "date" } }), { a: "2026-02-30" }, "a wrong_format"],
    ["a pattern that does not match", object({ a: { pattern: "^a+$" } }), { a: "b" }, "a wrong_format"],
    ["a value that is not listed", object({ a: { enum: ["x", "y"] } }), { a: "z" }, "a not_allowed"],
    ["a place in a list", object({ a: { items: { maximum: 3 } } }), { a: [1, 4] }, "a.1 too_large"],
    ["no object", object({}), [], " wrong_type"],
  ])("reports %s", (_, schema, inputs, expected) => {
    expect(value(schema as Record<string, unknown>, inputs)).toEqual([expected]);
  });

  it("matches each pattern in linear time", async () => {
    const schema = object({
      a: { type: "string", pattern: "^(a+)+$" },
      b: { type: "string", pattern: "^b$" },
    });
    const inputs = { a: `${"a".repeat(20_000)}!`, b: "b" };
    const match = (): void => expect(value(schema, inputs)).toEqual(["a wrong_format"]);
    await expectCost(200, match);
  });

  it("reports endless nesting as such", () => {
    const schema = object({ a: { $ref: "#" } });
    const deep = Array.from({ length: 100 }).reduce<object>((inner) => ({ a: inner }), {});
    expect(value(schema, deep)).toEqual([" too_deep"]);
    expect(value(schema, { a: { a: {} } })).toEqual({ a: { a: { a: null } } });
  });
});

describe("multipleOf", () => {
  it.each([
    [0.01, [0.07, 19.99, 4.35, 1e20, 0, -0.3]],
    [0.1, [0.3, 0.7]],
    [3, [9, 9007199254740990]],
  ])("%d divides the digits of %j", (multipleOf, values) => {
    const { parse } = inputsValidator({ type: "object", properties: { n: { type: "number", multipleOf } } });
    for (const n of values) expect(parse({ n })).toEqual({ value: { n } });
    expect(parse({ n: multipleOf / 10 })).toMatchObject({
      issues: [{ path: ["n"], message: expect.stringContaining(`must be a multiple of ${multipleOf}`) }],
    });
  });
});

describe("schemaIssues", () => {
  it("finds no issue in a valid schema", () => {
    const schema = object(
      { since: { type: "string", format: "date", default: "2026-01-01" }, node: { $ref: "#/$defs/node" } },
      { $defs: { node: object({ next: { $ref: "#/$defs/node" } }) } },
    );
    expect(codes(schema)).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ["what is no schema", [], " wrong_type"],
    ["an unknown keyword", object({ a: { requred: [] } }), "properties.a.requred unknown_key"],
    ["an unknown type", object({ a: { type: "strin" } }), "properties.a.type not_allowed"],
    ["a keyword's wrong value", object({ a: { minimum: "1" } }), "properties.a.minimum wrong_type"],
    [
      "a pattern that needs more than linear time",
      object({ a: { pattern: "(?=a)b" } }),
      "properties.a.pattern invalid_pattern",
    ],
    ["an unknown format", object({ a: { format: "dat" } }), "properties.a.format not_allowed"],
    [
      "a reference to elsewhere",
      object({ a: { $ref: "https://example.com/x" } }),
      "properties.a.$ref not_allowed",
    ],
    ["a reference to nothing", object({ a: { $ref: "#/$defs/b" } }), "properties.a.$ref unknown_reference"],
    ["a reference to its own place", object({ a: { $ref: "#/properties/a" } }), "properties.a.$ref cycle"],
    [
      "a reference that leads back to its own place through alternatives",
      object(
        { a: { $ref: "#/$defs/maybe" } },
        { $defs: { maybe: { anyOf: [{ $ref: "#/$defs/maybe" }, { type: "null" }] } } },
      ),
      "$defs.maybe.anyOf.0.$ref cycle",
    ],
    [
      "a reference that leads back through a schema for some values",
      { if: { type: "object" }, else: { dependentSchemas: { a: { $ref: "#" } } } },
      "else.dependentSchemas.a.$ref cycle",
    ],
    [
      "a default that does not fit",
      object({ "a/b": { type: "number", default: "x" } }),
      "properties.a/b.default wrong_type",
    ],
    ["another draft", { $schema: "http://json-schema.org/draft-07/schema#" }, "$schema not_allowed"],
    [
      "too many schemas",
      object(Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`p${i}`, {}]))),
      "properties.p499 too_large",
    ],
    [
      "too deep a schema",
      Array.from({ length: 40 }).reduce<object>((inner) => ({ items: inner }), {}),
      `${Array(33).fill("items").join(".")} too_large`,
    ],
    ["too large a schema", { description: "x".repeat(70_000) }, " too_large"],
  ])("reports %s", (_, schema, expected) => {
    expect(codes(schema)).toEqual([expected]);
  });
});

describe("shapeOfSchema", () => {
  it.each<[unknown, unknown]>([
    [{ type: "integer" }, { kind: "number" }],
    [{ type: ["string", "null"] }, { kind: "string", nullable: true }],
    [{ anyOf: [{ type: "number" }, { type: "null" }] }, { kind: "number", nullable: true }],
    [{ anyOf: [{ type: "number" }, { type: "string" }] }, { kind: "any" }],
    [{ enum: ["a", "b"] }, { kind: "string" }],
    [{ const: 1 }, { kind: "number" }],
    [
      { type: "array", items: { type: "boolean" } },
      { kind: "list", of: { kind: "boolean" } },
    ],
    [
      object({ a: { type: "string" }, b: { type: "number" } }, { required: ["a"] }),
      { kind: "object", fields: { a: { kind: "string" }, b: { kind: "number", nullable: true } } },
    ],
    [object({ a: { type: "string", default: "x" } }), { kind: "object", fields: { a: { kind: "string" } } }],
    [
      object({ a: { type: "string" } }, { required: ["a"], additionalProperties: true }),
      { kind: "object", fields: { a: { kind: "string" } }, open: true },
    ],
    [
      object({ a: { type: "string" } }, { required: ["a"], patternProperties: { "^x": { type: "number" } } }),
      { kind: "object", fields: { a: { kind: "string" } }, open: true },
    ],
    [object({ a: { type: "string" } }, { allOf: [{}] }), { kind: "map", of: { kind: "any" } }],
    [
      { type: "object", additionalProperties: { type: "number" } },
      { kind: "map", of: { kind: "number" } },
    ],
    [{ $ref: "#/$defs/x", $defs: { x: { type: "string" } } }, { kind: "string" }],
    [true, { kind: "any" }],
  ])("reads %j", (schema, shape) => {
    expect(shapeOfSchema(schema)).toEqual(shape);
  });

  it("stops where a schema refers to itself", () => {
    expect(shapeOfSchema(object({ next: { $ref: "#" } }))).toMatchObject({ kind: "object" });
  });
});

describe("shapeOfReturnedValue", () => {
  it("leaves objects open at every level, unless their schema forbids other fields", () => {
    const schema = object(
      {
        open: object({ x: { type: "number" } }, { required: ["x"] }),
        closed: object({ x: { type: "number" } }, { required: ["x"], additionalProperties: false }),
      },
      { required: ["open", "closed"] },
    );
    expect(shapeOfReturnedValue(schema)).toEqual(
      openObjectOf({ open: openObjectOf({ x: NUMBER }), closed: objectOf({ x: NUMBER }) }),
    );
  });
});

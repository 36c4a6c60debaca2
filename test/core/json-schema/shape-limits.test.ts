import { describe, expect, it } from "vitest";
import { inputsValidator, schemaIssues, shapeOfSchema } from "../../../src/core/json-schema/index.ts";
import { ANY, MAX_SHAPE_NODES, NUMBER, objectOf, type Shape, STRING } from "../../../src/core/shapes.ts";
import { commonTime } from "../../support/slowness.ts";

const named = (count: number, make: (index: number) => unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, make(index)]));
const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });

const nodesOf = (shape: Shape): number => {
  const inner =
    shape.kind === "object"
      ? Object.values(shape.fields)
      : shape.kind === "list" || shape.kind === "map"
        ? [shape.of]
        : [];
  return inner.reduce((sum, next) => sum + nodesOf(next), 1);
};

describe("the shape of a schema", () => {
  it.each([120, 300])("has a limited size when it refers to itself %i times", (count) => {
    const schema = object(
      named(count, () => ({ $ref: "#" })),
      { additionalProperties: false },
    );
    let shape: Shape = ANY;
    expect(commonTime(() => (shape = shapeOfSchema(schema)), 100)).toBeLessThan(100);
    expect(nodesOf(shape)).toBeLessThanOrEqual(MAX_SHAPE_NODES);
    expect(Object.keys((shape as { fields: object }).fields)).toHaveLength(count);
  });

  it("describes the last field in as much detail as the first", () => {
    const schema = {
      ...object({ a: { $ref: "#/$defs/wide" }, b: { $ref: "#/$defs/wide" }, text: { type: "string" } }),
      required: ["a", "b", "text"],
      $defs: { wide: object(named(60, () => ({ $ref: "#/$defs/wide" }))) },
    };
    const { fields } = shapeOfSchema(schema) as { fields: Record<string, Shape> };
    expect(fields["b"]).toEqual(fields["a"]);
    expect(fields["b"]).toMatchObject({ kind: "object" });
    expect(fields["text"]).toEqual(STRING);
  });

  it("counts the values of an enumeration at each reference to it", () => {
    const long = { enum: Array.from({ length: 9_000 }, (_, index) => index) };
    const refs = named(480, () => ({ $ref: "#/$defs/long" }));
    const schema = object(refs, { $defs: { long } });
    expect(shapeOfSchema(schema)).toMatchObject({ fields: { p0: ANY, p479: ANY } });
    const few = object({ a: { $ref: "#/$defs/long" } }, { $defs: { long }, required: ["a"] });
    expect(shapeOfSchema(few)).toEqual(objectOf({ a: NUMBER }));
  });

  it("is complete when the schema is large and has no references", () => {
    const schema = object(
      named(400, () => ({ type: "string" })),
      { required: Object.keys(named(400, () => 0)) },
    );
    expect(shapeOfSchema(schema)).toEqual(objectOf(named(400, () => STRING) as Record<string, Shape>));
  });
});

const withPatterns = (count: number, make: (index: number) => string) =>
  object(named(count, (index) => ({ type: "string", pattern: make(index) })));

describe("the patterns of a schema", () => {
  it("share one limit, which is reported once", () => {
    schemaIssues({ pattern: "a" });
    const schema = withPatterns(400, (index) => `[\\pL\\pN]{1000}${index}`);
    let issues = schemaIssues({});
    expect(commonTime(() => (issues = schemaIssues(schema)), 400)).toBeLessThan(400);
    expect(issues).toMatchObject([{ code: "too_large", path: ["properties", expect.anything(), "pattern"] }]);
  });

  it.each([
    ["classes of Unicode", withPatterns(30, (index) => `(?i)[${"\\pL".repeat(300)}]${index}`)],
    ["brackets that nothing closes", withPatterns(1, () => "[".repeat(40_000))],
  ])("are limited when they are %s", (_, schema) => {
    schemaIssues({ pattern: "a" });
    let issues = schemaIssues({});
    expect(commonTime(() => (issues = schemaIssues(schema)), 400)).toBeLessThan(400);
    expect(issues).toHaveLength(1);
  });

  it("can be many when they are small", () => {
    expect(schemaIssues(withPatterns(400, (index) => `^[a-z0-9_-]{1,64}${index}$`))).toEqual([]);
  });
});

describe("the issues of a value", () => {
  it("suggest corrections for the first ones only, and are limited in number", () => {
    const schema = object({
      l: {
        type: "array",
        items: { enum: Array.from({ length: 300 }, (_, i) => `${"qwertz".repeat(33)}${i}`) },
      },
    });
    const l = Array.from({ length: 200 }, (_, index) => `${"qwertz".repeat(32)}x${index}`);
    const validator = inputsValidator(schema);
    validator.parse({ l: l.slice(0, 1) });
    let parsed: ReturnType<typeof validator.parse> = { issues: [] };
    expect(commonTime(() => (parsed = validator.parse({ l })), 400)).toBeLessThan(400);
    const { issues } = parsed as { issues: { did_you_mean?: string }[] };
    expect(issues).toHaveLength(100);
    expect(issues.filter((issue) => issue.did_you_mean !== undefined)).toHaveLength(10);
  });

  it("are limited when a thousand errors say the same", () => {
    const forms = Array.from({ length: 400 }, () => ({ type: "string" }));
    const schema = object({ l: { type: "array", items: { anyOf: forms } } });
    const validator = inputsValidator(schema);
    const l = Array.from({ length: 100 }, () => 1);
    const { issues } = validator.parse({ l }) as { issues: unknown[] };
    expect(issues.length).toBeGreaterThan(0);
    expect(issues.length).toBeLessThan(10);
  });
});

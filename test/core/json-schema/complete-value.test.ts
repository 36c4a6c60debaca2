import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  completeValue,
  inputsValidator,
  type JsonSchema,
  parseValue,
  readWritten,
  schemaIssues,
  shapeOfReturnedValue,
  shapeOfSchema,
} from "../../../src/core/json-schema/index.ts";
import { expectCost } from "../../support/expect-cost.ts";
import { describeMismatch } from "../../support/shapes.ts";

const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });
const text = { type: "string" };
const number = { type: "number" };

describe("completeValue", () => {
  it.each<[string, unknown, unknown, unknown]>([
    ["null for an absent field", object({ a: text, b: number }), { a: "x" }, { a: "x", b: null }],
    ["a default", object({ a: { ...number, default: 3 } }), {}, { a: 3 }],
    [
      "a default that is completed itself",
      object({ a: { ...object({ b: text }), default: {} } }),
      {},
      { a: { b: null } },
    ],
    ["nothing in an absent object", object({ a: object({ b: text }) }), {}, { a: null }],
    [
      "nested fields",
      object({ a: object({ b: text, c: text }) }),
      { a: { b: "x" } },
      { a: { b: "x", c: null } },
    ],
    ["items", { type: "array", items: object({ a: text }) }, [{}, { a: "x" }], [{ a: null }, { a: "x" }]],
    [
      "prefix items",
      { prefixItems: [object({ a: text })], items: object({ b: text }) },
      [{}, {}],
      [{ a: null }, { b: null }],
    ],
    [
      "the values of a map",
      { type: "object", additionalProperties: object({ a: text }) },
      { x: {} },
      { x: { a: null } },
    ],
    [
      "references",
      { $ref: "#/$defs/node", $defs: { node: object({ next: { $ref: "#/$defs/node" } }) } },
      { next: {} },
      { next: { next: null } },
    ],
    ["allOf", { allOf: [object({ a: text }), object({ b: text })] }, {}, { a: null, b: null }],
    ["an object or null", { anyOf: [object({ a: text }), { type: "null" }] }, {}, { a: null }],
    [
      "the only form that can be meant",
      {
        oneOf: [
          object({ kind: { const: "a" }, x: text }, { required: ["kind"] }),
          object({ kind: { const: "b" }, y: text }, { required: ["kind"] }),
        ],
      },
      { kind: "b" },
      { kind: "b", y: null },
    ],
    [
      "the fields of the form, one of which has the name of an inherited property",
      {
        anyOf: [
          object({ kind: { const: "a" }, constructor: { const: "x" } }, { required: ["kind"] }),
          object({ kind: { const: "b" }, y: text }, { required: ["kind"] }),
        ],
      },
      { kind: "a" },
      { kind: "a", constructor: null },
    ],
    [
      "nothing when several forms can be meant",
      { anyOf: [object({ a: text }), object({ b: text })] },
      {},
      {},
    ],
    ["fields beside unknown ones", object({ a: text }), { z: 1 }, { z: 1, a: null }],
  ])("fills in %s", (_, schema, value, expected) => {
    expect(completeValue(schema, value)).toEqual(expected);
  });

  it("fills in a field named __proto__ as any other", () => {
    const completed = completeValue(JSON.parse('{"properties": {"__proto__": {"type": "string"}}}'), {});
    expect(Object.hasOwn(completed as object, "__proto__")).toBe(true);
    expect(Object.getPrototypeOf(completed)).toBe(Object.prototype);
  });

  it("returns a complete value itself, and does not change an incomplete one", () => {
    const schema = object({ a: object({ b: text }) });
    const complete = { a: { b: "x" } };
    expect(completeValue(schema, complete)).toBe(complete);
    const incomplete = Object.freeze({ a: Object.freeze({}) });
    expect(completeValue(schema, incomplete)).toEqual({ a: { b: null } });
    expect(incomplete).toEqual({ a: {} });
  });

  it.each<[string, unknown]>([
    ["no schema", 5],
    ["null", null],
    ["a reference to itself", { $ref: "#" }],
    ["wrong keywords", { properties: 5, required: "a", items: 1, anyOf: {}, allOf: 3, type: 7 }],
  ])("leaves a value unchanged if the schema is %s", async (_, schema) => {
    const value = { a: [1, { b: null }] };
    expect(completeValue(schema, value)).toBe(value);
  });

  it("takes no longer than a moment for combinations that double at each level", async () => {
    const doubling = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => {
        const next = { $ref: `#/$defs/d${index + 1}` };
        return [`d${index}`, { allOf: [next, next] }];
      }),
    );
    const schema = { $ref: "#/$defs/d0", $defs: { ...doubling, d40: object({ a: text }) } };
    const values = Array.from({ length: 100 }, () => ({}));
    let completed: unknown;
    await expectCost(500, () => (completed = completeValue(schema, values)));
    expect(completed).toEqual(values);
  });
});

const parseInputs = (schema: JsonSchema, value: unknown): unknown => {
  const parsed = inputsValidator(schema).parse(value);
  return "value" in parsed
    ? parsed.value
    : parsed.issues.map(({ path, code }) => `${path!.join(".")} ${code}`);
};

describe("null for an optional field", () => {
  it.each<[string, object, unknown, unknown]>([
    ["is an absent field", object({ a: text }), { a: null }, { a: null }],
    ["gets the default", object({ a: { ...number, default: 3 } }), { a: null }, { a: 3 }],
    [
      "stays null if the field accepts it",
      object({ a: { type: ["number", "null"], default: 3 } }),
      { a: null },
      { a: null },
    ],
    [
      "is refused if the field is required",
      object({ a: text }, { required: ["a"] }),
      { a: null },
      ["a wrong_type"],
    ],
    [
      "is absent in nested objects and lists too",
      object({ a: { type: "array", items: object({ b: text, c: number }) } }),
      { a: [{ b: null, c: 1 }] },
      { a: [{ b: null, c: 1 }] },
    ],
    [
      "is refused for a field that is not declared",
      object({ a: text }, { additionalProperties: false }),
      { b: null },
      ["b unknown_key"],
    ],
    [
      "is refused where a map has other values",
      object({ a: { type: "object", additionalProperties: number } }),
      { a: { b: null } },
      ["a.b wrong_type"],
    ],
  ])("%s", (_, schema, value, expected) => {
    expect(parseInputs(schema as JsonSchema, value)).toEqual(expected);
  });
});

const NAMES = ["a", "b", "c"];
const leaf = fc.constantFrom<JsonSchema>(
  text,
  number,
  { type: "integer" },
  { type: "boolean" },
  { type: "null" },
  { type: ["string", "null"] },
  { type: ["number", "string"] },
  { enum: ["x", "y", null] },
  { const: 1 },
  {},
  { $ref: "#/$defs/shared" },
);

/** One part of `allOf` can't know the fields of the other. */
const opened = (schema: JsonSchema): JsonSchema =>
  Object.fromEntries(Object.entries(schema).filter(([key]) => key !== "additionalProperties"));

/** Schemas of the kinds that people write, with defaults that match. */
const { schema: schemas } = fc.letrec<{ schema: JsonSchema }>((tie) => {
  const fields = fc.dictionary(fc.constantFrom(...NAMES), tie("schema"), { maxKeys: 3 });
  const objects = fc
    .tuple(
      fields,
      fc.subarray(NAMES),
      fc.constantFrom({}, { additionalProperties: false }, { additionalProperties: true }),
    )
    .map(([properties, names, more]) =>
      object(properties, { required: names.filter((name) => Object.hasOwn(properties, name)), ...more }),
    );
  return {
    schema: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      leaf,
      leaf.map((of) =>
        "type" in of && of["type"] === "number" ? Object.assign({}, of, { default: 7 }) : of,
      ),
      objects,
      objects.map((of) => ({ ...of, type: ["object", "null"] })),
      tie("schema").map((items) => ({ type: "array", items })),
      tie("schema").map((of) => ({ anyOf: [of, { type: "null" }] })),
      fc.tuple(tie("schema"), tie("schema")).map((forms) => ({ oneOf: forms })),
      fc.tuple(objects, objects).map((forms) => ({ allOf: forms.map(opened) })),
      objects.map((of) => ({ type: "object", additionalProperties: of })),
      fc.tuple(objects, objects).map(([of, more]) => Object.assign({}, of, { anyOf: [more, {}] })),
      objects.map((of) => ({ properties: of.properties })),
    ),
  };
});

const { value: values } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<unknown>(null, 1, 2.5, "x", "z", true, "2", "[1]", '{"a":1}'),
    fc.dictionary(fc.constantFrom(...NAMES, "d"), tie("value"), { maxKeys: 4 }),
    fc.array(tie("value"), { maxLength: 3 }),
  ),
}));

/** Values that often match a schema. */
const valueFor = (schema: JsonSchema | boolean, root: JsonSchema, depth = 0): fc.Arbitrary<unknown> => {
  if (typeof schema === "boolean" || depth > 5) return values;
  const inner = (of: unknown) => valueFor(of as JsonSchema, root, depth + 1);
  if (schema["$ref"] !== undefined) return inner((root["$defs"] as { shared: JsonSchema }).shared);
  const forms = schema["oneOf"] ?? (schema["type"] === undefined ? schema["anyOf"] : undefined);
  if (Array.isArray(forms)) return fc.oneof(...forms.map(inner));
  if (Array.isArray(schema["allOf"]))
    return fc.tuple(...schema["allOf"].map(inner)).map((parts) => Object.assign({}, ...parts) as object);
  switch ([schema["type"]].flat()[0]) {
    case "string":
      return fc.constantFrom("x", "y", "1", "true", "[1]", '{"a":{}}');
    case "number":
    case "integer":
      return fc.constantFrom(1, 2);
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array":
      return fc.array(inner(schema["items"]), { maxLength: 2 });
    case "object": {
      const properties = Object.entries((schema["properties"] ?? {}) as Record<string, JsonSchema>);
      const model = Object.fromEntries(properties.map(([name, of]) => [name, inner(of)]));
      const additional = schema["additionalProperties"];
      const more =
        typeof additional === "object"
          ? fc.dictionary(fc.constantFrom("x", "y"), inner(additional), { maxKeys: 2 })
          : fc.constant({});
      const requiredKeys = (schema["required"] ?? []) as string[];
      return fc
        .tuple(fc.record(model, { requiredKeys }), more)
        .map(([own, others]) => Object.assign({}, own, others));
    }
    default:
      return values;
  }
};

const cases = fc
  .tuple(schemas, schemas)
  .map(([schema, shared]): JsonSchema => Object.assign({}, schema, { $defs: { shared } }))
  // A reference that leads back to its own place has no meaning.
  .filter((schema) => schemaIssues(schema).length === 0)
  .chain((schema) => {
    // Compiling a schema takes longer than validating many values.
    const given = fc.array(fc.oneof(valueFor(schema, schema), values), { minLength: 12, maxLength: 12 });
    return fc.tuple(fc.constant(schema), given);
  });

describe("a completed value, for any schema and value,", () => {
  it("has the shape that the schema claims, is valid and complete, and is read as it is", () => {
    let valid = 0;
    fc.assert(
      fc.property(cases, ([schema, given]) => {
        for (const value of given) {
          const parsed = parseValue(schema, value);
          if ("issues" in parsed) continue;
          valid += 1;
          expect(readWritten(schema, value)).toEqual({ value, issues: [] });
          for (const shapeOf of [shapeOfSchema, shapeOfReturnedValue])
            expect(describeMismatch(shapeOf(schema), parsed.value)).toBeUndefined();
          expect(parseValue(schema, parsed.value)).toEqual(parsed);
        }
      }),
      { numRuns: 200 },
    );
    expect(valid).toBeGreaterThan(500);
  });

  it.each([
    ["defaults", { type: "string", default: "x".repeat(1_000) }],
    ["nulls", { type: ["string", "null"] }],
  ])("is refused when %s would make it much larger than what was sent", (_, field) => {
    const names = Array.from({ length: 20 }, (_unused, index) => `field_${index}`);
    const items = { type: "object", properties: Object.fromEntries(names.map((name) => [name, field])) };
    const list = Array.from({ length: 50_000 }, () => ({}));
    expect(parseValue({ type: "array", items }, list)).toMatchObject({ issues: [{ code: "too_large" }] });
    expect(parseValue({ type: "array", items }, list.slice(0, 10))).toHaveProperty("value");
  });

  it("stays in its form: no null is added that another form of a oneOf accepts too", () => {
    const one = object({ a: { enum: ["x", null] } }, { required: ["a"] });
    const other = { properties: { a: { type: ["string", "null"] } } };
    expect(parseValue({ oneOf: [one, other] }, {})).toEqual({ value: {} });
  });

  it("claims null exactly where an optional field has no default", () => {
    const schema = object({ a: text, b: { ...text, default: "x" }, c: text }, { required: ["c"] });
    expect(shapeOfSchema(schema)).toEqual({
      kind: "object",
      fields: { a: { kind: "string", nullable: true }, b: { kind: "string" }, c: { kind: "string" } },
    });
  });
});

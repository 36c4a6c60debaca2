import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  inputsValidator,
  type JsonSchema,
  readWritten,
  schemaIssues,
} from "../../../src/core/json-schema/index.ts";
import { inputChanges, listInputs } from "../../../src/core/listed-inputs/index.ts";
import { AWKWARD_INPUTS } from "../../support/awkward-inputs.ts";
import { refusedByVendors } from "../../support/vendor-rules.ts";

const text = { type: "string" };
const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });
const listedOf = (inputs: object) => listInputs(inputs as JsonSchema).schema!;

describe("the listed inputs of a workflow", () => {
  it.each(AWKWARD_INPUTS)("are refused by no vendor: $name", ({ inputs, args, given }) => {
    expect(refusedByVendors(inputs)).not.toEqual([]);
    const { schema, names, renamed } = listInputs(inputs);
    expect(refusedByVendors(schema)).toEqual([]);
    // The names lead back, and the whole schema is enforced by either.
    const otherNames = new Map([...names].map(([name, listed]) => [listed, name]));
    expect(readWritten(inputs, args, { otherNames })).toEqual({ value: given, issues: [] });
    expect(inputsValidator(inputs).parse(given)).toHaveProperty("value");
    expect(inputsValidator(renamed).parse(args)).toHaveProperty("value");
  });

  it.each([
    [
      "fields",
      object({ since: { ...text, format: "date", default: "2026-01-01" } }, { required: ["since"] }),
    ],
    ["limits", object({ n: { type: "integer", minimum: 1, maximum: 9, description: "How many." } })],
    ["lists and nested objects", object({ l: { type: "array", items: object({ a: { type: "boolean" } }) } })],
    [
      "closed objects and maps",
      object({ m: { type: "object", additionalProperties: text } }, { additionalProperties: false }),
    ],
    ["choices of texts", object({ c: { ...text, enum: ["a", "b"], title: "C", examples: ["a"] } })],
    ["forms of a field", object({ f: { anyOf: [text, { type: "integer" }] } })],
  ])("are as they are written where no vendor refuses them: %s", (_what, inputs) => {
    expect(listedOf(inputs)).toEqual(inputs);
    expect(inputChanges(inputs)).toEqual([]);
  });

  it("have choices in the description, with the listed names", () => {
    const [, , choices, forms] = AWKWARD_INPUTS;
    expect(listedOf(choices!.inputs)).toEqual({
      type: "object",
      description: 'Must also match: {"anyOf":[{"required":["email"]},{"required":["phone"]}]}',
      properties: { email: text, phone: text },
    });
    expect(listedOf(forms!.inputs)).toMatchObject({
      description: expect.stringContaining('"required":["groesse"]'),
      properties: { url: text, groesse: text },
    });
  });

  it("end where a schema contains itself", () => {
    const node = object({ next: { $ref: "#/$defs/node" } });
    const listed = listedOf({ ...object({ list: { $ref: "#/$defs/node" } }), $defs: { node } });
    expect(listed).toEqual(object({ list: object({ next: { type: "object" } }) }));
  });

  it("have no fields when they would be too large, and end when references double in many levels", () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 30 }, (_, level) => {
        const $ref = `#/$defs/d${level + 1}`;
        return [`d${level}`, object({ a: { $ref }, b: { $ref } })];
      }),
    );
    const doubling = { ...object({ größe: { $ref: "#/$defs/d0" } }), $defs: { ...$defs, d30: text } };
    expect(listInputs(doubling)).toMatchObject({ schema: undefined, names: new Map() });
    expect(inputChanges(doubling)).toMatchObject([{ path: [], code: "listed_without_fields" }]);
  });

  it("have no fields when forms inside forms would be listed too often", () => {
    const forms = (inner: object, depth: number): object =>
      depth === 0
        ? inner
        : forms(
            { anyOf: [object({}, { title: "a" }), object({}, { title: "b" })], properties: { x: inner } },
            depth - 1,
          );
    const types = (inner: object, depth: number): object =>
      depth === 0
        ? inner
        : types({ type: ["object", "array"], properties: { x: inner }, items: inner }, depth - 1);
    // Listed whole, the first would have 2^24 forms and the second 4^7.
    expect(listInputs(object({ x: forms(text, 24) }))).toMatchObject({ schema: undefined });
    expect(listInputs(object({ x: types(text, 7) }))).toMatchObject({ schema: undefined });
  });

  it("are compatible, and enforce the same, for any schema", () => {
    fc.assert(
      fc.property(inputsOf(schemas), fc.array(values, { minLength: 5, maxLength: 5 }), (inputs, given) => {
        fc.pre(schemaIssues(inputs).length === 0);
        const { schema, names, renamed } = listInputs(inputs);
        expect(refusedByVendors(schema ?? { type: "object" })).toEqual([]);
        const written = NAMES.filter((each) => JSON.stringify(inputs).includes(JSON.stringify(each)));
        const all = [...names.values(), ...written];
        expect(new Set(all).size).toBe(all.length);
        expect(schemaIssues(renamed)).toEqual([]);
        for (const value of given) {
          const listed = readWritten(renamed, value, { otherNames: names }).value;
          const isValid = "value" in inputsValidator(inputs).parse(value, true);
          expect("value" in inputsValidator(renamed).parse(listed)).toBe(isValid);
        }
      }),
      { numRuns: 60 },
    );
  });
});

const NAMES = ["größe", "groesse", "Kunde Nr", "plain"];
const name = fc.constantFrom(...NAMES);
const { schema: schemas } = fc.letrec<{ schema: JsonSchema }>((tie) => {
  const list = fc.array(tie("schema"), { minLength: 1, maxLength: 2 });
  const fields = fc.dictionary(name, tie("schema"), { maxKeys: 3 });
  return {
    schema: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom<JsonSchema>(
        text,
        { type: "integer" },
        { type: ["string", "null"] },
        { enum: ["a", 1] },
        {},
      ),
      fc.record({ type: fc.constant("array"), items: tie("schema") }, { requiredKeys: ["type"] }),
      fc.record(
        {
          type: fc.constant("object"),
          properties: fields,
          required: fc.uniqueArray(name, { maxLength: 2 }),
          additionalProperties: fc.oneof(fc.boolean(), tie("schema")),
          anyOf: list,
          oneOf: list,
          allOf: list,
          not: tie("schema"),
          dependentRequired: fc.dictionary(name, fc.uniqueArray(name, { maxLength: 2 }), { maxKeys: 1 }),
        },
        { requiredKeys: ["type", "properties"] },
      ),
    ),
  };
});
const { value: values } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<unknown>("a", 1, null),
    fc.array(tie("value"), { maxLength: 2 }),
    fc.dictionary(name, tie("value"), { maxKeys: 3 }),
  ),
}));
const inputsOf = (inner: fc.Arbitrary<JsonSchema>): fc.Arbitrary<JsonSchema> =>
  inner.filter((schema) => schema["type"] === "object");

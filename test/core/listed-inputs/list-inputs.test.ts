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

const { raw } = String;
const text = { type: "string" };
const twice = (to: number) => ({ allOf: [{ $ref: `#/$defs/d${to}` }, { $ref: `#/$defs/d${to}` }] });
const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });
const listedOf = (inputs: object) => listInputs(inputs as JsonSchema).schema!;
const fieldsOf = (inputs: object) => listedOf(inputs)["properties"] as object;

describe("the listed inputs of a workflow", () => {
  it.each(AWKWARD_INPUTS)("are refused by no vendor: $name", ({ inputs, args, given }) => {
    expect(refusedByVendors(inputs)).not.toEqual([]);
    const { schema, names, renamed } = listInputs(inputs);
    expect(refusedByVendors(schema)).toEqual([]);
    // The names lead back, and the whole schema is enforced by either.
    const otherNames = new Map([...names].map(([name, listed]) => [listed, name]));
    expect(readWritten(inputs, args, { otherNames })).toEqual({ value: given, issues: [] });
    expect(inputsValidator(inputs).parse(given)).toHaveProperty("value");
    expect(inputsValidator(renamed!).parse(args)).toHaveProperty("value");
  });

  it.each([
    [
      "fields",
      object(
        { since: { ...text, format: "date-time", default: "2026-01-01T00:00:00Z" } },
        { required: ["since"] },
      ),
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

  it("are computed once for the same schema, whose fields keep their order", () => {
    expect(listInputs(object({ a: text, b: text }))).toBe(listInputs(object({ a: text, b: text })));
    expect(Object.keys(fieldsOf(object({ b: text, a: text })))).toEqual(["b", "a"]);
  });

  it("have every form of a field that several forms have", () => {
    const card = object({ kind: { const: "card" }, url: text, number: text });
    const iban = object({ kind: { const: "iban" }, url: text, number: { type: "integer" } });
    const both = {
      kind: { ...text, enum: ["card", "iban"] },
      url: text,
      number: { anyOf: [text, { type: "integer" }] },
    };
    expect(fieldsOf({ type: "object", anyOf: [card, iban] })).toEqual(both);
    expect(fieldsOf({ type: "object", ...conditional(card, card, iban) })).toEqual(both);
    // A field of the whole object has to match there too, so its own form is listed.
    const own = { type: "object", properties: { number: text }, oneOf: [card, iban] };
    expect(fieldsOf(own)).toMatchObject({ number: text });
    const pair = { type: "array", prefixItems: [text, { type: "integer" }], items: { type: "boolean" } };
    const items = { anyOf: [text, { type: "integer" }, { type: "boolean" }] };
    expect(fieldsOf(object({ pair }))).toMatchObject({ pair: { items } });
  });

  it("say that a field that has to be there may be null, and have no null as a default", () => {
    const nullable = { type: ["string", "null"], default: null, examples: [null, "a"] };
    const listed = { ...text, examples: ["a"] };
    const described = { ...listed, description: "May be null." };
    expect(fieldsOf(object({ a: nullable, b: nullable }, { required: ["a"] }))).toEqual({
      a: described,
      b: listed,
    });
    const forms = { description: "Who.", oneOf: [text, { type: "integer" }, { type: "null" }] };
    const level = { enum: ["low", null] };
    expect(
      fieldsOf(
        object({ forms, level, list: { type: "array", items: level } }, { required: ["forms", "level"] }),
      ),
    ).toEqual({
      forms: { anyOf: [{ ...text, description: "Who.\nMay be null." }, { type: "integer" }] },
      level: { ...text, enum: ["low"], description: "May be null." },
      list: { type: "array", items: { ...text, enum: ["low"], description: "May be null." } },
    });
  });

  it.each([{ type: "null" }, { type: ["null"] }, { type: ["string", "null"], const: null }])(
    "say which type a value has that no vendor takes: %o",
    (field) => {
      const listed = listedOf(object({ field }));
      expect(refusedByVendors(listed)).toEqual([]);
      expect(JSON.stringify(listed)).toContain(
        JSON.stringify(JSON.stringify({ type: field.type })).slice(1, -1),
      );
    },
  );

  it("have every condition and choice of allOf, and the fields of all of them", () => {
    const choice = (...names: string[]) => ({
      anyOf: names.map((name) => object({ [name]: text }, { required: [name] })),
    });
    const parts = [
      choice("a", "b"),
      choice("c", "d"),
      choice("e", "f"),
      { maximum: 10 },
      { not: { required: ["x"] } },
    ];
    const choices = listedOf({ type: "object", maximum: 100, allOf: parts });
    expect(Object.keys(choices["properties"] as object).toSorted()).toEqual(["a", "b", "c", "d", "e", "f"]);
    expect(choices["description"]).toContain('{"maximum":10}');
    expect(choices["description"]).toMatch(/"required":\["a"\].*"required":\["e"\]/s);
    const conditions = ["g", "h"].map((given) =>
      conditional({ required: [given] }, object({ [`${given}_then`]: text }), true),
    );
    const whole = listedOf({ type: "object", allOf: conditions });
    expect(Object.keys(whole["properties"] as object).toSorted()).toEqual(["g_then", "h_then"]);
    expect(whole["description"]).toMatch(/"required":\["g"\].*"required":\["h"\]/s);
    const field = { ...text, allOf: [{ pattern: "a" }, { pattern: "b" }, { pattern: "a" }] };
    expect(fieldsOf(object({ field }))).toEqual({
      field: { ...text, pattern: "a", description: 'Must also match: {"allOf":[{"pattern":"b"}]}' },
    });
  });

  it("cut their words between the parts of what they do not list, and name the tool that has all of it", () => {
    const forms = Array.from({ length: 20 }, (_, index) =>
      object({ [`a_long_name_of_a_field_${index}`]: text }),
    );
    const { description } = listedOf({ type: "object", anyOf: forms, not: { required: ["x"] } });
    expect(description).toBe(
      'Must also match: {"not":{"required":["x"]}}; and anyOf, which get_workflow has in full',
    );
    const pattern = listedOf({ type: "object", propertyNames: { pattern: "a".repeat(1_000) } });
    expect(pattern["description"]).toBe("Must also match: propertyNames, which get_workflow has in full");
  });

  it("say in the first of several forms what is said of all of them, also of one that is left", () => {
    const about = { title: "Size", description: "How large.", default: 3, examples: ["L", 4] };
    const count = { type: "integer", minimum: 1 };
    const said = 'How large.\nDefault: 3.\nExamples: "L",4.';
    expect(fieldsOf(object({ size: { ...about, anyOf: [text, count] } }))).toEqual({
      size: { anyOf: [{ ...text, description: said }, count] },
    });
    const only = { description: "Who.", anyOf: [{ ...text, format: "email" }, { type: "null" }] };
    expect(fieldsOf(object({ only }))).toEqual({
      only: { ...text, description: 'Who.\nMust also match: {"format":"email"}' },
    });
  });

  it("say of a value of any type that it may be a list, unless its author describes it (ANY_VALUE)", () => {
    const fields = fieldsOf(
      object({ any: {}, said: { description: "What." } }, { required: ["any", "more"] }),
    );
    const any = { type: "string", description: "Any JSON value, also a list." };
    expect(fields).toMatchObject({
      any: { anyOf: [any, {}, {}, {}] },
      more: { anyOf: [any, {}, {}, {}] },
      said: { anyOf: [{ type: "string", description: "What." }, {}, {}, {}] },
    });
  });

  it("list the rules of a type for its form alone, and describe those of a value of any type", () => {
    const rules = { format: "date-time", minimum: 2, maxItems: 1, required: ["a"] };
    const fields = fieldsOf(object({ some: { type: ["string", "integer"], ...rules }, any: rules })) as {
      any: { anyOf: unknown };
    };
    expect(fields).toMatchObject({
      some: {
        anyOf: [
          { ...text, format: "date-time" },
          { type: "integer", minimum: 2 },
        ],
      },
    });
    expect(fields.any.anyOf).toEqual([
      { ...text, description: `Must also match: ${JSON.stringify(rules)}` },
      { type: "number" },
      { type: "boolean" },
      // Apart, for the sake of clients that keep the object of a list of forms, and nothing else.
      { anyOf: [{ type: "object" }] },
    ]);
  });

  it("warn of formats and patterns that they describe in words", () => {
    const found = inputChanges(
      object({
        page: { ...text, format: "uri" },
        id: { ...text, format: "uuid" },
        name: { ...text, pattern: raw`^\pL` },
        year: { ...text, pattern: raw`\A\d{4}\z` },
        n: { type: "integer", format: "uuid" },
      }),
    );
    expect(found.map(({ path, code }) => [path?.join("."), code])).toEqual([
      ["properties.page.format", "listed_in_words"],
      ["properties.id.format", "listed_in_words"],
      ["properties.name.pattern", "listed_in_words"],
    ]);
    const [page, id, name] = found;
    expect(page!.message).toMatch(/Gemini and OpenAI refuse a list of tools with the format uri here/);
    expect(id!.message).toMatch(/: Gemini refuses a list of tools with the format uuid here/);
    expect(name!.message).toMatch(/: OpenAI and clients .* refuse a list of tools with this pattern here/);
  });

  it("have long numbers as text alone where only these are allowed", () => {
    const id = { type: "integer", enum: ["9223372036854775808", "9223372036854775809"] };
    const some = { type: "integer", enum: [1, "9223372036854775808"] };
    expect(fieldsOf(object({ id, some }))).toEqual({
      id: { ...text, enum: ["9223372036854775808", "9223372036854775809"] },
      some: {
        anyOf: [
          { type: "integer", description: 'Must also match: {"enum":[1]}' },
          { ...text, enum: ["9223372036854775808"] },
        ],
      },
    });
  });

  it("describe the fields of a reference once where they would be too large otherwise", () => {
    const names = Array.from({ length: 12 }, (_, index) => `line_${index}`);
    const description = "A part of the address, as the post office writes it.";
    const address = object(Object.fromEntries(names.map((line) => [line, { ...text, description }])));
    const $ref = "#/$defs/address";
    const places = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`place_${index}`, { $ref }]));
    const plain = object(Object.fromEntries(names.map((line) => [line, text])));
    expect(fieldsOf({ ...object(places), $defs: { address } })).toMatchObject({
      place_0: address,
      place_8: plain,
    });
  });

  it("write the values of a schema with listed names, also behind references to fields", () => {
    const inputs = object({
      größe: object({ höhe: { type: "integer" } }, { required: ["höhe"] }),
      b: { $ref: "#/properties/gr%C3%B6%C3%9Fe", default: { höhe: 3 } },
    });
    expect(schemaIssues(inputs)).toEqual([]);
    const { renamed } = listInputs(inputs);
    expect(renamed).toMatchObject({ properties: { b: { default: { hoehe: 3 } } } });
    expect(schemaIssues(renamed!)).toEqual([]);
  });

  it.each([{ propertyNames: { enum: ["größe"] } }, { patternProperties: { "^größe$": { minimum: 1 } } }])(
    "have no schema with listed names where it speaks of names otherwise: %o",
    (more) => {
      const { names, renamed } = listInputs(object({ größe: { type: "integer" } }, more));
      expect(names.get("größe")).toBe("groesse");
      expect(renamed).toBeUndefined();
    },
  );

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
    // Listed whole, the first would have 2^24 forms and the second 4^7.
    expect(listInputs(object({ x: nestedForms(text, 24) }))).toMatchObject({ schema: undefined });
    expect(listInputs(object({ x: nestedTypes(text, 7) }))).toMatchObject({ schema: undefined });
  });

  it("have no fields when their values would take long to write with other names", () => {
    const defs = Object.fromEntries(
      Array.from({ length: 18 }, (_, index) => [`d${index}`, twice(index + 1)]),
    );
    const examples = Array.from({ length: 3_000 }, () => ({ a: 0 }));
    const inputs = {
      ...object({ größe: { type: "integer" }, x: { $ref: "#/$defs/d0", examples } }),
      $defs: { ...defs, d18: object({ a: { type: "integer" } }) },
    };
    // Each example would visit 200,000 schemas.
    expect(listInputs(inputs)).toMatchObject({ schema: undefined });
  });

  it("accept the fields of each form that the workflow accepts", () => {
    fc.assert(
      fc.property(choices, choices, fc.constantFrom("allOf", "then"), ([one, index], [other, second], by) => {
        const inputs = { type: "object", allOf: [one, other].map((forms) => ({ anyOf: forms.map(formOf) })) };
        const conditionals = {
          type: "object",
          ...conditional({ not: {} }, formOf(one[0]!), { anyOf: other.map(formOf) }),
        };
        const given =
          by === "allOf" ? { ...one[index]!.given, ...other[second]!.given } : other[second]!.given;
        const whole = by === "allOf" ? inputs : conditionals;
        fc.pre("value" in inputsValidator(whole).parse(given));
        const { schema, names } = listInputs(whole);
        const listed = Object.fromEntries(
          Object.entries(given).map(([field, value]) => [names.get(field) ?? field, value]),
        );
        expect(inputsValidator(schema!).parse(listed)).toHaveProperty("value");
      }),
      { numRuns: 40 },
    );
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
        expect(schemaIssues(renamed!)).toEqual([]);
        for (const value of given) {
          const listed = readWritten(renamed!, value, { otherNames: names }).value;
          // A call comes with the listed names.
          const otherNames = new Map([...names].map(([each, other]) => [other, each]));
          expect(readWritten(inputs, listed, { otherNames }).value).toEqual(readWritten(inputs, value).value);
          const isValid = "value" in inputsValidator(inputs).parse(value, true);
          expect("value" in inputsValidator(renamed!).parse(listed)).toBe(isValid);
        }
      }),
      { numRuns: 60 },
    );
  });
});

const nestedForms = (inner: object, depth: number): object =>
  depth === 0
    ? inner
    : nestedForms(
        { anyOf: [object({}, { title: "a" }), object({}, { title: "b" })], properties: { x: inner } },
        depth - 1,
      );
const nestedTypes = (inner: object, depth: number): object =>
  depth === 0
    ? inner
    : nestedTypes({ type: ["object", "array"], properties: { x: inner }, items: inner }, depth - 1);

/** Written as text: an object with a function `then` would be a promise. */
const conditional = (condition: unknown, whenTrue: unknown, whenFalse: unknown) =>
  JSON.parse(
    `{"if":${JSON.stringify(condition)},"then":${JSON.stringify(whenTrue)},"else":${JSON.stringify(whenFalse)}}`,
  ) as object;

const NAMES = ["größe", "groesse", "Kunde Nr", "plain"];
const name = fc.constantFrom(...NAMES);
interface Form {
  properties: Record<string, JsonSchema>;
  /** Values of all its fields. */
  given: Record<string, unknown>;
}
const FIELDS: readonly [JsonSchema, unknown][] = [
  [text, "a"],
  [{ type: "integer" }, 1],
  [{ type: "boolean" }, true],
  [{ const: "card" }, "card"],
  [{ enum: ["iban", 2] }, 2],
  [{ ...text, format: "date", pattern: raw`\A.{10}\z` }, "2026-11-29"],
  [{ type: ["string", "null"], maxLength: 3 }, "abc"],
  [{ type: "array", prefixItems: [text], items: { type: "integer" } }, ["a", 1]],
];
const choices = fc
  .array(fc.dictionary(name, fc.constantFrom(...FIELDS), { minKeys: 1, maxKeys: 3 }), {
    minLength: 1,
    maxLength: 3,
  })
  .map((forms) =>
    forms.map((fields): Form => ({
      properties: Object.fromEntries(Object.entries(fields).map(([field, [schema]]) => [field, schema])),
      given: Object.fromEntries(Object.entries(fields).map(([field, [, value]]) => [field, value])),
    })),
  )
  .chain((forms) => fc.tuple(fc.constant(forms), fc.nat(forms.length - 1)));
const formOf = ({ properties, given }: Form) => object(properties, { required: Object.keys(given) });
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
        { type: "string", format: "date" },
        { type: ["string", "integer"], pattern: "(?i)^A", default: "a" },
        { pattern: raw`\A.\z`, maxLength: 3 },
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

import { describe, expect, it } from "vitest";
import { type Field, buildForm, initialValue, type JsonSchema } from "../../../src/web/forms/schema.ts";

const fieldsOf = (properties: JsonSchema, more: JsonSchema = {}): readonly Field[] => {
  const form = buildForm({ type: "object", properties, ...more });
  if (form.kind !== "object") throw new Error(form.kind);
  return form.fields;
};
const fieldOf = (schema: unknown, more: JsonSchema = {}): Field => fieldsOf({ value: schema }, more).at(0)!;

describe("a form that is generated from a schema", () => {
  it("labels a field with its title or name, and shows its description as help", () => {
    const fields = fieldsOf({
      firstName: { type: "string" },
      last_order: { type: "string", description: "As a day." },
      x: { type: "string", title: "Which budget?" },
    });
    expect(fields).toMatchObject([
      { label: "First Name", help: "" },
      { label: "Last order", help: "As a day." },
      { label: "Which budget?" },
    ]);
  });

  it("marks required fields, except nullable ones and those with a default", () => {
    const properties = {
      plain: { type: "string" },
      given: { type: "string", default: "x" },
      nullable: { type: ["string", "null"] },
      free: { type: "string" },
    };
    const fields = fieldsOf(properties, { required: ["plain", "given", "nullable"] });
    expect(fields.map(({ name, required, empty }) => [name, required, empty])).toEqual([
      ["plain", true, undefined],
      ["given", false, undefined],
      ["nullable", false, null],
      ["free", false, undefined],
    ]);
  });

  it.each([
    [{ type: "string" }, { kind: "text", format: "text", multiline: false }],
    [
      { type: "string", format: "date" },
      { kind: "text", format: "date" },
    ],
    [
      { type: "string", format: "date-time" },
      { kind: "text", format: "date-time" },
    ],
    [
      { type: "string", format: "email" },
      { kind: "text", format: "email" },
    ],
    [
      { type: "string", format: "uri" },
      { kind: "text", format: "url" },
    ],
    [
      { type: "string", format: "ipv4" },
      { kind: "text", format: "text" },
    ],
    [
      { type: "string", maxLength: 1_000 },
      { kind: "text", multiline: true },
    ],
    [
      { type: "number", minimum: 0.5 },
      { kind: "number", integer: false, min: 0.5 },
    ],
    [
      { type: "integer", maximum: 9 },
      { kind: "number", integer: true, max: 9 },
    ],
    [
      { type: "integer", minimum: "-9223372036854775808", maximum: "9223372036854775807" },
      { kind: "number", integer: true, min: "-9223372036854775808", max: "9223372036854775807" },
    ],
    [{ type: "boolean" }, { kind: "boolean", optional: true }],
    [
      { type: "boolean", default: true },
      { kind: "boolean", optional: false },
    ],
    [
      { enum: ["a", 2] },
      {
        kind: "choice",
        options: [
          { label: "a", value: "a" },
          { label: "2", value: 2 },
        ],
      },
    ],
    [{ const: "a" }, { kind: "choice", options: [{ label: "a", value: "a" }] }],
    [
      { oneOf: [{ const: 1, title: "One" }, { const: 2 }] },
      {
        kind: "choice",
        options: [
          { label: "One", value: 1 },
          { label: "2", value: 2 },
        ],
      },
    ],
    [
      { type: "array", items: { type: "string" }, maxItems: 3 },
      { kind: "list", maxItems: 3, item: { kind: "text" } },
    ],
    [{ type: "array", items: { enum: ["a"] } }, { kind: "choices" }],
    [{ properties: { a: { type: "string" } } }, { kind: "object", fields: [{ name: "a", kind: "text" }] }],
    // Schemas that no other field supports.
    [{}, { kind: "json" }],
    [true, { kind: "json" }],
    [{ type: ["string", "number"] }, { kind: "json" }],
    [{ type: "object" }, { kind: "json" }],
    [{ type: "array" }, { kind: "json" }],
    [{ type: "array", items: { type: "array", items: { type: "string" } } }, { kind: "json" }],
    [{ oneOf: [{ type: "string" }, { type: "number" }] }, { kind: "json" }],
  ])("shows %j", (schema, expected) => {
    expect(fieldOf(schema)).toMatchObject(expected);
  });

  it("follows references inside the document, and stops at recursive schemas", () => {
    const $defs = {
      day: { type: "string", format: "date" },
      node: { properties: { next: { $ref: "#/$defs/node" } } },
    };
    expect(fieldOf({ $ref: "#/$defs/day", description: "When" }, { $defs })).toMatchObject({
      kind: "text",
      format: "date",
      help: "When",
    });
    expect(JSON.stringify(fieldOf({ $ref: "#/$defs/node" }, { $defs }))).toContain('"kind":"json"');
    expect(fieldOf({ $ref: "#/$defs/none" }, { $defs })).toMatchObject({ kind: "json" });
    const circular = { a: { $ref: "#/$defs/a" } };
    expect(fieldOf({ $ref: "#/$defs/a" }, { $defs: circular })).toMatchObject({ kind: "json" });
  });
});

describe("the initial value of a form", () => {
  it("contains the defaults, also of required objects, and false for required booleans", () => {
    const schema = {
      type: "object",
      properties: {
        since: { type: "string", default: "2026-01-01" },
        sure: { type: "boolean" },
        maybe: { type: "boolean" },
        to: { type: "object", properties: { days: { type: "integer", default: 7 } } },
        other: { type: "object", properties: { days: { type: "integer", default: 7 } } },
      },
      required: ["sure", "to"],
    };
    expect(initialValue(schema)).toEqual({ since: "2026-01-01", sure: false, to: { days: 7 } });
  });

  it("is empty if the schema has no defaults", () => {
    expect(initialValue({})).toEqual({});
    expect(initialValue({ type: "object", default: { a: 1 } })).toEqual({ a: 1 });
  });
});

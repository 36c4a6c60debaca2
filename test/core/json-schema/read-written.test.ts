import { describe, expect, it } from "vitest";
import { readWritten } from "../../../src/core/json-schema/index.ts";

const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });
const text = { type: "string" };
const order = object({
  id: { type: "integer" },
  lines: { type: "array", items: object({ n: { type: "number" } }) },
});

/** Forms inside forms: a field is described by 2^40 of them. */
const forms = {
  $ref: "#/$defs/f0",
  $defs: {
    ...Object.fromEntries(
      Array.from({ length: 40 }, (_, level) => {
        const next = { $ref: `#/$defs/f${level + 1}` };
        return [`f${level}`, { anyOf: [next, next] }];
      }),
    ),
    f40: object({ a: { type: "integer" } }),
  },
};

describe("readWritten", () => {
  it.each<[string, object, unknown, unknown]>([
    ["JSON text for an object", object({ order }), { order: '{"id": 1}' }, { order: { id: 1 } }],
    [
      "JSON text inside JSON text",
      object({ order }),
      { order: '{"id": "1", "lines": "[{\\"n\\": \\"2.5\\"}]"}' },
      { order: { id: 1, lines: [{ n: 2.5 }] } },
    ],
    [
      "JSON text for each item",
      object({ orders: { type: "array", items: order } }),
      { orders: ['{"id":1}'] },
      { orders: [{ id: 1 }] },
    ],
    ["text for a number", object({ n: { type: "number" } }), { n: "-1.5" }, { n: -1.5 }],
    ["text for an allowed number", object({ n: { enum: [1, 2] } }), { n: "2" }, { n: 2 }],
    [
      "text for a boolean or null",
      object({ b: { type: ["boolean", "null"] } }),
      { b: "false" },
      { b: false },
    ],
    ["one value for a list", object({ l: { type: "array", items: text } }), { l: "a" }, { l: ["a"] }],
    [
      "one number for a list",
      object({ l: { type: "array", items: { type: "integer" } } }),
      { l: 5 },
      { l: [5] },
    ],
    ["one boolean for a list", object({ l: { type: "array" } }), { l: false }, { l: [false] }],
    [
      "one number as text for a list",
      object({ l: { type: ["array", "object"], items: { type: "number" } } }),
      { l: "-2.5" },
      { l: [-2.5] },
    ],
    [
      "one object for a list",
      object({ l: { type: "array", items: order } }),
      { l: { id: "1" } },
      { l: [{ id: 1 }] },
    ],
    [
      "a reference",
      { ...object({ order: { $ref: "#/$defs/order" } }), $defs: { order } },
      { order: '{"id":1}' },
      { order: { id: 1 } },
    ],
    ["allOf", { allOf: [object({ order: {} }), object({ order })] }, { order: "{}" }, { order: {} }],
    [
      "forms of which none takes text",
      object({ x: { oneOf: [order, { type: "array" }] } }),
      { x: "[1]" },
      { x: [1] },
    ],
    [
      "the form that a constant selects",
      {
        anyOf: [
          object({ kind: { const: "order" }, data: order }, { required: ["kind"] }),
          object({ kind: { const: "note" }, data: text }, { required: ["kind"] }),
        ],
      },
      { kind: "order", data: '{"id":1}' },
      { kind: "order", data: { id: 1 } },
    ],
    [
      "the form that a number as text selects",
      {
        oneOf: [
          object({ v: { const: 1 }, n: { type: "integer" } }, { required: ["v"] }),
          object({ v: { const: 2 }, n: text }, { required: ["v"] }),
        ],
      },
      { v: "1", n: "5" },
      { v: 1, n: 5 },
    ],
    [
      "the form that a boolean as text selects",
      {
        anyOf: [
          object({ v: { const: false }, n: text }, { required: ["v"] }),
          object({ v: { enum: [true] }, n: { type: "integer" } }, { required: ["v"] }),
        ],
      },
      { v: "true", n: "5" },
      { v: true, n: 5 },
    ],
    [
      "the form that a text of a referenced list selects",
      {
        $defs: { old: { $ref: "#/$defs/numbered" }, numbered: { enum: ["1", "2"] }, named: { const: "a" } },
        anyOf: [
          object({ v: { $ref: "#/$defs/old" }, n: { type: "integer" } }, { required: ["v"] }),
          object({ v: { $ref: "#/$defs/named" }, n: text }, { required: ["v"] }),
        ],
      },
      { v: "1", n: "5" },
      { v: "1", n: 5 },
    ],
    [
      "the values of a map",
      { type: "object", additionalProperties: order },
      { x: '{"id":1}' },
      { x: { id: 1 } },
    ],
    [
      "a tuple",
      object({ t: { prefixItems: [text, order], type: "array" } }),
      { t: ["{}", "{}"] },
      { t: ["{}", {}] },
    ],
    // Beyond 2^53 - 1, a double would round it.
    [
      "long numbers",
      object({ order: {}, o: order }),
      { o: '{"id": 12345678901234567890}' },
      { o: { id: "12345678901234567890" } },
    ],
    [
      "a long number as text",
      object({ n: { type: "number" } }),
      { n: "123456789012345.123456789" },
      { n: "123456789012345.123456789" },
    ],
  ])("reads %s", (_what, schema, written, value) => {
    expect(readWritten(schema as Record<string, unknown>, written)).toEqual({ value, issues: [] });
  });

  it.each<[string, object, unknown]>([
    [
      "JSON text where text is accepted",
      object({ order: { type: ["object", "string"] } }),
      { order: '{"id":1}' },
    ],
    ["JSON text where anything is accepted", object({ order: {} }), { order: '{"id":1}' }],
    [
      "a text that is a constant of one form, and a number that is one of another",
      {
        anyOf: [
          object({ v: { const: "1" }, n: text }, { required: ["v"] }),
          object({ v: { enum: [1, "one"] }, n: { type: "integer" } }, { required: ["v"] }),
        ],
      },
      { v: "1", n: "5" },
    ],
    [
      "a number where one form takes it",
      object({ x: { anyOf: [{ type: "integer" }, { type: "array" }] } }),
      { x: 5 },
    ],
    [
      "numbers in a list of lists, which may be one of them",
      object({ l: { type: "array", items: { type: "array", items: { type: "integer" } } } }),
      { l: [5, "6"] },
    ],
    ["a number for a list of texts", object({ l: { type: "array", items: text } }), { l: 5 }],
    [
      "a decimal where a list takes only lists",
      object({ l: { type: "array", items: { type: "array" } } }),
      { l: 1 },
    ],
    ["text where one form takes it", object({ x: { anyOf: [order, text] } }), { x: "{}" }],
    ["a field that is not declared", object({ order }), { other: '{"id":1}' }],
    ["text with leading zeros, which is no number", object({ n: { type: "integer" } }), { n: "007" }],
    ["JSON text of another type", object({ order }), { order: "[1]" }],
    ["text of several values", object({ l: { type: "array", items: text } }), { l: "a, b" }],
    ["null", object({ order: { type: ["object", "null"] } }), { order: null }],
    ["a field with the name of an inherited one", object({ constructor: order }), { toString: "{}" }],
  ])("leaves %s as it is", (_what, schema, written) => {
    expect(readWritten(schema as Record<string, unknown>, written)).toEqual({ value: written, issues: [] });
  });

  it("reports what JSON text loses, and where it is nested too deep", () => {
    const { issues } = readWritten(object({ order, list: { type: "array" } }), {
      order: '{"id": 1, "id": 2}',
      list: `${"[".repeat(300)}${"]".repeat(300)}`,
    });
    expect(issues).toMatchObject([
      { path: ["order", "id"], code: "duplicate_key" },
      { path: ["list"], code: "too_deep" },
    ]);
  });

  it("reads names that stand for others, except those that are fields themselves", () => {
    const otherNames = new Map([
      ["groesse", "größe"],
      ["a", "ä"],
    ]);
    const schema = object({ größe: order, ä: text, a: text, map: { type: "object" } });
    const written = { groesse: '{"id":"1"}', a: "x", map: { groesse: 1 } };
    expect(readWritten(schema, written, { otherNames })).toEqual({
      value: { größe: { id: 1 }, a: "x", map: { groesse: 1 } },
      issues: [],
    });
    expect(readWritten(schema, { größe: {}, groesse: {} }, { otherNames }).issues).toMatchObject([
      { path: ["groesse"], code: "not_allowed" },
    ]);
  });

  const sizes = { größe: text };
  const openSizes = object(sizes, { additionalProperties: text });
  it.each<[schema: Record<string, unknown>, written: object, read: object]>([
    [openSizes, { groesse: "a" }, { groesse: "a" }],
    [openSizes, { groesse: "a", größe: "b" }, { groesse: "a", größe: "b" }],
    [object({}, { allOf: [openSizes] }), { groesse: "a" }, { groesse: "a" }],
    [object({ sub: object(sizes) }), { sub: { groesse: "a" } }, { sub: { groesse: "a" } }],
    [object(sizes, { patternProperties: { "^g": text } }), { groesse: "a" }, { groesse: "a" }],
    // The root of inputs allows only what is declared.
    [object(sizes), { groesse: "a" }, { größe: "a" }],
    [object(sizes, { additionalProperties: false }), { groesse: "a" }, { größe: "a" }],
    [object({}, { anyOf: [object(sizes, { required: ["größe"] })] }), { groesse: "a" }, { größe: "a" }],
    [
      object({ sub: object(sizes, { additionalProperties: false }) }),
      { sub: { groesse: "a" } },
      { sub: { größe: "a" } },
    ],
  ])("keepsAllowed leaves names that %j allows: %j", (schema, written, read) => {
    const otherNames = new Map([["groesse", "größe"]]);
    expect(readWritten(schema, written, { otherNames, keepsAllowed: true })).toEqual({
      value: read,
      issues: [],
    });
  });

  it.each<[string, object, unknown, unknown]>([
    [
      "a form of oneOf",
      object({
        pos: {
          oneOf: ["S", "M"].map((size) =>
            object({ größe: { const: size }, höhe: { type: "integer" } }, { required: ["größe"] }),
          ),
        },
      }),
      { pos: { groesse: "S", hoehe: "5" } },
      { pos: { größe: "S", höhe: 5 } },
    ],
    [
      "a form of the whole value",
      {
        anyOf: [
          object({ größe: { const: "S" }, höhe: text }),
          object({ größe: { const: "M" }, höhe: { type: "integer" } }, { required: ["größe"] }),
        ],
      },
      { groesse: "M", hoehe: "5" },
      { größe: "M", höhe: 5 },
    ],
    [
      "a form beside one that takes all fields",
      object({
        item: {
          anyOf: [
            object({ größe: { enum: ["S", "M"] }, höhe: { type: "integer" } }, { required: ["größe"] }),
            object({ name: text }),
          ],
        },
      }),
      { item: { groesse: "S", hoehe: 5 } },
      { item: { größe: "S", höhe: 5 } },
    ],
  ])("reads other names of the fields that select %s", (_what, schema, written, value) => {
    const otherNames = new Map([
      ["groesse", "größe"],
      ["hoehe", "höhe"],
    ]);
    const read = readWritten(schema as Record<string, unknown>, written, { otherNames });
    expect(read).toEqual({ value, issues: [] });
  });

  it("reads all rows of a large list, or says that it does not", () => {
    const row = { $ref: "#/$defs/row" };
    const parts = ["ä", "b"].map((prefix) =>
      object(Object.fromEntries(Array.from({ length: 5 }, (_, n) => [prefix + n, { type: "integer" }]))),
    );
    const schema = { ...object({ rows: { type: "array", items: row } }), $defs: { row: { allOf: parts } } };
    const otherNames = new Map([["ae0", "ä0"]]);
    const written = { rows: Array.from({ length: 1_000 }, () => ({ ae0: "1", b0: "2" })) };
    const { value, issues } = readWritten(schema, written, { otherNames });
    expect([(value as typeof written).rows.at(-1), issues]).toEqual([{ ä0: 1, b0: 2 }, []]);
    const short = readWritten(schema, written, { otherNames, maxVisited: 1_000 });
    expect(short.issues).toMatchObject([{ path: [], code: "too_large", fix: "Send fewer items." }]);
  });

  it("compares the constants of a form once for an object, not once for each field", () => {
    let compared = 0;
    const kind = {
      get enum() {
        compared += 1;
        return ["a", "b"];
      },
    };
    const form = object({ kind }, { required: ["kind"], additionalProperties: { type: "integer" } });
    const names = Array.from({ length: 1_000 }, (_, n) => `f${n}`);
    const written = { kind: "a", ...Object.fromEntries(names.map((name) => [name, "1"])) };
    const { value } = readWritten({ anyOf: [form, { type: "array" }] }, written);
    expect(value).toEqual({ kind: "a", ...Object.fromEntries(names.map((name) => [name, 1])) });
    expect(compared).toBeLessThan(10);
  });

  it("ends with recursive schemas and with forms inside forms", () => {
    expect(readWritten(forms, { a: "1" }).issues).toMatchObject([{ path: [], code: "too_large" }]);
    const list = { $ref: "#/$defs/node", $defs: { node: object({ next: { $ref: "#/$defs/node" } }) } };
    expect(readWritten(list, { next: '{"next": "{}"}' }).value).toEqual({ next: { next: {} } });
  });
});

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  inputsValidator,
  type JsonSchema,
  parseValue,
  schemaIssues,
} from "../../../src/core/json-schema/index.ts";

const LONG = "9007199254740993";

/** The messages of a value's issues, with their paths. */
function issuesOf(schema: JsonSchema, value: unknown): string[] {
  const parsed = parseValue(schema, value);
  return "issues" in parsed
    ? parsed.issues.map(({ path = [], message }) => `${path.join(".")} ${message}`.trimStart())
    : [];
}

describe("a long number", () => {
  it.each<[string, JsonSchema, unknown]>([
    ["an integer", { type: "integer" }, LONG],
    ["a number", { type: "number" }, "0.12345678901234567890"],
    ["an integer or null", { type: ["integer", "null"] }, LONG],
    ["an integer by its value", { type: "integer" }, `${LONG}.000`],
    ["the text that it is", { type: "string", minLength: 16, pattern: "^[0-9]+$" }, LONG],
    [
      "an integer whose schema says something about text",
      { type: "integer", format: "date", maxLength: 3 },
      LONG,
    ],
    [
      "an integer or text, of which one has to match",
      { oneOf: [{ type: "integer" }, { type: "string" }] },
      LONG,
    ],
    [
      "an integer in one form of an object",
      {
        oneOf: [
          { properties: { kind: { const: "a" }, id: { type: "integer" } } },
          { properties: { kind: { const: "b" }, id: { type: "string" } } },
        ],
      },
      { kind: "a", id: LONG },
    ],
    [
      "an integer behind a reference",
      { $ref: "#/$defs/id", $defs: { id: { type: "integer", minimum: 1 } } },
      LONG,
    ],
    ["a number within its limits", { type: "number", minimum: 9007199254740992, multipleOf: 3 }, LONG],
    ["one of the allowed values", { type: "integer", enum: [1, LONG] }, LONG],
    ["the allowed value", { type: "integer", const: LONG }, LONG],
  ])("is %s", (_, schema, value) => {
    expect(parseValue(schema, value)).toEqual({ value });
  });

  it("is accepted everywhere in a value, and returned as it is, with defaults", () => {
    const schema = {
      type: "object",
      properties: {
        ids: { type: "array", items: { type: "integer" }, uniqueItems: true },
        price: { type: "number", exclusiveMinimum: 0 },
        count: { type: "integer", default: 3 },
        either: { oneOf: [{ type: "integer" }, { type: "string" }] },
      },
    };
    const inputs = { ids: [LONG, "9007199254740992", 1], price: "900719925474099.23", either: LONG };
    expect(inputsValidator(schema).parse(inputs)).toEqual({ value: { ...inputs, count: 3 } });
  });

  it.each<[string, JsonSchema, unknown, string]>([
    ["no integer with a fraction", { type: "integer" }, `${LONG}.5`, `must be an integer, got ${LONG}.5`],
    ["below a minimum", { type: "integer", minimum: 1 }, `-${LONG}`, `must be at least 1, got -${LONG}`],
    [
      "at an exclusive one",
      { type: "number", exclusiveMaximum: 2 ** 53 },
      "9007199254740992",
      "must be less than 9007199254740992, got 9007199254740992",
    ],
    [
      "one above a maximum",
      { type: "integer", maximum: 2 ** 53 },
      LONG,
      `must be at most 9007199254740992, got ${LONG}`,
    ],
    ["no multiple", { type: "integer", multipleOf: 2 }, LONG, `must be a multiple of 2, got ${LONG}`],
    [
      "above the maximum of a schema without a type",
      { maximum: 10 },
      LONG,
      `must be at most 10, got ${LONG}`,
    ],
    ["no boolean", { type: "boolean" }, LONG, "must be a boolean, got text"],
    ["not one of the allowed values", { type: "integer", enum: [1, 2] }, LONG, "must be one of 1, 2"],
  ])("is refused with its digits: %s", (_, schema, value, message) => {
    expect(issuesOf(schema, value)).toEqual([message]);
  });

  // Compiling took twice as long for each level.
  it("is accepted by oneOf in many levels, and as a default of it", () => {
    let schema: JsonSchema = { type: "integer" };
    for (let level = 0; level < 29; level += 1) schema = { oneOf: [schema, { type: "null" }] };
    expect(parseValue(schema, LONG)).toEqual({ value: LONG });
    expect(issuesOf(schema, "text")).not.toEqual([]);
    expect(schemaIssues({ ...schema, default: 1 })).toEqual([]);
    expect(schemaIssues({ ...schema, default: LONG })).toEqual([]);
  });

  it("lets no form of oneOf that does not match fill in defaults", () => {
    const other = { properties: { kind: { const: "a" }, other: { default: 5 } } };
    const own = { properties: { kind: { const: "b" }, id: { type: "integer" } } };
    for (const schema of [
      { oneOf: [other, own] },
      { oneOf: [{ $ref: "#/$defs/other" }, own], $defs: { other } },
    ]) {
      expect(parseValue(schema, { kind: "b", id: 1 })).toEqual({ value: { kind: "b", id: 1 } });
      expect(parseValue(schema, { kind: "b", id: LONG })).toEqual({ value: { kind: "b", id: LONG } });
    }
  });

  it("leaves the messages of other values as they are", () => {
    const schema = {
      type: "object",
      properties: { id: { type: "integer" }, n: { type: "integer" }, name: { type: "number" } },
      required: ["m"],
    };
    expect(issuesOf({ ...schema, required: ["n"] }, { id: LONG })).toEqual(["n is required"]);
    expect(issuesOf(schema, { id: LONG, m: 1, n: true, name: "x" })).toEqual([
      "n must be an integer, got a boolean",
      "name must be a number, got text",
    ]);
  });

  it("is compared exactly with its neighbours", () => {
    const integers = fc.bigInt({ min: 2n ** 53n, max: 2n ** 69n });
    fc.assert(
      fc.property(integers, fc.integer(), (n, limit) => {
        expect(issuesOf({ type: "integer", minimum: limit }, String(n))).toEqual([]);
        expect(issuesOf({ type: "integer", maximum: limit }, String(n))).toHaveLength(1);
        const nearest = Number(n);
        expect(issuesOf({ type: "integer", maximum: nearest }, String(n))).toHaveLength(
          // By its digits as JSON writes them.
          Number(n > BigInt(String(nearest))),
        );
      }),
      { numRuns: 100 },
    );
  });
});

describe("uniqueItems", () => {
  const spellings = ["1234567890123456.10", "1234567890123456.1"];
  it("compares texts as texts, and what may be numbers as numbers", () => {
    const texts = { type: "array", items: { type: "string" }, uniqueItems: true };
    expect(issuesOf(texts, spellings)).toEqual([]);
    expect(issuesOf(texts, [spellings[0], spellings[0]])).not.toEqual([]);
    for (const items of [{ type: "number" }, { type: ["string", "number"] }, {}])
      expect(issuesOf({ ...texts, items }, spellings)).not.toEqual([]);
    const tuple = { ...texts, prefixItems: [{ type: "number" }, { type: "number" }] };
    expect(issuesOf(tuple, spellings)).not.toEqual([]);
  });
});

describe("a limit that is a long number", () => {
  const MAX_INT64 = "9223372036854775807";
  const forms: JsonSchema[] = [{ type: "number", maximum: MAX_INT64 }, { type: "string" }];
  it.each<[string, JsonSchema]>([
    ["in a form of oneOf", { oneOf: forms }],
    ["in a field of a form", { oneOf: [{ oneOf: forms }, { type: "null" }] }],
    ["behind a reference", { oneOf: [{ $ref: "#/$defs/n" }, { type: "null" }], $defs: { n: forms[0]! } }],
    ["in a form of anyOf", { anyOf: [forms[0]!, { type: "null" }] }],
  ])("is compared exactly with a double %s", (_what, schema) => {
    expect(issuesOf(schema, 2 ** 63)).not.toEqual([]);
    expect(issuesOf(schema, 2 ** 62)).toEqual([]);
    expect(issuesOf(schema, MAX_INT64)).toEqual([]);
  });

  it("leaves a text that is no number to the other form", () => {
    expect(issuesOf({ oneOf: forms }, "a")).toEqual([]);
    expect(issuesOf({ oneOf: forms }, "9223372036854775808")).toEqual([]);
    expect(
      issuesOf({ oneOf: [{ type: "string", maximum: MAX_INT64 }, { type: "null" }] }, "9223372036854775808"),
    ).toEqual([]);
  });
});

describe("a schema", () => {
  it("can have long numbers as defaults, constants and allowed values", () => {
    const id = { type: "integer", minimum: 1, default: LONG };
    const schema = {
      type: "object",
      properties: {
        id,
        any: { oneOf: [{ type: "integer" }, { type: "string" }], default: LONG },
        one: { enum: [LONG] },
      },
    };
    expect(schemaIssues(schema)).toEqual([]);
    expect(inputsValidator(schema).parse({})).toEqual({ value: { id: LONG, any: LONG, one: null } });
  });

  it("is checked for defaults that don't match, with their digits", () => {
    const schema = { type: "object", properties: { id: { type: "integer", maximum: 9, default: LONG } } };
    expect(schemaIssues(schema)).toMatchObject([
      {
        path: ["properties", "id", "default"],
        message: `does not match the schema that it is the default of: it must be at most 9, got ${LONG}`,
      },
    ]);
  });

  const MAX_INT64 = "9223372036854775807";

  it("can't have long numbers as counts, nor one that is no limit, and says which", () => {
    expect(schemaIssues({ type: "string", maxLength: MAX_INT64 })).toMatchObject([
      {
        path: ["maxLength"],
        message: `must be an integer that a JSON number holds exactly (up to 9007199254740991), got ${MAX_INT64}`,
      },
    ]);
    expect(schemaIssues({ maximum: "12" })).toMatchObject([{ path: ["maximum"], code: "wrong_type" }]);
    expect(schemaIssues({ multipleOf: `-${LONG}` })).toMatchObject([{ path: ["multipleOf"] }]);
  });

  it.each<[string, JsonSchema, unknown, string | undefined]>([
    ["at a maximum", { type: "integer", maximum: MAX_INT64 }, MAX_INT64, undefined],
    [
      "above it by one",
      { type: "integer", maximum: MAX_INT64 },
      "9223372036854775808",
      `at most ${MAX_INT64}, got 9223372036854775808`,
    ],
    [
      "a double above it",
      { type: "number", maximum: MAX_INT64 },
      2 ** 63,
      `at most ${MAX_INT64}, got 9223372036854776000`,
    ],
    [
      "below one by one, both rounded to 2^63 by doubles",
      { type: "integer", maximum: "9223372036854775806" },
      MAX_INT64,
      `at most 9223372036854775806, got ${MAX_INT64}`,
    ],
    [
      "below the largest unsigned one",
      { type: "integer", maximum: "18446744073709551615" },
      "18446744073709551600",
      undefined,
    ],
    [
      "above one of 16 digits",
      { type: "number", maximum: "9999999999999999" },
      "10000000000000001",
      "at most 9999999999999999, got 10000000000000001",
    ],
    ["far below it", { type: "integer", maximum: MAX_INT64 }, 1, undefined],
    ["at a minimum", { type: "integer", minimum: "-9223372036854775808" }, "-9223372036854775808", undefined],
    [
      "below it",
      { type: "integer", minimum: "-9223372036854775808" },
      "-9223372036854775809",
      "at least -9223372036854775808, got -9223372036854775809",
    ],
    ["a double below one", { minimum: LONG }, 5, `at least ${LONG}, got 5`],
    [
      "at an exclusive maximum",
      { type: "integer", exclusiveMaximum: "9007199254740994" },
      "9007199254740994",
      "less than 9007199254740994, got 9007199254740994",
    ],
    ["within it", { type: "integer", exclusiveMaximum: "9007199254740994" }, LONG, undefined],
    ["at an exclusive minimum", { exclusiveMinimum: LONG }, LONG, `more than ${LONG}, got ${LONG}`],
    ["a multiple", { type: "integer", multipleOf: LONG }, "27021597764222979", undefined],
    ["a double that is none", { type: "integer", multipleOf: LONG }, 12, `a multiple of ${LONG}, got 12`],
    ["text, which has no maximum", { type: ["string", "integer"], maximum: LONG }, "text", undefined],
    [
      "in a list",
      {
        type: "array",
        items: { $ref: "#/$defs/id" },
        $defs: { id: { type: "integer", maximum: MAX_INT64 } },
      },
      [1, "9223372036854775808"],
      `at most ${MAX_INT64}, got 9223372036854775808`,
    ],
    [
      "in the only form",
      { oneOf: [{ type: "integer", maximum: MAX_INT64 }, { type: "null" }] },
      MAX_INT64,
      undefined,
    ],
    [
      "a fraction of more digits than a double has",
      { type: "number", maximum: "0.12345678901234567890" },
      "0.12345678901234567891",
      "at most 0.12345678901234567890, got 0.12345678901234567891",
    ],
  ])("has limits beyond 2^53, which are exact: %s", (_, schema, value, message) => {
    expect(schemaIssues(schema)).toEqual([]);
    expect(issuesOf(schema, value).map((text) => text.replace(/^.*must be /, ""))).toEqual(
      message === undefined ? [] : [message],
    );
  });

  it("checks defaults by the limits that are long numbers", () => {
    const limited = (value: unknown) => ({ properties: { id: { maximum: MAX_INT64, default: value } } });
    expect(schemaIssues(limited(MAX_INT64))).toEqual([]);
    for (const value of ["9223372036854775808", 2 ** 63])
      expect(schemaIssues(limited(value))).toMatchObject([
        { path: ["properties", "id", "default"], code: "too_large" },
      ]);
    const form = { type: "integer", maximum: MAX_INT64 };
    expect(schemaIssues({ oneOf: [form, { type: "string" }], default: MAX_INT64 })).toEqual([]);
  });

  it.each<[string, JsonSchema, unknown, string[]]>([
    ["an allowed value", { type: "number", enum: ["9007199254740993.0"] }, LONG, []],
    ["the allowed value", { const: { id: `${LONG}.00` } }, { id: LONG }, []],
    ["a double", { enum: ["100000000000000000000"] }, 1e20, []],
    ["another one", { type: "integer", const: LONG }, "9007199254740992", [`must be ${LONG}`]],
    [
      "items with one list of allowed values",
      { items: { type: "integer", enum: [1, LONG] } },
      [2, LONG, 3],
      [`0 must be one of 1, ${LONG}`, `2 must be one of 1, ${LONG}`],
    ],
    ["items of a list", { uniqueItems: true }, [LONG, `${LONG}.0`], ["must not contain the same item twice"]],
    ["different items", { uniqueItems: true }, [LONG, "9007199254740992", { a: LONG }], []],
    ["text, which is compared as text", { type: "string", enum: [`${LONG}.0`] }, LONG, [`must be ${LONG}.0`]],
  ])("compares numbers by value, whatever their spelling: %s", (_, schema, value, messages) => {
    expect(issuesOf(schema, value)).toEqual(messages);
  });
});

import { describe, expect, it } from "vitest";
import { publishedSchema } from "../../../src/core/json-schema/index.ts";

describe("publishedSchema", () => {
  it.each([
    [{ maximum: "9223372036854775807", minimum: 0 }, { minimum: 0 }],
    [{ exclusiveMinimum: "-9007199254740993", exclusiveMaximum: "0.12345678901234567890" }, {}],
    [{ multipleOf: "9007199254740993", maximum: 3 }, { maximum: 3 }],
    [
      { type: "integer", enum: [1, "9007199254740993"] },
      { type: ["integer", "string"], enum: [1, "9007199254740993"] },
    ],
    [
      { type: "string", const: "9007199254740993" },
      { type: "string", const: "9007199254740993" },
    ],
    [
      { items: { allOf: [{ maximum: "9223372036854775807" }] }, properties: { maximum: { type: "string" } } },
      { items: { allOf: [{}] }, properties: { maximum: { type: "string" } } },
    ],
  ])("writes %j as JSON Schema", (schema, published) => {
    expect(publishedSchema(schema)).toEqual(published);
  });

  it("returns a schema without long numbers as it is", () => {
    const schema = { type: "integer", maximum: 5 };
    expect(publishedSchema(schema)).toBe(schema);
  });
});

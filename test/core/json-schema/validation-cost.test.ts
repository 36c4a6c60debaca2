import { describe, expect, it } from "vitest";
import { isCheapValidation } from "../../../src/core/json-schema/validation-cost.ts";

const LONG = "9007199254740993";

/** `oneOf` inside `oneOf`. */
function nested(depth: number): Record<string, unknown> {
  let schema: Record<string, unknown> = { type: "integer" };
  for (let level = 0; level < depth; level += 1) schema = { oneOf: [schema, { type: "null" }] };
  return schema;
}

const wide = (fields: number) => ({
  type: "object",
  properties: Object.fromEntries(Array.from({ length: fields }, (_, n) => [`f${n}`, { type: "integer" }])),
});

describe("isCheapValidation", () => {
  it("counts that a schema is compiled once more for long numbers", () => {
    expect(isCheapValidation(wide(50), { f0: 1 })).toBe(true);
    expect(isCheapValidation(wide(30), { f0: LONG })).toBe(true);
    expect(isCheapValidation(wide(50), { f0: LONG })).toBe(false);
    expect(isCheapValidation({ ...wide(50), default: { f0: LONG } }, {})).toBe(false);
  });

  it("counts the values that JSON text can hold, where it is read", () => {
    const list = { type: "object", properties: { l: { type: "array", items: wide(5) } } };
    const text = ` [${"{},".repeat(5_000)}{}]`;
    expect(isCheapValidation(list, { l: text }, true)).toBe(false);
    expect(isCheapValidation(list, { l: JSON.stringify([text]) }, true)).toBe(false);
    expect(isCheapValidation(list, { l: text })).toBe(true);
    expect(isCheapValidation(list, { l: `see: ${text}` }, true)).toBe(true);
    expect(isCheapValidation(list, { l: "[{}, {}]" }, true)).toBe(true);
  });

  it("counts that the forms of oneOf are compiled twice for long numbers, in each level", () => {
    expect(isCheapValidation(nested(20), 1)).toBe(true);
    expect(isCheapValidation(nested(3), LONG)).toBe(true);
    expect(isCheapValidation(nested(20), LONG)).toBe(false);
  });
});

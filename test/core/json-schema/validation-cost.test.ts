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

  it("counts that the forms of oneOf are compiled twice for long numbers, in each level", () => {
    expect(isCheapValidation(nested(20), 1)).toBe(true);
    expect(isCheapValidation(nested(3), LONG)).toBe(true);
    expect(isCheapValidation(nested(20), LONG)).toBe(false);
  });
});

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { publishedSchema } from "../../../src/core/json-schema/index.ts";

describe("publishedSchema", () => {
  it.each([
    [{ maximum: "9223372036854775807" }, { maximum: 2 ** 63 }],
    [{ minimum: "-9223372036854775808" }, { minimum: -(2 ** 63) }],
    [{ maximum: "9007199254740993" }, { maximum: 9007199254740994 }],
    [{ minimum: "9007199254740993" }, { minimum: 9007199254740992 }],
    [{ exclusiveMaximum: "9007199254740992" }, { exclusiveMaximum: 9007199254740994 }],
    [{ exclusiveMinimum: "-9007199254740993" }, { exclusiveMinimum: -9007199254740994 }],
    [{ multipleOf: "9007199254740993", maximum: 3 }, { maximum: 3 }],
    [{ maximum: `1${"0".repeat(400)}` }, {}],
    [{ exclusiveMinimum: `0.${"0".repeat(400)}1` }, { exclusiveMinimum: -Number.MIN_VALUE }],
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
      { items: { allOf: [{ maximum: 2 ** 63 }] }, properties: { maximum: { type: "string" } } },
    ],
  ])("writes %j as JSON Schema", (schema, published) => {
    expect(publishedSchema(schema)).toEqual(published);
  });

  it("returns a schema without long numbers as it is", () => {
    const schema = { type: "integer", maximum: 5 };
    expect(publishedSchema(schema)).toBe(schema);
  });

  it("excludes no value that the limit allows, for readers of doubles and of digits", () => {
    const integer = fc.bigInt({ min: 2n ** 53n + 1n, max: 2n ** 69n });
    fc.assert(
      fc.property(integer, fc.bigInt({ min: 0n, max: 5_000n }), (limit, below) => {
        const { maximum = NaN } = publishedSchema({ maximum: String(limit) }) as { maximum?: number };
        const { exclusiveMaximum = NaN } = publishedSchema({ exclusiveMaximum: String(limit) }) as {
          exclusiveMaximum?: number;
        };
        const value = limit - below;
        expect(Number(value)).toBeLessThanOrEqual(maximum);
        expect(value <= BigInt(JSON.stringify(maximum))).toBe(true);
        expect(Number(value - 1n)).toBeLessThan(exclusiveMaximum);
        // Not further away than the next doubles.
        expect(maximum - Number(limit)).toBeLessThanOrEqual(Number(limit) * 2 ** -50);
      }),
      { seed: 30 },
    );
  });
});

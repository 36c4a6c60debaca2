import { describe, expect, it } from "vitest";
import { templateIssues, templateValueIssues } from "../../../src/core/json-schema/index.ts";
import { ANY, listOf, NUMBER, nullable, objectOf, type Shape, STRING } from "../../../src/core/shapes.ts";

const schema = {
  type: "object",
  properties: {
    week: { type: "string", format: "date" },
    status: { enum: ["paid", "open"] },
    code: { type: "string", pattern: "^[A-Z]{3}$" },
    top: { type: "integer", minimum: 1, maximum: 10, default: 3 },
    address: { $ref: "#/$defs/address" },
    lines: {
      type: "array",
      minItems: 1,
      maxItems: 2,
      items: {
        type: "object",
        properties: { sku: { type: "string", minLength: 2 }, count: { type: "integer", minimum: 1 } },
        required: ["sku", "count"],
        additionalProperties: false,
      },
    },
  },
  required: ["week", "top"],
  $defs: {
    address: {
      type: "object",
      properties: { city: { type: "string" }, zip: { type: "string", pattern: "^\\d{5}$" } },
      required: ["city"],
    },
  },
};

const found = (written: unknown, shape: Shape = ANY, of: object = schema) =>
  templateIssues(of as Record<string, unknown>, written, shape).map(
    ({ path, code }) => `${(path ?? []).join(".")} ${code}`,
  );

describe("a value with templates", () => {
  it("is validated as a whole when it has none", () => {
    expect(found({ week: "soon", status: "late", code: "abc", top: 0 })).toEqual([
      "week wrong_format",
      "status not_allowed",
      "code wrong_format",
      "top too_small",
    ]);
  });

  it("is checked by value in its known parts", () => {
    const written = {
      week: "${{ inputs.week }}",
      status: "late",
      top: 11,
      address: { city: "${{ inputs.city }}", zip: "1234" },
      lines: [{ sku: "x", count: "${{ inputs.count }}" }],
    };
    expect(found(written)).toEqual([
      "status not_allowed",
      "top too_large",
      "address.zip wrong_format",
      "lines.0.sku too_short",
    ]);
  });

  it("misses what is required without a default, and has no unknown names", () => {
    expect(found({ status: "${{ inputs.status }}", sort: "${{ inputs.sort }}" })).toEqual([
      "week missing",
      "sort unknown_key",
    ]);
    expect(found({ week: "2026-01-01", lines: [{ sku: "${{ inputs.sku }}", size: 3 }] })).toEqual([
      "lines.0.count missing",
      "lines.0.size unknown_key",
    ]);
  });

  it("has lists of a length that is known", () => {
    const line = { sku: "${{ inputs.sku }}", count: 1 };
    expect(found({ week: "2026-01-01", lines: [line, line, line] })).toEqual(["lines too_long"]);
  });

  it("has the kind of its expressions", () => {
    const written = { week: "${{ steps.n.count }}", lines: "${{ steps.a.lines }}" };
    const shape = objectOf({ week: NUMBER, lines: listOf(objectOf({ sku: STRING })) });
    // The list may be empty.
    expect(found(written, shape)).toEqual(["week wrong_type"]);
    const address = objectOf({ week: STRING, address: objectOf({ city: NUMBER }) });
    expect(found("${{ inputs }}", address)).toEqual(["address.city wrong_type"]);
  });

  it("can be one expression for everything", () => {
    const whole = "${{ inputs }}";
    expect(found(whole, objectOf({ week: NUMBER, city: STRING }))).toEqual([
      "city unknown_key",
      "week wrong_type",
    ]);
    expect(found(whole, objectOf({ top: NUMBER }))).toEqual(["week missing"]);
    expect(found(whole, listOf(STRING))).toEqual([" wrong_type"]);
    expect(found(whole, objectOf({ week: nullable(STRING) }))).toEqual(["week maybe_null"]);
    expect(found(whole, ANY)).toEqual([]);
  });

  it("may fit one of several forms", () => {
    const forms = {
      type: "object",
      properties: { on: { anyOf: [{ type: "string" }, { type: "object", properties: { at: {} } }] } },
    };
    expect(found({ on: { at: "${{ inputs.x }}" } }, ANY, forms)).toEqual([]);
    expect(found({ on: "${{ 1 }}" }, objectOf({ on: NUMBER }), forms)).toEqual(["on wrong_type"]);
    expect(found({ on: 1, off: "${{ 1 }}" }, ANY, { ...forms, additionalProperties: true })).toEqual([
      "on wrong_type",
      "on wrong_type",
      "on no_match",
    ]);
  });

  it("is not judged by conditions that depend on its unknown parts", () => {
    const conditional = {
      type: "object",
      properties: { kind: { type: "string" }, size: { type: "integer" } },
      if: { properties: { kind: { const: "big" } } },
      // oxlint-disable-next-line unicorn/no-thenable -- the keyword of JSON Schema
      then: { required: ["size"] },
      additionalProperties: false,
    };
    expect(found({ kind: "${{ inputs.kind }}" }, ANY, conditional)).toEqual([]);
    expect(found({ kind: "big" }, ANY, conditional)).toEqual(["size missing"]);
  });

  it("can have any type, with unknown fields allowed", () => {
    const issues = templateValueIssues(
      { type: "object", properties: { n: { type: "number" } }, required: ["n", "m"] },
      { n: "${{ 'x' }}", more: 1 },
      objectOf({ n: STRING, more: NUMBER }),
    );
    expect(issues.map(({ path, code }) => [path, code])).toEqual([
      [["m"], "missing"],
      [["n"], "wrong_type"],
    ]);
  });
});

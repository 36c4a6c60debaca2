import { describe, expect, it } from "vitest";
import { withDeclaredLists } from "../../../src/core/json-schema/index.ts";

const list = { type: "array", items: { type: "string" } };

/** A reference to the next of 40 schemas, which lead back. */
const next = (level: number): object => ({ $ref: `#/$defs/d${(level + 1) % 40}` });

describe("withDeclaredLists", () => {
  it.each([
    ["a list", list],
    ["a list or null", { type: ["array", "null"] }],
    ["a reference to a list", { $ref: "#/$defs/tags" }],
    ["one of several lists", { anyOf: [list, { type: "null" }] }],
    ["two lists", { oneOf: [list, { type: "array", maxItems: 1 }] }],
    ["a list in all of several schemas", { allOf: [list, { description: "Tags" }] }],
  ])("makes a list of a text whose schema is %s", (_what, tag) => {
    const schema = { type: "object", properties: { tag }, $defs: { tags: list } };
    expect(withDeclaredLists(schema, { tag: "a", other: "b" })).toEqual({ tag: ["a"], other: "b" });
    expect(withDeclaredLists(schema, { tag: ["a", "b"] })).toEqual({ tag: ["a", "b"] });
    expect(withDeclaredLists({ allOf: [schema], $defs: schema.$defs }, { tag: "a" })).toEqual({ tag: ["a"] });
  });

  it.each([
    ["a text", { type: "string" }],
    ["a text or a list", { type: ["string", "array"] }],
    ["a number", { type: "integer" }],
    ["anything", {}],
    ["true", true],
    ["one of some texts", { enum: ["a", "b"] }],
  ])("leaves a text as it is whose schema is %s", (_what, tag) => {
    expect(withDeclaredLists({ properties: { tag } }, { tag: "a" })).toEqual({ tag: "a" });
  });

  it("follows references that lead back, and asks each schema once", () => {
    const doubling = Object.fromEntries(
      Array.from({ length: 40 }, (_, level) => [`d${level}`, { anyOf: [next(level), next(level), list] }]),
    );
    const schema = { properties: { tag: { $ref: "#/$defs/d0", type: "array" } }, $defs: doubling };
    expect(withDeclaredLists(schema, { tag: "a" })).toEqual({ tag: ["a"] });
  });

  it("keeps every name, and what is no object", () => {
    const fields = JSON.parse('{"__proto__":"a"}');
    expect(withDeclaredLists({ additionalProperties: list }, fields)).toEqual(
      JSON.parse('{"__proto__":["a"]}'),
    );
    expect(withDeclaredLists(undefined, fields)).toBe(fields);
    expect(withDeclaredLists({ type: "array" }, "a")).toBe("a");
  });
});

import { describe, expect, it } from "vitest";
import { describeChanges, isSameDefinition } from "../../../src/web/workflows/describe-changes.ts";
import { parseExamples, inputSchemaOf } from "../../../src/web/workflows/inputs.ts";

const BEFORE = { name: "Revenue", description: "", tags: ["finance", "weekly"], definition: null };

describe("describeChanges", () => {
  it("returns nothing for equal versions", () => {
    expect(describeChanges(BEFORE, { ...BEFORE })).toEqual([]);
  });

  it("describes changes of name, description and tags", () => {
    expect(
      describeChanges(BEFORE, {
        ...BEFORE,
        name: "Net",
        description: "By region.",
        tags: ["finance", "net"],
      }),
    ).toEqual([
      "Name changed from “Revenue” to “Net”.",
      "Description added: “By region.”",
      "Tag added: “net”.",
      "Tag removed: “weekly”.",
    ]);
    expect(describeChanges({ ...BEFORE, description: "A" }, BEFORE)).toEqual(["Description removed: “A”"]);
    expect(describeChanges(BEFORE, { ...BEFORE, tags: ["weekly", "finance"] })).toEqual(["Tags reordered."]);
  });

  it("compares definitions regardless of the order of keys", () => {
    expect(
      isSameDefinition({ steps: [{ id: "a", type: "set" }] }, { steps: [{ type: "set", id: "a" }] }),
    ).toBe(true);
    expect(isSameDefinition({ steps: [] }, null)).toBe(false);
    expect(isSameDefinition(undefined, null)).toBe(true);
  });
});

describe("the inputs of a definition", () => {
  it("default to no fields when the schema is missing or malformed", () => {
    expect(inputSchemaOf({})).toEqual({ type: "object", properties: {} });
    expect(inputSchemaOf({ inputs: "?" })).toEqual({ type: "object", properties: {} });
  });

  it("have examples with unique names", () => {
    const examples = [{ name: "Quiet", inputs: { a: 1 } }, { name: "Quiet" }, {}, "?"];
    expect(parseExamples({ examples })).toEqual([
      { name: "Quiet", inputs: { a: 1 } },
      { name: "Example 2", inputs: {} },
      { name: "Example 3", inputs: {} },
    ]);
    expect(parseExamples({ examples: "?" })).toEqual([]);
  });
});

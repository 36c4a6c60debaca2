import { describe, expect, it } from "vitest";
import { describeChanges, isSameDefinition } from "../../../src/web/workflows/describe-changes.ts";
import { parseExamples, inputSchemaOf } from "../../../src/web/workflows/inputs.ts";

const BEFORE = { name: "Revenue", description: "", tags: ["finance", "weekly"], definition: null };

describe("what changed between two states, in words", () => {
  it("says nothing where nothing did", () => {
    expect(describeChanges(BEFORE, { ...BEFORE })).toEqual([]);
  });

  it("tells the name, the description and the tags", () => {
    expect(
      describeChanges(BEFORE, {
        ...BEFORE,
        name: "Net",
        description: "By region.",
        tags: ["finance", "net"],
      }),
    ).toEqual([
      "The name was “Revenue”, and became “Net”.",
      "A description was written: “By region.”",
      "“net” was added to the tags.",
      "“weekly” was taken from the tags.",
    ]);
    expect(describeChanges({ ...BEFORE, description: "A" }, BEFORE)).toEqual([
      "The description was removed: “A”",
    ]);
    expect(describeChanges(BEFORE, { ...BEFORE, tags: ["weekly", "finance"] })).toEqual([
      "The tags stand in another order.",
    ]);
  });

  it("holds definitions to be the same whatever the order of their keys", () => {
    expect(
      isSameDefinition({ steps: [{ id: "a", type: "set" }] }, { steps: [{ type: "set", id: "a" }] }),
    ).toBe(true);
    expect(isSameDefinition({ steps: [] }, null)).toBe(false);
    expect(isSameDefinition(undefined, null)).toBe(true);
  });
});

describe("what a definition says of its inputs", () => {
  it("takes nothing where nothing is said, or nothing that is well formed", () => {
    expect(inputSchemaOf({})).toEqual({ type: "object", properties: {} });
    expect(inputSchemaOf({ inputs: "?" })).toEqual({ type: "object", properties: {} });
  });

  it("gives each example a name of its own", () => {
    const examples = [{ name: "Quiet", inputs: { a: 1 } }, { name: "Quiet" }, {}, "?"];
    expect(parseExamples({ examples })).toEqual([
      { name: "Quiet", inputs: { a: 1 } },
      { name: "Example 2", inputs: {} },
      { name: "Example 3", inputs: {} },
    ]);
    expect(parseExamples({ examples: "?" })).toEqual([]);
  });
});

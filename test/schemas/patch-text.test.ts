import { describe, expect, it } from "vitest";
import type { JsonPatchOperation } from "../../schemas/problem.ts";
import { applyJsonPatch } from "../../src/core/json-patch.ts";
import { parse } from "../../src/web/editor/format.ts";
import { patchText } from "../../schemas/patch-text.ts";

const TEXT = `# Revenue by region.
inputs: { type: object }
steps:
  - id: orders # all of them
    type: sql
    query: |
      SELECT id
      FROM orders
  - { id: note, type: set, when: steps.orders.row_count > 0, values: { n: "\${{ 1 }}" } }
`;

describe("a patch of a text", () => {
  it("changes what it says, and keeps comments and the form of the rest", () => {
    const patch: JsonPatchOperation[] = [{ op: "move", from: "/steps/1/when", path: "/steps/1/if" }];
    expect(patchText(TEXT, "yaml", patch)).toBe(TEXT.replace("when:", "if:"));
  });

  it("keeps every digit, zero and letter of numbers and words, and keys", () => {
    const values =
      "{ a: 9007199254740993, b: 01067, c: 3.10, d: 0x1F, e: 7e10, f: TRUE, g: ~, h: 900719925474099.23, kept0x: kept }";
    const text = `steps:\n  - id: a\n    type: set\n    values: ${values}\n`;
    const patch: JsonPatchOperation[] = [{ op: "replace", path: "/steps/0/values/b", value: "01067" }];
    expect(patchText(text, "yaml", patch)).toBe(text.replace("01067", '"01067"'));
    const keys = 'values:\n  01067: a\n  "x": 1\n';
    expect(patchText(keys, "yaml", [{ op: "replace", path: "/values/01067", value: "b" }])).toBe(
      'values:\n  01067: b\n  "x": 1\n',
    );
    const json = '{ "a": 9007199254740993, "b": [1.50, null, "1"], "c": 1 }';
    expect(patchText(json, "json", [{ op: "remove", path: "/c" }])).toBe(
      '{\n  "a": 9007199254740993,\n  "b": [\n    1.50,\n    null,\n    "1"\n  ]\n}\n',
    );
  });

  it("quotes expressions that it adds", () => {
    const patch: JsonPatchOperation[] = [
      { op: "add", path: "/steps/0/params", value: { id: "${{ inputs.n }}" } },
    ];
    expect(patchText(TEXT, "yaml", patch)).toContain('    params:\n      id: "${{ inputs.n }}"\n');
  });

  it.each<[string, JsonPatchOperation]>([
    ["adds a field", { op: "add", path: "/timeout", value: "1h" }],
    ["inserts an item", { op: "add", path: "/steps/0", value: { id: "a", type: "set", values: {} } }],
    ["appends an item", { op: "add", path: "/steps/-", value: { id: "a" } }],
    ["replaces a value", { op: "replace", path: "/steps/1/values/n", value: "${{ 2 }}" }],
    [
      "replaces a value by an object",
      { op: "replace", path: "/inputs", value: { type: "object", required: ["n"] } },
    ],
    ["replaces a number", { op: "replace", path: "/steps/0/query", value: 5 }],
    ["removes a field", { op: "remove", path: "/steps/1/when" }],
    ["removes an item", { op: "remove", path: "/steps/0" }],
    ["moves an item", { op: "move", from: "/steps/1", path: "/steps/0" }],
    ["moves a field to another object", { op: "move", from: "/steps/1/when", path: "/steps/1/values/when" }],
  ])("%s as in the definition", async (_, operation) => {
    const before = await parse(TEXT, "yaml");
    const definition = applyJsonPatch("definition" in before ? before.definition : undefined, [operation]);
    expect(await parse(patchText(TEXT, "yaml", [operation]), "yaml")).toEqual({ definition });
    const json = JSON.stringify("definition" in before ? before.definition : undefined);
    expect(patchText(json, "json", [operation])).toBe(`${JSON.stringify(definition, null, 2)}\n`);
  });

  it("refuses a place that does not exist", () => {
    for (const path of ["/steps/7", "/nothing/here"])
      expect(() => patchText(TEXT, "yaml", [{ op: "remove", path }])).toThrow("does not exist");
  });
});

import { describe, expect, it } from "vitest";
import type { JsonPatchOperation } from "../../schemas/problem.ts";
import { applyJsonPatch, JsonPatchError, renderPatch, toPointer } from "../../src/core/json-patch.ts";

describe("a JSON Patch", () => {
  it.each<[string, unknown, JsonPatchOperation[], unknown]>([
    ["adds a field", { a: 1 }, [{ op: "add", path: "/b", value: null }], { a: 1, b: null }],
    ["inserts an item", [1, 3], [{ op: "add", path: "/1", value: 2 }], [1, 2, 3]],
    ["appends an item", [1], [{ op: "add", path: "/-", value: 2 }], [1, 2]],
    ["replaces a value", { a: [1, 2] }, [{ op: "replace", path: "/a/1", value: 3 }], { a: [1, 3] }],
    ["replaces the document", 1, [{ op: "replace", path: "", value: 2 }], 2],
    ["removes a field", { a: 1, b: 2 }, [{ op: "remove", path: "/a" }], { b: 2 }],
    ["removes an item", [1, 2], [{ op: "remove", path: "/0" }], [2]],
    [
      "moves a field to another object",
      { a: { b: 1 } },
      [{ op: "move", from: "/a/b", path: "/c" }],
      { a: {}, c: 1 },
    ],
    ["moves an item", [1, 2, 3], [{ op: "move", from: "/2", path: "/0" }], [3, 1, 2]],
    ["unescapes names", { "a/b": { "~": 1 } }, [{ op: "remove", path: "/a~1b/~0" }], { "a/b": {} }],
    [
      "does several in turn",
      {},
      [
        { op: "add", path: "/a", value: {} },
        { op: "add", path: "/a/b", value: 1 },
      ],
      { a: { b: 1 } },
    ],
  ])("%s", (_, document, patch, expected) => {
    const before = structuredClone(document);
    expect(applyJsonPatch(document, patch)).toEqual(expected);
    expect(document).toEqual(before);
  });

  it("keeps the place of a renamed or replaced field", () => {
    const renamed = applyJsonPatch({ a: 1, b: 2, c: 3 }, [
      { op: "move", from: "/b", path: "/x" },
      { op: "replace", path: "/a", value: 4 },
    ]);
    expect(JSON.stringify(renamed)).toBe('{"a":4,"x":2,"c":3}');
  });

  it.each<[string, JsonPatchOperation]>([
    ["a missing field", { op: "remove", path: "/b" }],
    ["a missing object", { op: "add", path: "/b/c", value: 1 }],
    ["an index beyond the list", { op: "add", path: "/list/2", value: 1 }],
    ["a name in a list", { op: "remove", path: "/list/length" }],
    ["a missing source", { op: "move", from: "/b", path: "/c" }],
    ["a missing value", { op: "replace", path: "/b", value: 1 }],
    ["no pointer", { op: "remove", path: "a" }],
  ])("refuses %s", (_, operation) => {
    expect(() => applyJsonPatch({ a: 1, list: [1] }, [operation])).toThrow(JsonPatchError);
  });

  it("never reaches a prototype", () => {
    const patch: JsonPatchOperation[] = [{ op: "add", path: "/__proto__/x", value: 1 }];
    expect(() => applyJsonPatch({}, patch)).toThrow(JsonPatchError);
    const added = applyJsonPatch({}, [{ op: "add", path: "/__proto__", value: { x: 1 } }]);
    expect(Object.getPrototypeOf(added)).toBe(Object.prototype);
  });

  it("is rendered with JSON Pointers", () => {
    expect(toPointer([])).toBe("");
    expect(
      renderPatch([
        { op: "move", from: ["steps", 0, "a/b"], path: ["steps", 0, "~"] },
        { op: "add", path: ["x"], value: [1] },
      ]),
    ).toEqual([
      { op: "move", from: "/steps/0/a~1b", path: "/steps/0/~0" },
      { op: "add", path: "/x", value: [1] },
    ]);
  });
});

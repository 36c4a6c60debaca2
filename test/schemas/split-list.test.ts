import * as fc from "fast-check";
import { expect, it } from "vitest";
import { splitList } from "../../schemas/split-list.ts";

it.each([
  ["a,b", ["a", "b"]],
  ["", [""]],
  [",a,", ["", "a", ""]],
  ["version,max(output.a, output.b)", ["version", "max(output.a, output.b)"]],
  ["run.id in [\"a,b\", 'c,d'],day", ["run.id in [\"a,b\", 'c,d']", "day"]],
  ['"a, \\" b",c', ['"a, \\" b"', "c"]],
  ["f(a,,b)", ["f(a,,b)"]],
  ["a),b", ["a)", "b"]],
])("splitList splits %s at the commas outside of quotes and brackets", (text, parts) => {
  expect(splitList(text)).toEqual(parts);
});

it("splitList changes nothing in any text but where it is split", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(..."ab,()[]{}'\"\\ ".split("")) }), (text) => {
      expect(splitList(text).join(",")).toBe(text);
    }),
    { seed: 1 },
  );
});

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toYaml } from "../../../schemas/to-yaml.ts";
import { formatYaml } from "../../../src/web/editor/format-yaml.ts";
import { parse } from "../../../src/web/editor/format.ts";

describe("formatYaml", () => {
  it("writes the canonical form, and keeps the comments where they belong", () => {
    const text = `# Revenue by region.


output:   "x"   # the answer
# What runs.
steps:
    # The orders.
    - type: sql   # a query
      # unique
      id: orders
      params: {n: 1, list: [1,2]} # flow
      # deeper
    -
      # Above an id.
      id: note
      values:   # those
          text: >
            one
            two

          n: 3.10
    # the end of the steps
# the end
`;
    expect(formatYaml(text)).toBe(`# Revenue by region.

# What runs.
steps:
  # The orders.
  # unique
  - id: orders
    type: sql # a query
    params: # flow
      "n": 1
      list:
        - 1
        - 2
    # deeper
  # Above an id.
  - id: note
    values: # those
      text: |
        one two

      "n": 3.10
  # the end of the steps
output: x # the answer
# the end
`);
  });

  it("leaves a text in canonical form as it is, whichever definition it says", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue({ maxDepth: 4 })), (fields) => {
        const definition = JSON.parse(JSON.stringify({ ...fields, steps: [{ id: "a" }] })) as Record<
          string,
          unknown
        >;
        fc.pre(!JSON.stringify(definition).includes("__proto__"));
        const text = toYaml(definition);
        expect(formatYaml(text)).toBe(text);
      }),
      { numRuns: 100 },
    );
  });

  it("says the same definition, and leaves texts that it can't format", async () => {
    const flow = "steps: [\n  # first\n  { id: a, type: set, values: {} },\n]\n";
    expect(await parse(formatYaml(flow)!, "yaml")).toEqual(await parse(flow, "yaml"));
    expect(formatYaml(flow)).toContain("# first");
    expect(formatYaml("steps: [\n")).toBeUndefined();
    expect(formatYaml("a: &a\n  x: 1\nb: *a\n")).toBe("a:\n  x: 1\nb:\n  x: 1\n");
  });
});

import { describe, expect, it } from "vitest";
import { parseExposition } from "../support/exposition.ts";

const histogram = (lines: string): string => `# HELP a_seconds A.\n# TYPE a_seconds histogram\n${lines}`;

describe("the metrics parser of the tests", () => {
  it("parses valid text", () => {
    const families = parseExposition(
      '# HELP a_total A.\n# TYPE a_total counter\na_total{b="c\\"d",e=""} 1\na_total{b="x",e="y"} 2.5e-7\n',
    );
    expect(families.get("a_total")).toEqual({
      type: "counter",
      samples: [
        { name: "a_total", labels: { b: 'c\\"d', e: "" }, value: 1 },
        { name: "a_total", labels: { b: "x", e: "y" }, value: 2.5e-7 },
      ],
    });
  });

  it.each([
    ["a last line that is cut", "# HELP a A.\n# TYPE a gauge\na 1"],
    ["a sample without type", "a 1\n"],
    ["a type without help", "# TYPE a gauge\na 1\n"],
    ["a sample of another family", "# HELP a A.\n# TYPE a gauge\nb 1\n"],
    ["a counter that is not named as one", "# HELP a A.\n# TYPE a counter\na 1\n"],
    ["a gauge that is named as a counter", "# HELP a_total A.\n# TYPE a_total gauge\na_total 1\n"],
    ["the same series twice", '# HELP a A.\n# TYPE a gauge\na{x="1",y="2"} 1\na{y="2",x="1"} 2\n'],
    ["labels without quotes", "# HELP a A.\n# TYPE a gauge\na{x=1} 1\n"],
    ["a value that is no number", "# HELP a A.\n# TYPE a gauge\na x\n"],
    ["a counter below 0", "# HELP a_total A.\n# TYPE a_total counter\na_total -1\n"],
    ["a family in two places", "# HELP a A.\n# TYPE a gauge\na 1\n# HELP a A.\n# TYPE a gauge\n"],
    [
      "buckets that fall",
      histogram(
        'a_seconds_bucket{le="1"} 2\na_seconds_bucket{le="+Inf"} 1\na_seconds_sum 1\na_seconds_count 1\n',
      ),
    ],
    ["buckets without an end", histogram('a_seconds_bucket{le="1"} 1\na_seconds_sum 1\na_seconds_count 1\n')],
    ["a count of its own", histogram('a_seconds_bucket{le="+Inf"} 1\na_seconds_sum 1\na_seconds_count 2\n')],
  ])("refuses %s", (_, text) => {
    expect(() => parseExposition(text)).toThrow(/: |does not end/);
  });
});

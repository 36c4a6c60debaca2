import { describe, expect, it } from "vitest";
import { namedTestIssues, titlesIn } from "../support/named-tests.ts";

const OWN = "test/docs/named-tests.test.ts";

describe("namedTestIssues", () => {
  it("accepts no test without a file, or of another title", () => {
    expect(namedTestIssues(`\`${OWN}\`: "leaves out tests that hold nothing"`)).toEqual([]);
    expect(namedTestIssues(`\`${OWN}\`: "leaves out tests"`)).toEqual([
      `${OWN} has no test "leaves out tests"`,
    ]);
    expect(namedTestIssues('`test/docs/none.test.ts`: "x"')).toEqual([
      "test/docs/none.test.ts does not exist",
    ]);
    expect(namedTestIssues("No test holds this.")).toEqual([expect.stringMatching(/^must be one to three/)]);
  });

  it("accepts the contracts of the store, and no other file that is not a test", () => {
    const title = "has one run for each time, whichever transaction inserts it";
    expect(namedTestIssues(`\`test/support/contracts/store-contract.ts\`: "${title}"`)).toEqual([]);
    expect(namedTestIssues(`\`test/support/named-tests.ts\`: "${title}"`)).toHaveLength(1);
  });
});

describe("titlesIn", () => {
  it("leaves out tests that hold nothing", () => {
    const source = `it.skip("a", () => {}); it.todo("b"); describe("c", () => void test("d", () => {})); it.each([])(\`e \${1}\`, f);`;
    expect(titlesIn("x.test.ts", source)).toEqual(new Set(["d", "e ${1}"]));
  });
});

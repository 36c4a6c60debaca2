/** Each promise of the page of guarantees is one sentence, with its limit and with tests that exist. */
import { describe, expect, it } from "vitest";
import { proseOf, sectionOf, tableIn } from "../support/documents.ts";
import { namedTestIssues } from "../support/named-tests.ts";

const PAGE = "docs/guarantees.md";
const MIN_PROMISES = 80;

const headings = [...proseOf(PAGE).matchAll(/^## .+$/gm)].map(([heading]) => heading);

describe("the page of guarantees", () => {
  it("has promises in each group, each once", () => {
    const promises = headings.map((heading) => tableIn(sectionOf(PAGE, heading)).map(([promise]) => promise));
    expect(headings.filter((_, index) => promises[index]!.length === 0)).toEqual([]);
    expect(new Set(promises.flat()).size).toBe(promises.flat().length);
    expect(promises.flat().length).toBeGreaterThanOrEqual(MIN_PROMISES);
  });

  it.each(headings)("says each promise in one sentence, with what is not promised: %s", (heading) => {
    for (const [promise, limit, , ...more] of tableIn(sectionOf(PAGE, heading))) {
      expect(promise).toMatch(/^[A-Z](?:(?!\. ).)+\.$/);
      expect(limit).toMatch(/^(?:[A-Z`].+\.)?$/);
      expect(more).toEqual([]);
    }
  });

  it.each(headings)("names tests that exist: %s", (heading) => {
    const issues = tableIn(sectionOf(PAGE, heading)).flatMap(([promise, , tests]) =>
      namedTestIssues(tests!).map((issue) => `${promise!}: ${issue}`),
    );
    expect(issues).toEqual([]);
  });
});

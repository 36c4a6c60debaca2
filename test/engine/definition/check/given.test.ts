/** Outputs that stand in for those of a run: mocks, and what trials are given. */
import { describe, expect, it } from "vitest";
import { listOf, NUMBER, nullable, objectOf, STRING } from "../../../../src/core/shapes.ts";
import { isAllowedInSaved } from "../../../../src/engine/definition/check/check-report.ts";
import { checkerOf, queryStep, set } from "./test-checker.ts";

const ROW = objectOf({ region: nullable(STRING), total: NUMBER });
/** A query whose columns the database knows. */
const query = queryStep(() =>
  Promise.resolve({ issues: [], output: objectOf({ rows: listOf(ROW), row_count: NUMBER }) }),
);
const checker = checkerOf({}, query);

const STEPS = [
  { id: "q", type: "query", query: "select 1" },
  { id: "each", type: "query", query: "select 2", needs: [], for_each: "[1, 2]" },
  set("count", { n: "${{ steps.q.row_count ?? 0 }}" }, { needs: ["q", "each"] }),
];

/** Issues with paths below the given outputs. */
const relative = (prefix: string, issues: readonly { path: string }[]) =>
  issues.map((issue) => ({ ...issue, path: issue.path.replace(prefix, "") }));

/** What the checker says of an output, wherever it is given. */
async function findingsOf(given: object) {
  const options = { checkConnections: true };
  const definition = { steps: STEPS, examples: [{ given }] };
  const [inExample, inMocks, inTrial] = await Promise.all([
    checker.check(definition, options),
    checker.check({ steps: STEPS }, { ...options, mocks: given as Record<string, unknown> }),
    checker.check({ steps: STEPS }, { ...options, given: given as Record<string, unknown> }),
  ]);
  const errors = relative("examples[0].given.", inExample.errors);
  const warnings = relative("examples[0].given.", inExample.warnings);
  expect(relative("mocks.", inMocks.errors)).toEqual(errors);
  expect(relative("mocks.", inMocks.warnings)).toEqual(warnings);
  expect(relative("given.", inTrial.errors)).toEqual(errors);
  return { errors, warnings };
}

describe("a given output", () => {
  it.each<[string, object, object]>([
    [
      "a list that is no list",
      { q: { rows: {}, row_count: 1 } },
      { path: "q.rows", fix: expect.stringMatching(/\[\{region: text or null, total: number\}\]/) },
    ],
    [
      "a value of another type, deep inside",
      {
        q: {
          rows: [
            { region: "n", total: 1 },
            { region: null, total: "7" },
          ],
          row_count: 2,
        },
      },
      {
        path: "q.rows[1].total",
        message: expect.stringMatching(/must be a number .*, is text/),
        fix: expect.stringMatching(/number/),
      },
    ],
    [
      "null where the output has a value",
      { q: { rows: null, row_count: 0 } },
      { path: "q.rows", message: expect.stringMatching(/is null/) },
    ],
    [
      "a misspelt field",
      { q: { row: [], row_count: 0 } },
      { path: "q.row", did_you_mean: "rows", fix: expect.stringMatching(/^Write rows\.$/) },
    ],
    [
      "a column that the query does not return",
      { q: { rows: [{ region: "n", total: 1, country: "x" }], row_count: 1 } },
      { path: "q.rows[0].country", fix: expect.stringMatching(/^Remove it\.$/) },
    ],
    [
      "an item of a fan-out",
      { q: { row_count: 1 }, each: { items: [{ row_count: "1" }] } },
      { path: "each.items[0].row_count" },
    ],
    [
      "one output for all items of a fan-out",
      { q: { row_count: 1 }, each: { row_count: "1" } },
      { path: "each.row_count" },
    ],
    [
      "the items of a fan-out without a name",
      { q: { row_count: 1 }, each: [{ row_count: 1 }] },
      { path: "each", code: "wrong_type", fix: expect.stringContaining('{"items": […]}') },
    ],
  ])("does not fit as %s", async (_what, given, expected) => {
    const { errors } = await findingsOf(given);
    expect(errors).toMatchObject([{ code: "unfit_output", ...expected }]);
  });

  it.each<[string, object]>([
    [
      "fits as it was recorded",
      { q: { rows: [{ region: null, total: 1.5 }], row_count: 1, status: "succeeded", error: null } },
    ],
    ["can be that of a failure", { q: { error: { code: "timeout", message: "Too slow" } } }],
    [
      "can be that of failed items",
      { q: { row_count: 1 }, each: { items: [{ error: { code: "timeout" } }, { row_count: 1 }] } },
    ],
    ["can be one for all items of a fan-out", { q: { row_count: 1 }, each: { row_count: 1 } }],
  ])("%s", async (_what, given) => {
    expect(await findingsOf(given)).toEqual({ errors: [], warnings: [] });
  });

  it("has a warning for each field that it lacks and expressions read, and for no others", async () => {
    const { errors, warnings } = await findingsOf({ q: {} });
    expect(errors).toEqual([]);
    expect(warnings).toMatchObject([{ path: "q.row_count", code: "missing", fix: "Add it, as number." }]);
  });

  it("fits with a long number where the step has a number", async () => {
    const { errors } = await findingsOf({ q: { rows: [], row_count: "9007199254740993" } });
    expect(errors).toEqual([]);
  });

  it("reports a few issues of many", async () => {
    const rows = Array.from({ length: 50 }, () => ({ region: 1, total: "x" }));
    const { errors } = await findingsOf({ q: { rows, row_count: 50 } });
    expect(errors).toHaveLength(5);
  });

  it("does not keep a saved version from running, because its table may have changed since", () => {
    expect(isAllowedInSaved({ code: "unfit_output" })).toBe(true);
  });
});

import { describe, expect, it } from "vitest";
import { NUMBER, objectOf, STRING } from "../../../../src/core/shapes.ts";
import { formatShape } from "../../../../src/core/format-shape.ts";
import { checkerOf, defaultChecker, issueOf, issuesOf, queryStep, set } from "./test-checker.ts";

const repeated = (repeat: unknown, more: object = {}) => ({
  steps: [set("a", { n: "${{ loop.index }}" }, { repeat, ...more })],
});

/** The shapes of the steps of a definition without issues. */
async function shapesOf(definition: object, checker = defaultChecker): Promise<Record<string, string>> {
  const { errors, steps } = await checker.check(definition, { checkConnections: true });
  expect(errors).toEqual([]);
  return Object.fromEntries(steps.map(({ id, output }) => [id, formatShape(output)]));
}

/** The shape of a variable, as the field of the step that has its value. */
const shapeOf = async (start: unknown, next: string) => {
  const step = set("a", { x: "${{ loop.x }}" }, { repeat: { max: 2, with: { x: { start, next } } } });
  const definition = { steps: [step, set("b", { x: "${{ steps.a.last.x }}" })] };
  const { errors, steps } = await defaultChecker.check(definition, { checkConnections: true });
  expect(errors).toEqual([]);
  return formatShape(steps[1]!.output)
    .replace(/, status.*/, "")
    .slice(4);
};

describe("repeat", () => {
  it("is accepted with a condition, a maximum, a pause and variables", async () => {
    expect(
      await issuesOf(
        repeated({
          until: "result.n > 3 && result.status == 'succeeded' || loop.page > 2",
          max: 1_000,
          every: "10s",
          with: { page: { start: 1, next: "loop.page + result.n" } },
        }),
      ),
    ).toEqual([]);
  });

  it.each([
    ["without max", { until: "true" }, "steps[0].repeat.max missing"],
    ["with max 0", { max: 0 }, "steps[0].repeat.max too_small"],
    ["with max above 1,000", { max: 1_001 }, "steps[0].repeat.max too_large"],
    ["with an expression as max", { max: "${{ 3 }}" }, "steps[0].repeat.max no_expression_here"],
    ["with a bad pause", { max: 3, every: "often" }, "steps[0].repeat.every wrong_format"],
    ["with an unknown key", { max: 3, while: "true" }, "steps[0].repeat.while unknown_key"],
    [
      "with a condition that is a number",
      { max: 3, until: "loop.index + 1" },
      "steps[0].repeat.until wrong_type",
    ],
    ["with an unknown variable", { max: 3, until: "loop.page > 1" }, "steps[0].repeat.until unknown_field"],
    ["with an unknown field", { max: 3, until: "result.m == 1" }, "steps[0].repeat.until unknown_field"],
    ["with a syntax error", { max: 3, until: "loop.index >" }, "steps[0].repeat.until expression_syntax"],
    ["without start", { max: 3, with: { p: { next: "1" } } }, "steps[0].repeat.with.p.start missing"],
    ["without next", { max: 3, with: { p: { start: 1 } } }, "steps[0].repeat.with.p.next missing"],
    [
      "with a variable named index",
      { max: 3, with: { index: { start: 1, next: "1" } } },
      "steps[0].repeat.with.index not_allowed",
    ],
    [
      "with a start that reads loop",
      { max: 3, with: { p: { start: "${{ loop.index }}", next: "1" } } },
      "steps[0].repeat.with.p.start unknown_name",
    ],
    [
      "with a next that reads an unknown step",
      { max: 3, with: { p: { start: 1, next: "steps.b.n" } } },
      "steps[0].repeat.with.p.next unknown_step",
    ],
  ])("%s is refused", async (_, repeat, issue) => {
    expect(await issuesOf(repeated(repeat))).toEqual([issue]);
  });

  it("reports all issues at once", async () => {
    const repeat = {
      while: "true",
      until: "loop.q == 1",
      with: { p: { start: "${{ steps.x }}", next: "loop.q" } },
    };
    expect(await issuesOf(repeated(repeat))).toEqual([
      "steps[0].repeat.max missing",
      "steps[0].repeat.while unknown_key",
      "steps[0].repeat.until unknown_field",
      "steps[0].repeat.with.p.start unknown_step",
      "steps[0].repeat.with.p.next unknown_field",
    ]);
  });

  it("can't be combined with for_each", async () => {
    const definition = { steps: [set("a", { n: "${{ item }}" }, { for_each: "[1]", repeat: { max: 2 } })] };
    const issue = await issueOf(definition);
    expect(issue).toMatchObject({ path: "steps[0].repeat", code: "not_allowed" });
    expect(issue.fix).toContain("workflow");
  });

  it("has the names loop and result only where they have a value", async () => {
    const loop = await issueOf({ steps: [set("a", { n: "${{ loop.index }}" })] });
    expect(loop).toMatchObject({ path: "steps[0].values.n", code: "unknown_name" });
    expect(loop.fix).toContain("Add repeat");
    const result = await issueOf({ steps: [set("a", { n: "${{ result.n }}" }, { repeat: { max: 2 } })] });
    expect(result).toMatchObject({ path: "steps[0].values.n", code: "unknown_name" });
    const index = await issueOf({ steps: [set("a", { n: "${{ index }}" }, { repeat: { max: 2 } })] });
    expect(index).toMatchObject({ did_you_mean: "loop.index" });
    expect(await issuesOf(repeated({ max: 2 }, { if: "loop.index > 0" }))).toEqual([
      "steps[0].if unknown_name",
    ]);
  });

  it("returns items, the last one and their number", async () => {
    const error =
      "{code: text, message: text, fix: text or null, step_id: text or null, item: number or null, details: any} or null";
    const iteration = `{n: number, status: text, error: ${error}}`;
    expect(await shapesOf(repeated({ max: 2 }))).toEqual({
      a: `{items: [${iteration}], last: ${iteration}, count: number, status: text, error: ${error}}`,
    });
  });

  it("finds the shapes of its variables", async () => {
    expect(await shapeOf(1, "loop.x + 1")).toBe("number");
    expect(await shapeOf("a", "string(loop.index)")).toBe("text");
    expect(await shapeOf(null, "string(loop.index)")).toBe("text or null");
    expect(await shapeOf(1, "loop.index > 3 ? null : 2")).toBe("number or null");
    expect(await shapeOf(1, "'a'")).toBe("any");
    // A list that becomes deeper with each iteration.
    expect(await shapeOf([1], "[loop.x]")).toBe("[any]");
  });

  it("knows the output of its own step in until and next, and that of its fields in it", async () => {
    const step = {
      id: "a",
      type: "query",
      query: "select 1",
      limit: "${{ loop.limit }}",
      repeat: {
        until: "result.rows[0].next == null",
        max: 5,
        with: { limit: { start: 1, next: "result.rows[0].next" } },
      },
    };
    const rows = { kind: "list", of: objectOf({ next: NUMBER, name: STRING }) } as const;
    const checker = checkerOf(
      {},
      queryStep(() => Promise.resolve({ issues: [], output: objectOf({ rows }) })),
    );
    const { errors } = await checker.check({ steps: [step] }, { checkConnections: true });
    expect(errors).toEqual([]);
    const wrong = structuredClone(step);
    wrong.repeat.with.limit.next = "result.rows[0].name";
    wrong.repeat.until = "result.rows[0].missing";
    const found = await checker.check({ steps: [wrong] }, { checkConnections: true });
    expect(found.errors.map(({ path, code }) => `${path} ${code}`)).toEqual([
      "steps[0].repeat.until unknown_field",
    ]);
  });

  it("has nullable results if its failure does not stop it", async () => {
    const { errors, output_shape: output } = await defaultChecker.check(
      repeated({ max: 2 }, { on_error: "continue" }),
      { checkConnections: true },
    );
    expect(errors).toEqual([]);
    expect(formatShape(output)).toMatch(
      /^\{items: \[\{n: number or null.*\}\], last: \{n: number or null.*\} or null, count: number\}$/,
    );
  });

  it("is previewed with the iterations of its mock", async () => {
    const definition = {
      steps: [
        set(
          "a",
          { page: "${{ loop.page }}" },
          {
            repeat: {
              until: "result.page == 'b'",
              max: 9,
              with: { page: { start: "a", next: "result.next" } },
            },
          },
        ),
      ],
      output: "${{ steps.a.last.page }}",
    };
    const items = [{ page: "a", next: "b" }, { page: "b", next: null }, { page: "unused" }];
    const { preview, errors } = await checkerOf({}).check(
      {
        ...definition,
        steps: [{ ...definition.steps[0], values: { page: "${{ loop.page }}", next: null } }],
      },
      { checkConnections: true, mocks: { a: { items, last: items[1], count: 2 } } },
    );
    expect(errors).toEqual([]);
    expect(preview).toEqual({
      steps: {
        a: {
          items: [
            { loop: { page: "a", index: 0 }, values: { page: "a", next: null }, until: false },
            { loop: { page: "b", index: 1 }, values: { page: "b", next: null }, until: true },
          ],
        },
      },
      output: "b",
    });
  });
});

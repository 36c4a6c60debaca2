import { describe, expect, it } from "vitest";
import { listOf, objectOf, openObjectOf, STRING } from "../../../../src/core/shapes.ts";
import { checkerOf, defaultChecker, queryStep, set } from "./test-checker.ts";

describe("the report of a check", () => {
  it("treats the fields of a step that may be skipped as nullable", async () => {
    const steps = [set("a", { x: 1 }, { if: "false" }), set("b", { y: "${{ steps.a.x }}" })];
    const { steps: checked } = await defaultChecker.check({ steps }, { checkConnections: false });
    expect(checked[1]!.output).toMatchObject({
      fields: { y: { kind: "number", nullable: true }, status: { kind: "string" } },
    });
  });

  it("derives the output from the last step by default", async () => {
    const { output_shape } = await defaultChecker.check(
      { steps: [set("a", { x: 1 })] },
      { checkConnections: false },
    );
    expect(output_shape).toEqual({ kind: "object", fields: { x: { kind: "number" } } });
  });

  it("accepts the top-level fields of files and returns them separately", async () => {
    const report = await defaultChecker.check(
      "id: a-b\nname: A b\ntags: [x]\nsteps: [{id: a, type: set, values: {}}]",
      { checkConnections: false, allowFileFields: true },
    );
    expect(report).toMatchObject({ valid: true, file: { id: "a-b", name: "A b", tags: ["x"] } });
    expect(report.definition).toEqual({ steps: [set("a", {})] });
  });
});

describe("the type of an open object's other fields", () => {
  const headers = openObjectOf({ "set-cookie": listOf(STRING) }, STRING);
  const withHeaders = checkerOf(
    {},
    queryStep(() => Promise.resolve({ issues: [], output: objectOf({ headers }) })),
  );

  it.each([
    ["steps.q.headers['set-cookie'][0].upper()", []],
    ["steps.q.headers['set-cookie'].upper()", ["wrong_type"]],
    ["steps.q.headers.location.upper()", []],
    ["steps.q.headers['x-total'] + 1", ["wrong_type"]],
    ["steps.q.headers[inputs.name]", []],
  ])("is known: %s", async (source, codes) => {
    const { errors } = await withHeaders.check(
      {
        inputs: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
        steps: [
          { id: "q", type: "query", query: "x" },
          { id: "a", type: "set", values: { x: `\${{ ${source} }}` } },
        ],
      },
      { checkConnections: true },
    );
    expect(errors.map(({ code }) => code)).toEqual(codes);
  });
});

describe("warnings of a check", () => {
  const answer = openObjectOf({ region: STRING });
  const withAnswer = checkerOf(
    {},
    queryStep(() => Promise.resolve({ issues: [], output: objectOf({ answer }) })),
  );
  const check = (value: string) =>
    withAnswer.check(
      `steps:\n  - { id: q, type: query, query: x }\n  - id: a\n    type: set\n    values: { x: "${value}" }`,
      { checkConnections: true },
    );

  it("do not make a definition invalid, and have a place in the text", async () => {
    const report = await check("${{ steps.q.answer.regoin }}");
    expect(report).toMatchObject({ valid: true, errors: [] });
    expect(report.warnings).toEqual([
      {
        path: "steps[1].values.x",
        code: "unknown_field",
        message: expect.stringMatching(/^reads the field regoin, which is not declared and may be absent \(/),
        allowed: ["region"],
        did_you_mean: "region",
        fix: "Write region, or test for regoin first with has(…).",
        line: 5,
        column: 38,
      },
    ]);
  });

  it.each([
    "${{ steps.q.answer.other }}",
    "${{ has(steps.q.answer.regoin) }}",
    "${{ steps.q.answer.region }}",
  ])("do not concern %s, because an open object may have other fields", async (value) => {
    expect(await check(value)).toMatchObject({ valid: true, warnings: [] });
  });

  it("are reported beside errors", async () => {
    const report = await check("${{ steps.q.answer.regoin + steps.nope.x }}");
    expect(report.valid).toBe(false);
    expect(report.errors.map(({ code }) => code)).toEqual(["unknown_step"]);
    expect(report.warnings.map(({ code }) => code)).toEqual(["unknown_field"]);
  });

  it("leave an error of the field's type visible", async () => {
    const report = await withAnswer.check(
      {
        steps: [
          { id: "q", type: "query", query: "x" },
          { id: "b", type: "query", query: "x", limit: "${{ string(steps.q.answer.regoin) }}" },
        ],
      },
      { checkConnections: true },
    );
    expect(report.errors.map(({ path, code }) => `${path} ${code}`)).toEqual(["steps[1].limit wrong_type"]);
    expect(report.warnings).toHaveLength(1);
  });
});

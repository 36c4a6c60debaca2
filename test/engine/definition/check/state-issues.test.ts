import { describe, expect, it } from "vitest";
import type { Issue } from "../../../../schemas/problem.ts";
import { assert, defaultChecker, issueOf, issuesOf, set } from "./test-checker.ts";

const state = {
  last_id: { type: "integer", default: 0 },
  names: { type: "array", items: { type: "string" }, default: [] },
};
const steps = [set("a", { id: 5, text: "five" })];

describe("state and commit", () => {
  it("are accepted with their types", async () => {
    const report = await defaultChecker.check(
      {
        state,
        steps: [
          set("each", { name: "${{ item.upper() }}" }, { for_each: "state.names" }),
          assert("new", "state.last_id < 10"),
          set("next", { id: "${{ state.last_id + 1 }}" }, { if: "size(state.names) > 0" }),
        ],
        output: "${{ state.last_id }}",
        commit: { last_id: "${{ state.last_id + 1 }}", names: "${{ state.names + ['a'] }}" },
      },
      { checkConnections: true },
    );
    expect(report.errors).toEqual([]);
    expect(report.output_shape).toEqual({ kind: "number" });
  });

  it.each<[string, unknown, Partial<Issue>]>([
    [
      "a key without a default",
      { state: { n: { type: "integer" } }, steps },
      { path: "state.n.default", code: "missing", fix: expect.stringContaining("default: 0") as string },
    ],
    [
      "a default that its schema refuses",
      { state: { n: { type: "integer", default: "x" } }, steps },
      { path: "state.n.default", code: "wrong_type" },
    ],
    [
      "a schema with an issue",
      { state: { n: { type: "intger", default: 0 } }, steps },
      { path: "state.n.type", code: "not_allowed" },
    ],
    [
      "a name that expressions can't read",
      { state: { "last-id": { type: "integer", default: 0 } }, steps },
      { path: "state.last-id", code: "not_allowed" },
    ],
    ["a state that is no object", { state: [1], steps }, { path: "state", code: "wrong_type" }],
    [
      "an expression in the declaration",
      { state: { n: { type: "string", default: "${{ run.id }}" } }, steps },
      { path: "state.n.default", code: "no_expression_here" },
    ],
    [
      "a key that is not declared",
      { state, steps, commit: { last_idd: 1 } },
      { path: "commit.last_idd", code: "unknown_key", did_you_mean: "last_id" },
    ],
    [
      "a commit without state",
      { steps, commit: { last_id: 1 } },
      { path: "commit", code: "not_allowed", fix: "Add state: { last_id: { type: …, default: … } }." },
    ],
    [
      "a constant of the wrong type",
      { state, steps, commit: { last_id: "seven" } },
      { path: "commit.last_id", code: "wrong_type" },
    ],
    [
      "an expression of the wrong type",
      { state, steps, commit: { last_id: "${{ steps.a.text }}" } },
      { path: "commit.last_id", code: "wrong_type" },
    ],
    [
      "an expression that is null or of the wrong type",
      {
        state,
        steps: [set("a", { text: "five" }, { if: "state.last_id > 0" })],
        commit: { last_id: "${{ steps.a.text }}" },
      },
      { path: "commit.last_id", code: "wrong_type" },
    ],
    [
      "null for a key that does not accept it",
      { state, steps, commit: { last_id: "${{ null }}" } },
      { path: "commit.last_id", code: "wrong_type" },
    ],
    [
      "a step that does not exist",
      { state, steps, commit: { last_id: "${{ steps.b.id }}" } },
      { path: "commit.last_id", code: "unknown_step" },
    ],
    [
      "a field that is not declared",
      { state, steps: [set("a", { x: "${{ state.lastid }}" })] },
      { path: "steps[0].values.x", code: "unknown_field", did_you_mean: "last_id" },
    ],
    [
      "state without a declaration",
      { steps: [set("a", { x: "${{ state.last_id }}" })] },
      {
        path: "steps[0].values.x",
        code: "unknown_name",
        fix: expect.stringContaining("Declare it") as string,
      },
    ],
    [
      "state in the inputs of a schedule",
      {
        inputs: { type: "object", properties: { n: { type: "integer" } } },
        state,
        steps,
        schedule: { cron: "0 8 * * *", inputs: { n: "${{ state.last_id }}" } },
      },
      { path: "schedule.inputs.n", code: "unknown_name" },
    ],
    [
      "an operand of the wrong type",
      { state, steps: [set("a", { x: "${{ state.names * 2 }}" })] },
      { path: "steps[0].values.x", code: "wrong_type" },
    ],
  ])("report %s", async (_, definition, expected) => {
    const issue = await issueOf(definition);
    expect(issue).toMatchObject(expected);
    expect(issue.path + issue.message).not.toContain("undefined");
  });

  it("warn where a committed value may be null", async () => {
    const skippable = [set("a", { id: 5 }, { if: "size(run.id) > 3" })];
    const check = async (commit: string, declared: object = state) =>
      defaultChecker.check(
        { state: declared, steps: skippable, commit: { last_id: commit } },
        { checkConnections: true },
      );
    const { valid, warnings } = await check("${{ steps.a.id }}");
    expect({ valid, warnings }).toMatchObject({
      valid: true,
      warnings: [{ path: "commit.last_id", code: "maybe_null" }],
    });
    expect((await check("${{ steps.a.id ?? state.last_id }}")).warnings).toEqual([]);
    const nullable = { last_id: { type: ["integer", "null"], default: null } };
    expect((await check("${{ steps.a.id }}", nullable)).warnings).toEqual([]);
  });

  it("report all issues at once", async () => {
    expect(
      await issuesOf({
        state: { a: { type: "integer" }, b: { type: "integer", default: 0 } },
        steps,
        commit: { b: true, c: 1, a: "${{ steps.zz.x }}" },
      }),
    ).toEqual([
      "state.a.default missing",
      "commit.b wrong_type",
      "commit.c unknown_key",
      "commit.a unknown_step",
    ]);
  });

  it("are evaluated in a preview with the defaults", async () => {
    const { preview } = await defaultChecker.check(
      { state, steps: [set("a", { x: "${{ state.last_id + 1 }}" })] },
      { checkConnections: false, inputs: {}, mocks: {} },
    );
    expect(preview?.steps["a"]).toEqual({ values: { x: 1 } });
  });
});

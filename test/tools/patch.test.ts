import { describe, expect, it } from "vitest";
import { AppError } from "../../src/core/errors.ts";
import { parseInput } from "../../src/core/issues.ts";
import { applyPatch, Patch } from "../../tools/workflows/patch.ts";

const BASE = {
  inputs: { type: "object" },
  steps: [
    { id: "a", type: "sql", query: "select steps.a from steps" },
    { id: "b", type: "set", needs: ["a"], values: { n: "${{ steps.a.rows[0].n + steps['a'].row_count }}" } },
    { id: "check", type: "assert", that: "steps.a.row_count > 0 && steps.ab2.a == 1" },
  ],
  output: "${{ steps.a.rows }}",
};

const apply = (...operations: Record<string, unknown>[]) => applyPatch(BASE, Patch.parse(operations));
const ids = (definition: Record<string, unknown>) =>
  (definition["steps"] as { id: string }[]).map(({ id }) => id);
const issuesOf = (...operations: Record<string, unknown>[]) => refusalOf(() => apply(...operations));
function refusalOf(work: () => unknown) {
  try {
    work();
  } catch (error) {
    if (error instanceof AppError) return error.details.errors!;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("a patch", () => {
  it("adds steps last, after or before another, and moves them", () => {
    const step = { id: "new", type: "set" };
    expect(ids(apply({ op: "add_step", step }))).toEqual(["a", "b", "check", "new"]);
    expect(ids(apply({ op: "add_step", step, after: "a" }))).toEqual(["a", "new", "b", "check"]);
    expect(ids(apply({ op: "add_step", step, before: "a" }))).toEqual(["new", "a", "b", "check"]);
    expect(ids(apply({ op: "move_step", id: "check", before: "a" }))).toEqual(["check", "a", "b"]);
    expect(ids(apply({ op: "move_step", id: "a", after: "check" }))).toEqual(["b", "check", "a"]);
    expect(ids(apply({ op: "remove_step", id: "b" }))).toEqual(["a", "check"]);
  });

  it("sets and removes fields of a step and at the top level, and changes nothing else", () => {
    const changed = apply(
      { op: "update_step", id: "b", set: { if: "true" }, unset: ["needs"] },
      { op: "update_top", set: { timeout: "1h" }, unset: ["inputs"] },
    );
    const [a, b, ab] = BASE.steps;
    expect(changed).toEqual({
      steps: [a, { id: "b", type: "set", values: b!.values, if: "true" }, ab],
      output: BASE.output,
      timeout: "1h",
    });
    expect(BASE.steps[1]).toHaveProperty("needs");
  });

  it("renames a step in expressions and needs, but not in queries and longer names", () => {
    expect(apply({ op: "rename_step", id: "a", to: "rows" })).toEqual({
      ...BASE,
      steps: [
        { ...BASE.steps[0], id: "rows" },
        {
          ...BASE.steps[1],
          needs: ["rows"],
          values: { n: "${{ steps.rows.rows[0].n + steps.rows.row_count }}" },
        },
        { ...BASE.steps[2], that: "steps.rows.row_count > 0 && steps.ab2.a == 1" },
      ],
      output: "${{ steps.rows.rows }}",
    });
  });

  it("creates a definition if there is none", () => {
    const patch = Patch.parse([{ op: "add_step", step: { id: "a", type: "set" } }]);
    expect(applyPatch(null, patch)).toEqual({ steps: [{ id: "a", type: "set" }] });
  });

  it("is refused as a whole, with the issues of all operations and near matches", () => {
    expect(
      issuesOf(
        { op: "update_step", id: "chek", set: { if: "true" } },
        { op: "add_step", step: { id: "a" } },
        { op: "add_step", step: { type: "set" } },
        { op: "move_step", id: "a" },
        { op: "remove_step", id: "a", set: {} },
        { op: "update_step", id: "b", unset: ["need"] },
        { op: "update_step", id: "b", set: { id: "c" } },
        { op: "update_top", set: { steps: [] } },
        { op: "rename_step", id: "b" },
        { op: "move_step", id: "b", after: "x", before: "a" },
      ),
    ).toMatchObject([
      {
        path: "patch[0].id",
        code: "unknown_step",
        allowed: ["a", "b", "check"],
        did_you_mean: "check",
      },
      { path: "patch[1].step.id", code: "duplicate" },
      { path: "patch[2].step.id", code: "missing" },
      { path: "patch[3].after", code: "missing" },
      { path: "patch[4].set", code: "not_allowed", allowed: ["op", "id"] },
      { path: "patch[5].unset[0]", code: "unknown_key", did_you_mean: "needs" },
      { path: "patch[6].set.id", code: "not_allowed", fix: expect.stringContaining("rename_step") },
      { path: "patch[7].set.steps", code: "not_allowed" },
      { path: "patch[8].to", code: "missing" },
      { path: "patch[9].before", code: "not_allowed" },
    ]);
  });

  it.each([null, "add_step", { op: "add_step" }, 7])("refuses what is no list of operations: %j", (sent) => {
    expect(refusalOf(() => parseInput(Patch, sent))).toMatchObject([{ path: "", code: "wrong_type" }]);
  });

  it("names the fields of all operations where the schema refuses one of them", () => {
    const sent = [
      { op: "foo" },
      { op: "add_step" },
      { op: "update_step", id: "a", unset: "x", to: "b" },
      { id: "a" },
      "remove_step",
      { op: "__proto__" },
      { op: "move_step", id: "a", after: "b", before: "b", extra: 1 },
      { op: "remove_step", id: "a" },
    ];
    expect(refusalOf(() => parseInput(Patch, sent))).toMatchObject([
      { path: "[6].extra", code: "unknown_key" },
      { path: "[0].op", code: "not_allowed" },
      { path: "[2].unset", code: "wrong_type" },
      { path: "[3].op", code: "missing" },
      { path: "[4]", code: "wrong_type" },
      { path: "[5].op", code: "not_allowed" },
      { path: "[1].step", code: "missing", message: "is missing: add_step needs it" },
      { path: "[2].to", code: "not_allowed", allowed: ["op", "id", "set", "unset"] },
      { path: "[6].before", code: "not_allowed", fix: "Send one of them." },
    ]);
  });
});

import { describe, expect, it } from "vitest";
import { set, defaultChecker } from "./test-checker.ts";

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

import { describe, expect, it } from "vitest";
import { runToEnd, testEngine } from "../../support/engine.ts";

async function failureOf(that: string, values: object, secret?: string) {
  const engine = await testEngine(
    secret === undefined
      ? {}
      : {
          config: { secrets: [{ name: "hook", key_var: "HOOK", hosts: ["127.0.0.1"] }] },
          env: { HOOK: secret },
        },
  );
  const { error, id } = await runToEnd(engine, {
    steps: [
      { id: "a", type: "set", values },
      { id: "check", type: "assert", that, message: "No." },
    ],
  });
  const [attempt] = await engine.read.runs.lastAttempts({ runId: id, stepId: "check", item: null }, 1);
  return { error, attempt };
}

describe("a failed assert", () => {
  it("records its expression, and what each operand of it is, with the attempt and the run", async () => {
    const { error, attempt } = await failureOf("${{ steps.a.rows.size() > 2 && steps.a.name == 'x' }}", {
      rows: [1, 2],
      name: "y",
    });
    expect(error).toMatchObject({ code: "assert_failed", message: "No." });
    expect(error?.details).toEqual({
      expression: "steps.a.rows.size() > 2 && steps.a.name == 'x'",
      operands: [
        { expression: "steps.a.rows.size()", value: 2 },
        { expression: "steps.a.name", value: "y" },
      ],
    });
    expect(attempt?.error?.details).toEqual(error?.details);
  });

  it("names the items for which a condition on all of them is false", async () => {
    const { error } = await failureOf("steps.a.rows.all(r, r.n > 0)", { rows: [{ n: 1 }, { n: -1 }] });
    expect(error?.details).toMatchObject({
      operands: [{ expression: "steps.a.rows.filter(r, !(r.n > 0))", value: [{ n: -1 }] }],
    });
  });

  it("shows the result of arithmetic and its parts, and why an operand has no value", async () => {
    const { error } = await failureOf("steps.a.x + steps.a.y == 4 || steps.a.list[5] == 1", {
      x: 1,
      y: 2,
      list: [],
    });
    // The missing item makes the condition fail with another error, where nothing decides it.
    expect(error?.code).toBe("expression_failed");
    const and = await failureOf("steps.a.x + steps.a.y == 4 && steps.a.list[5] == 1", {
      x: 1,
      y: 2,
      list: [],
    });
    expect(and.error?.details).toMatchObject({
      operands: [
        { expression: "steps.a.x + steps.a.y", value: 3 },
        { expression: "steps.a.x", value: 1 },
        { expression: "steps.a.y", value: 2 },
        { expression: "steps.a.list[5]", error: expect.stringContaining("list[5]") as unknown },
      ],
    });
  });

  it("marks long values as cut with their size, and counts the operands that it leaves out", async () => {
    const { error } = await failureOf("steps.a.text == ''", { text: "x".repeat(5_000) });
    expect(error?.details).toMatchObject({
      operands: [{ truncated: { chars: 5_002, preview: `"${"x".repeat(399)}` } }],
    });
    const many = Array.from({ length: 12 }, (_, index) => `steps.a.v${index} == 1`).join(" && ");
    const values = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`v${index}`, 0]));
    const { error: short } = await failureOf(many, values);
    expect(short?.details).toMatchObject({ more_operands: 2 });
    expect(short?.details?.["operands"]).toHaveLength(10);
  });

  it("masks secrets before it cuts a value", async () => {
    const secret = "hook-s3cret-value";
    const { error } = await failureOf(
      "steps.a.text == ''",
      { text: `${"x".repeat(390)}${secret}${"y".repeat(200)}` },
      secret,
    );
    expect(JSON.stringify(error?.details)).toContain("***");
    expect(JSON.stringify(error?.details)).not.toContain("hook");
  });

  it("records nothing for a condition that reads nothing", async () => {
    expect((await failureOf("1 == 2", {})).error?.details).toBeUndefined();
  });
});

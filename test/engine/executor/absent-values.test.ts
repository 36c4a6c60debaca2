import { describe, expect, it } from "vitest";
import { describeMismatch } from "../../support/shapes.ts";
import { runToEnd, testEngine } from "../../support/engine.ts";

const optional = { type: "object", properties: { a: { type: "string" }, n: { type: "number", default: 3 } } };

/** Runs a definition, and compares its output with the shape that the checker claims. */
async function outputOf(
  definition: Record<string, unknown>,
  request: Parameters<typeof runToEnd>[2] = {},
): Promise<unknown> {
  const harness = await testEngine();
  const { signal } = new AbortController();
  const report = await harness.engine.checkInline(definition, { checkConnections: false, signal });
  const { status, error, output } = await runToEnd(harness, definition, request);
  expect({ status, error }).toEqual({ status: "succeeded", error: null });
  expect(describeMismatch(report.output_shape, output)).toBeUndefined();
  return output;
}

describe("a declared field that is absent", () => {
  it.each([
    [{}, { a: null, n: 3, text: "none" }],
    [
      { a: null, n: null },
      { a: null, n: 3, text: "none" },
    ],
    [
      { a: "x", n: 1 },
      { a: "x", n: 1, text: "x" },
    ],
  ])("of the inputs is null, or its default: %j", async (inputs, expected) => {
    const output = await outputOf(
      {
        inputs: optional,
        steps: [{ id: "a", type: "set", values: { x: 1 } }],
        output: {
          a: "${{ inputs.a }}",
          n: "${{ inputs.n }}",
          text: "${{ inputs.a == null ? 'none' : inputs.a }}",
        },
      },
      { inputs },
    );
    expect(output).toEqual(expected);
  });

  it("of an error is null", async () => {
    const fails = { type: "assert", that: false, message: "No.", on_error: "continue" };
    const output = await outputOf({
      steps: [
        { id: "a", ...fails },
        { id: "b", ...fails, for_each: "[1]" },
        { id: "c", ...fails, needs: [], that: "[1][size(run.id)] == 1" },
      ],
      output: {
        a: "${{ [steps.a.error.fix, steps.a.error.item, steps.a.error.details] }}",
        b: "${{ [steps.b.items[0].error.fix, steps.b.items[0].error.step_id] }}",
        c: "${{ steps.c.error.step_id }}",
      },
    });
    expect(output).toEqual({ a: [null, null, null], b: [null, "b"], c: "c" });
  });

  it("of a skipped step is null, also in the output of a run without output", async () => {
    const values = { x: 1 };
    expect(await outputOf({ steps: [{ id: "a", type: "set", if: "false", values }] })).toEqual({ x: null });
    expect(await outputOf({ steps: [{ id: "a", type: "set", for_each: "[1]", values }] })).toEqual({
      items: [expect.objectContaining({ x: 1 })],
    });
    expect(
      await outputOf({ steps: [{ id: "a", type: "set", if: "false", for_each: "[1]", values }] }),
    ).toEqual({
      items: null,
    });
  });

  it("of a skipped step is null when one expression computes its values", async () => {
    const output = await outputOf(
      {
        inputs: { type: "object", properties: { o: { type: "object" } }, required: ["o"] },
        steps: [
          { id: "a", type: "set", if: "false", values: "${{ inputs.o }}" },
          { id: "b", type: "set", if: "false", values: "${{ {'x': 1} }}" },
        ],
        output: "${{ [steps.a.x, steps.b.x, steps.a.status] }}",
      },
      { inputs: { o: { x: 1 } } },
    );
    expect(output).toEqual([null, null, "skipped"]);
  });
});

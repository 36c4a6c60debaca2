import { describe, expect, it } from "vitest";
import { conditionDetails } from "../../../src/web/runs/condition-details.ts";

const error = (details: Record<string, unknown> | undefined) => ({
  code: "assert_failed",
  message: "No.",
  ...(details !== undefined && { details }),
});

describe("the condition of a failed step", () => {
  it("has its expression, and each operand with its value, the start of it, or why it has none", () => {
    const read = conditionDetails(
      error({
        expression: "a > 1",
        operands: [
          { expression: "a", value: null },
          { expression: "b", truncated: { chars: 5_000, preview: '"xx' } },
          { expression: "c", error: "reads an item that is not there" },
        ],
        more_operands: 2,
      }),
    );
    expect(read).toEqual({
      expression: "a > 1",
      operands: [
        { expression: "a", text: "null" },
        { expression: "b", text: '"xx', chars: 5_000 },
        { expression: "c", text: "reads an item that is not there", failed: true },
      ],
      more: 2,
    });
  });

  it("is not found in other errors, nor in shortened details", () => {
    for (const details of [undefined, { status: 503 }, { preview: '{"expression":"a…' }, { expression: "a" }])
      expect(conditionDetails(error(details))).toBeUndefined();
  });
});

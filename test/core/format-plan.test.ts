import { describe, expect, it } from "vitest";
import { formatPlan } from "../../src/core/format-plan.ts";

describe("formatPlan", () => {
  it("says of a hidden run that waits that it is hidden, and not that it is a single step", () => {
    const hidden = { workflow_id: null, version: null, role: "parent", foreign: true, steps: [] } as const;
    expect(formatPlan("apr_1", [{ ...hidden, steps: [] }])).toBe(
      "After the decision these can run:\n" +
        "A workflow that you can't see (hidden; the rest of a run that waits for it):",
    );
  });
});

import { describe, expect, it } from "vitest";
import type { RunStep } from "../../../schemas/run.ts";
import { diffSteps, previewRetry } from "../../../src/web/runs/step-diff.ts";

const before = {
  steps: [
    { id: "a", type: "set", values: { x: 1, y: 2 } },
    { id: "b", type: "set" },
    { id: "c", type: "set" },
  ],
};
const after = {
  steps: [
    { type: "set", id: "a", values: { y: 2, x: 1 } },
    { id: "b", type: "sql" },
    { id: "d", type: "set" },
    7,
  ],
};

const state = (id: string, status: RunStep["status"]): RunStep => ({
  id,
  type: "set",
  status,
  attempts: 1,
  started_at: null,
  finished_at: null,
  error: null,
});

describe("a changed definition", () => {
  it("is compared by step id, regardless of the order of keys", () => {
    expect(diffSteps(before, after)).toEqual({ changed: ["b"], added: ["d"], removed: ["c"] });
    expect(diffSteps(before, {})).toMatchObject({ removed: ["a", "b", "c"] });
  });

  it("is previewed with unfinished steps and reusable outputs", () => {
    const sentences = previewRetry({ changed: ["b"], added: [], removed: [] }, [
      state("a", "succeeded"),
      state("b", "failed"),
      state("c", "cancelled"),
    ]);
    expect(sentences[0]).toBe("Changed, will run again: b.");
    expect(sentences[1]).toBe("Not succeeded, will run: c.");
    expect(sentences[2]).toBe("1 other step succeeded. Outputs are reused where the inputs are unchanged.");
    expect(sentences).toHaveLength(3);
  });
});

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

const withItems = (step: RunStep, done: number, failed: number, max?: number): RunStep => ({
  ...step,
  items: { total: 40, done, failed, ...(max !== undefined && { max }) },
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

  it("is previewed with the items of fan-outs that have succeeded", () => {
    const sentences = previewRetry({ changed: [], added: [], removed: [] }, [
      withItems(state("a", "failed"), 18, 1),
      withItems(state("b", "succeeded"), 40, 4),
      withItems(state("c", "failed"), 40, 1, 50),
      withItems(state("d", "succeeded"), 40, 0),
    ]);
    expect(sentences).toEqual([
      "Not succeeded, will run: a (17 of 40 items succeeded), b (36 of 40 items succeeded), c.",
      "1 other step succeeded. Outputs are reused where the inputs are unchanged.",
    ]);
  });
});

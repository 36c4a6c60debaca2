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

describe("what a changed definition changes", () => {
  it("is told by step id; the order of keys is no change", () => {
    expect(diffSteps(before, after)).toEqual({ changed: ["b"], added: ["d"], removed: ["c"] });
    expect(diffSteps(before, {})).toMatchObject({ removed: ["a", "b", "c"] });
  });

  it("is told with what had not succeeded and what may be taken over", () => {
    const said = previewRetry({ changed: ["b"], added: [], removed: [] }, [
      state("a", "succeeded"),
      state("b", "failed"),
      state("c", "cancelled"),
    ]);
    expect(said[0]).toBe("Changed, so they run again: b.");
    expect(said[1]).toBe("Had not succeeded, so they run: c.");
    expect(said[2]).toMatch(/^1 other step had succeeded/);
    expect(said).toHaveLength(3);
  });
});

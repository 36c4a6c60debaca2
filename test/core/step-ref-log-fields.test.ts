import { describe, expect, it } from "vitest";
import { stepRefLogFields } from "../../src/core/step-ref-log-fields.ts";

describe("stepRefLogFields", () => {
  it("contains the run, its step and its item, and leaves out what is missing", () => {
    const run = { runId: "run_1", stepId: "", item: null };
    expect(stepRefLogFields(run)).toEqual({ run_id: "run_1" });
    expect(stepRefLogFields({ ...run, stepId: "query" })).toEqual({ run_id: "run_1", step_id: "query" });
    expect(stepRefLogFields({ ...run, stepId: "query", item: 0 })).toEqual({
      run_id: "run_1",
      step_id: "query",
      item: 0,
    });
  });
});

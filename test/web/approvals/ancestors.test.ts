import { describe, expect, it } from "vitest";
import { ancestorIds } from "../../../src/web/approvals/ancestors.ts";
import { graphSteps } from "../../../src/web/graph/steps.ts";

const steps = graphSteps({
  steps: [
    { id: "a", type: "set" },
    { id: "b", type: "set", needs: [] },
    { id: "c", type: "set", needs: ["a"] },
    { id: "ask", type: "approval", needs: ["c", "b"] },
    { id: "after", type: "set" },
  ],
});

describe("what a step builds on", () => {
  it("is all that it waits for, however far back, in the order of the definition", () => {
    expect(ancestorIds(steps, "ask")).toEqual(["a", "b", "c"]);
    expect(ancestorIds(steps, "b")).toEqual([]);
    expect(ancestorIds(steps, "gone")).toEqual([]);
  });

  it("ends where steps wait for each other", () => {
    const round = [
      { id: "a", type: "set", needs: ["b"] },
      { id: "b", type: "set", needs: ["a"] },
    ];
    expect(ancestorIds(round, "a")).toEqual(["a", "b"]);
  });
});

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

describe("the ancestors of a step", () => {
  it("are all direct and transitive dependencies, in the order of the definition", () => {
    expect(ancestorIds(steps, "ask")).toEqual(["a", "b", "c"]);
    expect(ancestorIds(steps, "b")).toEqual([]);
    expect(ancestorIds(steps, "gone")).toEqual([]);
  });

  it("terminates on circular dependencies", () => {
    const circular = [
      { id: "a", type: "set", needs: ["b"] },
      { id: "b", type: "set", needs: ["a"] },
    ];
    expect(ancestorIds(circular, "a")).toEqual(["a", "b"]);
  });
});

import { describe, expect, it } from "vitest";
import { reusableSteps, stepTexts } from "../../../src/web/trials/reusable-steps.ts";

const step = (id: string, more: object = {}) => ({ id, type: "set", values: {}, ...more });
const STEPS = [
  step("a"),
  step("b"),
  step("c", { needs: ["a"] }),
  step("d", { needs: ["b", "c"] }),
  step("e"),
];

/** The steps whose outputs are reused to test "d", after the draft was changed. */
function reused({ steps = STEPS, inputs = {}, succeeded = ["a", "b", "c", "d"] } = {}): string[] {
  return reusableSteps({
    before: stepTexts({ steps: STEPS }, { n: 1 }),
    now: stepTexts({ steps }, { n: 1, ...inputs }),
    succeeded,
    stepId: "d",
  });
}

describe("the outputs of the last test", () => {
  it("stand in for the steps before the tested one", () => {
    expect(reused()).toEqual(["a", "b", "c"]);
    expect(reused({ succeeded: ["a", "c"] })).toEqual(["a", "c"]);
  });

  it("do not for changed steps, nor for those after them, nor after a change of the order or the inputs", () => {
    expect(reused({ steps: STEPS.with(1, step("b", { values: { x: 1 } })) })).toEqual(["a", "c"]);
    expect(reused({ steps: STEPS.with(0, step("a", { if: "true" })) })).toEqual([]);
    expect(reused({ steps: [step("new"), ...STEPS] })).toEqual([]);
    expect(reused({ inputs: { n: 2 } })).toEqual([]);
  });

  it("are not reused in a circle of steps", () => {
    const circle = [step("c", { needs: ["d"] }), step("d", { needs: ["c"] })];
    const texts = stepTexts({ steps: circle }, {});
    expect(reusableSteps({ before: texts, now: texts, succeeded: ["c"], stepId: "d" })).toEqual([]);
  });
});

/** Backtests of generated workflows, compared with runs of the changed workflow that really happen. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { changesOf } from "../../support/backtests/changes.ts";
import { backtestJudge, type Case } from "../../support/backtests/judge.ts";
import { runInputs, type Step, type Workflow, workflows } from "../../support/backtests/workflows.ts";
import { caseCount, HAS_FIXED_CASES, printOfRandomCases, testSeed } from "../../support/random.ts";

const cases: fc.Arbitrary<Case> = workflows.chain((workflow) =>
  fc.record({
    workflow: fc.constant(workflow),
    change: changesOf(workflow),
    inputs: runInputs,
    order: fc.oneof(fc.constantFrom("by step" as const, "failures last" as const), fc.nat()),
  }),
);

/**
 * The share of the runs that a change does not affect which may be found not comparable, and the least share of the cases in which
 * one makes a difference. In random cases both are chance.
 */
const [MAX_NOT_COMPARABLE, MIN_DIFFERENT] = HAS_FIXED_CASES ? [0.05, 0.25] : [1, 0];

const FAN_OUT: Step = {
  id: "s0",
  kind: "probe",
  from: "own",
  status: false,
  if: null,
  loop: { kind: "each", list: [3, 0], reversed: false, concurrency: 1 },
  continues: false,
  factor: 1,
  constant: 0,
  operator: "==",
  extra: "none",
};

/** The peer refuses 3, so that 0 is left out. */
const stopped = (list: number[]): Workflow => ({
  steps: [{ ...FAN_OUT, loop: { ...FAN_OUT.loop, list } as Step["loop"] }],
  output: null,
});

describe("the truth about a backtest", () => {
  it("is unknown where a fan-out failed before all of its items had run", async () => {
    const { judge, counts } = await backtestJudge();
    const inputs = [{ n: 0, list: [] }];
    const change = { kind: "items", workflow: stopped([0, 3]) };
    await judge({ workflow: stopped([3, 0]), change, inputs, order: "by step" });
    expect(Object.keys(counts)).toEqual(["cases", expect.stringMatching(/^unknown: /)]);
  });
});

describe("a backtest of any workflow", () => {
  it("finds every run equal without a change, and with one those that it does not affect", async () => {
    const numRuns = caseCount(30, 1_000);
    const seed = testSeed(`${numRuns} backtests`);
    const { judge, counts } = await backtestJudge();
    await fc.assert(fc.asyncProperty(cases, judge), { numRuns, seed });
    printOfRandomCases(JSON.stringify(counts));
    const sum = (start: string): number =>
      Object.entries(counts).reduce(
        (total, [name, count]) => total + (name.startsWith(start) ? count : 0),
        0,
      );
    expect(counts["cases"]).toBe(numRuns);
    expect(sum("different: ")).toBeGreaterThanOrEqual(MIN_DIFFERENT * numRuns);
    expect(sum("same: not_comparable")).toBeLessThanOrEqual(MAX_NOT_COMPARABLE * sum("same: "));
  });
});

/** Backtests of generated workflows, compared with runs of the changed workflow that really happen. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { changesOf } from "../../support/backtests/changes.ts";
import { backtestJudge, type Case } from "../../support/backtests/judge.ts";
import { runInputs, workflows } from "../../support/backtests/workflows.ts";
import { caseCount, testSeed } from "../../support/random.ts";

const cases: fc.Arbitrary<Case> = workflows.chain((workflow) =>
  fc.record({
    workflow: fc.constant(workflow),
    change: changesOf(workflow),
    inputs: runInputs,
    pace: fc.constantFrom("at once" as const, "mixed" as const, "failures last" as const),
  }),
);

/** The share of the runs that a change does not affect which may be found not comparable. */
const MAX_SHARE = 0.05;

describe("a backtest of any workflow", () => {
  it("finds every run equal without a change, and with one those that it does not affect", async () => {
    const numRuns = caseCount(30, 1_000);
    const seed = testSeed(`${numRuns} backtests`);
    const { judge, counts } = await backtestJudge();
    await fc.assert(fc.asyncProperty(cases, judge), { numRuns, seed });
    process.stdout.write(`${JSON.stringify(counts)}\n`);
    const sum = (start: string): number =>
      Object.entries(counts).reduce(
        (total, [name, count]) => total + (name.startsWith(start) ? count : 0),
        0,
      );
    expect(counts["cases"]).toBe(numRuns);
    expect(sum("different: ")).toBeGreaterThan(numRuns / 4);
    expect(sum("same: not_comparable")).toBeLessThanOrEqual(MAX_SHARE * sum("same: "));
  });
});

/** What a backtest says of runs whose first steps and failures depend on time. */
import { describe, expect, it } from "vitest";
import { StepError } from "../../../src/core/step-errors.ts";
import { runBacktest } from "../../support/backtests/run-backtest.ts";
import { testEngine } from "../../support/engine.ts";

/** Runs a definition once, and backtests another one with that run. @returns what it found */
async function backtestOf(
  steps: readonly object[],
  { changed = steps, slots = 8 }: { changed?: readonly object[]; slots?: number } = {},
) {
  const harness = await testEngine({ slots });
  harness.onProbe((ask) => {
    if (ask === "fail") throw new StepError("step_failed", "It fails.", { transient: false });
    return ask;
  });
  const workflowId = await harness.define({ steps });
  const queue = await harness.executor();
  const run = await harness.start(workflowId);
  // It waits for an executor.
  harness.clock.advance(5_000);
  queue.wake();
  await queue.waitUntilIdle();
  const [found] = await runBacktest(harness, queue, {
    workflowId,
    definition: { steps: changed },
    runs: [run],
  });
  return found!;
}

const probe = (id: string, ask: unknown, more: object = {}) => ({ id, type: "probe", ask, ...more });

/** Counts the items of a list that fail. */
const failures = (list: string) => [
  probe("a", "${{ item }}", { for_each: list, on_error: "continue", concurrency: 1 }),
  {
    id: "b",
    type: "set",
    values: { count: "${{ steps.a.items.filter(i, i.status == 'failed').size() }}" },
  },
];

describe("a backtest", () => {
  it("shows each step the same run.started_at as the run of the past, which was created before it started", async () => {
    const at = "${{ run.started_at }}";
    const found = await backtestOf([probe("a", at), probe("b", at), probe("c", at, { needs: [] })]);
    expect(found).toMatchObject({ result: "equal" });
  });

  it("does not compare a run that failed before it came to an effect that is new", async () => {
    const steps = [probe("a", "fail")];
    const found = await backtestOf(steps, { changed: [...steps, probe("b", 1, { needs: [] })], slots: 1 });
    expect(found).toMatchObject({ result: "not_comparable", details: { difference: { reason: "stopped" } } });
  });

  it("does not compare a run that failed before it came to an effect that is gone", async () => {
    const steps = [probe("a", "fail")];
    const found = await backtestOf([...steps, probe("b", 1, { needs: [] })], { changed: steps, slots: 1 });
    expect(found).toMatchObject({ result: "not_comparable", details: { difference: { reason: "stopped" } } });
  });

  it("compares a failed run although steps after the failure have changed", async () => {
    const found = await backtestOf([probe("a", "fail"), probe("b", 1)], {
      changed: [probe("a", "fail"), probe("b", 2)],
    });
    expect(found).toMatchObject({ result: "equal" });
  });

  it("finds an item that failed where the list has another order now", async () => {
    const found = await backtestOf(failures("['fail', 1, 2]"), { changed: failures("[2, 1, 'fail']") });
    expect(found).toMatchObject({ result: "equal" });
  });

  it("counts a further item that fails like the others", async () => {
    const found = await backtestOf(failures("['fail']"), { changed: failures("['fail', 'fail']") });
    expect(found).toMatchObject({
      result: "different",
      details: { effects: [{ step: "a", unchanged: 1, changed: 0, added: 1, removed: 0 }] },
    });
  });
});

/** What a backtest says of runs whose first steps and failures depend on time. */
import { describe, expect, it } from "vitest";
import { StepError } from "../../../src/core/step-errors.ts";
import { backtester } from "../../../src/engine/executor/backtests/backtester.ts";
import { compareValues } from "../../../src/engine/executor/backtests/show-differences.ts";
import { runBacktest } from "../../support/backtests/run-backtest.ts";
import { fakeClock } from "../../support/clock.ts";
import { testEngine } from "../../support/engine.ts";

interface Options {
  changed?: readonly object[];
  slots?: number;
  /** Further fields of both definitions. */
  fields?: object;
}

/** Runs a definition once, and backtests another one with that run. @returns what it found */
async function backtestOf(
  steps: readonly object[],
  { changed = steps, slots = 8, fields = {} }: Options = {},
) {
  const harness = await testEngine({ slots });
  harness.onProbe((ask) => {
    if (ask === "fail") throw new StepError("step_failed", "It fails.", { transient: false });
    return ask;
  });
  const workflowId = await harness.define({ ...fields, steps });
  const queue = await harness.executor();
  const run = await harness.start(workflowId);
  // It waits for an executor.
  harness.clock.advance(5_000);
  queue.wake();
  await queue.waitUntilIdle();
  const [found] = await runBacktest(harness, queue, {
    workflowId,
    definition: { ...fields, steps: changed },
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

const bookings = (at: string) => [
  { id: "calc", type: "set", values: { at } },
  { ...probe("book", 1), undo: { type: "probe", ask: "${{ steps.calc.at }}" } },
  probe("charge", "fail"),
];

const checks = (that: string) => [
  { id: "check", type: "assert", that },
  { id: "pause", type: "wait", for: "1h", needs: [] },
  probe("late", { n: 1 }, { needs: ["pause"] }),
];

const longList = (last: unknown) => [
  {
    id: "a",
    type: "set",
    values: { list: "${{ range(900).map(n, 'item ' + string(n)) + [" + last + "] }}" },
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

  it.each(["no longer follow it", "follow it now"])(
    "does not compare a run that failed where unchanged steps after the failure %s",
    async (change) => {
      const calc = { id: "calc", type: "set", values: { x: 1 } };
      const following = [probe("a", "fail"), calc, probe("b", 1)];
      const beside = [probe("a", "fail"), { ...calc, needs: [] }, probe("b", 1)];
      const [steps, changed] = change === "follow it now" ? [beside, following] : [following, beside];
      const found = await backtestOf(steps, { changed, slots: 1 });
      expect(found).toMatchObject({
        result: "not_comparable",
        details: { names: ["not_comparable.stopped"] },
      });
    },
  );

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

  it("compares runs that undid steps, and none whose undo is another one now", async () => {
    expect(await backtestOf(bookings("A"))).toMatchObject({ result: "equal" });
    const undone = { result: "not_comparable", details: { difference: { reason: "undo_changed" } } };
    expect(await backtestOf(bookings("A"), { changed: bookings("B") })).toMatchObject(undone);
    const other = { ...bookings("A")[1]!, undo: { type: "probe", ask: 2 } };
    expect(await backtestOf(bookings("A"), { changed: bookings("A").with(1, other) })).toMatchObject(undone);
  });

  it("finds runs equal whose undo failed", async () => {
    const steps = [{ ...probe("book", 1), undo: { type: "probe", ask: "fail" } }, probe("charge", "fail")];
    expect(await backtestOf(steps)).toMatchObject({ result: "equal" });
  });

  it("calls no draft failing that repairs a run which never came to its other steps", async () => {
    const fields = { output: "${{ steps.late.value.n }}" };
    expect(await backtestOf(checks("1 > 2"), { changed: checks("2 > 1"), fields })).toMatchObject({
      result: "not_comparable",
      details: { difference: { reason: "stopped" } },
    });
  });

  it("compares long commits, and outputs that differ late or in how a number is written", async () => {
    const fields = {
      state: { seen: { type: "array", default: [] } },
      commit: { seen: "${{ steps.a.list }}" },
      output: "${{ steps.a.list }}",
    };
    expect(await backtestOf(longList("'x'"), { fields })).toMatchObject({ result: "equal" });
    expect(await backtestOf(longList("'x'"), { changed: longList("'y'"), fields })).toMatchObject({
      result: "different",
      details: {
        difference: {
          differences: [
            {},
            { path: "output[900]", before: "x", after: "y" },
            { path: "committed.seen[900]" },
          ],
        },
      },
    });
  });
});

describe("compareValues", () => {
  it("has a difference wherever two values differ", () => {
    const zeros = Array.from({ length: 1_100_000 }, () => 0);
    expect(compareValues(["output"], zeros, zeros.with(zeros.length - 1, 1))).toMatchObject({
      shown: [{ path: "output" }],
      names: ["output"],
    });
    expect(compareValues(["output"], 1e16, "10000000000000000").shown).toEqual([
      { path: "output", before: 1e16, after: "10000000000000000" },
    ]);
    expect(compareValues(["output"], { a: 1, b: 2 }, { b: 2, a: 1 })).toEqual({ shown: [], names: [] });
  });

  it("names all that differs, without indexes, and shows the first ones", () => {
    const rows = [0, 1, 2, 3].map((n) => ({ n, kept: true, "a.b": n }));
    const changed = rows.map(({ n }) => ({ n: n + 1, kept: true, "a.b": n }));
    const { shown, names } = compareValues(["output"], { rows, note: "a" }, { rows: changed, note: "b" });
    expect(names).toEqual(["output.rows.n", "output.note"]);
    expect(shown.map(({ path }) => path)).toEqual([
      "output.rows[0].n",
      "output.rows[1].n",
      "output.rows[2].n",
    ]);
    const many = Array.from({ length: 1_000 }, (_, n) => ({ n, note: "a" }));
    const noted = many.map(({ n }) => ({ n, note: "b" }));
    expect(compareValues(["output"], many, noted).names).toEqual(["output.note"]);
    // A key with a dot has the name of what holds it.
    expect(compareValues(["output"], { "a.b": 1 }, { "a.b": 2 }).names).toEqual(["output"]);
  });
});

describe("backtester", () => {
  const backtest = { id: "bt_1", workflowId: "pay", status: "running", total: 1 };
  const readers = (counts: object) => ({
    running: async () => [backtest],
    open: async () => [],
    next: async () => undefined,
    resultCounts: async () => counts,
    runs: async () => [],
  });
  /** Polls once where no run is open, and none is left to start. @returns how many transactions there were */
  const transactionsOf = async (counts: object): Promise<number> => {
    let transactions = 0;
    const options = {
      context: { clock: fakeClock() },
      read: { backtests: readers(counts) },
      transaction: async () => {
        transactions += 1;
      },
    };
    await backtester(options as never).startRuns();
    return transactions;
  };

  it("ends no backtest while another executor has just started its last replay", async () => {
    expect(await transactionsOf({})).toBe(0);
    expect(await transactionsOf({ equal: 1 })).toBe(1);
  });
});

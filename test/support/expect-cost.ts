/**
 * Limits of processor time. The part `costs` of the long gate measures them; in the first gate the same tests only check what the
 * work results in, because a figure in milliseconds depends on what else the machine does.
 */
import { expect } from "vitest";
import { compileCel } from "../../src/engine/definition/expressions/index.ts";
import { startCpuTimer } from "./cpu-time.ts";

/** Whether this run measures. */
export const MEASURES_COSTS = process.env["TEST_COSTS"] === "1";

/** Counted work of an expression, and its time on the machine on which the limits were set, in milliseconds. */
const COMMON = { work: 10_000_000, ms: 100 };
const ADDITIONS = compileCel("inputs.l.exists(x, inputs.l.exists(y, x + y == -1))");
const SCOPE = {
  inputs: { l: Array.from({ length: 10_000 }, (_, index) => index) },
  run: {},
  steps: {},
  item: null,
};

/** Returns how many times the processor time of that machine this one needs now: 1 for a faster one. */
export function slowness(): number {
  const times = Array.from({ length: 3 }, () => {
    const cpuTime = startCpuTimer();
    expect(() => ADDITIONS.evaluate(SCOPE, COMMON.work)).toThrow(
      expect.objectContaining({ code: "expression_limit" }),
    );
    return cpuTime();
  });
  return Math.max(1, times.toSorted((a, b) => a - b)[1]! / COMMON.ms);
}

/** Maximum number of measurements. Other programs only add time, through the caches and the cores that they share. */
const MAX_MEASUREMENTS = 6;

/**
 * Runs work, and fails if this thread needs too much processor time for it each time.
 * @param limitMs in milliseconds of the machine on which the limits were set
 * @param work is repeated while it takes too long
 */
export async function expectCost(limitMs: number, work: () => unknown): Promise<void> {
  const times: number[] = [];
  do {
    const cpuTime = startCpuTimer();
    await work();
    if (!MEASURES_COSTS) return;
    times.push(cpuTime() / slowness());
  } while (times.at(-1)! >= limitMs && times.length < MAX_MEASUREMENTS);
  expect(Math.min(...times), "processor time in milliseconds").toBeLessThan(limitMs);
}

/** Starts to measure the processor time of this thread. @returns fails from `limitMs` on, where costs are measured */
export const startCost = (): ((limitMs: number) => void) => measured(startCpuTimer());

/** Starts to measure elapsed time. @returns fails from `limitMs` on, where costs are measured */
export function startTimer(): (limitMs: number) => void {
  const started = performance.now();
  return measured(() => performance.now() - started);
}

const measured =
  (readMs: () => number) =>
  (limitMs: number): void => {
    const ms = readMs();
    if (MEASURES_COSTS) expect(ms / slowness(), "milliseconds").toBeLessThan(limitMs);
  };

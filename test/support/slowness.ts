/** Compares this machine with the one on which the limits of processor time were set. */
import { expect } from "vitest";
import { compileCel } from "../../src/engine/definition/expressions/index.ts";
import { startCpuTimer } from "./cpu-time.ts";

/** What an expression with so much counted work takes there, in milliseconds. */
const COMMON = { work: 10_000_000, ms: 100 };
const ADDITIONS = compileCel("inputs.l.exists(x, inputs.l.exists(y, x + y == -1))");
const SCOPE = {
  inputs: { l: Array.from({ length: 10_000 }, (_, index) => index) },
  run: {},
  steps: {},
  item: null,
};

/** Returns how many times the processor time of a common machine this one needs now: 1 for a faster one. */
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

/** How often work is measured. Other programs only add time, through the caches and the cores that they share. */
const TRIES = 6;

/**
 * Measures the processor time of work as a common machine would need it, again while it takes longer than expected.
 * @param work may be repeated
 * @param expectedMs in milliseconds
 * @returns milliseconds
 */
export function commonTime(work: () => void, expectedMs: number): number {
  const times: number[] = [];
  do {
    const cpuTime = startCpuTimer();
    work();
    times.push(cpuTime() / slowness());
  } while (times.at(-1)! >= expectedMs && times.length < TRIES);
  return Math.min(...times);
}

/** Measures work as `commonTime` does, with what this thread does while the work waits. */
export async function commonTimeOfAsync(work: () => Promise<void>, expectedMs: number): Promise<number> {
  const times: number[] = [];
  do {
    const cpuTime = startCpuTimer();
    await work();
    times.push(cpuTime() / slowness());
  } while (times.at(-1)! >= expectedMs && times.length < TRIES);
  return Math.min(...times);
}

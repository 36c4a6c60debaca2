/** Reproducible random numbers: tests print the seed. */

/** Returns a generator of numbers from 0 to 1 that depend only on the seed. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The first gate repeats the same cases in each run, so that it decides on the change alone; the long gate draws new ones. */
export const IS_RANDOM = process.env["TEST_RANDOM"] === "1";

/** Returns MILLRACE_TEST_SEED, a new seed in the long gate, or a fixed one. Prints it, so that failures can be repeated. */
export function testSeed(test: string): number {
  const seed = Number(process.env["MILLRACE_TEST_SEED"] ?? (IS_RANDOM ? Date.now() % 1_000_000 : 1));
  console.log(`${test}: MILLRACE_TEST_SEED=${seed}`);
  return seed;
}

/** Returns the number of cases of a test in the first gate and in the long one; MILLRACE_TEST_CASES overrides both. */
export const caseCount = (first: number, long: number): number =>
  Number(process.env["MILLRACE_TEST_CASES"] ?? (IS_RANDOM ? long : first));

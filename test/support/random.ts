/** Reproducible random numbers: tests print the seed, unless it is fixed. */

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

const { MILLRACE_TEST_SEED: givenSeed, MILLRACE_TEST_CASES: givenCases } = process.env;

/** Whether the cases are those of the first gate, so that how often something occurs in them is known. */
export const HAS_FIXED_CASES = !IS_RANDOM && givenSeed === undefined && givenCases === undefined;

/** Prints what is of use where the cases are not those of the first gate. */
export function printOfRandomCases(text: string): void {
  if (!HAS_FIXED_CASES) console.log(text);
}

/** Returns MILLRACE_TEST_SEED, a new seed in the long gate, or a fixed one. Prints any but the fixed one, so that failures can be repeated. */
export function testSeed(test: string): number {
  const seed = Number(givenSeed ?? (IS_RANDOM ? Date.now() % 1_000_000 : 1));
  printOfRandomCases(`${test}: MILLRACE_TEST_SEED=${seed}`);
  return seed;
}

/** Returns the number of cases of a test in the first gate and in the long one; MILLRACE_TEST_CASES overrides both. */
export const caseCount = (first: number, long: number): number =>
  Number(givenCases ?? (IS_RANDOM ? long : first));

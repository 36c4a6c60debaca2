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

/** Returns MILLRACE_TEST_SEED or a new seed, and prints it, so that failures can be reproduced. */
export function testSeed(test: string): number {
  const seed = Number(process.env["MILLRACE_TEST_SEED"] ?? Date.now() % 1_000_000);
  console.log(`${test}: MILLRACE_TEST_SEED=${seed}`);
  return seed;
}

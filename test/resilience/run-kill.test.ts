import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../support/instance.ts";
import { testSeed } from "../support/random.ts";
import { runChaos } from "../support/run-chaos.ts";

/** The system tests have 60; 1,000 with `MILLRACE_TEST_ROUNDS=1000`. */
const ROUNDS = 12;

describe("kill -9 and stopped processes during runs", () => {
  it("loses no run, ends each once, repeats no recorded step, and fires schedules once", async () => {
    const seed = testSeed("runs");
    const stateDir = temporaryDirectory();
    const { issues, happened, seen, runs, logs } = await runChaos(
      { seed, stateDir, executors: 3, leaseMs: 700 },
      ROUNDS,
    );
    console.log(`runs: ${runs} acknowledged;`, { ...happened, ...seen });
    expect({ issues, logs }).toEqual({ issues: [], logs: [] });
    // Enough runs were in progress when the processes were killed.
    expect(runs).toBeGreaterThan(ROUNDS / 2);
  }, 300_000);
});

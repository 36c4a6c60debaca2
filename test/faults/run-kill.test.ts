import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../support/instance.ts";
import { seedOf } from "../support/random.ts";
import { chaos } from "../support/run-chaos.ts";

const ROUNDS = 20;

describe("kill -9 and held processes while runs go on", () => {
  it("loses no run, ends each once, repeats no recorded step, and fires schedules once", async () => {
    const seed = seedOf("runs");
    const stateDir = temporaryDirectory();
    const { faults, happened, seen, runs, logs } = await chaos(
      { seed, stateDir, executors: 3, leaseMs: 700 },
      ROUNDS,
    );
    console.log(`runs: ${runs} taken in;`, { ...happened, ...seen });
    expect({ faults, logs }).toEqual({ faults: [], logs: [] });
    // Enough was under way for it to mean something.
    expect(runs).toBeGreaterThan(ROUNDS / 2);
  }, 120_000);
});

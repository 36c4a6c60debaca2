import { expect, it } from "vitest";
import { MUTANTS } from "../../simulation/mutants.ts";
import { patiently } from "../../support/patience.ts";
import { runSimulation } from "../../support/run-simulation.ts";

/** Number of seeds in which a planted failure must be found. */
const SEEDS = 1_000;

it.concurrent.each(MUTANTS)(
  "$name is found: $breaks",
  { timeout: patiently(1_800_000) },
  async ({ name }) => {
    const { output, code } = await runSimulation(["--mutant", name, "--first", "--seeds", String(SEEDS)]);
    const [, seeds] = /^(\d+) seeds in /m.exec(output) ?? [];
    console.log(`${name}: found by ${seeds} seeds. ${/ {2}(.*)/.exec(output)?.[1] ?? ""}`);
    expect(output).toMatch(/^seed \d+ breaks /m);
    expect(code).toBe(1);
  },
);

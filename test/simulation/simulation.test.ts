import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { patiently } from "../support/patience.ts";
import { ROOT } from "../support/documents.ts";
import { runSimulation } from "../support/run-simulation.ts";
import { MUTANTS } from "./mutants.ts";

const SEEDS = 100;
/** A mutant that breaks a promise in almost every seed. */
const MUTANT = "idempotency-key-changes-by-attempt";
/** A seed with many kinds of failures. */
const STORY_SEED = 3;

const story = () => runSimulation(["--seed", String(STORY_SEED), "--whole"]);

describe("simulated installations", () => {
  // A process for each half: two processors are busy then.
  it.concurrent.each([1, 1 + SEEDS])(
    `keep every promise, whatever fails (${SEEDS} seeds from %i)`,
    { timeout: patiently(900_000) },
    async (from) => {
      const result = await runSimulation(["--from", String(from), "--seeds", String(SEEDS), "--first"]);
      expect(result).toEqual({
        code: 0,
        output: expect.stringMatching(new RegExp(`^${SEEDS} seeds in .*, 0 with broken promises`)),
      });
    },
  );

  it("have the same story each time", { timeout: patiently(300_000) }, async () => {
    const { output } = await story();
    expect(output).toMatch(/failure \d+: /);
    const { output: again } = await story();
    expect(again).toBe(output);
  });
});

describe("planted bugs", () => {
  it.each(MUTANTS)("fit the program ($name)", ({ file, find, replace }) => {
    const parts = readFileSync(join(ROOT, file), "utf8").split(find);
    expect(parts).toHaveLength(2);
    expect(replace).not.toBe(find);
  });

  it("break a promise, which is shown", { timeout: patiently(300_000) }, async () => {
    const { output, code } = await runSimulation(["--mutant", MUTANT, "--first", "--seeds", "10"]);
    expect(code).toBe(1);
    expect(output).toMatch(/^seed \d+ breaks /m);
  });
});

import { expect, it } from "vitest";
import { patiently } from "../../support/patience.ts";
import { caseCount, testSeed } from "../../support/random.ts";
import { runSimulation } from "../../support/run-simulation.ts";

const SEEDS = caseCount(200, 2_000);
const HALF = Math.ceil(SEEDS / 2);
const FROM = testSeed("simulated seeds");
/** How long a seed may take, in milliseconds: several times as long as it does. */
const SEED_MS = 3_000;

// A process for each half. The story of a seed that breaks a promise is in the message.
it.concurrent.each([FROM, FROM + HALF])(
  `new seeds keep every promise, whatever fails (${HALF} from %i)`,
  { timeout: patiently(HALF * SEED_MS + 600_000) },
  async (from) => {
    const result = await runSimulation(["--from", String(from), "--seeds", String(HALF)]);
    expect(result).toEqual({
      code: 0,
      output: expect.stringMatching(new RegExp(`^${HALF} seeds in .*, 0 with broken promises`)),
    });
  },
);

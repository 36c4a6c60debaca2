import { expect, it } from "vitest";
import { fuzzHealth } from "../../support/health-fuzz.ts";
import { testSeed } from "../../support/random.ts";

it("keeps serving /health under hundreds of expensive requests", async () => {
  const { longest, failed, statuses } = await fuzzHealth(testSeed("health fuzz"), 400);
  console.log("longest turn:", longest, statuses);
  expect(failed).toEqual([]);
  expect(longest.ms).toBeLessThan(100);
}, 3_600_000);

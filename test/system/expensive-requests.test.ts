import { expect, it } from "vitest";
import { fuzzHealth, MAX_TURN_MS } from "../support/health-fuzz.ts";
import { testSeed } from "../support/random.ts";

const REQUESTS = Number(process.env["MILLRACE_TEST_ROUNDS"] ?? 100);

it("keeps serving /health under expensive requests", async () => {
  const { longest, failed, statuses } = await fuzzHealth(testSeed("health fuzz"), REQUESTS);
  console.log("longest turn:", longest, statuses);
  expect(failed).toEqual([]);
  expect(longest.ms).toBeLessThan(MAX_TURN_MS);
}, 3_600_000);

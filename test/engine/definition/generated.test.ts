/**
 * Runs generated definitions on the engine: what the checker accepts runs, what it refuses fails, and outputs have the
 * shapes that it claims. The long gate runs 5,000 definitions, with MariaDB too.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { postgresWithFacts, runGenerated, sqliteWithFacts } from "../../support/definitions/run-generated.ts";
import { caseCount } from "../../support/random.ts";
import { PASSWORD } from "../../support/postgres.ts";

let postgres: Awaited<ReturnType<typeof postgresWithFacts>>;
beforeAll(async () => {
  postgres = await postgresWithFacts();
});
afterAll(() => postgres.stop());

describe("for any definition", () => {
  it("the checker and the run agree", async () => {
    const databases = [...sqliteWithFacts(), postgres.entry];
    const { accepted, refused } = await runGenerated(
      databases,
      { PG_PASSWORD: PASSWORD },
      caseCount(60, 200),
    );
    expect(Math.min(accepted, refused)).toBeGreaterThan(0);
  });
});

/** Runs many generated definitions on all databases. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  FACTS,
  postgresWithFacts,
  runGenerated,
  sqliteWithFacts,
} from "../../support/definitions/run-generated.ts";
import { type MariaDb, startMariaDb } from "../../support/mariadb.ts";
import { caseCount } from "../../support/random.ts";
import { PASSWORD } from "../../support/postgres.ts";

let postgres: Awaited<ReturnType<typeof postgresWithFacts>>;
let mariadb: MariaDb;
beforeAll(async () => {
  [postgres, mariadb] = await Promise.all([postgresWithFacts(), startMariaDb(FACTS.standard)]);
});
afterAll(async () => {
  await Promise.all([postgres.stop(), mariadb.stop()]);
});

describe("for any definition on SQLite, DuckDB, PostgreSQL and MariaDB", () => {
  it("the checker and the run agree", { timeout: 3_600_000 }, async () => {
    const maria = { name: "maria", type: "mariadb", dataset: mariadb.url, password_var: "MARIA_PASSWORD" };
    const { accepted, refused } = await runGenerated(
      [...sqliteWithFacts(), postgres.entry, maria],
      { PG_PASSWORD: PASSWORD, MARIA_PASSWORD: mariadb.password },
      caseCount(5_000, 5_000),
    );
    expect(Math.min(accepted, refused)).toBeGreaterThan(0);
  });
});

/** Runs generated definitions, and compares what the checker says of each with what its run does. */
import * as fc from "fast-check";
import { expect } from "vitest";
import { createSqliteFile } from "../databases.ts";
import { testEngine } from "../engine.ts";
import { temporaryDirectory } from "../instance.ts";
import { testSeed } from "../random.ts";
import { startPostgres } from "../postgres.ts";
import { definitions } from "./generate.ts";
import { definitionOracle, type Verdict } from "./oracle.ts";

/** The statements that create the table `facts`. */
export const FACTS = {
  standard: createFacts("n INTEGER NOT NULL, t VARCHAR(20) NOT NULL, m DOUBLE PRECISION"),
  sqliteStrict: createFacts("n INTEGER NOT NULL, t TEXT NOT NULL, m REAL", "STRICT"),
  sqliteLoose: createFacts("n INTEGER, t TEXT, m"),
};

function createFacts(columns: string, options = ""): string {
  return `CREATE TABLE facts (${columns}) ${options}; INSERT INTO facts VALUES (1, 'a', 0.5), (2, 'b', NULL), (3, 'c', 1.5);`;
}

/** Creates the SQLite databases. @returns their configurations */
export function sqliteWithFacts(): DatabaseEntry[] {
  const directory = temporaryDirectory();
  return (["sqliteStrict", "sqliteLoose"] as const).map((name) => ({
    name,
    type: "sqlite",
    dataset: createSqliteFile(directory, FACTS[name], `${name}.db`),
  }));
}

/** Starts a PostgreSQL. @returns its configuration, whose password is in `PG_PASSWORD` */
export async function postgresWithFacts(): Promise<{ entry: DatabaseEntry; stop(): Promise<void> }> {
  const server = await startPostgres();
  const client = await server.connect();
  await client.query(FACTS.standard);
  await client.end();
  const entry = { name: "pg", type: "postgresql", dataset: server.url(), password_var: "PG_PASSWORD" };
  return { entry, stop: server.stop };
}

interface DatabaseEntry {
  name: string;
  type: string;
  dataset: string;
  password_var?: string;
}

/**
 * Prints the seed, which `MILLRACE_TEST_SEED` repeats.
 * @param databases configurations of databases with the table `facts`
 * @param numRuns number of definitions
 * @returns how many definitions were accepted and so on
 */
export async function runGenerated(
  databases: readonly DatabaseEntry[],
  env: Record<string, string>,
  numRuns: number,
): Promise<Record<Verdict, number>> {
  const harness = await testEngine({ config: { databases }, env });
  const judge = await definitionOracle(harness);
  const counts: Record<Verdict, number> = { accepted: 0, refused: 0, "warned and null": 0 };
  const seed = testSeed(`${numRuns} generated definitions`);
  await fc.assert(
    fc.asyncProperty(definitions(databases.map(({ name }) => name)), async (made) => {
      counts[await judge(made)] += 1;
    }),
    { numRuns, seed },
  );
  process.stdout.write(`${JSON.stringify(counts)}\n`);
  expect(counts.accepted).toBeGreaterThan(numRuns / 3);
  expect(counts.refused).toBeGreaterThan(numRuns / 10);
  return counts;
}

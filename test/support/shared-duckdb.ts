/** A DuckDB database for all tests of a file, and the processes that open it: to start one takes longer than most tests. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { afterAll } from "vitest";
import { openDatabases, type TestDatabases } from "./databases.ts";

/**
 * To be called outside of tests.
 * @param statements make its tables
 * @returns a function that makes the database `shop` again, as it was in the beginning
 */
export function sharedDuckdb(statements: readonly string[]): () => Promise<TestDatabases> {
  const directory = mkdtempSync(join(tmpdir(), "millrace-test-"));
  const dataset = join(directory, "shop.duckdb");
  const entry = { name: "shop", type: "duckdb", dataset, access: "read-write" };
  const opened = openDatabases([entry], {}, {}, afterAll);
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return async () => {
    for (const file of [dataset, `${dataset}.wal`]) rmSync(file, { force: true });
    const instance = await DuckDBInstance.create(dataset);
    const connection = await instance.connect();
    for (const statement of statements) await connection.run(statement);
    connection.closeSync();
    instance.closeSync();
    return opened;
  };
}

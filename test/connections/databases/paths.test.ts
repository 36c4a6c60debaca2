/** What callers get of databases in files says nothing of where these files, programs and sockets are. */
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { expect, it, onTestFinished } from "vitest";
import { callOf } from "../../support/call-context.ts";
import type { StepError } from "../../../src/core/step-errors.ts";
import { createSqliteFile, openDatabases } from "../../support/databases.ts";
import { temporaryDirectory } from "../../support/instance.ts";

/** Everything that a caller can get of a database by its name: results, issues and errors. */
async function answersOf(
  entry: { type: "duckdb" | "sqlite" | "postgresql" | "mysql"; dataset: string },
  queries: readonly string[],
) {
  const { databases, runQuery } = openDatabases([{ name: "shop", ...entry }]);
  const answers: unknown[] = [];
  const record = (work: Promise<unknown>) =>
    work.then(
      (value) => answers.push(value),
      (error: StepError) => answers.push([error.message, error.options.fix]),
    );
  for (const query of queries) {
    await record(runQuery("shop", query));
    await record(databases.prepare({ database: "shop", query, params: [], write: false }, callOf()));
  }
  await record(databases.describe("shop", { samples: 1, limit: 10 }, callOf()));
  expect(answers).toHaveLength(queries.length * 2 + 1);
  return JSON.stringify(answers);
}

async function duckdbFile(directory: string): Promise<string> {
  const file = join(directory, "shop.duckdb");
  const instance = await DuckDBInstance.create(file);
  const connection = await instance.connect();
  await connection.run("CREATE TABLE orders (id INTEGER); INSERT INTO orders VALUES (1)");
  connection.closeSync();
  instance.closeSync();
  return file;
}

const DUCKDB_QUERIES = [
  "SELECT * FROM orders",
  "SELECT * FROM duckdb_databases()",
  "FROM pragma_database_list",
  "SELECT name, value FROM duckdb_settings()",
  "SELECT current_setting('temp_directory') AS t",
  "SELECT upper(path) AS p FROM duckdb_databases()",
  "SELECT * FROM read_csv('shop.csv')",
  "SELECT * FROM missing",
];

it("hides the path of a DuckDB file in rows and errors", async () => {
  const directory = temporaryDirectory();
  const seen = await answersOf({ type: "duckdb", dataset: await duckdbFile(directory) }, DUCKDB_QUERIES);
  expect(seen).not.toContain(directory);
  expect(seen.toLowerCase()).not.toContain(directory.toLowerCase());
});

it.each<[string, (file: string) => unknown]>([
  ["no database", (file) => writeFileSync(file, "no database".repeat(1_000))],
  ["not readable", (file) => chmodSync(file, 0o000)],
  ["missing", (file) => rmSync(file)],
  [
    "a directory",
    (file) => {
      rmSync(file);
      mkdirSync(file);
    },
  ],
  ["a broken log", (file) => writeFileSync(`${file}.wal`, "broken".repeat(1_000))],
])("hides the path of a DuckDB file that is %s", async (_, change) => {
  const directory = temporaryDirectory();
  const file = await duckdbFile(directory);
  change(file);
  const seen = await answersOf({ type: "duckdb", dataset: file }, ["SELECT * FROM orders"]);
  expect(seen).not.toContain(directory);
});

it("hides who holds the lock of a DuckDB file, with which program", async () => {
  const directory = temporaryDirectory();
  const file = await duckdbFile(directory);
  const link = join(temporaryDirectory(), "link.duckdb");
  symlinkSync(file, link);
  const instance = await DuckDBInstance.create(file);
  onTestFinished(() => instance.closeSync());
  const seen = await answersOf({ type: "duckdb", dataset: link }, ["SELECT * FROM orders"]);
  expect(seen).toContain("lock");
  // The fix of the query, of its issue in a check, and of the description.
  expect(seen.split("Close the other program that has the file open")).toHaveLength(4);
  expect(seen).not.toContain(directory);
  expect(seen).not.toContain(dirname(link));
  expect(seen).not.toContain(dirname(process.execPath));
  expect(seen).not.toMatch(/PID|by user/);
});

it.each<[string, (file: string) => unknown]>([
  ["as it is", () => undefined],
  ["no database", (file) => writeFileSync(file, "no database".repeat(1_000))],
  ["missing", (file) => rmSync(file)],
  [
    "a directory",
    (file) => {
      rmSync(file);
      mkdirSync(file);
    },
  ],
])("hides the path of a SQLite file that is %s", async (_, change) => {
  const directory = temporaryDirectory();
  const file = createSqliteFile(directory, "CREATE TABLE orders (id INTEGER)");
  change(file);
  const seen = await answersOf({ type: "sqlite", dataset: file }, [
    "SELECT * FROM orders",
    "SELECT * FROM pragma_database_list",
    "PRAGMA database_list",
    "SELECT * FROM missing",
  ]);
  expect(seen).not.toContain(directory);
});

it.each(["postgresql", "mysql"] as const)("hides the path of the socket of %s", async (type) => {
  const directory = temporaryDirectory();
  const dataset = {
    postgresql: `postgresql://app@localhost/shop?host=${encodeURIComponent(directory)}`,
    mysql: `mysql://app@localhost/shop?socketPath=${encodeURIComponent(join(directory, "my.sock"))}`,
  }[type];
  const seen = await answersOf({ type, dataset }, ["SELECT 1"]);
  expect(seen).not.toContain(directory);
});

it("hides where a link leads to that was changed between queries", async () => {
  const files = [await duckdbFile(temporaryDirectory()), await duckdbFile(temporaryDirectory())];
  const link = join(temporaryDirectory(), "link.duckdb");
  const { runQuery } = openDatabases([{ name: "shop", type: "duckdb", dataset: link }]);
  for (const file of files) {
    symlinkSync(file, link);
    const { rows } = await runQuery("shop", "SELECT path FROM duckdb_databases() WHERE path IS NOT NULL");
    expect(rows).toEqual([{ path: "(database file)" }]);
    rmSync(link);
  }
});

/**
 * Values of every type of every database arrive unchanged: from a database over `sql` to an HTTP peer, an MCP client, the state and
 * `scratch`, and back into the database.
 */
import { copyFileSync, existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import mysql from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  type Arrived,
  type Journey,
  openJourney,
  type StepFailure,
} from "../../support/database-values/journey.ts";
import { isDocumentedNull, isSame, isSameText, showWritten } from "../../support/database-values/compare.ts";
import { type Owner, textsOf } from "../../support/database-values/owner.ts";
import {
  type ColumnType,
  DUCKDB_TYPES,
  MARIADB_TYPES,
  POSTGRES_TYPES,
  SQLITE_TYPES,
} from "../../support/database-values/types.ts";
import { temporaryDirectory } from "../../support/instance.ts";
import { type MariaDb, startMariaDb } from "../../support/mariadb.ts";
import { PASSWORD, type Postgres, startPostgres } from "../../support/postgres.ts";
import { caseCount, seededRandom, testSeed } from "../../support/random.ts";

/** Number of values of one run. */
const BATCH = 100;
/** Values of each type: with 105 types, more than 10,000 of them. */
const PER_TYPE = Math.ceil(caseCount(BATCH, 100) / BATCH) * BATCH;
/** Number of values that are tried one by one after a step failed with a batch. */
const SINGLES = 3;

interface Tally {
  values: number;
  /** Values that some place refused with an error, by type, place and code. */
  errors: Map<string, number>;
  /** Values that are null because they are not finite. */
  notFinite: number;
  /** Values that arrived changed and without an error, by type and place: how many, and the shortest one. */
  changed: Map<string, { count: number; text: string | null; arrived: unknown }>;
}

function note(tally: Tally, key: string, text: string | null, arrived: unknown): void {
  const found = tally.changed.get(key);
  const isShorter = found === undefined || (text ?? "").length < (found.text ?? "").length;
  tally.changed.set(key, { ...(isShorter ? { text, arrived } : found), count: (found?.count ?? 0) + 1 });
}

const noteError = ({ errors }: Tally, key: string, { code, message }: StepFailure, count: number): void => {
  const kind = `${key}: ${code} (${message.split("\n")[0]!.slice(0, 120)})`;
  errors.set(kind, (errors.get(kind) ?? 0) + count);
};

/** Creates and fills a table for each type. */
async function fill(owner: Owner, types: readonly ColumnType[], seed: number): Promise<void> {
  const random = seededRandom(seed);
  for (const [table, { type, backType = type, values }] of types.entries()) {
    await owner.run(`CREATE TABLE src_${table} (i INTEGER PRIMARY KEY, v ${type})`);
    await owner.run(`CREATE TABLE dst_${table} (i INTEGER PRIMARY KEY, v ${backType})`);
    const rows = Array.from({ length: PER_TYPE }, (_, index) => `(${index}, ${values(random)})`);
    await owner.run(`INSERT INTO src_${table} (i, v) VALUES ${rows.join(", ")}`);
  }
}

/** Lets all values travel, and compares them with what the database says. */
async function travelAll(
  journey: Journey,
  types: readonly ColumnType[],
  texts: readonly ReadonlyMap<number, string | null>[],
): Promise<Tally> {
  const tally: Tally = { values: 0, errors: new Map(), notFinite: 0, changed: new Map() };
  for (const [table, type] of types.entries()) {
    for (let first = 0; first < PER_TYPE; first += BATCH) {
      const arrived = await journey.travel(table, type, first, BATCH);
      tally.values += BATCH;
      compareAll(tally, type, arrived, texts[table]!, BATCH);
      // A value that can't be written back keeps the others of its statement from it.
      if (arrived.failures.back === undefined && arrived.run === undefined) continue;
      for (let index = first; index < first + SINGLES; index += 1)
        compareAll(tally, type, await journey.travel(table, type, index, 1), texts[table]!, 1);
    }
  }
  return tally;
}

function compareAll(
  tally: Tally,
  { type, kind, read }: ColumnType,
  { run, failures, ...places }: Arrived,
  texts: ReadonlyMap<number, string | null>,
  count: number,
): void {
  const name = read === undefined ? type : `${type} as ${read("v")}`;
  if (run !== undefined) return noteError(tally, `${name}, run`, run, count);
  for (const [step, failure] of Object.entries(failures))
    noteError(tally, `${name}, ${step}`, failure, count);
  for (const [place, rows] of Object.entries(places)) {
    const hasFailed = (place === "http" && failures.send) || (place === "scratch" && failures.load);
    if (hasFailed) continue;
    if (rows.length !== count) note(tally, `${name}, ${place}: number of rows`, String(count), rows.length);
    for (const { i, v } of rows) {
      const text = texts.get(Number(String(i).slice(1))) ?? null;
      if (isDocumentedNull(kind, text, v)) tally.notFinite += 1;
      else if (!isSame(kind, text, v)) note(tally, `${name}, ${place}`, text, v);
    }
  }
}

/** Compares what was written back with what was there. */
function compareBack(
  tally: Tally,
  { type, backType = type, kind, read }: ColumnType,
  before: ReadonlyMap<number, string | null>,
  after: ReadonlyMap<number, string | null>,
): void {
  for (const [i, text] of after)
    if (!isSameText(kind, before.get(i), text))
      note(tally, `${type}${read ? ` as ${read("v")}` : ""}, back to ${backType}`, before.get(i)!, text);
}

function report(name: string, { values, errors, notFinite, changed }: Tally): void {
  const lines = [
    `${name}: ${values} values; ${notFinite} arrived as null because they are not finite (documented)`,
    ...[...errors].map(([key, count]) => `  refused: ${count} × ${key}`),
    ...[...changed].map(
      ([key, { count, text, arrived }]) =>
        `  CHANGED: ${count} × ${key}: ${JSON.stringify(text)} arrived as ${showWritten(arrived)}`,
    ),
  ];
  console.log(lines.join("\n"));
}

/** Lets values of all types travel. @returns those that arrived changed, by type and place */
async function changedValues(
  name: string,
  owner: Owner,
  types: readonly ColumnType[],
  open: () => Promise<Journey>,
  close: () => Promise<Owner> = () => Promise.resolve(owner),
): Promise<Record<string, unknown>> {
  const seed = testSeed(`unchanged values of ${name}`);
  await fill(owner, types, seed);
  const before: ReadonlyMap<number, string | null>[] = [];
  for (const [table, type] of types.entries()) before.push(await textsOf(owner, `src_${table}`, type));
  const tally = await travelAll(await open(), types, before);
  const owns = await close();
  for (const [table, type] of types.entries()) {
    // What is read by an expression is compared as it was read.
    const plain = { ...type, read: undefined } as unknown as ColumnType;
    compareBack(tally, type, before[table]!, await textsOf(owns, `dst_${table}`, plain));
  }
  report(name, tally);
  return Object.fromEntries(tally.changed);
}

describe("the values of PostgreSQL", () => {
  let server: Postgres;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  it("arrive unchanged in every place, and go back unchanged", async () => {
    const client = await server.connect();
    onTestFinished(() => client.end());
    await client.query("CREATE TYPE mood AS ENUM ('ok', 'sad', 'very happy', 'it''s'); SET TIME ZONE 'UTC'");
    const owner: Owner = {
      run: (sql) => client.query(sql),
      rows: async (sql) => (await client.query(sql)).rows,
      castText: (v) => `(${v})::text`,
    };
    const entry = { type: "postgresql", dataset: server.url(), password_var: "SHOP_PASSWORD" };
    expect(
      await changedValues("PostgreSQL", owner, POSTGRES_TYPES, () =>
        openJourney(entry, { SHOP_PASSWORD: PASSWORD }),
      ),
    ).toEqual({});
  });
});

describe("the values of MariaDB", () => {
  let server: MariaDb;
  beforeAll(async () => {
    server = await startMariaDb("SELECT 1");
  });
  afterAll(() => server.stop());

  it("arrive unchanged in every place, and go back unchanged", async () => {
    const client = await mysql.createConnection({
      uri: server.url,
      password: server.password,
      charset: "utf8mb4",
    });
    onTestFinished(() => client.end());
    const owner: Owner = {
      run: (sql) => client.query(sql),
      rows: async (sql) => (await client.query(sql))[0] as { i: number; t: string }[],
      castText: (v) => `CAST(${v} AS CHAR)`,
    };
    const entry = { type: "mariadb", dataset: server.url, password_var: "SHOP_PASSWORD" };
    expect(
      await changedValues("MariaDB", owner, MARIADB_TYPES, () =>
        openJourney(entry, { SHOP_PASSWORD: server.password }),
      ),
    ).toEqual({});
  });
});

describe("the values of SQLite", () => {
  it("arrive unchanged in every place, and go back unchanged", async () => {
    const dataset = join(temporaryDirectory(), "values.db");
    const file = new DatabaseSync(dataset);
    onTestFinished(() => file.close());
    const owner: Owner = {
      run: async (sql) => file.exec(sql),
      rows: async (sql) => file.prepare(sql).all() as { i: number; t: string }[],
      castText: (v) => `CAST(${v} AS TEXT)`,
    };
    expect(
      await changedValues("SQLite", owner, SQLITE_TYPES, () => openJourney({ type: "sqlite", dataset })),
    ).toEqual({});
  });
});

describe("the values of DuckDB", () => {
  it("arrive unchanged in every place, and go back unchanged", async () => {
    const directory = temporaryDirectory();
    const dataset = join(directory, "values.duckdb");
    const before = await openDuckDb(dataset);
    const open = (): Promise<Journey> => {
      // Only one process at a time can open the file to write to it.
      before.close();
      return openJourney({ type: "duckdb", dataset });
    };
    const close = async (): Promise<Owner> => {
      const copy = join(directory, "copy.duckdb");
      copyFileSync(dataset, copy);
      if (existsSync(`${dataset}.wal`)) copyFileSync(`${dataset}.wal`, `${copy}.wal`);
      const after = await openDuckDb(copy);
      onTestFinished(after.close);
      return after.owner;
    };
    expect(await changedValues("DuckDB", before.owner, DUCKDB_TYPES, open, close)).toEqual({});
  });
});

async function openDuckDb(file: string): Promise<{ owner: Owner; close(): void }> {
  const instance = await DuckDBInstance.create(file);
  const connection = await instance.connect();
  await connection.run("SET TimeZone = 'UTC'");
  return {
    owner: {
      run: (sql) => connection.run(sql),
      rows: async (sql) => {
        // The library leaves out a byte order mark at the beginning of a text.
        const read = await connection.runAndReadAll(`SELECT i, hex(encode(t)) AS t FROM (${sql})`);
        return read.getRowObjectsJson().map(({ i, t }) => ({
          i,
          t: typeof t === "string" ? Buffer.from(t, "hex").toString() : null,
        }));
      },
      castText: (v) => `CAST(${v} AS VARCHAR)`,
    },
    close() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

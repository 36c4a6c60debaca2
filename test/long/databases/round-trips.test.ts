/** Random values of the database servers arrive, are written back, and are then what they were in the server's own text form. */
import type { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDatabases } from "../../support/databases.ts";
import { type MariaDb, startMariaDb } from "../../support/mariadb.ts";
import { PASSWORD, type Postgres, startPostgres } from "../../support/postgres.ts";
import { seededRandom, testSeed } from "../../support/random.ts";

const VALUES = Number(process.env["MILLRACE_TEST_CASES"] ?? 300);
const random = seededRandom(testSeed("round trips of database servers"));
const below = (limit: number): number => Math.floor(random() * limit);
const digits = (most: number): string => {
  const text = Array.from({ length: 1 + below(most) }, () => below(10)).join("");
  return text.replace(/^0+(?=\d)/, "");
};
const sign = (): string => (random() < 0.5 ? "-" : "");
const two = (limit: number, from = 0): string => String(from + below(limit)).padStart(2, "0");
const moment = (): string =>
  `${1971 + below(60)}-${two(12, 1)}-${two(28, 1)} ${two(24)}:${two(60)}:${two(60)}.${String(below(1_000_000)).padStart(6, "0")}`;
const PARTS = [
  "a",
  "'",
  '"',
  "\\",
  "\n",
  "%",
  "ü",
  "😀",
  " ",
  "NULL",
  "1",
  "0.1",
  "2026-01-02T03:04:05Z",
  "12345678901234567890",
];
const double = (): string => {
  const value = (random() - 0.5) * 10 ** (below(600) - 300);
  return String(random() < 0.5 ? value : Math.fround((random() - 0.5) * 10 ** below(8)));
};
const single = (): string => String(Math.fround((random() - 0.5) * 10 ** (below(70) - 35)));
const decimal = (whole: number, fraction: number): string => `${sign()}${digits(whole)}.${digits(fraction)}`;
const literal = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
const texts = (): string => Array.from({ length: below(4) }, () => PARTS[below(PARTS.length)]).join("");

describe("PostgreSQL", () => {
  let server: Postgres;
  let owner: Client;
  beforeAll(async () => {
    server = await startPostgres();
    owner = await server.connect();
  });
  afterAll(async () => {
    await owner.end();
    await server.stop();
  });

  it.each<[string, () => string]>([
    ["int8", () => `${sign()}${digits(18)}`],
    ["numeric", () => decimal(40, 30)],
    ["numeric(30,10)", () => decimal(20, 10)],
    ["float8", double],
    ["float4", single],
    ["money", () => decimal(15, 2)],
    ["timestamp", moment],
    ["timestamptz", () => `${moment()}${random() < 0.5 ? "+05:30" : "-08"}`],
    ["date", () => moment().slice(0, 10)],
    ["time", () => moment().slice(11)],
    ["timetz", () => `${moment().slice(11)}+05:30`],
    [
      "interval",
      () => `${sign()}${digits(4)} days ${digits(5)}.${digits(6)} seconds ${sign()}${digits(3)} mons`,
    ],
    ["bit varying", () => digits(20).replaceAll(/[2-9]/g, "1")],
    ["inet", () => `${below(256)}.0.${below(256)}.1/${8 + below(25)}`],
    ["numrange", () => `[-${digits(20)}.5,${digits(20)}.5)`],
    ["text", texts],
  ])("%s", async (type, generate) => {
    await owner.query("DROP TABLE IF EXISTS given, back");
    await owner.query("CREATE TABLE given (id serial, v text)");
    await owner.query(`ALTER TABLE given ALTER v TYPE ${type} USING v::${type}`);
    const given = Array.from({ length: VALUES }, generate);
    await owner.query(`INSERT INTO given (v) SELECT t::${type} FROM unnest($1::text[]) AS t`, [given]);
    await owner.query("CREATE TABLE back (LIKE given)");
    const { runQuery } = openDatabases(
      [{ name: "shop", type: "postgresql", dataset: server.url(), password_var: "P", access: "read-write" }],
      { P: PASSWORD },
    );
    const read =
      "SELECT id, v, ARRAY[v, NULL] AS list, max(v::text) AS t FROM given GROUP BY id, v ORDER BY id";
    const { rows } = await runQuery("shop", read);
    expect(rows).toHaveLength(VALUES);
    expect(rows.map(({ list }) => list)).toEqual(rows.map(({ v }) => [v, null]));
    for (const { id, v } of rows)
      await runQuery("shop", `INSERT INTO back VALUES (:id, :v)`, { id, v }, { write: true });
    // A numeric without a scale has zeros behind the point that are no part of its value.
    const form = type === "numeric" ? "" : "::text";
    const compare = `SELECT given.v::text AS was, back.v::text AS became FROM given JOIN back USING (id) WHERE given.v${form} IS DISTINCT FROM back.v${form}`;
    expect((await owner.query(compare)).rows).toEqual([]);
    expect((await owner.query("SELECT count(*)::int AS n FROM back")).rows).toEqual([{ n: VALUES }]);
  });
});

describe("MariaDB", () => {
  let server: MariaDb;
  beforeAll(async () => {
    server = await startMariaDb("SET GLOBAL time_zone = '+05:30'");
  });
  afterAll(() => server.stop());

  it.each<[string, () => string]>([
    ["BIGINT", () => `${sign()}${digits(18)}`],
    ["BIGINT UNSIGNED", () => digits(19)],
    ["DECIMAL(65,30)", () => decimal(35, 30)],
    ["DECIMAL(16,4)", () => decimal(12, 4)],
    ["DOUBLE", double],
    ["FLOAT", single],
    ["DATETIME(6)", moment],
    ["TIMESTAMP(6)", moment],
    ["DATE", () => moment().slice(0, 10)],
    ["TIME(6)", () => moment().slice(11)],
    ["VARCHAR(200)", texts],
  ])("%s", async (type, generate) => {
    const rowsOfSql = Array.from({ length: VALUES }, (_, id) => `(${id}, ${literal(generate())})`).join(", ");
    await server.run(`
      DROP TABLE IF EXISTS given, back;
      CREATE TABLE given (id INT PRIMARY KEY, v ${type}) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
      INSERT INTO given VALUES ${rowsOfSql};
      CREATE TABLE back LIKE given`);
    const { runQuery } = openDatabases(
      [{ name: "shop", type: "mariadb", dataset: server.url, password_var: "P", access: "read-write" }],
      { P: server.password },
    );
    const { rows } = await runQuery("shop", "SELECT id, v FROM given ORDER BY id");
    expect(rows).toHaveLength(VALUES);
    for (const { id, v } of rows)
      await runQuery("shop", "INSERT INTO back VALUES (:id, :v)", { id, v }, { write: true });
    const changed = await runQuery(
      "shop",
      `SELECT CAST(given.v AS CHAR) AS was, CAST(back.v AS CHAR) AS became FROM given JOIN back USING (id)
        WHERE NOT (given.v <=> back.v) OR NOT (BINARY CAST(given.v AS CHAR) <=> BINARY CAST(back.v AS CHAR))`,
    );
    expect(changed.rows).toEqual([]);
    expect((await runQuery("shop", "SELECT COUNT(*) AS n FROM back")).rows).toEqual([{ n: VALUES }]);
  });
});

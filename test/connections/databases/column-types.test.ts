/** What a database claims of a column is what arrives, extremes included. */
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import type { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SqlResult } from "../../../src/core/connections.ts";
import { brokenClaims, claimsOf } from "../../support/column-claims.ts";
import { createSqliteFile, openDatabases, type TestDatabases } from "../../support/databases.ts";
import { temporaryDirectory } from "../../support/instance.ts";
import { PASSWORD, type Postgres, startPostgres } from "../../support/postgres.ts";
import { callOf } from "../../support/call-context.ts";

/** Prepares and runs a query. The checker uses the columns that it returns, with the rows that arrived. */
async function prepareAndRun({ databases, runQuery }: TestDatabases, query: string, params = {}) {
  const request = { database: "shop", query, params: Object.keys(params), write: false };
  const prepared = await databases.prepare(request, callOf());
  if ("issues" in prepared) throw new Error(JSON.stringify(prepared.issues));
  const result: SqlResult = await runQuery("shop", query, params);
  return { columns: prepared.columns, rows: result.rows, result };
}

async function expectClaimsToHold(databases: TestDatabases, query: string, params = {}) {
  const { columns, rows, result } = await prepareAndRun(databases, query, params);
  expect([brokenClaims({ columns, rows }), brokenClaims(result)]).toEqual([[], []]);
  return { claims: claimsOf(columns), rows };
}

describe("SQLite", () => {
  const DECLARED = ["INTEGER", "TEXT", "REAL", "NUMERIC", "BLOB", "JSON", "BOOLEAN", "DATE", "VARCHAR(9)"];
  const VALUES = ["1", "1.5", "'abc'", "'12'", "x'01'", "NULL", "9007199254740993", "9e999", "'{\"a\":1}'"];

  const shop = () => {
    const columns = DECLARED.map((type, index) => `c${index} ${type}`).join(", ");
    const rows = VALUES.map((value) => `(${DECLARED.map(() => value).join(", ")})`).join(", ");
    const sql = `
      CREATE TABLE loose (id INTEGER PRIMARY KEY, ${columns}, untyped);
      INSERT INTO loose (${DECLARED.map((_, index) => `c${index}`).join(", ")}) VALUES ${rows};
      CREATE TABLE strict (i INTEGER, r REAL, t TEXT, b BLOB, a ANY) STRICT;
      INSERT INTO strict VALUES (9007199254740993, 9e999, 'x', x'01', 'x'), (1, 1, 'y', NULL, 5);
      CREATE VIEW plain AS SELECT t FROM strict;
      CREATE VIEW mixed AS SELECT t FROM strict UNION ALL SELECT 5;
      CREATE VIEW nested AS SELECT t FROM mixed;
      CREATE VIRTUAL TABLE words USING fts5(word);
      INSERT INTO words VALUES (5);`;
    const dataset = createSqliteFile(temporaryDirectory(), sql);
    return openDatabases([{ name: "shop", type: "sqlite", dataset }]);
  };

  it("claims text of text columns, and nothing of others that hold any value", async () => {
    const { claims, rows } = await expectClaimsToHold(shop(), "SELECT * FROM loose");
    expect(rows).toHaveLength(VALUES.length);
    expect(claims).toEqual({
      id: "any integer",
      c0: "any integer",
      c1: "string",
      c2: "any float",
      c3: "any float",
      c4: "any",
      c5: "any",
      c6: "any",
      c7: "any",
      c8: "string",
      untyped: "any",
    });
  });

  it("claims the types of a strict table", async () => {
    const { claims, rows } = await expectClaimsToHold(shop(), "SELECT * FROM strict");
    expect(claims).toEqual({ i: "any integer", r: "number", t: "string", b: "string", a: "any" });
    expect(rows[0]).toEqual({ i: "9007199254740993", r: null, t: "x", b: "AQ==", a: "x" });
  });

  it.each([
    ["SELECT t FROM strict UNION SELECT 5", "any"],
    ["SELECT t FROM (SELECT t FROM strict UNION ALL SELECT 5)", "any"],
    ["WITH u AS (SELECT t FROM strict UNION ALL SELECT 5) SELECT t FROM u", "any"],
    ["SELECT t FROM strict EXCEPT SELECT 5", "any"],
    ["SELECT t FROM mixed", "any"],
    ["SELECT t FROM nested", "any"],
    ["SELECT word AS t FROM words", "any"],
    ["SELECT (SELECT t FROM mixed LIMIT 1 OFFSET 2) AS t", "any"],
    ["SELECT t FROM plain", "string"],
    ["SELECT t FROM strict -- no union here", "string"],
    ["SELECT coalesce(t, 5) AS t FROM strict", "any"],
    ["SELECT value AS t FROM json_each('[1, \"a\"]')", "any"],
  ])("%s claims %s", async (query, claim) => {
    expect((await expectClaimsToHold(shop(), query)).claims).toEqual({ t: claim });
  });
});

const duckdbShop = async (setUp: string) => {
  const dataset = join(temporaryDirectory(), "shop.duckdb");
  const instance = await DuckDBInstance.create(dataset);
  const connection = await instance.connect();
  await connection.run(setUp);
  connection.closeSync();
  instance.closeSync();
  return openDatabases([{ name: "shop", type: "duckdb", dataset }]);
};

describe("DuckDB", () => {
  it("claims what arrives for the extremes of all types", async () => {
    const databases = await duckdbShop("CREATE TABLE everything AS SELECT * FROM test_all_types()");
    const { claims, rows } = await expectClaimsToHold(databases, "SELECT * FROM everything");
    expect(rows).toHaveLength(3);
    expect(claims).toMatchObject({
      bool: "boolean",
      tinyint: "number integer",
      int: "number integer",
      uint: "number integer",
      bigint: "any integer",
      hugeint: "any integer",
      uhugeint: "any integer",
      ubigint: "any integer",
      float: "number",
      double: "number",
      dec_4_1: "number",
      dec_9_4: "number",
      dec_18_6: "any decimal",
      dec38_10: "any decimal",
      varchar: "string",
      timestamp: "string",
      uuid: "string",
      interval: "string",
      int_array: "any",
      struct: "any",
      map: "any",
    });
    expect(rows.map(({ bigint, ubigint }) => [bigint, ubigint])).toEqual([
      ["-9223372036854775808", 0],
      ["9223372036854775807", "18446744073709551615"],
      [null, null],
    ]);
  });

  it("claims what arrives for aggregates, computed values and values that are no numbers", async () => {
    const databases = await duckdbShop(
      "CREATE TABLE t AS SELECT 9007199254740993 AS i, 2.5::DECIMAL(10,2) AS d",
    );
    const query = `SELECT count(*) AS n, sum(i) AS s, avg(i) AS a, sum(d) AS sd, sum(d) / 3 AS q, 1 / 0 AS inf, 'nan'::DOUBLE AS nan,
      123456789012345678901234567890::BIGNUM AS big, '{"a":1}'::JSON AS j FROM t`;
    const { claims, rows } = await expectClaimsToHold(databases, query);
    expect(claims).toEqual({
      n: "any integer",
      s: "any integer",
      a: "number",
      sd: "any decimal",
      q: "number",
      inf: "number",
      nan: "number",
      big: "any integer",
      j: "any",
    });
    expect(rows[0]).toMatchObject({
      n: 1,
      s: "9007199254740993",
      sd: 2.5,
      inf: null,
      nan: null,
      j: { a: 1 },
    });
  });
});

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
  const shop = () =>
    openDatabases(
      [{ name: "shop", type: "postgresql", dataset: server.url(), password_var: "SHOP_PASSWORD" }],
      { SHOP_PASSWORD: PASSWORD },
    );

  it("claims what arrives for the extremes of its types", async () => {
    await owner.query(`
      CREATE TYPE mood AS ENUM ('sad'); CREATE DOMAIN amount AS numeric(12,2); CREATE DOMAIN big AS numeric;
      CREATE TABLE extremes (i2 int2, i4 int4, i8 int8, o oid, f4 float4, f8 float8, n numeric, n15 numeric(15,3),
        n20 numeric(20,2), whole numeric(15,0), dom amount, dom_big big, m money, b bool, t text, c char(3), by bytea, d date,
        ti time, tz timetz, ts timestamp, tstz timestamptz, iv interval, u uuid, j json, jb jsonb, ia int8[], na numeric[],
        ta text[], bits bit(3), inet inet, range int4range, mood mood, moods mood[], p point, x xml, v tsvector);
      INSERT INTO extremes VALUES
        (-32768, -2147483648, -9223372036854775808, 0, '-Infinity', 'NaN', 'NaN', -999999999999.999, 999999999999999999.99,
          999999999999999, -9999999999.99, 'Infinity', '-92233720368547758.08', false, '', 'a', '\\x00ff', '-infinity', '00:00',
          '00:00+14', 'infinity', '-infinity', '-178000000 years', '00000000-0000-0000-0000-000000000000', 'null', '[1]',
          '{9007199254740993,NULL}', '{1.5,NaN}', '{"a,b"}', B'101', '::1', '[1,5)', 'sad', '{sad}', '(1,2)', '<a/>', 'a b'),
        (32767, 2147483647, 9223372036854775807, 4294967295, 3.4e38, 1.7976931348623157e308,
          12345678901234567890.123456789, 0.001, 0.01, 0, 0.01, 1e-20, '0', true, 'ü', 'abc', '', '5874897-12-31', '24:00',
          '24:00-14', '294276-12-31 23:59:59.999999', '2026-01-02 03:04:05+02', '1 day', gen_random_uuid(), '"x"', '{}',
          '{{1,2},{3,4}}', '{}', '{}', B'000', '10.0.0.0/8', 'empty', NULL, NULL, NULL, NULL, NULL);`);
    const { claims, rows } = await expectClaimsToHold(shop(), "SELECT * FROM extremes");
    expect(rows).toHaveLength(2);
    expect(claims).toMatchObject({
      i2: "number integer",
      i4: "number integer",
      i8: "any integer",
      o: "number integer",
      f4: "number",
      f8: "number",
      n: "any decimal",
      n15: "number",
      n20: "any decimal",
      whole: "number",
      dom: "number",
      dom_big: "any decimal",
      m: "string",
      b: "boolean",
      j: "any",
      ia: "any",
      moods: "any",
    });
    expect(rows[0]).toMatchObject({ i8: "-9223372036854775808", f4: null, f8: null, n: null, dom_big: null });
    expect(rows[1]).toMatchObject({ n: "12345678901234567890.123456789", n20: 0.01 });
  });

  it("describes every type that the server has", async () => {
    const { rows: types } = await owner.query<{ name: string }>(
      `SELECT DISTINCT ON (typname) quote_ident(typname) AS name FROM pg_type
        WHERE typtype IN ('b', 'r', 'm') AND typisdefined AND typnamespace = 'pg_catalog'::regnamespace`,
    );
    const list = types.map(({ name }, index) => `NULL::pg_catalog.${name} AS c${index}`).join(", ");
    const { claims } = await expectClaimsToHold(shop(), `SELECT ${list}`);
    expect(Object.keys(claims).length).toBeGreaterThan(100);
  });

  it("returns every digit of averages, quotients and sums, and claims what arrives", async () => {
    await owner.query(
      "CREATE TABLE sales (n int, large int8, price numeric(10,2)); INSERT INTO sales VALUES (1, 9007199254740993, 2.5), (2, 1, 1), (4, 1, 1)",
    );
    const query = `SELECT avg(n) AS a, avg(price) AS ap, sum(price) / 7 AS q, 1 / 3.0 AS third, count(*) AS n, sum(n) AS s,
      sum(large) AS sl, avg(n)::float8 AS f, round(avg(n), 2) AS r, sum(price) AS sp, 12345678901234567.89 AS exact, avg(n) - avg(n) AS zero
      FROM sales`;
    const { claims, rows } = await expectClaimsToHold(shop(), query);
    expect(rows[0]).toEqual({
      a: "2.3333333333333333",
      ap: 1.5,
      q: "0.64285714285714285714",
      third: "0.33333333333333333333",
      n: 3,
      s: 7,
      sl: "9007199254740995",
      f: 7 / 3,
      r: 2.33,
      sp: 4.5,
      exact: "12345678901234567.89",
      zero: 0,
    });
    expect(claims).toMatchObject({ a: "any decimal", n: "any integer", f: "number", sp: "any decimal" });
  });
});

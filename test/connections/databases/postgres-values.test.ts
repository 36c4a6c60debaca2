/** Values of a real PostgreSQL arrive unchanged, and are written back unchanged. */
import type { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { brokenClaims } from "../../support/column-claims.ts";
import { callOf } from "../../support/call-context.ts";
import { openDatabases } from "../../support/databases.ts";
import { seededRandom, testSeed } from "../../support/random.ts";
import { PASSWORD, type Postgres, startPostgres } from "../../support/postgres.ts";

let server: Postgres;
let owner: Client;
beforeAll(async () => {
  server = await startPostgres();
  owner = await server.connect();
  await owner.query(`
    CREATE TYPE mood AS ENUM ('sad', 'so, so', 'NULL');
    CREATE DOMAIN price AS numeric(20,2);
    CREATE DOMAIN lucky AS price;
    CREATE DOMAIN numbers AS int8[];
    CREATE TYPE pair AS (a int8, b text);`);
});
afterAll(async () => {
  await owner.end();
  await server.stop();
});

const shop = (user = "postgres", more: object = {}) =>
  openDatabases(
    [
      {
        name: "shop",
        type: "postgresql",
        dataset: server.url("postgres", user),
        password_var: "SHOP_PASSWORD",
        access: "read-write",
        ...more,
      },
    ],
    { SHOP_PASSWORD: PASSWORD },
  );

/** The value of one expression, as it arrives. */
const valueOf = async (expression: string, databases = shop()): Promise<unknown> =>
  (await databases.runQuery("shop", `SELECT ${expression} AS v`)).rows[0]!["v"];

describe("arrays of PostgreSQL", () => {
  it.each([
    ["ARRAY['sad', 'so, so', NULL, 'NULL']::mood[]", ["sad", "so, so", null, "NULL"]],
    ["ARRAY['08:30', '24:00']::time[]", ["08:30:00", "24:00:00"]],
    ["ARRAY['08:30:00.5+02']::timetz[]", ["08:30:00.5+02"]],
    ["ARRAY['1 day 02:03:04', '-1 mon']::interval[]", ["1 day 02:03:04", "-1 mons"]],
    ["ARRAY['10.0.0.1', '::1/64']::inet[]", ["10.0.0.1", "::1/64"]],
    ["ARRAY['1,234.50']::money[]", ["$1,234.50"]],
    ["ARRAY['900719925474099.23', '1.10']::price[]", ["900719925474099.23", 1.1]],
    ["ARRAY['900719925474099.23']::lucky[]", ["900719925474099.23"]],
    ["ARRAY['{9007199254740993,1}']::numbers[]", [["9007199254740993", 1]]],
    ["ARRAY['[1,5)', 'empty']::int4range[]", ["[1,5)", "empty"]],
    ["ARRAY['{[1,3),[5,8)}']::int4multirange[]", ["{[1,3),[5,8)}"]],
    ["ARRAY[(9007199254740993, 'a \"b\"')::pair]", ['(9007199254740993,"a ""b""")']],
    ["ARRAY[ROW(1, 'x'), ROW(2, 'y')]", ["(1,x)", "(2,y)"]],
    ["ARRAY[B'101']::bit(3)[]", ["101"]],
    ["ARRAY['(1,2),(3,4)', '(5,6),(7,8)']::box[]", ["(3,4),(1,2)", "(7,8),(5,6)"]],
    ["ARRAY['(1,2)']::point[]", ["(1,2)"]],
    ["'[2:3]={7,8}'::int[]", [7, 8]],
    [
      "'[0:1][-1:0]={{sad,NULL},{\"NULL\",sad}}'::mood[]",
      [
        ["sad", null],
        ["NULL", "sad"],
      ],
    ],
    [
      String.raw`ARRAY['a"b', 'a\b', 'a,b', '{}', '', ' x ', 'null', NULL, 'NULL']`,
      ['a"b', String.raw`a\b`, "a,b", "{}", "", " x ", "null", null, "NULL"],
    ],
    ["'{}'::mood[]", []],
    ["'{}'::int[]", []],
    ["ARRAY[0.1, 1e10]::float4[]", [0.1, 10_000_000_000]],
    ["ARRAY['NaN', 'Infinity']::float8[]", [null, null]],
    ["ARRAY['{\"id\": 1533947986218845197}']::json[]", [{ id: "1533947986218845197" }]],
    ["ARRAY['2026-01-02 03:04:05+02', 'infinity']::timestamptz[]", ["2026-01-02T01:04:05Z", "infinity"]],
    ["ARRAY[true, NULL]", [true, null]],
    ["'1 2 -3'::int2vector", [1, 2, -3]],
    ["''::oidvector", []],
    ["NULL::mood[]", null],
  ])("%s arrives as a list", async (expression, value) => {
    const databases = shop();
    expect(await valueOf(expression, databases)).toEqual(value);
    // The type is known now.
    expect(await valueOf(expression, databases)).toEqual(value);
  });
});

describe("arrays of random texts", () => {
  it("arrive as they are", async () => {
    const random = seededRandom(testSeed("arrays of PostgreSQL"));
    const parts = [
      "{",
      "}",
      '"',
      ",",
      "\\",
      ";",
      "=",
      "[2:3]",
      "NULL",
      "null",
      " ",
      "\n",
      "ü",
      "😀",
      "a",
      "'",
    ];
    const texts = Array.from({ length: 500 }, () =>
      Array.from({ length: Math.floor(random() * 6) }, () => parts[Math.floor(random() * parts.length)]).join(
        "",
      ),
    );
    const pairs = texts.map((text, index) => (index % 7 === 0 ? null : text));
    const query = `SELECT ARRAY(SELECT jsonb_array_elements_text(:texts::jsonb)) AS texts,
                          ARRAY(SELECT ARRAY[t, 'x', t] FROM jsonb_array_elements_text(:pairs::jsonb) AS t) AS nested`;
    const params = { texts: JSON.stringify(texts), pairs: JSON.stringify(pairs) };
    const { rows } = await shop().runQuery("shop", query, params);
    expect(rows).toEqual([{ texts, nested: pairs.map((text) => [text, "x", text]) }]);
  });
});

describe("types of PostgreSQL that have to be looked up", () => {
  it("are claimed as what arrives, for the checker and with rows up to the limit", async () => {
    const { databases, runQuery } = shop();
    const query = `SELECT ARRAY['sad']::mood[] AS moods, 'sad'::mood AS mood, '{1.5}'::price[] AS prices, '1.5'::lucky AS lucky
                     FROM generate_series(1, 250)`;
    const request = { database: "shop", query, params: [], write: false };
    const prepared = await databases.prepare(request, callOf());
    const result = await shop().runQuery("shop", query, {}, { maxRows: 200 });
    expect(result).toMatchObject({ row_count: 200, truncated: true });
    expect(prepared).toEqual({ columns: result.columns });
    expect(brokenClaims(result)).toEqual([]);
    expect(result.columns.map(({ type, databaseType }) => [type, databaseType])).toEqual([
      ["any", "mood[]"],
      ["string", "mood"],
      ["any", "numeric[]"],
      ["any", "numeric"],
    ]);
    const small = await runQuery("shop", query, {}, { maxBytes: 1_000 });
    expect(small.truncated).toBe(true);
    expect(JSON.stringify(small.rows).length).toBeLessThanOrEqual(1_000);
  });

  it("are looked up in a statement that writes, which is carried out once", async () => {
    await owner.query("CREATE TABLE written (id serial, moods mood[])");
    onTestFinished(async () => void (await owner.query("DROP TABLE written")));
    const insert = "INSERT INTO written (moods) VALUES (ARRAY['sad']::mood[]) RETURNING id, moods";
    const { rows } = await shop().runQuery("shop", insert, {}, { write: true });
    expect(rows).toEqual([{ id: 1, moods: ["sad"] }]);
    expect(await valueOf("(SELECT count(*) FROM written)")).toBe(1);
  });

  it("appear as lists in samples, and truncated JSON is text", async () => {
    await owner.query(`
      CREATE TABLE sampled (moods mood[], boxes box[], many mood[], long jsonb, short jsonb);
      INSERT INTO sampled VALUES ('{sad}', '{(1,2),(0,0);(3,4),(0,0)}', array_fill('sad'::mood, ARRAY[500]),
        (repeat('9', 1500))::jsonb, '{"id": 1533947986218845197}')`);
    onTestFinished(async () => void (await owner.query("DROP TABLE sampled")));
    const [table] = await shop().databases.describe(
      "shop",
      { table: "sampled", samples: 1, limit: 1 },
      callOf(),
    );
    expect(table!.sample).toEqual([
      {
        moods: ["sad"],
        boxes: ["(1,2),(0,0)", "(3,4),(0,0)"],
        many: null,
        long: "9".repeat(1_000),
        short: { id: "1533947986218845197" },
      },
    ]);
  });
});

describe("numbers of PostgreSQL", () => {
  it("keep every digit, computed or not", async () => {
    await owner.query(`
      CREATE TABLE amounts (v numeric(20,2), free numeric, f real, j jsonb);
      INSERT INTO amounts VALUES (900719925474099.23, 900719925474099.23, 0.1, '{"id": 1533947986218845197, "r": [0.12345678901234567890]}')`);
    onTestFinished(async () => void (await owner.query("DROP TABLE amounts")));
    const exact = "900719925474099.23";
    const { rows } = await shop().runQuery(
      "shop",
      `SELECT SUM(v) AS sum, MAX(v) AS max, COALESCE(v, 0) AS coalesced, v * 1 AS product, AVG(v) AS avg, 1e20 / 3 AS quotient,
              round(AVG(v), 1) AS rounded, (SELECT v FROM amounts UNION ALL SELECT v FROM amounts LIMIT 1) AS united,
              SUM(free) AS free, f, f * 3 AS f3, ARRAY[f] AS fs, j, json_agg(a) AS rows, to_json(ARRAY[v]) AS list, 1e400 AS large, 1e-400 AS small
         FROM amounts a GROUP BY v, f, j`,
    );
    expect(rows[0]).toEqual({
      sum: exact,
      max: exact,
      coalesced: exact,
      product: exact,
      avg: "900719925474099.2300",
      quotient: "33333333333333333333",
      rounded: Number("900719925474099.2"),
      united: exact,
      free: exact,
      f: 0.1,
      f3: expect.closeTo(0.3) as number,
      fs: [0.1],
      j: { id: "1533947986218845197", r: ["0.12345678901234567890"] },
      rows: [
        { v: exact, free: exact, f: 0.1, j: { id: "1533947986218845197", r: ["0.12345678901234567890"] } },
      ],
      list: [exact],
      large: `1${"0".repeat(400)}`,
      small: `0.${"0".repeat(399)}1`,
    });
  });

  it("are found, compared and written as parameters", async () => {
    await owner.query(
      "CREATE TABLE ids (id int8, n numeric, t text, j jsonb); INSERT INTO ids VALUES (9007199254740992), (9007199254740993)",
    );
    onTestFinished(async () => void (await owner.query("DROP TABLE ids")));
    const { runQuery } = shop();
    const x = "9007199254740993";
    const found = await runQuery(
      "shop",
      "SELECT id FROM ids WHERE id = :x AND id + 0 = :x AND id IN (:x, 1) AND to_jsonb(id) = :j::jsonb AND id::text = :t",
      { x, j: x, t: x },
    );
    expect(found.rows).toEqual([{ id: x }]);
    const write = "UPDATE ids SET n = :n, t = :t, j = :j WHERE id = :x RETURNING n, t, j";
    const { rows } = await runQuery(
      "shop",
      write,
      { x, t: x, j: x, n: "900719925474099.23" },
      { write: true },
    );
    expect(rows).toEqual([{ n: "900719925474099.23", t: x, j: x }]);
  });
});

describe("the form of PostgreSQL's values", () => {
  it("does not depend on the settings of the role", async () => {
    await owner.query(`
      CREATE ROLE odd LOGIN SUPERUSER PASSWORD '${PASSWORD}';
      ALTER ROLE odd SET IntervalStyle = 'iso_8601'; ALTER ROLE odd SET extra_float_digits = -10;
      ALTER ROLE odd SET TimeZone = 'Asia/Kolkata'; ALTER ROLE odd SET DateStyle = 'German'; ALTER ROLE odd SET bytea_output = 'escape'`);
    onTestFinished(async () => void (await owner.query("DROP ROLE odd")));
    const query = `SELECT interval '1 day 02:00' AS iv, 0.1::float4 AS f4, 0.30000000000000004::float8 AS f8, DATE '2026-01-31' AS day,
      timestamptz '2026-01-02 03:04:05+02' AS at, timestamp '2026-01-02 03:04:05.678901' AS local, '\\x00ff'::bytea AS bytes,
      timetz '03:04+05:30' AS tz`;
    const expected = [
      {
        iv: "1 day 02:00:00",
        f4: 0.1,
        f8: 0.30000000000000004,
        day: "2026-01-31",
        at: "2026-01-02T01:04:05Z",
        local: "2026-01-02T03:04:05.678901",
        bytes: "AP8=",
        tz: "03:04:00+05:30",
      },
    ];
    const { runQuery, queryError } = shop("odd", { concurrency: 1 });
    expect((await runQuery("shop", query)).rows).toEqual(expected);
    await runQuery("shop", "SELECT set_config('TimeZone', 'Europe/Berlin', false)", {}, { write: true });
    expect((await runQuery("shop", query)).rows).toEqual(expected);
    await queryError("shop", "SELECT 1 / 0", {}, { write: true });
    expect((await runQuery("shop", query, {}, { write: true })).rows).toEqual(expected);
  });

  it.each([
    ["timestamptz 'infinity'", "infinity"],
    ["timestamp '-infinity'", "-infinity"],
    ["date 'infinity'", "infinity"],
    ["timestamptz '0044-03-15 12:00+00 BC'", "0044-03-15 12:00:00+00 BC"],
    ["date '0044-03-15 BC'", "0044-03-15 BC"],
    ["timestamptz '294276-12-31 23:59:59.999999+00'", "294276-12-31T23:59:59.999999Z"],
    ["timestamp '10000-01-01'", "10000-01-01T00:00:00"],
    ["timestamptz '1880-01-01 00:00:00 Europe/Berlin'", "1879-12-31T23:06:32Z"],
    ["timetz '00:00:00+00:53:28'", "00:00:00+00:53:28"],
    ["interval '-178000000 years'", "-178000000 years"],
  ])("%s arrives as %s", async (expression, value) => {
    expect(await valueOf(expression)).toBe(value);
    const { runQuery } = shop();
    const type = expression.split(" ")[0];
    expect(
      (await runQuery("shop", `SELECT CAST(:v AS ${type}) = ${expression} AS same`, { v: value })).rows,
    ).toEqual([{ same: true }]);
  });
});

describe("moments as parameters of PostgreSQL", () => {
  it.each([
    "2026-01-02T21:04:05.678Z",
    "2026-01-03T02:34:05.678+05:30",
    "2026-01-02T16:04:05.678-05:00",
    "2026-01-02t21:04:05.678z",
    "2026-01-02 21:04:05.678 Z",
    "2026-01-03 02:34:05.678+05:30",
    "2026-01-03 02:34:05.678 +0530",
    "2026-01-03 02:04:05.678+05",
    "2026-01-03 02:34:20.678+05:30:15",
    " 2026-01-03t02:34:05.678+05:30 ",
  ])("%s reads, compares and writes as one moment", async (at) => {
    await owner.query("CREATE TABLE moments (id int, tz timestamptz, ts timestamp, d date, note text)");
    onTestFinished(async () => void (await owner.query("DROP TABLE moments")));
    const { runQuery } = shop();
    await runQuery(
      "shop",
      "INSERT INTO moments VALUES (1, :tz, :ts, :d, :note), (2, '2026-01-02 21:04:05.677Z', '2026-01-02 21:04:05.677', '2026-01-03', '')",
      { tz: at, ts: at, d: at, note: at },
      { write: true },
    );
    const { rows } = await runQuery(
      "shop",
      "SELECT * FROM moments WHERE tz = :tz AND ts = :ts AND tz >= :tz AND ts >= :ts",
      { tz: at, ts: at },
    );
    expect(rows).toEqual([
      { id: 1, tz: "2026-01-02T21:04:05.678Z", ts: "2026-01-02T21:04:05.678", d: "2026-01-02", note: at },
    ]);
    const read = { tz: rows[0]!["tz"], ts: rows[0]!["ts"] };
    const again = await runQuery(
      "shop",
      "SELECT id FROM moments WHERE tz = :tz AND ts = :ts AND tz = ts",
      read,
    );
    expect(again.rows).toEqual([{ id: 1 }]);
  });

  it.each(["2026-01-02T21:04Z", "2026-01-03T02:34+05:30", "2026-01-03 02:04+05", "2026-01-02t21:04z"])(
    "%s has no seconds",
    async (at) => {
      const query = "SELECT CAST(:at AS timestamp) AS ts, CAST(:at AS timestamptz) AS tz";
      expect((await shop().runQuery("shop", query, { at })).rows).toEqual([
        { ts: "2026-01-02T21:04:00", tz: "2026-01-02T21:04:00Z" },
      ]);
    },
  );

  it("are stored in UTC in domains, and as a time of day", async () => {
    await owner.query(`
      CREATE DOMAIN shown AS timestamp; CREATE DOMAIN late AS shown;
      CREATE TABLE stored (late late, day date, at time, note text)`);
    onTestFinished(
      async () => void (await owner.query("DROP TABLE stored; DROP DOMAIN late; DROP DOMAIN shown")),
    );
    const at = "2026-01-03 02:34:05+05:30";
    const insert = "INSERT INTO stored VALUES (:late, :day, :at, :note) RETURNING *";
    expect(
      (await shop().runQuery("shop", insert, { late: at, day: at, at, note: at }, { write: true })).rows,
    ).toEqual([{ late: "2026-01-02T21:04:05", day: "2026-01-02", at: "21:04:05", note: at }]);
  });
});

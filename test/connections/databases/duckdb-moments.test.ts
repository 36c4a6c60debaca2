/** A moment as a parameter of DuckDB is the same moment in comparisons and when it is stored. */
import { describe, expect, it } from "vitest";
import { sharedDuckdb } from "../../support/shared-duckdb.ts";

/** Without a zone, except for `tz`; `note` is a text. */
const TYPES = {
  ts: "TIMESTAMP",
  s: "TIMESTAMP_S",
  ms: "TIMESTAMP_MS",
  ns: "TIMESTAMP_NS",
  d: "DATE",
  t: "TIME",
  tz: "TIMESTAMPTZ",
  note: "VARCHAR",
};
const COLUMNS = Object.keys(TYPES);
const ALL = COLUMNS.map((name) => `:${name}`).join(", ");

/** A table of these columns. */
const shop = sharedDuckdb([
  `CREATE TABLE moments (${Object.entries(TYPES)
    .map(([name, type]) => `${name} ${type}`)
    .join(", ")})`,
]);

/** Expressions on a row that holds the moment 2026-01-31T23:30:00-05:00, which is also their parameter, and their values. */
const KEPT: Record<string, unknown> = {
  "ts = :at": true,
  "ts >= :at": true,
  "tz = :at": true,
  "d = :at": true,
  "ts BETWEEN :at AND :at": true,
  "tz BETWEEN :at AND :at": true,
  "ts IN (:at)": true,
  "note = :at": true,
  "note IN (:at, 'x')": true,
  "ts = :at AND note = :at": true,
  "ts IS NOT DISTINCT FROM :at": true,
  "date_diff('hour', ts, :at)": 0,
  "date_part('day', CAST(:at AS TIMESTAMP))": 1,
  "CASE WHEN ts > :at THEN 'after' ELSE 'not' END": "not",
  "CASE WHEN note = :at THEN ts ELSE :at END": "2026-02-01T04:30:00",
  "coalesce(:at, ts)": "2026-02-01T04:30:00",
  "greatest(ts, :at)": "2026-02-01T04:30:00",
  "nullif(note, :at)": null,
  "upper(:at)": "2026-01-31T23:30:00-05:00",
  "left(:at, 10)": "2026-01-31",
  "length(:at)": 25,
  "concat('at ', :at)": "at 2026-01-31T23:30:00-05:00",
  "note || :at || 'x' LIKE '%x'": true,
  "coalesce(nullif(:at, ''), 'none')": "2026-01-31T23:30:00-05:00",
  "strptime(left(:at, 19), '%Y-%m-%dT%H:%M:%S')": "2026-01-31T23:30:00",
  ":at::TIMESTAMPTZ": "2026-02-01T04:30:00.000Z",
  "nullif(:at, '')::TIMESTAMPTZ": "2026-02-01T04:30:00.000Z",
  "CAST(:at AS TIMESTAMPTZ)::DATE": "2026-02-01",
  "CAST(:at AS DATE)": "2026-02-01",
  "{'x': CAST(:at AS TEXT), 'y': '2026-02-01'}::STRUCT(x VARCHAR, y DATE)": {
    x: "2026-01-31T23:30:00-05:00",
    y: "2026-02-01",
  },
  "(CASE WHEN note = :at THEN '2020-01-01' ELSE left(ts::VARCHAR, 10) END)::DATE": "2020-01-01",
  "(SELECT max(left(m.ts::VARCHAR, 10)::DATE) FROM moments AS m WHERE m.note = :at)": "2026-02-01",
  "(SELECT max(x::DATE) FROM (SELECT ts::VARCHAR AS x FROM moments WHERE lower(note) = lower(:at)))":
    "2026-02-01",
  "(SELECT count(*) FROM moments AS m JOIN moments AS n ON m.note = n.note AND m.note = :at)": 1,
};

const params = (at: string): Record<string, string> => Object.fromEntries(COLUMNS.map((name) => [name, at]));

describe("moments as parameters of DuckDB", () => {
  it.each([
    "2026-01-02T21:04:00Z",
    "2026-01-03T02:34:00+05:30",
    "2026-01-02T16:04:00-05:00",
    "2026-01-02t21:04:00z",
    "2026-01-02 21:04:00 Z",
    "2026-01-03 02:34:00+05:30",
    "2026-01-03 02:34:00 +0530",
    "2026-01-03 02:04:00+05",
    "2026-01-03 02:34:15+05:30:15",
    "2026-01-03T02:34+05:30",
    "2026-01-02 21:04Z",
    " 2026-01-03t02:34+05:30 ",
  ])("%s reads, compares and writes as one moment, and as the text that it is", async (at) => {
    const { runQuery } = await shop();
    await runQuery("shop", `INSERT INTO moments VALUES (${ALL})`, params(at), { write: true });
    const moment = "2026-01-02T21:04:00";
    const { rows } = await runQuery("shop", "FROM moments");
    expect(rows).toEqual([
      {
        ts: moment,
        s: moment,
        ms: moment,
        ns: moment,
        d: "2026-01-02",
        t: "21:04:00",
        tz: `${moment}.000Z`,
        note: at,
      },
    ]);
    const same = COLUMNS.map((name) => `${name} = :${name}`).join(" AND ");
    const found = await runQuery("shop", `SELECT count(*) AS n FROM moments WHERE ${same}`, params(at));
    expect(found.rows).toEqual([{ n: 1 }]);
    const casts = "SELECT :a::TIMESTAMP AS ts, coalesce(:b, ts) AS coalesced, upper(:c) AS note FROM moments";
    expect((await runQuery("shop", casts, { a: at, b: at, c: at })).rows).toEqual([
      { ts: moment, coalesced: moment, note: at.toUpperCase() },
    ]);
  });

  it("are each what their place takes, where one is at several", async () => {
    const { runQuery } = await shop();
    const at = "2026-01-03 02:34:00+05:30";
    await runQuery(
      "shop",
      "INSERT INTO moments (ts, tz, note) VALUES (:at, :at, :at)",
      { at },
      { write: true },
    );
    const query = "SELECT :at AS at, ts, note FROM moments WHERE ts = :at AND tz = :at AND note = :at";
    expect((await runQuery("shop", query, { at })).rows).toEqual([
      { at, ts: "2026-01-02T21:04:00", note: at },
    ]);
    const grouped =
      "SELECT note > :at AS later, count(*) AS n FROM moments WHERE ts <= :at GROUP BY note > :at";
    // A statement that needs the same parameter again as a time and as a text.
    await expect(runQuery("shop", grouped, { at })).rejects.toMatchObject({ code: "input_invalid" });
    const cast = grouped.replace("ts <= :at", "ts <= CAST(:at AS TIMESTAMPTZ)");
    expect((await runQuery("shop", cast, { at })).rows).toEqual([{ later: false, n: 1 }]);
  });

  it("are the same moment as arguments of functions, in lists and structs, and in choices", async () => {
    const { runQuery } = await shop();
    const at = "2026-01-03T02:34:05+05:30";
    const utc = "2026-01-02T21:04:05";
    await runQuery("shop", "INSERT INTO moments (ts, tz) VALUES (:at, :at)", { at }, { write: true });
    const query = `SELECT date_diff('second', :at, ts) AS diff, age(:at, ts)::VARCHAR AS age,
      CASE WHEN date_diff('hour', :at, ts) = 0 THEN :at ELSE ts END AS chosen, greatest(:at, ts) AS latest,
      [ts, :at] AS list, date_trunc('day', CAST(:at AS TIMESTAMP)) AS day, :at AS text, :n + 1 AS n, :note AS note
      FROM moments WHERE ts BETWEEN :at AND now() AND abs(date_diff('second', :at, ts)) < :n`;
    expect((await runQuery("shop", query, { at, n: 7, note: "it's" })).rows).toEqual([
      {
        diff: 0,
        age: "00:00:00",
        chosen: utc,
        latest: utc,
        list: [utc, utc],
        day: "2026-01-02T00:00:00",
        text: at,
        n: 8,
        note: "it's",
      },
    ]);
    const grouped =
      "SELECT date_diff('second', :at, ts) AS d, count(*) AS n FROM moments GROUP BY date_diff('second', :at, ts)";
    expect((await runQuery("shop", grouped, { at })).rows).toEqual([{ d: 0, n: 1 }]);
    const scratch = "SELECT date_diff('second', :at, CAST('2026-01-02 21:04:05' AS TIMESTAMP)) AS d";
    expect((await runQuery("scratch", scratch, { at })).rows).toEqual([{ d: 0 }]);
  });

  it.each([
    "SELECT {'x': :at}::STRUCT(x TIMESTAMP) AS s",
    "SELECT count(*) AS n FROM moments JOIN (SELECT :at AS x) AS q ON ts = q.x",
  ])("are refused where DuckDB converts a text that may have them: %s", async (query) => {
    const { runQuery } = await shop();
    await expect(runQuery("shop", query, { at: "2026-01-03T02:34:05+05:30" })).rejects.toMatchObject({
      code: "input_invalid",
      message: expect.stringContaining("would take it for a time without the offset"),
    });
    const sure = query.replace(":at", "CAST(:at AS TIMESTAMPTZ)");
    expect((await runQuery("shop", sure, { at: "2026-01-03T02:34:05+05:30" })).rows).toHaveLength(1);
  });

  it.each([
    "CAST(nullif(:at, '') AS TIMESTAMP)",
    "CAST(coalesce(:at, '2020-01-01') AS TIMESTAMP)",
    "coalesce(:at, '2020-01-01'::VARCHAR)::TIMESTAMP",
    "TIMESTAMP '2026-02-01 04:00:00' < CAST(nullif(:at, '') AS TIMESTAMP)",
    "(CASE WHEN true THEN :at ELSE 'x'::VARCHAR END)::TIMESTAMP",
    "greatest(:at, '2020')::TIMESTAMP",
    "trim(:at)::DATE",
    "replace(:at, 'T', ' ')::TIMESTAMP",
    "(:at::VARCHAR)::DATE",
    "(:at)::VARCHAR::TIMESTAMP",
    "concat(:at, '')::TIMESTAMP",
    "ts < trim(:at)::TIMESTAMP",
    "ts = nullif(:at, '')",
    "TRY_CAST(lower(:at) AS DATE)",
    "list_transform([:at], x -> x::TIMESTAMP)",
    "list_transform([trim(:at)], x -> x::TIMESTAMP)",
    "(SELECT max(trim(:at)))::TIMESTAMP",
    "(SELECT x::DATE FROM (SELECT lower(:at) AS x))",
    "(SELECT max(x) FROM (SELECT ts AS x FROM moments UNION ALL SELECT :at))",
    "(WITH q AS MATERIALIZED (SELECT upper(:at) AS x) SELECT min(a.x::DATE) FROM q AS a, q AS b)",
  ])("are refused where a function keeps them as texts that become times: %s", async (expression) => {
    const { runQuery } = await shop();
    const query = `SELECT ${expression} AS x FROM (SELECT TIMESTAMP '2026-02-01 04:30:00' AS ts) AS one`;
    const at = "2026-01-31T23:30:00-05:00";
    await expect(runQuery("shop", query, { at })).rejects.toMatchObject({
      code: "input_invalid",
      options: { fix: expect.stringContaining("CAST(:x AS TIMESTAMPTZ)") as string },
    });
    for (const plain of ["2026-02-01T04:30:00Z", "2026-02-01 04:30:00"])
      expect((await runQuery("shop", query, { at: plain })).rows).toHaveLength(1);
  });

  it("stay what they are in queries that make no time of their text", async () => {
    const { runQuery } = await shop();
    const at = "2026-01-31T23:30:00-05:00";
    await runQuery("shop", `INSERT INTO moments VALUES (${ALL})`, params(at), { write: true });
    const one = async (expression: string) =>
      (await runQuery("shop", `SELECT ${expression} AS x FROM moments`, { at })).rows[0]!["x"];
    const found: Record<string, unknown> = {};
    for (const expression of Object.keys(KEPT)) found[expression] = await one(expression);
    expect(found).toEqual(KEPT);
  });

  it("are refused where a statement would write them without their offset, because their place has no type", async () => {
    const { runQuery } = await shop();
    const at = "2026-01-03T02:34:05+05:30";
    const write = (value: string, values = { at }) =>
      runQuery("shop", `INSERT INTO moments (ts, note) SELECT ${value}, 'copied'`, values, { write: true });
    await expect(write(":at")).rejects.toMatchObject({
      code: "input_invalid",
      options: { fix: expect.stringContaining("CAST(:x AS TIMESTAMPTZ)") },
    });
    await write("CAST(:at AS TIMESTAMPTZ)");
    // The day and the time of day are those in UTC.
    await write(":at", { at: "2026-01-03T02:34:05Z" });
    expect((await runQuery("shop", "SELECT ts FROM moments WHERE note = 'copied' ORDER BY ts")).rows).toEqual(
      [{ ts: "2026-01-02T21:04:05" }, { ts: "2026-01-03T02:34:05" }],
    );
  });

  it.each([
    "INSERT INTO moments (ts) VALUES (coalesce(:at, '2020-01-01'::VARCHAR)) RETURNING ts",
    "INSERT INTO moments (ts, note) VALUES (left(:at, 10), 'x')",
    "INSERT INTO moments (ts) SELECT trim(:at)",
    "INSERT INTO moments (note, ts) SELECT :at::VARCHAR, trim(:at)::TIMESTAMP AS x",
    "UPDATE moments SET ts = nullif(:at, '')",
    "UPDATE moments SET ts = replace(:at, 'T', ' ')::TIMESTAMP",
    "UPDATE moments SET d = TRY_CAST(left(:at, 10) AS DATE)",
    "UPDATE moments SET d = (:at::VARCHAR)::DATE",
    "DELETE FROM moments WHERE ts < trim(:at)::TIMESTAMP",
    "DELETE FROM moments WHERE note = :at AND d = left(:at, 10)::DATE",
    "INSERT INTO ids VALUES (1, NULL) ON CONFLICT (id) DO UPDATE SET ts = trim(:at)",
    "CREATE TABLE days AS SELECT trim(:at)::DATE AS day",
    "MERGE INTO ids USING (SELECT 2 AS id, trim(:at) AS x) AS s ON ids.id = s.id WHEN NOT MATCHED THEN INSERT (id, ts) VALUES (s.id, s.x)",
  ])("are refused where a statement writes what a function makes of their text: %s", async (query) => {
    const { runQuery } = await shop();
    await runQuery("shop", "CREATE TABLE ids (id INTEGER PRIMARY KEY, ts TIMESTAMP)", {}, { write: true });
    const write = (at: string) => runQuery("shop", query, { at }, { write: true });
    await expect(write("2026-01-31T23:30:00-05:00")).rejects.toMatchObject({
      code: "input_invalid",
      options: { fix: expect.stringContaining("CAST(:x AS TIMESTAMPTZ)") as string },
    });
    expect((await write("2026-02-01T04:30:00Z")).truncated).toBe(false);
  });

  it.each([
    "INSERT INTO moments (note) VALUES (upper(:at))",
    "INSERT INTO moments (ts, note) VALUES (:at, :at)",
    "INSERT INTO moments (note, d) SELECT lower(:at), left(note, 10)::DATE FROM moments",
    "INSERT INTO moments (note) SELECT lower(CAST(:at AS TEXT)) AS x",
    "UPDATE moments SET note = :at, d = left(note, 10)::DATE WHERE note = :at AND ts = :at",
    "UPDATE moments SET note = concat('(', trim(:at)), d = ts::DATE",
    "UPDATE moments SET d = CASE WHEN note = lower(:at) THEN '2020-01-01' ELSE left(note, 10) END",
    "UPDATE moments SET ts = nullif(CAST(:at AS TIMESTAMPTZ), tz), d = CAST(:at AS TIMESTAMPTZ)::DATE",
    "UPDATE moments SET d = strptime(left(:at, 19), '%Y-%m-%dT%H:%M:%S')",
    "DELETE FROM moments WHERE note = :at AND ts BETWEEN :at AND :at",
    "DELETE FROM moments WHERE date_diff('day', ts, CAST(:at AS TIMESTAMP)) = 0",
  ])("are taken where a statement writes no time that is made of their text: %s", async (query) => {
    const { runQuery } = await shop();
    const at = "2026-01-31T23:30:00-05:00";
    await runQuery("shop", `INSERT INTO moments VALUES (${ALL})`, params(at), { write: true });
    expect((await runQuery("shop", query, { at }, { write: true })).row_count).toBe(1);
  });

  it("keep the digits after the second, and the text where the query does not say its type", async () => {
    const { runQuery } = await shop();
    const at = "2026-01-03T02:34:05.123456789+05:30";
    const query = "SELECT :a::TIMESTAMP_NS AS ns, :b AS text, [:c, 'x'] AS list";
    expect((await runQuery("shop", query, { a: at, b: at, c: at })).rows).toEqual([
      { ns: "2026-01-02T21:04:05.123456789", text: at, list: [at, "x"] },
    ]);
  });
});

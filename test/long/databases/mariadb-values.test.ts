/** Values of a real MariaDB arrive unchanged, and are written back unchanged. The zone of the server is not UTC. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { brokenClaims } from "../../support/column-claims.ts";
import { callOf } from "../../support/call-context.ts";
import { openDatabases } from "../../support/databases.ts";
import { type MariaDb, startMariaDb } from "../../support/mariadb.ts";

const EXACT = "900719925474099.23";
const ID = "9007199254740993";

let server: MariaDb;
beforeAll(async () => {
  server = await startMariaDb(`
    SET GLOBAL time_zone = '+05:30';
    SET time_zone = '+00:00';
    CREATE TABLE numbers (id BIGINT, d DECIMAL(40,20), v VARCHAR(60), j JSON, f FLOAT, dbl DOUBLE);
    INSERT INTO numbers VALUES
      (9007199254740992, 900719925474099.22, '9007199254740992', '{"id": 1533947986218845197, "r": 0.12345678901234567890}', 0.1, 0.1),
      (${ID}, ${EXACT}, '${ID}', '1e400', 16777216, 5e-324),
      (9007199254740994, 900719925474099.24, '9007199254740994', 'null', 1e-45, 1.7976931348623157e308);
    CREATE TABLE moments (id INT AUTO_INCREMENT PRIMARY KEY, dt DATETIME(6), ts TIMESTAMP(6) NULL, d DATE, note VARCHAR(40));
    INSERT INTO moments (dt, ts) VALUES ('2026-01-02 21:04:05.677', '2026-01-02 21:04:05.677'), ('2026-01-03 02:34:05.678', '2026-01-03 02:34:05.678');`);
});
afterAll(() => server.stop());

const shop = () =>
  openDatabases(
    [
      {
        name: "shop",
        type: "mariadb",
        dataset: server.url,
        password_var: "SHOP_PASSWORD",
        access: "read-write",
      },
    ],
    { SHOP_PASSWORD: server.password },
  );

const rowsOf = async (query: string, params: Record<string, unknown> = {}) =>
  (await shop().runQuery("shop", query, params)).rows;

/** A condition that compares a column with one moment very often. */
const any = (column: string): string => Array.from({ length: 60 }, () => `${column} = :at`).join(" OR ");

describe("numbers of MariaDB", () => {
  it("keep every digit, in columns, in JSON and computed", async () => {
    expect(
      await rowsOf("SELECT d, f, dbl, j, JSON_EXTRACT(j, '$.id') AS x FROM numbers ORDER BY id"),
    ).toEqual([
      {
        d: "900719925474099.22000000000000000000",
        f: 0.1,
        dbl: 0.1,
        j: { id: "1533947986218845197", r: "0.12345678901234567890" },
        x: "1533947986218845197",
      },
      { d: `${EXACT}000000000000000000`, f: 16_777_216, dbl: 5e-324, j: `1${"0".repeat(400)}`, x: null },
      { d: "900719925474099.24000000000000000000", f: 1e-45, dbl: 1.7976931348623157e308, j: null, x: null },
    ]);
    const [row] = await rowsOf(`
      SELECT SUM(d) AS sum, MAX(f) AS max, COALESCE(f, 0) AS coalesced, f + 0 AS computed, JSON_OBJECT('id', id) AS o, JSON_ARRAYAGG(id) AS a,
             -0e0 AS zero, CAST(18446744073709551615 AS UNSIGNED) AS largest
        FROM numbers WHERE id = 9007199254740992 GROUP BY id`);
    expect(row).toEqual({
      sum: "900719925474099.22000000000000000000",
      max: 0.1,
      // The server makes doubles of these.
      coalesced: Math.fround(0.1),
      computed: Math.fround(0.1),
      o: { id: "9007199254740992" },
      a: ["9007199254740992"],
      zero: 0,
      largest: "18446744073709551615",
    });
  });

  it.each([
    ["id = :x", ID],
    ["id IN (:x, 1)", ID],
    ["id + 0 = :x", ID],
    ["id = :x + 0", ID],
    ["id BETWEEN :x AND :x", ID],
    ["CASE id WHEN :x THEN 1 END", ID],
    ["(id, 1) = (:x, 1)", ID],
    ["v = :x", ID],
    ["v IN ('a', :x)", ID],
    ["CAST(id AS CHAR) = :x", ID],
    ["d = :x", EXACT],
    ["d IN (:x, 1)", EXACT],
    ["d BETWEEN :x AND :x", EXACT],
    ["d - :x = 0", EXACT],
    ["d IN (SELECT :x)", EXACT],
  ])("WHERE %s finds the row of %s", async (condition, x) => {
    expect(await rowsOf(`SELECT id FROM numbers WHERE ${condition}`, { x })).toEqual([{ id: ID }]);
  });

  it("find the row of a number that has more digits than a double tells apart", async () => {
    expect(await rowsOf("SELECT id FROM numbers WHERE d = :x", { x: Number("900719925474099.2") })).toEqual(
      [],
    );
  });

  it("are written to texts and to JSON without an exponent", async () => {
    const query = "SELECT CONCAT(:n) AS text, JSON_OBJECT('n', :n) AS o, :n AS n, :n + 1 AS next";
    for (const n of [1_234_567_890_123_456, -Number.MAX_SAFE_INTEGER, 1e15, 999_999_999_999_999, 0.1])
      expect(await rowsOf(query, { n })).toEqual([{ text: String(n), o: { n }, n, next: n + 1 }]);
  });

  it("are written back as they are, and texts too", async () => {
    const { runQuery } = shop();
    const values = {
      id: "-9223372036854775808",
      d: "-12345678901234567890.12345678901234567891",
      v: `${ID}.${"1".repeat(40)}`,
    };
    const insert = "INSERT INTO numbers (id, d, v, j) VALUES (:id, :d, :v, CONCAT('[', :id, ']'))";
    await runQuery("shop", insert, values, { write: true });
    await runQuery("shop", "UPDATE numbers SET d = :d WHERE id = :id AND v = :v", values, { write: true });
    expect(await rowsOf("SELECT id, d, v, j FROM numbers WHERE id = :id", { id: values.id })).toEqual([
      { ...values, j: [values.id] },
    ]);
    await runQuery("shop", "DELETE FROM numbers WHERE id = :id", { id: values.id }, { write: true });
    expect(await rowsOf("SELECT COUNT(*) AS n FROM numbers")).toEqual([{ n: 3 }]);
  });
});

describe("times of MariaDB", () => {
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
    "2026-01-03t02:34:05.678 +05:30",
  ])("%s reads, compares and writes as one moment, and as the text that it is", async (at) => {
    const { runQuery } = shop();
    const write = (query: string) => runQuery("shop", query, { at }, { write: true });
    await write("INSERT INTO moments (id, dt, ts, d, note) VALUES (9, :at, :at, :at, :at)");
    const moment = { dt: "2026-01-02T21:04:05.678000", ts: "2026-01-02T21:04:05.678000Z" };
    const same =
      "SELECT * FROM moments WHERE dt = :at AND ts = :at AND note = :at AND dt BETWEEN :at AND :at AND ts IN (:at, NOW())";
    expect(await rowsOf(same, { at })).toEqual([{ id: 9, ...moment, d: "2026-01-02", note: at }]);
    expect(await rowsOf("SELECT id FROM moments WHERE dt < :at OR ts < :at ORDER BY id", { at })).toEqual([
      { id: 1 },
    ]);
    const read = "SELECT id FROM moments WHERE dt = :ts AND ts = :dt AND dt = ts";
    expect(await rowsOf(read, moment)).toEqual([{ id: 9 }]);
    await write(
      "UPDATE moments SET dt = DATE_ADD(:at, INTERVAL 1 HOUR), ts = :at, note = CONCAT(:at, '!') WHERE id = 9",
    );
    await write(
      "INSERT INTO moments (id, d, ts) SELECT 9, '2026-01-01', :at ON DUPLICATE KEY UPDATE d = '2026-01-01', ts = :at",
    );
    expect(await rowsOf("SELECT dt, ts, d, note FROM moments WHERE id = 9")).toEqual([
      { dt: "2026-01-02T22:04:05.678000", ts: moment.ts, d: "2026-01-01", note: `${at}!` },
    ]);
    await write("DELETE FROM moments WHERE ts = :at");
    expect(await rowsOf("SELECT COUNT(*) AS n FROM moments")).toEqual([{ n: 2 }]);
  });

  it.each(["2026-01-02T21:04Z", "2026-01-03T02:34+05:30", "2026-01-03 02:04+05", "2026-01-02t21:04z"])(
    "%s has no seconds",
    async (at) => {
      const query =
        "SELECT id FROM moments WHERE dt >= :at AND ts >= :at AND dt < DATE_ADD(:at, INTERVAL 1 HOUR)";
      expect(await rowsOf(`${query} ORDER BY id`, { at })).toEqual([{ id: 1 }]);
      expect(await rowsOf("SELECT id FROM moments WHERE dt < :at OR ts < :at", { at })).toEqual([]);
      const casts =
        "SELECT CAST(:at AS DATETIME) AS dt, CAST(:at AS DATE) AS d, CAST(:at AS TIME) AS t, CONCAT(:at) AS note";
      expect(await rowsOf(casts, { at })).toEqual([
        { dt: "2026-01-02T21:04:00", d: "2026-01-02", t: "21:04:00", note: at },
      ]);
    },
  );

  it("are in UTC, whatever the zone of the server", async () => {
    const [row] = await rowsOf(
      "SELECT @@time_zone AS zone, ts, dt, TIMESTAMPDIFF(SECOND, NOW(), UTC_TIMESTAMP()) AS shift, MAX(ts) OVER () AS last FROM moments WHERE id = 1",
    );
    expect(row).toEqual({
      zone: "+00:00",
      ts: "2026-01-02T21:04:05.677000Z",
      dt: "2026-01-02T21:04:05.677000",
      shift: 0,
      last: "2026-01-02T21:04:05.677000Z",
    });
  });

  it("are refused where a function reads a text without its offset", async () => {
    const { runQuery, queryError } = shop();
    const query = "SELECT UNIX_TIMESTAMP(:at) AS n";
    expect(await queryError("shop", query, { at: "2026-01-03T02:34:05+05:30" })).toMatchObject({
      code: "database_failed",
      message: "shop: The server reads 2026-01-03T02:34:05+05:30 as a time without its offset.",
    });
    expect((await runQuery("shop", query, { at: "2026-01-02T21:04:05Z" })).rows).toEqual([{ n: 1767387845 }]);
    const cast = "SELECT UNIX_TIMESTAMP(CAST(:at AS DATETIME(6))) AS n";
    expect((await runQuery("shop", cast, { at: "2026-01-03T02:34:05+05:30" })).rows).toEqual([
      { n: 1767387845 },
    ]);
  });

  it("are refused, with a fix, where the server does not say that it stores a time", async () => {
    const { runQuery, queryError } = shop();
    const at = "2026-01-03T02:34:05+05:30";
    const insert = "INSERT INTO moments (id, dt, note) VALUES (7, '2026-01-01', ''), (8, :at, :at)";
    const casting = insert.replace(":at", "CAST(:at AS DATETIME(6))");
    expect(await queryError("shop", insert, { at }, { write: true })).toMatchObject({
      code: "database_failed",
      message: expect.stringContaining(`Incorrect datetime value: '${at}'`) as string,
      options: { fix: "Cast the parameter in the query: CAST(:name AS DATETIME(6))." },
    });
    await runQuery("shop", casting, { at }, { write: true });
    expect(await rowsOf("SELECT dt, note FROM moments WHERE id = 8")).toEqual([
      { dt: "2026-01-02T21:04:05", note: at },
    ]);
    await runQuery("shop", "DELETE FROM moments WHERE id IN (7, 8)", {}, { write: true });
  });

  it("and long numbers in rows of one INSERT are bound by their column, with few round trips", async () => {
    const { runQuery } = shop();
    await server.run("CREATE TABLE bulk (id INT, dt DATETIME(3), d DECIMAL(40,10), note VARCHAR(60))");
    const count = 200;
    const params: Record<string, unknown> = {};
    const rows = Array.from({ length: count }, (_, id) => {
      params[`at${id}`] = `2026-01-03T02:34:05.${String(id + 1).padStart(3, "0")}+05:30`;
      params[`d${id}`] = `900719925474099${id}.123456789`;
      return `(${id}, :at${id}, :d${id}, :at${id})`;
    });
    const prepared = async (): Promise<number> => {
      const status =
        "SELECT VARIABLE_VALUE AS n FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'COM_STMT_PREPARE'";
      return Number((await rowsOf(status))[0]!["n"]);
    };
    const before = await prepared();
    await runQuery("shop", `INSERT INTO bulk VALUES ${rows.join(", ")}`, params, { write: true });
    expect((await prepared()) - before).toBeLessThan(15);
    const expected = Array.from({ length: count }, (_, id) => ({
      id,
      dt: `2026-01-02T21:04:05.${String(id + 1).padStart(3, "0")}`,
      d: `${params[`d${id}`] as string}0`,
      note: params[`at${id}`],
    }));
    expect(await rowsOf("SELECT * FROM bulk ORDER BY id")).toEqual(expected);
  });

  it("are texts in any number, but are refused beyond 50 that are compared one by one with times", async () => {
    const at = "2026-01-03T02:34:05+05:30";
    expect(await rowsOf(`SELECT COUNT(*) AS n FROM moments WHERE ${any("note")}`, { at })).toEqual([
      { n: 0 },
    ]);
    expect(await shop().queryError("shop", `SELECT 1 FROM moments WHERE ${any("dt")}`, { at })).toMatchObject(
      {
        code: "input_invalid",
        message: expect.stringContaining("has 60 parameters") as string,
      },
    );
  });

  it("and numbers that do not fit are refused, although the server would only warn", async () => {
    await server.run(`
      CREATE TABLE small (n TINYINT, t CHAR(2), dt DATETIME);
      SET @mode = @@GLOBAL.sql_mode;
      SET GLOBAL sql_mode = ''`);
    const { queryError, runQuery } = shop();
    const write = (column: string, value: string) =>
      queryError(
        "shop",
        `INSERT INTO small (n, ${column}) VALUES (1, NULL), (1, :value)`,
        { value },
        { write: true },
      );
    expect((await write("t", "abc")).message).toContain("Data too long");
    expect((await write("dt", "2026-01-03T02:34:05+05:30")).message).toContain("Incorrect datetime value");
    const large = queryError("shop", "INSERT INTO small (n) VALUES (:n)", { n: 300 }, { write: true });
    expect((await large).message).toContain("Out of range");
    expect((await runQuery("shop", "SELECT COUNT(*) AS n FROM small")).rows).toEqual([{ n: 0 }]);
    await server.run("SET GLOBAL sql_mode = @mode");
  });

  it("arrive as zero dates where they are", async () => {
    await server.run(`
      SET sql_mode = 'STRICT_TRANS_TABLES';
      CREATE TABLE zero (d DATE, dt DATETIME, ts TIMESTAMP NULL, y YEAR);
      INSERT INTO zero VALUES ('0000-00-00', '0000-00-00', '0000-00-00', '0000'), ('2026-00-00', '2026-01-00 01:02:03', NULL, 2155)`);
    const result = await shop().runQuery("shop", "SELECT * FROM zero");
    expect(result.rows).toEqual([
      { d: "0000-00-00", dt: "0000-00-00T00:00:00", ts: "0000-00-00T00:00:00", y: 0 },
      { d: "2026-00-00", dt: "2026-01-00T01:02:03", ts: null, y: 2155 },
    ]);
    expect(brokenClaims(result)).toEqual([]);
  });
});

describe("other types of MariaDB", () => {
  it("arrive as what they are claimed to be, and in samples", async () => {
    await server.run(`
      CREATE TABLE other (b BIT(8), y YEAR, s SET('a','b'), u UUID, ip INET6, g GEOMETRY, d DECIMAL(65,30), bu BIGINT UNSIGNED,
        zf INT(8) ZEROFILL, dz DECIMAL(10,2) ZEROFILL, f FLOAT(7,4), j JSON);
      INSERT INTO other VALUES (b'101', 2026, 'a,b', '00000000-0000-0000-0000-000000000001', '::1', POINT(1.5, 2),
        12345678901234567890123456789012345.123456789012345678901234567890, 18446744073709551615, 42, 12.5, 1.2345, CONCAT('[', REPEAT('9', 1500), ']'))`);
    const { databases, runQuery } = shop();
    const query = "SELECT * FROM other";
    const result = await runQuery("shop", query);
    const prepared = await databases.prepare({ database: "shop", query, params: [], write: false }, callOf());
    expect(prepared).toEqual({ columns: result.columns });
    expect(brokenClaims(result)).toEqual([]);
    const common = {
      b: 5,
      y: 2026,
      s: "a,b",
      u: "00000000-0000-0000-0000-000000000001",
      ip: "::1",
      d: "12345678901234567890123456789012345.123456789012345678901234567890",
      bu: "18446744073709551615",
      zf: 42,
      dz: 12.5,
      f: 1.2345,
    };
    expect(result.rows).toEqual([{ ...common, g: { x: 1.5, y: 2 }, j: ["9".repeat(1_500)] }]);
    const [table] = await databases.describe("shop", { table: "other", samples: 1, limit: 1 }, callOf());
    expect(table!.sample).toEqual([{ ...common, g: "POINT(1.5 2)", j: `[${"9".repeat(999)}` }]);
  });
});

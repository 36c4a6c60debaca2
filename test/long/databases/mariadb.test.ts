import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import mysql from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeWriteAccess } from "../../../src/connections/databases/privileges.ts";
import { brokenClaims, claimsOf } from "../../support/column-claims.ts";
import { openDatabases, abortAfter } from "../../support/databases.ts";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/postgres.ts";
import { tcpProxy } from "../../support/tcp-proxy.ts";
import { callOf } from "../../support/call-context.ts";

const REFUSALS = new Set<string>(["database_read_only", "database_failed", "input_invalid"]);
const PASSWORD = "a secret of the tests";
const directory = mkdtempSync(join(tmpdir(), "millrace-mariadb-"));
let server: ChildProcess;
let owner: mysql.Connection;
let port: number;

beforeAll(async () => {
  const data = join(directory, "data");
  const socket = join(directory, "socket");
  const user = process.getuid?.() === 0 ? ["--user=root"] : [];
  execFileSync("mariadb-install-db", [
    "--no-defaults",
    `--datadir=${data}`,
    "--auth-root-authentication-method=normal",
    ...user,
  ]);
  port = await freePort();
  const flags = [`--datadir=${data}`, `--socket=${socket}`, `--port=${port}`, "--bind-address=127.0.0.1"];
  const fast = [
    "--innodb-flush-log-at-trx-commit=0",
    "--skip-log-bin",
    "--max-connections=12",
    "--skip-name-resolve",
  ];
  server = spawn("/usr/sbin/mariadbd", ["--no-defaults", ...flags, ...fast, ...user], { stdio: "ignore" });
  owner = await eventually(
    () =>
      mysql
        .createConnection({ socketPath: socket, user: "root", multipleStatements: true })
        .catch(() => undefined),
    "MariaDB",
    30_000,
  );
  await owner.query(`
    CREATE DATABASE shop;
    CREATE USER reports@'%' IDENTIFIED BY '${PASSWORD}';
    GRANT ALL ON shop.* TO reports@'%';
    USE shop;
    CREATE TABLE orders (id INT PRIMARY KEY, region VARCHAR(20) NOT NULL, amount DECIMAL(20,2), n BIGINT, paid BOOL, day DATE,
                         at DATETIME(3), extra JSON, scan VARBINARY(10), flags BIT(4), note TEXT, f DOUBLE);
    INSERT INTO orders VALUES (1, 'north', 2.50, 7, TRUE, '2026-01-02', '2026-01-02 03:04:05.678', '{"a": [1]}', x'0102', b'101', 'ü', 0.1),
                              (2, 'south', 12345678901234567.89, 9007199254740993, FALSE, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    CREATE VIEW regions AS SELECT DISTINCT region FROM orders;
    CREATE TABLE counters (id INT PRIMARY KEY, n INT NOT NULL);
    INSERT INTO counters VALUES (1, 0), (2, 0);`);
});
afterAll(async () => {
  await owner.end();
  server.kill("SIGTERM");
  await once(server, "exit");
  rmSync(directory, { recursive: true });
});

const shop = (more: object = {}, env = { SHOP_PASSWORD: PASSWORD }, options = {}, at = port) =>
  openDatabases(
    [
      {
        name: "shop",
        type: "mariadb",
        dataset: `mysql://reports@127.0.0.1:${at}/shop`,
        password_var: "SHOP_PASSWORD",
        ...more,
      },
    ],
    env,
    options,
  );

/** Waits until a number of the server's connections run a query. */
const until = (count: number, text: string) =>
  eventually(async () => {
    const [rows] = await owner.query<mysql.RowDataPacket[]>(
      "SELECT count(*) AS n FROM information_schema.processlist WHERE info LIKE ? AND id <> CONNECTION_ID()",
      [`%${text}%`],
    );
    return Number(rows[0]!["n"]) === count ? true : undefined;
  }, `${count} × ${text}`);

/** The write permissions of a login, as doctor reports them. */
const writable = (user: string) => {
  const { runQuery } = shop({ dataset: `mysql://${user}@127.0.0.1:${port}` });
  return describeWriteAccess("mariadb", async (query) => (await runQuery("shop", query)).rows);
};

/** Prepares and runs a query, and compares what arrives with what each of the two claims. */
async function expectClaimsToHold(query: string, params = {}) {
  const { databases, runQuery } = shop();
  const request = { database: "shop", query, params: Object.keys(params), write: false };
  const prepared = await databases.prepare(request, callOf());
  if ("issues" in prepared) throw new Error(JSON.stringify(prepared.issues));
  const result = await runQuery("shop", query, params);
  const { columns } = prepared;
  expect([brokenClaims({ columns, rows: result.rows }), brokenClaims(result)]).toEqual([[], []]);
  return { claims: claimsOf(columns), rows: result.rows };
}

describe("a MariaDB database", () => {
  it("reports to doctor what its login may write", async () => {
    // A new server lets every login write to its databases test and test_…
    expect(await writable("reports")).toContain("on `test`.*");
    await owner.query(`
      REVOKE ALL ON test.* FROM PUBLIC;
      REVOKE ALL ON \`test\\_%\`.* FROM PUBLIC;
      CREATE USER reader@'%' IDENTIFIED BY '${PASSWORD}';
      GRANT SELECT ON shop.* TO reader@'%';
      CREATE ROLE writers;
      GRANT INSERT ON shop.counters TO writers;
      CREATE USER member@'%' IDENTIFIED BY '${PASSWORD}';
      GRANT writers TO member@'%'`);
    expect(await writable("reader")).toBeNull();
    expect(await writable("reports")).toBe("ALL PRIVILEGES on `shop`.*");
    expect(await writable("member")).toContain("its role `writers`");
  });

  it("returns every type of value as plain JSON, with the names and types of the columns", async () => {
    const { rows, columns } = await shop().runQuery("shop", "SELECT * FROM orders ORDER BY id");
    expect(rows[0]).toEqual({
      id: 1,
      region: "north",
      amount: 2.5,
      n: 7,
      paid: 1,
      day: "2026-01-02",
      at: "2026-01-02T03:04:05.678",
      extra: { a: [1] },
      scan: "AQI=",
      flags: 5,
      note: "ü",
      f: 0.1,
    });
    expect(rows[1]).toMatchObject({
      amount: "12345678901234567.89",
      n: "9007199254740993",
      day: null,
      extra: null,
    });
    expect(columns.map(({ type }) => type)).toEqual([
      "number",
      "string",
      "any",
      "any",
      "number",
      "string",
      "string",
      "any",
      "string",
      "number",
      "string",
      "number",
    ]);
  });

  it("claims of columns what arrives, for the extremes of all types", async () => {
    await owner.query(`
      CREATE TABLE extremes (ti TINYINT, tu TINYINT UNSIGNED, si SMALLINT, mi MEDIUMINT, i INT, iu INT UNSIGNED, bi BIGINT,
        bu BIGINT UNSIGNED, y YEAR, b1 BIT(1), b53 BIT(53), b64 BIT(64), d15 DECIMAL(15,2), d15u DECIMAL(15,0) UNSIGNED,
        d16 DECIMAL(16,2), d65 DECIMAL(65,30), f FLOAT, dbl DOUBLE, bo BOOL, da DATE, t TIME, t6 TIME(6), dt DATETIME(6),
        ts TIMESTAMP NULL, c CHAR(3), vc VARCHAR(9), tx TEXT, bin BINARY(2), vb VARBINARY(2), bl BLOB, e ENUM('a','b'),
        s SET('a','b'), j JSON, u UUID, ip INET6, p POINT);
      INSERT INTO extremes VALUES
        (-128, 0, -32768, -8388608, -2147483648, 0, -9223372036854775808, 0, 1901, b'0', 0, 0, -9999999999999.99,
          999999999999999, -99999999999999.99, -12345678901234567890.123456789, -3.4e38, -1.7e308, TRUE, '1000-01-01',
          '-838:59:59', '-838:59:59.999999', '1000-01-01 00:00:00', '1970-01-02 00:00:01', '', '', '', 'a', '', '', 'a', '',
          'null', '00000000-0000-0000-0000-000000000000', '::', POINT(1, 2)),
        (127, 255, 32767, 8388607, 2147483647, 4294967295, 9223372036854775807, 18446744073709551615, 2155, b'1',
          0x1FFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF, 9999999999999.99, 0, 0.01, 0.5, 3.4e38, 1.7e308, FALSE, '9999-12-31',
          '838:59:59', '838:59:59.999999', '9999-12-31 23:59:59.999999', '2038-01-19 03:14:07', 'abc', 'ü', 'text',
          x'00ff', x'ff', x'00', 'b', 'a,b', '{"a": [1]}', UUID(), '::ffff:255.255.255.255', NULL),
        (${Array.from({ length: 36 }, () => "NULL").join(", ")});`);
    const { claims, rows } = await expectClaimsToHold("SELECT * FROM extremes");
    await owner.query("DROP TABLE extremes");
    expect(rows).toHaveLength(3);
    expect(claims).toMatchObject({
      ti: "number integer",
      iu: "number integer",
      bi: "any integer",
      bu: "any integer",
      y: "number integer",
      b1: "number integer",
      b53: "number integer",
      b64: "any integer",
      d15: "number",
      d15u: "number",
      d16: "any decimal",
      d65: "any decimal",
      f: "number",
      dbl: "number",
      t: "string",
      dt: "string",
      e: "string",
      j: "any",
      p: "any",
    });
    expect(rows[1]).toMatchObject({
      bi: "9223372036854775807",
      bu: "18446744073709551615",
      b53: 2 ** 53 - 1,
      b64: "18446744073709551615",
    });
  });

  it("claims of computed columns what arrives", async () => {
    const computed = `SELECT count(*) AS n, sum(id) AS s, avg(id) AS a, sum(amount) AS sa, avg(f) AS af, id / 3 AS q, NULL AS nothing,
      'x' AS t, n + 1 AS large, 1 / 0 AS zero FROM orders`;
    const { claims, rows } = await expectClaimsToHold(computed);
    expect(rows[0]).toMatchObject({ n: 2, s: 3, a: 1.5, sa: "12345678901234570.39", af: 0.1, zero: null });
    expect(claims).toMatchObject({ n: "any integer", a: "number", sa: "any decimal", af: "number" });
    const params = "SELECT :x AS x, :x + 1 AS y, region, id FROM orders UNION ALL SELECT 'a', 'b', 'c', 'd'";
    const { claims: unknown } = await expectClaimsToHold(params, { x: 5 });
    expect([unknown["x"], unknown["y"]]).toEqual(["any", expect.stringMatching(/^any/)]);
  });

  it("binds parameters by name, also repeated ones", async () => {
    const { runQuery, queryError } = shop();
    const query =
      "SELECT :b AS b, :a AS a, :b AS again, ':a' AS text FROM orders WHERE region = :region LIMIT :most -- :no";
    const params = { a: 1, b: "x'y", region: "north", most: 5 };
    expect((await runQuery("shop", query, params)).rows).toEqual([
      { b: "x'y", a: 1, again: "x'y", text: ":a" },
    ]);
    expect(
      (
        await runQuery("shop", "SELECT :n IS NULL AS n, JSON_VALUE(:o, '$.x') AS o, :t AS t, 1 + :f AS f", {
          n: null,
          o: { x: 1 },
          t: true,
          f: 1.5,
        })
      ).rows,
    ).toEqual([{ n: 1, o: "1", t: 1, f: 2.5 }]);
    expect((await queryError("shop", "SELECT :ids", { ids: [1] })).options.fix).toContain("JSON_TABLE(:ids");
  });

  it("prepares without running, and reports errors with near matches", async () => {
    const { databases } = shop();
    const prepare = (query: string, params: string[] = []) =>
      databases.prepare({ database: "shop", query, params, write: false }, callOf());
    expect(await prepare("SELECT id, region AS r FROM orders WHERE id > :x", ["x"])).toMatchObject({
      columns: [
        { name: "id", type: "number" },
        { name: "r", type: "string" },
      ],
    });
    expect(await prepare("SELECT SLEEP(60) AS s")).toHaveProperty("columns");
    expect(await prepare("SELECT regoin FROM orders")).toMatchObject({
      issues: [{ did_you_mean: "region" }],
    });
    expect(await prepare("SELECT * FROM oders")).toMatchObject({ issues: [{ did_you_mean: "orders" }] });
    expect(await prepare("SELECT 1 AS a, 2 AS a")).toMatchObject({
      issues: [{ fix: "Give each column its own name with AS." }],
    });
  });

  it("writes only if the entry and the step both allow it", async () => {
    const insert = "INSERT INTO orders (id, region) VALUES (:id, 'west')";
    expect((await shop().queryError("shop", insert, { id: 3 }, { write: true })).code).toBe(
      "database_read_only",
    );
    const { runQuery, queryError } = shop({ access: "read-write" });
    expect((await queryError("shop", insert, { id: 3 })).code).toBe("database_read_only");
    expect(await runQuery("shop", insert, { id: 3 }, { write: true })).toMatchObject({
      rows: [],
      row_count: 1,
    });
    const gone = await runQuery("shop", "DELETE FROM orders WHERE id > 2 RETURNING id", {}, { write: true });
    expect(gone).toMatchObject({ rows: [{ id: 3 }], row_count: 1 });
    expect(await queryError("shop", insert, { id: 1 }, { write: true })).toMatchObject({
      code: "database_failed",
    });
    expect((await runQuery("shop", "SELECT count(*) AS n FROM orders")).rows).toEqual([{ n: 2 }]);
  });

  it("refuses writes that are disguised as reads", async () => {
    const { runQuery, queryError } = shop();
    for (const query of [
      "SET SESSION TRANSACTION READ WRITE",
      "COMMIT",
      "SELECT 1; DELETE FROM orders",
      "SELECT 1 INTO OUTFILE '/tmp/stolen'",
      "SELECT 1 /*!50000 INTO OUTFILE '/tmp/stolen' */",
      "SELECT 1 /*M!100000 INTO OUTFILE '/tmp/stolen' */",
      "SELECT 1 --\x01'\n INTO OUTFILE '/tmp/stolen' -- '",
      "SELECT 1 --\u00a0 INTO OUTFILE '/tmp/stolen' FROM (SELECT 1 AS `\u00a0`) t",
      "EXPLAIN DELETE FROM orders; COMMIT",
      "ANALYZE FORMAT=JSON DELETE FROM orders",
      "SELECT * FROM orders; COMMIT",
      "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE orders",
      "CALL anything()",
      "WITH x AS (SELECT 1) DELETE FROM orders",
      "SELECT NEXTVAL(s)",
    ])
      expect({ query, refused: REFUSALS.has((await queryError("shop", query)).code) }).toEqual({
        query,
        refused: true,
      });
    expect((await runQuery("shop", "SELECT count(*) AS n FROM orders")).rows).toEqual([{ n: 2 }]);
  });

  it("keeps no state between queries", async () => {
    const { runQuery } = shop({ concurrency: 1 });
    const before = (await runQuery("shop", "SELECT @leak AS leak, CONNECTION_ID() AS id")).rows;
    await runQuery("shop", "SELECT @leak := 1, GET_LOCK('mine', 0) AS got");
    expect((await runQuery("shop", "SELECT @leak AS leak, CONNECTION_ID() AS id")).rows).toEqual(before);
    expect((await runQuery("shop", "SELECT IS_FREE_LOCK('mine') AS free")).rows).toEqual([{ free: 1 }]);
  });

  it("parses quotes like the scanner in every SQL mode of the server", async () => {
    const [[{ before }]] = (await owner.query("SELECT @@GLOBAL.sql_mode AS `before`")) as never as [
      [{ before: string }],
    ];
    await owner.query("SET GLOBAL sql_mode = 'ANSI,NO_BACKSLASH_ESCAPES,NO_ZERO_DATE'");
    try {
      const { runQuery, databases } = shop();
      const query = String.raw`SELECT "it\"s" AS a, 'it\'s' AS b, @@sql_mode AS mode`;
      expect((await runQuery("shop", query)).rows).toEqual([
        {
          a: 'it"s',
          b: "it's",
          mode: expect.not.stringMatching(/ANSI|BACKSLASH/) as string,
        },
      ]);
      expect((await runQuery("shop", query)).rows[0]!["mode"]).toContain("NO_ZERO_DATE");
      const prepared = databases.prepare({ database: "shop", query, params: [], write: false }, callOf());
      expect(await prepared).toHaveProperty("columns.length", 3);
    } finally {
      await owner.query("SET GLOBAL sql_mode = ?", [before]);
    }
  });

  it("closes a connection that announces a message beyond the limit", async () => {
    const { runQuery, queryError } = shop({ access: "read-write", concurrency: 1 });
    const large = "SELECT REPEAT('x', 15000000) AS x";
    expect(await queryError("shop", large)).toMatchObject({ code: "output_too_large", transient: false });
    const insert = "INSERT INTO orders (id, region) VALUES (9, 'west') RETURNING REPEAT('x', 9000000) AS x";
    expect((await queryError("shop", insert, {}, { write: true })).code).toBe("output_too_large");
    expect((await runQuery("shop", "SELECT count(*) AS n FROM orders")).rows).toEqual([{ n: 2 }]);
    const { rows } = await runQuery("shop", "SELECT REPEAT('x', 8000000) AS x", {}, { maxBytes: 9_000_000 });
    expect(rows[0]!["x"]).toHaveLength(8_000_000);
  });

  it("shows samples of tables with large values", async () => {
    await owner.query(`CREATE DATABASE wide; GRANT ALL ON wide.* TO reports@'%';
      CREATE TABLE wide.fat (n INT, \`te\`\`xt\` LONGTEXT, bytes LONGBLOB, j JSON, small JSON, at DATETIME, place POINT);
      INSERT INTO wide.fat VALUES (1, REPEAT('x', 9000000), REPEAT('\\0', 9000000), CONCAT('["', REPEAT('x', 9000000), '"]'),
        '{"a": [1]}', '2026-01-02 03:04:05', POINT(1, 2))`);
    const { databases } = shop({ dataset: `mysql://reports@127.0.0.1:${port}/wide` });
    const [fat] = await databases.describe("shop", { samples: 1, limit: 1 }, callOf());
    expect(fat!.sample).toEqual([
      {
        n: 1,
        "te`xt": "x".repeat(1_000),
        bytes: Buffer.alloc(1_000).toString("base64"),
        j: `["${"x".repeat(998)}`,
        small: { a: [1] },
        at: "2026-01-02T03:04:05",
        place: "POINT(1 2)",
      },
    ]);
  });

  it("kills the query on the server when it is aborted", async () => {
    const { runQuery, queryError } = shop();
    const controller = new AbortController();
    const query = queryError("shop", "SELECT SLEEP(60), 'to be cancelled' AS x", {}, {}, controller.signal);
    await until(1, "to be cancelled");
    controller.abort();
    expect((await query).code).toBe("cancelled");
    await until(0, "to be cancelled");
    const endless =
      "SELECT count(*) AS n FROM seq_1_to_1000000000 a, seq_1_to_1000000000 b WHERE a.seq + b.seq = 3";
    expect((await queryError("shop", endless, {}, {}, abortAfter(300))).code).toBe("timeout");
    await until(0, "seq_1_to");
    expect((await runQuery("shop", "SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
  });

  it("stops at the limits of rows and of bytes", async () => {
    const { runQuery } = shop({ concurrency: 1 });
    const million = "SELECT seq AS i, REPEAT('x', 1000) AS x FROM seq_1_to_1000000";
    const before = process.memoryUsage().rss;
    expect(await runQuery("shop", million, {}, { maxRows: 10 })).toMatchObject({
      row_count: 10,
      truncated: true,
    });
    const { truncated, rows } = await runQuery("shop", million, {}, { maxRows: 10_000 });
    expect(truncated && JSON.stringify(rows).length <= 1024 * 1024).toBe(true);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
    await until(0, "seq_1_to");
    expect((await runQuery("shop", "SELECT * FROM orders", {}, { maxRows: 2 })).truncated).toBe(false);
  });

  it("reports a deadlock as a deadlock", async () => {
    const { runQuery, queryError } = shop({ access: "read-write" });
    // InnoDB rolls back the transaction with fewer changes: the owner's transaction changes more.
    await owner.query(
      "BEGIN; UPDATE counters SET n = 5 WHERE id = 2; INSERT INTO counters SELECT seq + 2, 0 FROM seq_1_to_50",
    );
    const both = "UPDATE counters SET n = 'deadlocked' IS NOT NULL WHERE id IN (1, 2) ORDER BY id";
    const step = queryError("shop", both, {}, { write: true });
    await until(1, "deadlocked");
    await owner.query("UPDATE counters SET n = 1 WHERE id = 1");
    expect(await step).toMatchObject({ code: "deadlock", transient: true });
    await owner.query("ROLLBACK");
    expect((await runQuery("shop", "SELECT sum(n) AS n FROM counters")).rows).toEqual([{ n: 0 }]);
  });

  it("reports failed connections and logins, without the password", async () => {
    const nobody = await shop({}, undefined, {}, await freePort()).queryError("shop", "SELECT 1");
    expect(nobody).toMatchObject({ code: "database_unavailable", transient: true });
    const wrong = await shop({}, { SHOP_PASSWORD: "wrong but secret" }).queryError("shop", "SELECT 1");
    expect(wrong.code).toBe("environment");
    expect(JSON.stringify([wrong.message, wrong.options.fix, wrong.options.details])).not.toContain("secret");
    const proxy = await tcpProxy(port);
    const { runQuery, queryError } = shop({}, undefined, { connectTimeoutMs: 300 }, proxy.port);
    await runQuery("shop", "SELECT 1");
    const query = queryError("shop", "SELECT SLEEP(60), 'to be cut' AS x");
    await until(1, "to be cut");
    proxy.resetConnections();
    expect((await query).code).toBe("database_unavailable");
    const writing = shop({ access: "read-write" }, undefined, {}, proxy.port);
    const write = writing.queryError("shop", "UPDATE counters SET n = SLEEP(60)", {}, { write: true });
    await until(1, "UPDATE counters SET n = SLEEP");
    proxy.resetConnections();
    expect(await write).toMatchObject({ code: "database_unavailable", transient: false });
    proxy.stall();
    expect((await queryError("shop", "SELECT 1")).code).toBe("database_unavailable");
  });

  it("describes tables and views", async () => {
    const [counters, orders, regions] = await shop().databases.describe(
      "shop",
      { samples: 1, limit: 10 },
      callOf(),
    );
    expect(counters!.name).toBe("counters");
    expect(orders).toMatchObject({
      name: "orders",
      kind: "table",
      row_count: 2,
      sample: [{ id: 1, extra: { a: [1] } }],
    });
    expect(orders!.columns.slice(0, 3)).toEqual([
      { name: "id", type: "int(11)", nullable: false },
      { name: "region", type: "varchar(20)", nullable: false },
      { name: "amount", type: "decimal(20,2)", nullable: true },
    ]);
    expect(regions).toMatchObject({ name: "regions", kind: "view", row_count: null });
  });
});

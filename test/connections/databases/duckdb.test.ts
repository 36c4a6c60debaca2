import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDatabases, abortAfter } from "../../support/databases.ts";
import { callOf } from "../../support/call-context.ts";

const directory = mkdtempSync(join(tmpdir(), "millrace-duckdb-"));
const dataset = join(directory, "shop.duckdb");
const FOREVER = "SELECT count(*) FROM range(1000000000000) a(i), range(1000000000000) b(j) WHERE i * j = 3";

/** A constant that is computed when the query is prepared. */
const SLOW = "list_sum(list_transform(range(3000000), x -> len(sha256(repeat(x::VARCHAR, 500)))))";

const SLOW_QUERY = { database: "scratch", query: `SELECT ${SLOW} AS n`, params: [], write: false };

const ESCAPES = [
  `COPY orders TO '${directory}/stolen.csv'`,
  `EXPLAIN ANALYZE COPY orders TO '${directory}/stolen.csv'`,
  "SELECT * FROM read_csv('/etc/passwd')",
  "SELECT * FROM read_text('/proc/self/environ')",
  "FROM '/etc/passwd'",
  "SELECT * FROM glob('/*')",
  "SELECT * FROM sniff_csv('/etc/passwd')",
  "SELECT * FROM parquet_scan('http://127.0.0.1:1/x.parquet')",
  `SELECT * FROM query('COPY orders TO ''${directory}/stolen.csv''')`,
  "INSTALL httpfs",
  "LOAD httpfs",
  `ATTACH '${directory}/stolen.db' AS x`,
  `EXPORT DATABASE '${directory}/stolen'`,
  "SET enable_external_access = true",
  "SET lock_configuration = false",
  "PRAGMA enable_external_access = true",
  "SELECT getenv('PATH')",
  "SELECT 1; DROP TABLE orders",
  "CALL pragma_version()",
];

/** Calls of functions that change the engine, write its logs, or execute text. */
const FORBIDDEN_CALLS: readonly [query: string, name: string][] = [
  ["SELECT * FROM enable_logging()", "enable_logging"],
  ["CALL enable_logging(level = 'debug')", "enable_logging"],
  [`FROM enable_logging(storage = 'file', storage_path = '${directory}/log')`, "enable_logging"],
  [`FROM enable_profiling(save_location = '${directory}/profile.txt')`, "enable_profiling"],
  ['SELECT 1 FROM "Enable_Profiling" ()', "enable_profiling"],
  ["SELECT 1 FROM system.main.enable_logging /* a /* b */ c */ (\n)", "enable_logging"],
  ["SELECT 1 FROM enable_logging -- none\n ()", "enable_logging"],
  ["FROM enable_logging\u200B()", "enable_logging"],
  ["FROM query\u2060('SELECT 1')", "query"],
  ["WITH x AS (FROM disable_logging()) SELECT 1", "disable_logging"],
  ["FROM query('SELECT * FROM enable_' || 'logging()')", "query"],
  ["FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))", "json_execute_serialized_sql"],
  ["SELECT write_log('x')", "write_log"],
  ["SELECT 'x'.write_log()", "write_log"],
  ["FROM truncate_duckdb_logs()", "truncate_duckdb_logs"],
  ["FROM duckdb_logs_parsed('FileSystem')", "duckdb_logs_parsed"],
  ["FROM force_checkpoint()", "force_checkpoint"],
  ["FROM which_secret('s3://a', 's3')", "which_secret"],
];

beforeAll(async () => {
  const instance = await DuckDBInstance.create(dataset);
  const connection = await instance.connect();
  await connection.run("CREATE TABLE orders (id INTEGER NOT NULL, region VARCHAR, amount DECIMAL(10,2))");
  await connection.run("INSERT INTO orders VALUES (1, 'north', 2.50), (2, 'south', 3)");
  await connection.run("CREATE VIEW regions AS SELECT DISTINCT region FROM orders");
  connection.closeSync();
  instance.closeSync();
});
afterAll(() => rmSync(directory, { recursive: true }));

const shop = (access = "read-only", options = {}) =>
  openDatabases([{ name: "shop", type: "duckdb", dataset, access }], {}, options);

describe("a DuckDB database", () => {
  it("returns every kind of value as plain JSON", async () => {
    const { runQuery } = shop();
    const { rows, columns } = await runQuery(
      "shop",
      `SELECT 1::BIGINT AS i, 9007199254740993 AS large, 2.50::DECIMAL(10,2) AS d, 12345678901234567.89::DECIMAL(20,2) AS exact,
              'NaN'::DOUBLE AS nan, TRUE AS b, DATE '2026-01-02' AS day, TIMESTAMP '2026-01-02 03:04:05.678' AS at,
              TIMESTAMPTZ '2026-01-02 03:04:05+02' AS tz, '{"a":[1,null]}'::JSON AS j, [1, NULL] AS l,
              {'x': DATE '2026-01-01', 'y': [1.5]} AS s, MAP {'k': 1} AS m, '\\x01\\x02'::BLOB AS bytes,
              '7ac3a1f0-9f52-4b3c-8f0e-6a6d5f0f3a11'::UUID AS u, NULL AS n, INTERVAL 3 DAY AS iv`,
    );
    expect(rows).toEqual([
      {
        i: 1,
        large: "9007199254740993",
        d: 2.5,
        exact: "12345678901234567.89",
        nan: null,
        b: true,
        day: "2026-01-02",
        at: "2026-01-02T03:04:05.678",
        tz: "2026-01-02T01:04:05.000Z",
        j: { a: [1, null] },
        l: [1, null],
        s: { x: "2026-01-01", y: [1.5] },
        m: [{ key: "k", value: 1 }],
        bytes: "AQI=",
        u: "7ac3a1f0-9f52-4b3c-8f0e-6a6d5f0f3a11",
        n: null,
        iv: "3 days",
      },
    ]);
    expect(Object.fromEntries(columns.map(({ name, type }) => [name, type]))).toMatchObject({
      i: "any",
      d: "number",
      b: "boolean",
      day: "string",
      j: "any",
      l: "any",
      bytes: "string",
    });
  });

  it.each(FORBIDDEN_CALLS)("refuses a function of the engine by its name: %s", async (query, name) => {
    const { runQuery, databases } = shop();
    const message = expect.stringContaining(`must not call ${name}, which `) as string;
    await expect(runQuery("shop", query)).rejects.toMatchObject({ code: "input_invalid", message });
    const prepared = await databases.prepare({ database: "shop", query, params: [], write: false }, callOf());
    expect(prepared).toHaveProperty("issues");
    expect("issues" in prepared && prepared.issues[0]).toMatchObject({ code: "not_allowed", message });
    expect(readdirSync(directory).filter((file) => !file.startsWith("shop"))).toEqual([]);
  });

  it.each([
    "SET profiling_output = 'x.json'",
    "SET log_query_path = 'x.log'",
    "SET temp_directory = '/tmp'",
    "RESET threads",
    "PRAGMA enable_profiling",
    "PRAGMA profiling_output = 'x.json'",
    "CALL pragma_version()",
  ])("refuses a statement that changes or calls the engine: %s", async (query) => {
    await expect(shop().runQuery("shop", query)).rejects.toMatchObject({
      code: "database_read_only",
      message: `shop: query must not begin with ${query.split(" ")[0]}.`,
    });
  });

  it("takes columns and texts with the name of such a function", async () => {
    const { runQuery } = shop();
    const query = "SELECT 'checkpoint' AS \"query\", 1 AS checkpoint WHERE 'query' IN ('query')";
    expect((await runQuery("shop", query)).rows).toEqual([{ query: "checkpoint", checkpoint: 1 }]);
  });

  it("binds parameters by name, with their types", async () => {
    const { runQuery } = shop();
    const query = "SELECT id FROM orders WHERE amount > :least AND region = :region AND id < :most LIMIT :n";
    const params = { least: 2.75, region: "south", most: 9, n: 5 };
    expect((await runQuery("shop", query, params)).rows).toEqual([{ id: 2 }]);
    expect(
      (
        await runQuery("shop", "SELECT typeof(:i) i, :o::JSON ->> 'x' o, :n IS NULL AS n", {
          i: 1,
          o: { x: 1 },
          n: null,
        })
      ).rows,
    ).toEqual([{ i: "BIGINT", o: "1", n: true }]);
  });

  it("compares and calculates with exactly the numbers that are passed", async () => {
    const { runQuery, databases } = openDatabases([]);
    const [id, d, h] = ["9007199254740993", "12345678901234567.89", "123456789012345678901234567890"];
    const one = async (expression: string, x: unknown) => {
      const from = `FROM (SELECT ${id}::BIGINT AS id, ${d}::DECIMAL(30,2) AS d, '${id}' AS s, 0.1::FLOAT AS f, 5 AS i)`;
      const { rows } = await runQuery("scratch", `SELECT ${expression} AS v ${from}`, { x });
      return rows[0]!["v"];
    };
    expect(await one("id = :x", id)).toBe(true);
    expect(await one("id + 0 > :x", "9007199254740992")).toBe(true);
    expect(await one("id = :x", 9007199254740992)).toBe(false);
    expect(await one("id = :x", "9007199254740993.5")).toBe(false);
    expect(await one("id < :x", "9007199254740993.0000000001")).toBe(true);
    expect(await one("id < :x", h)).toBe(true);
    expect(await one("i < :x", "-12345678901234567890")).toBe(false);
    expect(await one("d = :x", d)).toBe(true);
    expect(await one("d = :x", `${d}4`)).toBe(false);
    expect(await one("d - :x", d)).toBe(0);
    expect(await one("id - :x", d)).toBe("-3338479646493574.89");
    expect(await one(":x + 1", h)).toBe("123456789012345678901234567891");
    expect(await one(":x > 5", id)).toBe(true);
    expect(await one("s = :x", id)).toBe(true);
    expect(await one(":x || ''", id)).toBe(id);
    expect(await one(":x", d)).toBe(d);
    expect(await one("id < :x", 1e20)).toBe(true);
    expect(await one("f = :x", 0.1)).toBe(true);
    expect(await one("f = :x", 0.1000000001)).toBe(false);
    expect(await one("16725014.3451963::DECIMAL(20,10) = :x", 16725014.3451963)).toBe(true);
    expect(await one("127376158003985.11::DECIMAL(17,2) = :x", 127376158003985.11)).toBe(true);
    expect(await one("CAST(:x AS DECIMAL(18,4))", 844865496596.31)).toBe(844865496596.31);
    expect(await one("1e-7::DECIMAL(20,10) = :x", 1e-7)).toBe(true);
    expect(await one("i < :x", 5.000001)).toBe(true);
    expect(await one("0.30000000000000004::DOUBLE = :x", 0.1 + 0.2)).toBe(true);
    const request = {
      database: "scratch",
      query: "SELECT 5 < :x AS v",
      params: ["x"],
      constants: { x: id },
      write: false,
    };
    expect(await databases.prepare(request, callOf())).not.toHaveProperty("issues");
  });

  it("keeps a byte order mark at the beginning of texts", async () => {
    const { runQuery } = openDatabases([]);
    const { rows } = await runQuery("scratch", "SELECT :x AS x, [:x] AS l, {'t': :x} AS s", { x: "\uFEFFx" });
    expect(rows).toEqual([{ x: "\uFEFFx", l: ["\uFEFFx"], s: { t: "\uFEFFx" } }]);
  });

  it("prepares queries without running them, and knows columns even if a parameter determines their type", async () => {
    const { databases } = shop();
    const prepare = (query: string, params: string[] = []) =>
      databases.prepare({ database: "shop", query, params, write: false }, callOf());
    expect(await prepare("SELECT region, sum(amount) AS total FROM orders GROUP BY region")).toEqual({
      columns: [
        { name: "region", type: "string", databaseType: "VARCHAR" },
        { name: "total", type: "any", sqlNumber: "decimal", databaseType: "DECIMAL(38,2)" },
      ],
    });
    expect(await prepare("SELECT id, :x AS x FROM orders -- all", ["x"])).toEqual({
      columns: [
        { name: "id", type: "any", databaseType: null },
        { name: "x", type: "any", databaseType: null },
      ],
    });
    expect(await prepare(FOREVER)).toHaveProperty("columns");
    expect(await prepare("SELECT regoin FROM orders")).toMatchObject({
      issues: [{ did_you_mean: "region" }],
    });
    expect(await prepare("SELECT * FROM oders")).toMatchObject({ issues: [{ did_you_mean: "orders" }] });
  });

  it("rolls a write back whose rows do not fit, unless they may be left out", async () => {
    const { runQuery } = shop("read-write");
    const count = async () =>
      (await runQuery("shop", "SELECT count(*) AS n FROM orders WHERE id > 10")).rows[0]!["n"];
    const insert = "INSERT INTO orders (id) VALUES (11), (12) RETURNING id";
    const write = (query: string, keepTruncated: boolean) =>
      runQuery("shop", query, {}, { write: true, maxRows: 1, keepTruncated });
    expect([(await write(insert, false)).truncated, await count()]).toEqual([true, 0]);
    expect([(await write(insert, true)).truncated, await count()]).toEqual([true, 2]);
    expect([(await write("DELETE FROM orders WHERE id > 10", false)).row_count, await count()]).toEqual([
      2, 0,
    ]);
  });

  it("writes only if both the entry and the step allow it", async () => {
    const insert = "INSERT INTO orders VALUES (3, 'west', 1)";
    expect((await shop().queryError("shop", insert)).code).toBe("database_read_only");
    expect((await shop().queryError("shop", insert, {}, { write: true })).code).toBe("database_read_only");
    const { runQuery } = shop("read-write");
    expect(await runQuery("shop", insert, {}, { write: true })).toMatchObject({ row_count: 1 });
    expect(
      await runQuery("shop", "DELETE FROM orders WHERE id = 3 RETURNING region", {}, { write: true }),
    ).toMatchObject({
      rows: [{ region: "west" }],
    });
  });

  it("refuses access outside of the database, even with write access", async () => {
    const codes = new Set<string>([
      "database_read_only",
      "database_failed",
      "database_unavailable",
      "input_invalid",
    ]);
    const reading = shop();
    const writing = shop("read-write");
    for (const query of ESCAPES) {
      expect({ query, refused: codes.has((await reading.queryError("shop", query)).code) }).toEqual({
        query,
        refused: true,
      });
      expect({
        query,
        refused: codes.has((await writing.queryError("shop", query, {}, { write: true })).code),
      }).toEqual({ query, refused: true });
    }
    expect(readdirSync(directory)).toEqual(["shop.duckdb"]);
    expect((await reading.runQuery("shop", "SELECT count(*) AS n FROM orders")).rows).toEqual([{ n: 2 }]);
  });

  it("kills an endless query at its timeout, and runs the next one", async () => {
    const { runQuery, queryError } = shop();
    expect((await queryError("shop", FOREVER, {}, {}, abortAfter(400))).code).toBe("timeout");
    expect((await runQuery("shop", "SELECT count(*) AS n FROM orders")).rows).toEqual([{ n: 2 }]);
  });

  it("keeps to its memory limit, and stops at the limit of rows", async () => {
    const { runQuery, queryError } = shop("read-only", { memoryMb: 64 });
    const error = await queryError("shop", "SELECT list(i) FROM range(1000000000) t(i)");
    expect(error.code).toBe("memory_limit");
    const before = process.memoryUsage().rss;
    const million = "SELECT i, repeat('x', 1000) AS x FROM range(1000000) t(i)";
    expect(await runQuery("shop", million, {}, { maxRows: 10 })).toMatchObject({
      row_count: 10,
      truncated: true,
    });
    const { truncated, rows } = await runQuery("shop", million, {}, { maxRows: 10_000 });
    expect(truncated && JSON.stringify(rows).length <= 1024 * 1024).toBe(true);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
  });

  it("describes tables and views", async () => {
    const { databases } = shop();
    const [orders, regions] = await databases.describe("shop", { samples: 1, limit: 10 }, callOf());
    expect(orders).toEqual({
      name: "orders",
      kind: "table",
      columns: [
        { name: "id", type: "INTEGER", nullable: false },
        { name: "region", type: "VARCHAR", nullable: true },
        { name: "amount", type: "DECIMAL(10,2)", nullable: true },
      ],
      row_count: 2,
      sample: [{ id: 1, region: "north", amount: 2.5 }],
    });
    expect(regions).toMatchObject({ name: "regions", kind: "view", row_count: null });
  });

  it("shows samples as they arrive in rows", async () => {
    const { databases, runQuery } = shop("read-write");
    const values = `'{"id": 9007199254740993}'::JSON AS j, [0.1::FLOAT] AS f, 'infinity'::DATE AS d`;
    await runQuery("shop", `CREATE TABLE odd AS SELECT ${values}`, {}, { write: true });
    const [odd] = await databases.describe("shop", { table: "odd", samples: 1, limit: 10 }, callOf());
    await runQuery("shop", "DROP TABLE odd", {}, { write: true });
    expect(odd!.sample).toEqual([{ j: { id: "9007199254740993" }, f: [0.1], d: "infinity" }]);
  });
});

describe("the database scratch", () => {
  const tables = {
    orders: [
      { id: 1, region: "north", tags: ["a"], amount: 1 },
      { id: 2, region: "south", amount: 2.5, paid: true },
    ],
    names: [{ region: "north", "full name": "The North" }],
    plain: [1, 2, 3],
    mixed: [{ v: 1 }, { v: "x" }, { v: null }],
    empty: [],
  };

  it("joins rows of earlier steps, with their types inferred", async () => {
    const { runQuery } = openDatabases([]);
    const query = `SELECT o.id, n."full name" AS name, o.amount, o.paid, o.tags
                     FROM orders o LEFT JOIN names n USING (region) ORDER BY o.id`;
    expect(await runQuery("scratch", query, {}, { tables })).toMatchObject({
      rows: [
        { id: 1, name: "The North", amount: 1, paid: null, tags: ["a"] },
        { id: 2, name: null, amount: 2.5, paid: true, tags: null },
      ],
      columns: [
        { name: "id", databaseType: "BIGINT" },
        { name: "name", databaseType: "VARCHAR" },
        { name: "amount", databaseType: "DOUBLE" },
        { name: "paid", databaseType: "BOOLEAN" },
        { name: "tags", databaseType: "JSON" },
      ],
    });
    expect((await runQuery("scratch", "SELECT sum(value) AS s FROM plain", {}, { tables })).rows).toEqual([
      { s: 6 },
    ]);
    expect((await runQuery("scratch", "SELECT v FROM mixed", {}, { tables })).rows).toEqual([
      { v: 1 },
      { v: "x" },
      { v: null },
    ]);
    expect((await runQuery("scratch", "SELECT count(*) AS n FROM empty", {}, { tables })).rows).toEqual([
      { n: 0 },
    ]);
  });

  it("prepares a query with parameters without running any of it", async () => {
    const { databases } = openDatabases([]);
    const prepared = databases.prepare(
      { database: "scratch", query: `SELECT :x AS x, ${SLOW} AS n`, params: ["x"], write: false },
      callOf(),
    );
    expect(await prepared).toMatchObject({ columns: [{ name: "x" }, { name: "n" }] });
  });

  it("stops a query that takes too long to prepare", async () => {
    const { databases } = openDatabases([], {}, { prepareTimeoutMs: 500 });
    expect(await databases.prepare(SLOW_QUERY, callOf())).toMatchObject({
      issues: [{ path: ["query"], code: "timeout" }],
    });
  });

  it("runs queries while others are prepared", async () => {
    const { databases, runQuery } = openDatabases([], {}, { maxChildProcesses: 2, prepareTimeoutMs: 60_000 });
    const leaving = new AbortController();
    const preparing = Promise.race(
      [1, 2, 3].map(() => databases.prepare(SLOW_QUERY, callOf(leaving.signal))),
    );
    const first = await Promise.race([preparing, runQuery("scratch", "SELECT 1 AS one")]);
    expect(first).toMatchObject({ rows: [{ one: 1 }] });
    leaving.abort();
    expect(await preparing).toMatchObject({ issues: [{ code: "cancelled" }] });
  });

  it("loads many rows, keeps none for the next query, and reports too many", async () => {
    const { runQuery, queryError } = openDatabases([]);
    const many = { t: Array.from({ length: 20_000 }, (_, id) => ({ id, text: `row ${id}`, half: id / 2 })) };
    const query = "SELECT count(*) AS n, sum(id) AS ids, sum(half) AS halves, max(text) AS m FROM t";
    expect((await runQuery("scratch", query, {}, { tables: many })).rows).toEqual([
      { n: 20_000, ids: 199_990_000, halves: 99_995_000, m: "row 9999" },
    ]);
    expect((await queryError("scratch", query)).code).toBe("database_failed");
    const large = { t: Array.from({ length: 40 }, () => ({ text: "x".repeat(1024 * 1024) })) };
    expect(await queryError("scratch", query, {}, { tables: large })).toMatchObject({
      code: "input_invalid",
    });
    const twice = { t: [{ a: 1, A: 2 }] };
    expect(await queryError("scratch", "FROM t", {}, { tables: twice })).toMatchObject({
      code: "input_invalid",
    });
  });

  it("prepares queries on known columns, and refuses tables of other databases and writes", async () => {
    const { databases, queryError } = shop();
    const prepare = (query: string, columns: object) =>
      databases.prepare(
        { database: "scratch", query, params: [], write: false, tables: columns as never },
        callOf(),
      );
    const t = [{ name: "region", type: "string", databaseType: null }];
    expect(await prepare("SELECT region AS r FROM t", { t })).toEqual({
      columns: [{ name: "r", type: "string", databaseType: "VARCHAR" }],
    });
    expect(await prepare("SELECT regoin FROM t", { t })).toMatchObject({
      issues: [{ did_you_mean: "region" }],
    });
    expect(await prepare("SELECT * FROM tables_of", { t })).toMatchObject({ issues: [{ allowed: ["t"] }] });
    expect(await prepare("SELECT whatever FROM t", { t: null })).toEqual({ columns: [] });
    expect(await queryError("shop", "SELECT 1", {}, { tables: { t: [] } })).toMatchObject({
      code: "input_invalid",
    });
    expect((await queryError("scratch", "DROP TABLE t", {}, { tables: { t: [] }, write: true })).code).toBe(
      "database_read_only",
    );
    expect((await queryError("scratch", "SELECT * FROM read_csv('/etc/passwd')")).code).toBe(
      "database_failed",
    );
  });
});

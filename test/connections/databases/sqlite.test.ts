import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openDatabases, createSqliteFile, abortAfter } from "../../support/databases.ts";
import { temporaryDirectory } from "../../support/instance.ts";
import { callOf } from "../../support/call-context.ts";

const SHOP = `
  CREATE TABLE orders (id INTEGER PRIMARY KEY, region TEXT NOT NULL, amount DECIMAL(10,2), paid BOOLEAN, extra JSON, scan BLOB);
  INSERT INTO orders VALUES (1, 'north', 2.5, 1, '{"a":[1]}', x'0102'), (2, 'south', 9007199254740993, 0, NULL, NULL);
  CREATE VIEW regions AS SELECT DISTINCT region FROM orders;`;
const FOREVER = "WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t) SELECT count(*) FROM t";

const WRITES = [
  "WITH x AS (SELECT 1) INSERT INTO orders (region) SELECT 'x' FROM x",
  "EXPLAIN DELETE FROM orders",
  "CREATE TEMP TABLE x (a)",
];
const ESCAPES = [
  "ATTACH 'other.db' AS other",
  "PRAGMA journal_mode = DELETE",
  "PRAGMA user_version = 7",
  "VACUUM INTO 'copy.db'",
  "WITH x AS (SELECT 1) SELECT * FROM pragma_database_list, x",
  "CREATE VIRTUAL TABLE v USING fts5(a)",
  "SELECT load_extension('x')",
  "SELECT readfile('/etc/passwd')",
  "SELECT fts3_tokenizer('simple')",
  "SELECT 1; DELETE FROM orders",
  "SELECT 1 /* ; */; ATTACH 'x' AS y",
  "BEGIN",
];

function shop(access = "read-only", options = {}) {
  const directory = temporaryDirectory();
  const dataset = createSqliteFile(directory, SHOP);
  const entry = { name: "shop", type: "sqlite", dataset, access };
  return { directory, dataset, ...openDatabases([entry], {}, options) };
}

describe("a SQLite database", () => {
  it("returns rows as plain JSON, with the names and types of the columns", async () => {
    const { runQuery } = shop();
    expect(
      await runQuery("shop", "SELECT *, 9e999 AS big FROM orders WHERE id <= :most", { most: 2 }),
    ).toEqual({
      rows: [
        { id: 1, region: "north", amount: 2.5, paid: 1, extra: { a: [1] }, scan: "AQI=", big: null },
        {
          id: 2,
          region: "south",
          amount: "9007199254740993",
          paid: 0,
          extra: null,
          scan: null,
          big: null,
        },
      ],
      columns: [
        { name: "id", type: "any", sqlNumber: "integer", databaseType: "INTEGER" },
        { name: "region", type: "string", databaseType: "TEXT" },
        { name: "amount", type: "any", sqlNumber: "float", databaseType: "DECIMAL(10,2)" },
        { name: "paid", type: "any", databaseType: "BOOLEAN" },
        { name: "extra", type: "any", databaseType: "JSON" },
        { name: "scan", type: "any", databaseType: "BLOB" },
        { name: "big", type: "any", databaseType: null },
      ],
      row_count: 2,
      truncated: false,
    });
  });

  it("keeps all digits of numbers in JSON columns, in rows and in samples", async () => {
    const text = '{"id": 1533947986218845197, "x": [1e400, 0.1234567890123456789, 1.50, 1e20]}';
    const dataset = createSqliteFile(
      temporaryDirectory(),
      `CREATE TABLE t (j JSON, i INTEGER, r REAL); INSERT INTO t VALUES ('${text}', 9223372036854775807, 0.1)`,
    );
    const { runQuery, databases } = openDatabases([{ name: "shop", type: "sqlite", dataset }]);
    const row = {
      j: { id: "1533947986218845197", x: [`1${"0".repeat(400)}`, "0.1234567890123456789", 1.5, 1e20] },
      i: "9223372036854775807",
      r: 0.1,
    };
    expect((await runQuery("shop", "SELECT * FROM t")).rows).toEqual([row]);
    const [table] = await databases.describe("shop", { samples: 1, limit: 10 }, callOf());
    expect(table!.sample).toEqual([row]);
  });

  it("binds parameters by name, with their types", async () => {
    const { runQuery } = shop();
    const query =
      "SELECT typeof(:i) i, typeof(:f) f, typeof(:t) t, :b b, :n n, :o ->> 'x' o, :i || '' AS again";
    const { rows } = await runQuery("shop", query, { i: 1, f: 1.5, t: "':i", b: true, n: null, o: { x: 7 } });
    expect(rows).toEqual([{ i: "integer", f: "real", t: "text", b: 1, n: null, o: 7, again: "1" }]);
  });

  it("compares long numbers as numbers where a column has a type, and refuses them where that is unclear", async () => {
    const dataset = createSqliteFile(
      temporaryDirectory(),
      `CREATE TABLE t (id INTEGER, code TEXT, price REAL);
       INSERT INTO t VALUES (9007199254740992, '9007199254740992', 1.5), (9007199254740993, '9007199254740993', 1e20),
         (1, '12345678901234567890', 2)`,
    );
    const entry = { name: "shop", type: "sqlite", dataset, access: "read-write" };
    const { runQuery, queryError } = openDatabases([entry]);
    const x = "9007199254740993";
    const find = async (where: string, value: unknown = x) =>
      (await runQuery("shop", `SELECT id FROM t WHERE ${where}`, { x: value })).rows.map(({ id }) => id);
    expect(await find("id = :x")).toEqual([x]);
    expect(await find("id < :x")).toEqual(["9007199254740992", 1]);
    expect(await find("code = :x")).toEqual([x]);
    expect(await find("id + 0 > CAST(:x AS INTEGER)")).toEqual([]);
    expect(await find("trim(code) = cast( :x as TEXT)")).toEqual([x]);
    expect(await find("trim(code) = :x", "12345678901234567890")).toEqual([1]);
    expect(await find("id + 0 < :x AND id > 1", "12345678901234567890")).toHaveLength(2);
    for (const where of ["id + 0 < :x", "trim(code) = :x", "id = CAST(:x AS TEXT) AND id + 0 >= :x"])
      expect(await queryError("shop", `SELECT id FROM t WHERE ${where}`, { x })).toMatchObject({
        code: "input_invalid",
        message:
          "SQLite may compare the parameter 9007199254740993 with a value that has no type, and orders every number before every text.",
        options: { fix: expect.stringContaining("CAST(:x AS INTEGER)") as string },
      });
    expect(
      (await queryError("shop", "SELECT id FROM t WHERE price * 1 > :x", { x: "1.23456789012345678" })).code,
    ).toBe("input_invalid");
    expect((await runQuery("shop", "SELECT :x AS x, :x || '' AS t", { x })).rows).toEqual([{ x, t: x }]);
    const write = "DELETE FROM t WHERE id + 0 < :x";
    expect((await queryError("shop", write, { x }, { write: true })).code).toBe("input_invalid");
    expect((await runQuery("shop", "SELECT count(*) AS n FROM t")).rows).toEqual([{ n: 3 }]);
    const insert = "INSERT INTO t VALUES (:x, :x, NULL) RETURNING typeof(id) AS i, typeof(code) AS c";
    expect((await runQuery("shop", insert, { x }, { write: true })).rows).toEqual([
      { i: "integer", c: "text" },
    ]);
    expect(await find("code = :x")).toEqual([x, x]);
  });

  it("runs a statement with a long number once where the affinities of its comparisons are certain", async () => {
    const dataset = createSqliteFile(
      temporaryDirectory(),
      `CREATE TABLE u (id INTEGER, token TEXT); CREATE TABLE log (n);
       CREATE TRIGGER counting AFTER INSERT ON u BEGIN INSERT INTO log VALUES (new.id); END`,
    );
    const { runQuery } = openDatabases([{ name: "shop", type: "sqlite", dataset, access: "read-write" }]);
    const x = "9007199254740993";
    const insert = "INSERT INTO u VALUES (:x, hex(randomblob(8))) RETURNING id";
    expect((await runQuery("shop", insert, { x }, { write: true })).rows).toEqual([{ id: x }]);
    const read =
      "SELECT :x AS x, random() <> 0 AS r, token FROM u, (SELECT random() AS s) WHERE id = :x ORDER BY s";
    expect((await runQuery("shop", read, { x })).rows).toHaveLength(1);
    expect((await runQuery("shop", "SELECT :x AS x, random() AS r", { x })).rows).toMatchObject([{ x }]);
    expect((await runQuery("shop", "SELECT n, typeof(n) AS t FROM log")).rows).toEqual([
      { n: x, t: "integer" },
    ]);
  });

  it("refuses a write that stores the result of a comparison without a type, whose count shows nothing", async () => {
    const dataset = createSqliteFile(
      temporaryDirectory(),
      "CREATE TABLE t (id INTEGER, flag INTEGER); INSERT INTO t VALUES (9007199254740995, 7)",
    );
    const { runQuery, queryError } = openDatabases([
      { name: "shop", type: "sqlite", dataset, access: "read-write" },
    ]);
    const params = { x: "9007199254740993" };
    const update = "UPDATE t SET flag = (id + 0 > :x)";
    expect(await queryError("shop", update, params, { write: true })).toMatchObject({
      code: "input_invalid",
      options: { fix: expect.stringContaining("CAST(:x AS INTEGER)") as string },
    });
    await runQuery("shop", update.replace(":x", "CAST(:x AS INTEGER)"), params, { write: true });
    expect((await runQuery("shop", "SELECT flag FROM t")).rows).toEqual([{ flag: 1 }]);
  });

  it("gives back integers, doubles and texts as they were written", async () => {
    const dataset = createSqliteFile(
      temporaryDirectory(),
      "CREATE TABLE t (i INTEGER, r REAL, t TEXT, j JSON, n)",
    );
    const { runQuery } = openDatabases([{ name: "shop", type: "sqlite", dataset, access: "read-write" }]);
    const long = fc
      .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
      .map((value) => (Number.isSafeInteger(Number(value)) ? Number(value) : String(value)));
    const double = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
    const text = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.constantFrom("007", "1e400", "12345678901234567.89"),
    );
    const row = fc.record({
      i: long,
      r: double,
      t: fc.oneof(text, long.map(String)),
      j: fc.object(),
      n: long,
    });
    const rows = fc.sample(row, { seed: 29, numRuns: 50 });
    const params: Record<string, unknown> = {};
    const values = rows.map((each, index) => {
      const names = Object.keys(each).map((name) => `${name}${index}`);
      Object.values(each).forEach((value, at) => (params[names[at]!] = value));
      return `(${names.map((name) => `:${name}`).join(", ")})`;
    });
    await runQuery("shop", `INSERT INTO t VALUES ${values.join(", ")}`, params, { write: true });
    const found = await runQuery("shop", "SELECT * FROM t ORDER BY rowid");
    expect(found.rows).toEqual(JSON.parse(JSON.stringify(rows)));
  });

  it("refuses a text that is not UTF-8, and gives back one that has U+FFFD itself", async () => {
    const { runQuery } = shop("read-write");
    const write = (sql: string) => runQuery("shop", sql, {}, { write: true });
    await write("INSERT INTO orders (id, region) VALUES (3, CAST(x'ff41' AS TEXT)), (4, '\uFFFD')");
    const refused = {
      code: "database_failed",
      message: expect.stringContaining(
        "region has a text that is not UTF-8: its bytes are ff41 in hex",
      ) as string,
    };
    const inJson = "SELECT CAST(x'5b22ff225d' AS TEXT) AS region";
    for (const sql of [
      "SELECT * FROM orders WHERE id > :a ORDER BY id DESC; ",
      "SELECT region FROM orders WHERE id > :a -- all",
      "WITH o AS (SELECT * FROM orders) SELECT region FROM o WHERE :a = 2",
    ])
      await expect(runQuery("shop", sql, { a: 2 })).rejects.toMatchObject(refused);
    await expect(write("SELECT region FROM orders")).rejects.toMatchObject(refused);
    await expect(runQuery("shop", inJson)).rejects.toMatchObject({ code: "database_failed" });
    const { rows } = await runQuery("shop", "SELECT region, hex(region) AS bytes FROM orders WHERE id = 4");
    expect(rows).toEqual([{ region: "\uFFFD", bytes: "EFBFBD" }]);
    expect((await runQuery("shop", "SELECT hex(region) AS bytes FROM orders WHERE id = 3")).rows).toEqual([
      { bytes: "FF41" },
    ]);
  });

  it("refuses lists, missing and unused parameters without running the query", async () => {
    const { queryError } = shop();
    const list = await queryError("shop", "SELECT :ids", { ids: [1] });
    expect(list).toMatchObject({
      code: "input_invalid",
      message: "params.ids is a list, and a parameter is one value.",
    });
    expect(list.options.fix).toContain("json_each(:ids)");
    expect(await queryError("shop", "SELECT :x", { x: "cut \ud83e" })).toMatchObject({
      code: "input_invalid",
      message: "params.x has half of a surrogate pair, which is no character.",
    });
    expect(await queryError("shop", "SELECT :since", {})).toMatchObject({
      code: "input_invalid",
      message: "params.since is missing, but the query has :since.",
    });
    expect(await queryError("shop", "SELECT ':x'", { x: 1 })).toMatchObject({ code: "input_invalid" });
  });

  it("reports all issues of a query at once, with suggestions", async () => {
    const { databases } = shop();
    const prepare = (query: string, params: string[] = []) =>
      databases.prepare({ database: "shop", query, params, write: false }, callOf());
    expect(await prepare("SELECT regoin FROM orders WHERE id > :since", ["sinse"])).toMatchObject({
      issues: [
        { path: ["params", "since"], code: "missing", did_you_mean: "sinse" },
        { path: ["params", "sinse"], code: "unused_parameter", did_you_mean: "since" },
        { path: ["query"], message: "no such column: regoin", did_you_mean: "region" },
      ],
    });
    expect(await prepare("SELECT * FROM ordrs")).toMatchObject({
      issues: [{ message: "no such table: ordrs", allowed: ["orders", "regions"], did_you_mean: "orders" }],
    });
    expect(await prepare("SELCT 1")).toMatchObject({
      issues: [{ code: "not_allowed", did_you_mean: "SELECT" }],
    });
    expect(await prepare("SELECT 1 AS a, 2 AS a")).toMatchObject({
      issues: [
        {
          message: "Two columns of the result have the name a.",
          fix: "Give each column its own name with AS.",
        },
      ],
    });
    expect(await prepare("SELECT region AS r FROM orders")).toEqual({
      columns: [{ name: "r", type: "string", databaseType: "TEXT" }],
    });
  });

  it("does not run a query that it prepares", async () => {
    const { databases, runQuery } = shop("read-write");
    const request = { database: "shop", query: "DELETE FROM orders", params: [], write: true };
    expect(await databases.prepare(request, callOf())).toEqual({ columns: [] });
    expect((await runQuery("shop", "SELECT count(*) AS n FROM orders")).rows).toEqual([{ n: 2 }]);
    expect(await databases.prepare({ ...request, query: FOREVER }, callOf())).toHaveProperty("columns");
  });

  it("writes only if both the entry and the step allow it", async () => {
    const insert = "INSERT INTO orders (region) VALUES (:region) RETURNING id";
    const reading = shop();
    const first = await reading.queryError("shop", insert, { region: "west" });
    expect(first.code).toBe("database_read_only");
    expect(first.options.fix).toContain("access: read-write");
    expect(first.options.fix).toContain("write: true");
    expect((await reading.queryError("shop", insert, { region: "west" }, { write: true })).code).toBe(
      "database_read_only",
    );
    const writing = shop("read-write");
    expect((await writing.queryError("shop", insert, { region: "west" })).options.fix).toBe(
      "Set write: true on the step.",
    );
    expect(await writing.runQuery("shop", insert, { region: "west" }, { write: true })).toMatchObject({
      rows: [{ id: 3 }],
    });
    expect(await writing.runQuery("shop", "UPDATE orders SET paid = 1", {}, { write: true })).toMatchObject({
      row_count: 3,
    });
  });

  it("refuses writes without write access, and access outside of the database in any case", async () => {
    const { directory, dataset, queryError } = shop();
    const before = readFileSync(dataset);
    const codes = new Set<string>(["database_read_only", "database_failed", "input_invalid"]);
    for (const query of [...ESCAPES, ...WRITES])
      expect({ query, refused: codes.has((await queryError("shop", query)).code) }).toEqual({
        query,
        refused: true,
      });
    expect(readFileSync(dataset).equals(before)).toBe(true);
    const writing = shop("read-write");
    for (const query of ESCAPES)
      expect({
        query,
        refused: codes.has((await writing.queryError("shop", query, {}, { write: true })).code),
      }).toEqual({ query, refused: true });
    expect(readdirSync(directory)).toEqual(["shop.db"]);
    expect(existsSync("copy.db") || existsSync("other.db")).toBe(false);
  });

  it("kills an endless query at its timeout, and runs the next one", async () => {
    const { runQuery, queryError } = shop();
    await runQuery("shop", "SELECT 1");
    let ticks = 0;
    const ticking = setInterval(() => (ticks += 1), 10);
    const [error, ...others] = await Promise.all([
      queryError("shop", FOREVER, {}, {}, abortAfter(300)),
      ...Array.from({ length: 10 }, () => runQuery("shop", "SELECT count(*) AS n FROM orders")),
    ]);
    clearInterval(ticking);
    expect(error).toMatchObject({ code: "timeout" });
    expect(others.map(({ rows }) => rows[0])).toEqual(Array.from({ length: 10 }, () => ({ n: 2 })));
    // The process answered meanwhile: it ticked in most of the 300 ms, or it got no processor time itself.
    expect(ticks).toBeGreaterThan(2);
    expect((await runQuery("shop", "SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
  });

  it("stops at the limit of rows and of bytes", async () => {
    const { runQuery } = shop();
    const million =
      "WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t WHERE i < 1000000) SELECT i, hex(zeroblob(500)) AS x FROM t";
    const before = process.memoryUsage().rss;
    const rows = await runQuery("shop", million, {}, { maxRows: 100 });
    expect(rows).toMatchObject({ row_count: 100, truncated: true });
    const bytes = await runQuery("shop", million, {}, { maxRows: 10_000 });
    expect(bytes.truncated).toBe(true);
    expect(JSON.stringify(bytes.rows).length).toBeLessThanOrEqual(1024 * 1024);
    expect(bytes.row_count).toBeGreaterThan(900);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
    expect((await runQuery("shop", "SELECT * FROM orders", {}, { maxRows: 2 })).truncated).toBe(false);
  });

  it("ends a query that needs too much memory with memory_limit", async () => {
    const { queryError } = shop("read-only", { memoryMb: 64 });
    expect((await queryError("shop", "SELECT zeroblob(100000000)")).code).toBe("memory_limit");
    const sorted =
      "WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t) SELECT randomblob(1000) AS x FROM t ORDER BY x";
    expect((await queryError("shop", sorted)).code).toBe("memory_limit");
  });

  it("describes tables and views, and suggests a similar name", async () => {
    const { databases } = shop();
    const [orders, regions] = await databases.describe("shop", { samples: 1, limit: 10 }, callOf());
    expect(orders).toMatchObject({
      name: "orders",
      kind: "table",
      row_count: 2,
      sample: [{ id: 1, extra: { a: [1] } }],
    });
    expect(orders!.columns.slice(0, 3)).toEqual([
      { name: "id", type: "INTEGER", nullable: false },
      { name: "region", type: "TEXT", nullable: false },
      { name: "amount", type: "DECIMAL(10,2)", nullable: true },
    ]);
    expect(regions).toMatchObject({ name: "regions", kind: "view", row_count: null });
    await expect(
      databases.describe("shop", { table: "oders", samples: 0, limit: 10 }, callOf()),
    ).rejects.toMatchObject({
      code: "input_invalid",
      options: { fix: "Did you mean orders?" },
    });
  });

  it("is refused if its file is in the state directory, also through a link", async () => {
    const stateDir = temporaryDirectory();
    mkdirSync(join(stateDir, "deep"));
    const real = createSqliteFile(join(stateDir, "deep"), "CREATE TABLE keys (secret)");
    const link = join(temporaryDirectory(), "link.db");
    symlinkSync(real, link);
    const entries = [real, link].map((dataset, index) => ({ name: `db${index}`, type: "sqlite", dataset }));
    const { queryError } = openDatabases(entries, {}, { stateDir });
    for (const name of ["db0", "db1"]) {
      const error = await queryError(name, "SELECT * FROM keys");
      expect(error).toMatchObject({ code: "environment" });
      expect(error.message).toContain("state directory");
    }
  });

  it("reads a file in WAL mode without leaving files beside it", async () => {
    const directory = temporaryDirectory();
    const dataset = createSqliteFile(
      directory,
      "PRAGMA journal_mode=WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)",
    );
    const before = readFileSync(dataset);
    const entry = { name: "shop", type: "sqlite", dataset, access: "read-write" };
    const { runQuery, queryError, databases } = openDatabases([entry]);
    const prepared = await databases.prepare(
      { database: "shop", query: "SELECT a FROM t", params: [], write: false },
      callOf(),
    );
    expect(prepared).toHaveProperty("columns");
    expect((await runQuery("shop", "SELECT a FROM t")).rows).toEqual([{ a: 1 }]);
    expect(await databases.describe("shop", { samples: 1, limit: 5 }, callOf())).toMatchObject([
      { name: "t" },
    ]);
    expect((await queryError("shop", "SELECT b FROM t")).code).toBe("database_failed");
    expect(readdirSync(directory)).toEqual(["shop.db"]);
    expect(readFileSync(dataset).equals(before)).toBe(true);
    await runQuery("shop", "INSERT INTO t VALUES (2)", {}, { write: true });
    expect(readdirSync(directory)).toEqual(["shop.db"]);
    // While another process has it open, its files are there, with changes that the file itself does not have yet.
    const other = new DatabaseSync(dataset);
    other.exec("INSERT INTO t VALUES (3)");
    expect((await runQuery("shop", "SELECT count(*) AS n FROM t")).rows).toEqual([{ n: 3 }]);
    other.close();
    expect((await runQuery("shop", "SELECT count(*) AS n FROM t")).rows).toEqual([{ n: 3 }]);
    expect(readdirSync(directory)).toEqual(["shop.db"]);
  });

  it("reads a file in WAL mode whose name is no plain URL", async () => {
    const dataset = createSqliteFile(
      temporaryDirectory(),
      "PRAGMA journal_mode=WAL; CREATE TABLE t (a)",
      "50% ?#é.db",
    );
    const { runQuery } = openDatabases([{ name: "shop", type: "sqlite", dataset }]);
    expect((await runQuery("shop", "SELECT count(*) AS n FROM t")).rows).toEqual([{ n: 0 }]);
  });

  it("reports a missing or invalid file", async () => {
    const directory = temporaryDirectory();
    const noise = join(directory, "noise.db");
    writeFileSync(noise, "this is no database, but a text of some length ".repeat(100));
    const { queryError, databases } = openDatabases([
      { name: "missing", type: "sqlite", dataset: join(directory, "missing.db"), access: "read-write" },
      { name: "noise", type: "sqlite", dataset: noise },
    ]);
    expect(await queryError("missing", "SELECT 1", {}, { write: true })).toMatchObject({
      code: "database_unavailable",
    });
    expect(existsSync(join(directory, "missing.db"))).toBe(false);
    expect(await queryError("noise", "SELECT * FROM t")).toMatchObject({
      code: "database_failed",
      message: "noise: file is not a database",
    });
    const prepared = databases.prepare(
      { database: "missing", query: "SELECT 1", params: [], write: false },
      callOf(),
    );
    expect(await prepared).toMatchObject({ issues: [{ path: ["database"], code: "database_unavailable" }] });
    expect(await queryError("nosie", "SELECT 1")).toMatchObject({
      code: "environment",
      options: { fix: "Did you mean noise?" },
    });
  });

  it("holds no lock between queries, and waits for the lock of another process until its timeout", async () => {
    const { runQuery, queryError, dataset } = shop("read-write");
    await runQuery("shop", "SELECT * FROM orders", {}, { maxRows: 1 });
    const other = new DatabaseSync(dataset);
    other.exec("BEGIN EXCLUSIVE; DELETE FROM orders");
    expect((await queryError("shop", "SELECT * FROM orders", {}, {}, abortAfter(200))).code).toBe("timeout");
    other.exec("COMMIT");
    other.close();
    expect((await runQuery("shop", "SELECT * FROM orders")).row_count).toBe(0);
  });
});

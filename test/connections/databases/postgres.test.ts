import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import type { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openDatabases, abortAfter } from "../../support/databases.ts";
import { eventually } from "../../support/eventually.ts";
import { PASSWORD, type Postgres, startPostgres } from "../../support/postgres.ts";
import { tcpProxy } from "../../support/tcp-proxy.ts";
import { callOf } from "../../support/call-context.ts";
import { startTimer } from "../../support/expect-cost.ts";
import { patiently } from "../../support/patience.ts";

let server: Postgres;
let owner: Client;
/** Reads the server's activity, always outside of a transaction, in which the activity would not change. */
let watcher: Client;

beforeAll(async () => {
  server = await startPostgres();
  owner = await server.connect();
  watcher = await server.connect();
  await owner.query(`
    CREATE TABLE orders (id int PRIMARY KEY, region text NOT NULL, amount numeric(20,2), paid bool, at timestamptz, extra jsonb);
    INSERT INTO orders VALUES (1, 'north', 2.50, true, '2026-01-02 03:04:05+02', '{"a":[1]}'),
                              (2, 'south', 12345678901234567.89, false, NULL, NULL);
    CREATE VIEW regions AS SELECT DISTINCT region FROM orders;
    CREATE TYPE mood AS ENUM ('sad', 'glad');
    CREATE TABLE counters (id int PRIMARY KEY, n int NOT NULL);
    INSERT INTO counters VALUES (1, 0), (2, 0);
    CREATE FUNCTION sneak() RETURNS int LANGUAGE plpgsql AS
      $$ BEGIN PERFORM set_config('transaction_read_only', 'off', false); DELETE FROM orders; RETURN 1; END $$;
    ANALYZE;`);
});
afterAll(async () => {
  await owner.end();
  await watcher.end();
  await server.stop();
});

const shop = (more: object = {}, env = { SHOP_PASSWORD: PASSWORD }, options = {}) =>
  openDatabases(
    [{ name: "shop", type: "postgresql", dataset: server.url(), password_var: "SHOP_PASSWORD", ...more }],
    env,
    options,
  );

/** Returns the number of the server's connections that are running this query. */
async function running(text: string): Promise<number> {
  const { rows } = await watcher.query<{ n: number }>(
    "SELECT count(*)::int AS n FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid() AND query LIKE $1",
    [`%${text}%`],
  );
  return rows[0]!.n;
}
const until = (count: number, text: string) =>
  eventually(async () => ((await running(text)) === count ? true : undefined), `${count} × ${text}`);

describe("a PostgreSQL database", () => {
  it("returns every kind of value as plain JSON, with the names and types of the columns", async () => {
    const { rows, columns, truncated } = await shop().runQuery(
      "shop",
      `SELECT o.*, 9007199254740993 AS large, 7::bigint AS small, 'NaN'::float8 AS nan, 0.1::float8 AS f,
              date '2026-01-02' AS day, timestamp '2026-01-02 03:04:05' AS local, ARRAY[1, NULL, 3] AS list,
              ARRAY['a,b', 'c"d'] AS texts, '\\x0102'::bytea AS bytes, 'glad'::mood AS mood, '{"x": 1}'::json AS j,
              interval '1 day' AS iv, (1, 2) AS pair
         FROM orders o ORDER BY id`,
    );
    expect(rows[0]).toEqual({
      id: 1,
      region: "north",
      amount: 2.5,
      paid: true,
      at: expect.stringMatching(/^2026-01-02T\d\d:04:05(?:Z|[+-]\d\d:\d\d)$/) as string,
      extra: { a: [1] },
      large: "9007199254740993",
      small: 7,
      nan: null,
      f: 0.1,
      day: "2026-01-02",
      local: "2026-01-02T03:04:05",
      list: [1, null, 3],
      texts: ["a,b", 'c"d'],
      bytes: "AQI=",
      mood: "glad",
      j: { x: 1 },
      iv: "1 day",
      pair: "(1,2)",
    });
    expect(Date.parse(rows[0]!["at"] as string)).toBe(Date.parse("2026-01-02T03:04:05+02:00"));
    expect(rows[1]).toMatchObject({ amount: "12345678901234567.89", at: null, extra: null });
    expect(truncated).toBe(false);
    expect(columns.slice(0, 6)).toEqual([
      { name: "id", type: "number", sqlNumber: "integer", databaseType: "int4" },
      { name: "region", type: "string", databaseType: "text" },
      { name: "amount", type: "any", sqlNumber: "decimal", databaseType: "numeric" },
      { name: "paid", type: "boolean", databaseType: "bool" },
      { name: "at", type: "string", databaseType: "timestamptz" },
      { name: "extra", type: "any", databaseType: "jsonb" },
    ]);
  });

  it("binds parameters by name, with the types of the query", async () => {
    const { runQuery, queryError } = shop();
    const query = `SELECT :n + 1 AS n, :at::date AS at, :o::jsonb ->> 'x' AS o, :b::bool AS b, :nothing::text AS nothing,
                          'it''s :n' AS text, :n * 2 AS twice FROM orders WHERE region = :region`;
    const params = { n: 1, at: "2026-01-02", o: { x: 1 }, b: false, nothing: null, region: "north" };
    expect((await runQuery("shop", query, params)).rows).toEqual([
      { n: 2, at: "2026-01-02", o: "1", b: false, nothing: null, text: "it's :n", twice: 2 },
    ]);
    const list = await queryError("shop", "SELECT * FROM orders WHERE id = ANY(:ids)", { ids: [1] });
    expect(list.options.fix).toContain("jsonb_array_elements_text(:ids::jsonb)");
    expect(
      (
        await runQuery(
          "shop",
          "SELECT id FROM orders WHERE id::text = ANY (ARRAY(SELECT jsonb_array_elements_text(:ids::jsonb)))",
          { ids: "[1]" },
        )
      ).rows,
    ).toEqual([{ id: 1 }]);
  });

  it("prepares queries without running them, and reports issues with positions and suggestions", async () => {
    const { databases } = shop();
    const prepare = (query: string, params: string[] = []) =>
      databases.prepare({ database: "shop", query, params, write: false }, callOf());
    expect(await prepare("SELECT pg_sleep(60)::text AS slept, :x::int AS x", ["x"])).toEqual({
      columns: [
        { name: "slept", type: "string", databaseType: "text" },
        { name: "x", type: "number", sqlNumber: "integer", databaseType: "int4" },
      ],
    });
    expect(await prepare("SELECT :long_name,\n  regoin FROM orders", ["long_name"])).toMatchObject({
      issues: [
        {
          path: ["query"],
          message: 'column "regoin" does not exist (line 2, column 3)',
          did_you_mean: "region",
        },
      ],
    });
    expect(await prepare("SELECT * FROM oders")).toMatchObject({ issues: [{ did_you_mean: "orders" }] });
    expect(await prepare("SELECT 1 AS a, 2 AS a")).toMatchObject({
      issues: [{ fix: "Give each column its own name with AS." }],
    });
    expect(await prepare("SELECT a FROM")).toMatchObject({
      issues: [{ message: "syntax error at end of input (line 1, column 14)" }],
    });
  });

  it("rolls a write back whose rows do not fit, unless they may be left out", async () => {
    const { runQuery } = shop({ access: "read-write" });
    const count = async () => (await runQuery("shop", "SELECT sum(n)::int AS n FROM counters")).rows[0]!["n"];
    const before = await count();
    const update = "UPDATE counters SET n = n + 1 RETURNING id";
    const write = (keepTruncated: boolean) =>
      runQuery("shop", update, {}, { write: true, maxRows: 1, keepTruncated });
    expect([(await write(false)).truncated, await count()]).toEqual([true, before]);
    expect([(await write(true)).truncated, await count()]).toEqual([true, Number(before) + 2]);
    await owner.query("UPDATE counters SET n = 0");
  });

  it("writes only if both the entry and the step allow it, and everything or nothing", async () => {
    const insert = "INSERT INTO orders (id, region) VALUES (:id, 'west') RETURNING id";
    expect((await shop().queryError("shop", insert, { id: 3 }, { write: true })).code).toBe(
      "database_read_only",
    );
    const { runQuery, queryError } = shop({ access: "read-write" });
    expect((await queryError("shop", insert, { id: 3 })).code).toBe("database_read_only");
    expect(await runQuery("shop", insert, { id: 3 }, { write: true })).toMatchObject({
      rows: [{ id: 3 }],
      row_count: 1,
    });
    expect(await runQuery("shop", "DELETE FROM orders WHERE id > 2", {}, { write: true })).toMatchObject({
      row_count: 1,
      rows: [],
    });
    expect(await queryError("shop", insert, { id: 1 }, { write: true })).toMatchObject({
      code: "database_failed",
      message: 'shop: duplicate key value violates unique constraint "orders_pkey"',
    });
    expect((await runQuery("shop", "SELECT count(*) AS n FROM orders")).rows).toEqual([{ n: 2 }]);
  });

  it.each([
    "SET transaction_read_only = off",
    "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
    "COMMIT",
    "COPY orders TO PROGRAM 'cat > /tmp/stolen'",
    "COPY orders FROM STDIN",
    "DO $$ BEGIN DELETE FROM orders; END $$",
    "SELECT 1; DELETE FROM orders",
    "SELECT 1; COMMIT; DELETE FROM orders",
    "WITH gone AS (DELETE FROM orders RETURNING *) SELECT * FROM gone",
    "SELECT set_config('transaction_read_only', 'off', false)",
    "SELECT set_config('transaction_read_only', 'off', false), sneak()",
    "SELECT sneak()",
    "EXPLAIN ANALYZE DELETE FROM orders",
    "SELECT * INTO copy FROM orders",
    "SELECT nextval('x')",
    "SELECT lo_create(0)",
    "SELECT * FROM orders FOR UPDATE",
  ])("refuses %s", async (query) => {
    const { runQuery, queryError } = shop();
    expect(["database_read_only", "database_failed", "input_invalid"]).toContain(
      (await queryError("shop", query)).code,
    );
    expect((await runQuery("shop", "SELECT count(*) AS n FROM orders")).rows).toEqual([{ n: 2 }]);
  });

  it("resets the session after a query", async () => {
    const { runQuery } = shop({ access: "read-write", concurrency: 1 });
    const pid = "SELECT pg_backend_pid() AS pid, current_setting('search_path') AS path";
    const before = (await runQuery("shop", pid)).rows;
    await runQuery(
      "shop",
      "SELECT set_config('search_path', 'pg_catalog', false), pg_advisory_lock(7) IS NULL AS l",
    );
    expect((await runQuery("shop", pid)).rows).toEqual(before);
    const locks = "SELECT count(*) AS n FROM pg_locks WHERE locktype = 'advisory'";
    expect((await runQuery("shop", locks)).rows).toEqual([{ n: 0 }]);
    await runQuery("shop", "SELECT set_config('search_path', 'pg_catalog', false)", {}, { write: true });
    expect((await runQuery("shop", pid)).rows).toEqual(before);
  });

  it("resets the session after a failed query", async () => {
    const { runQuery, queryError } = shop({ access: "read-write", concurrency: 1 });
    const locks = "SELECT count(*) AS n FROM pg_locks WHERE locktype = 'advisory'";
    const failing = "SELECT pg_advisory_lock(8), 1 / (id - 1) FROM orders WHERE id = 1";
    const pid = "SELECT pg_backend_pid() AS pid";
    const before = (await runQuery("shop", pid)).rows;
    for (const write of [false, true]) {
      expect((await queryError("shop", failing, {}, { write })).message).toContain("division by zero");
      expect((await runQuery("shop", locks)).rows).toEqual([{ n: 0 }]);
    }
    const prepares = "DO $$ BEGIN EXECUTE 'PREPARE left_behind AS SELECT 1'; RAISE EXCEPTION 'no'; END $$";
    await queryError("shop", prepares, {}, { write: true });
    expect((await runQuery("shop", "SELECT name FROM pg_prepared_statements")).rows).toEqual([]);
    expect((await runQuery("shop", pid)).rows).toEqual(before);
  });

  it("adds no listeners to a connection when it is used again", async () => {
    const warnings: Error[] = [];
    const collect = (warning: Error): number => warnings.push(warning);
    process.on("warning", collect);
    onTestFinished(() => void process.off("warning", collect));
    const { runQuery } = shop({ access: "read-write", concurrency: 1 });
    for (let count = 0; count < 15; count += 1) await runQuery("shop", "SELECT 1", {}, { write: true });
    expect(warnings).toEqual([]);
  });

  it("runs queries after a failure to describe a table", async () => {
    await owner.query("CREATE VIEW broken AS SELECT 1 / (id - 1) AS x FROM orders");
    onTestFinished(() => void owner.query("DROP VIEW broken"));
    const { runQuery, databases } = shop({ concurrency: 1 });
    const described = databases.describe("shop", { table: "broken", samples: 1, limit: 1 }, callOf());
    await expect(described).rejects.toMatchObject({ message: "shop: division by zero" });
    expect((await runQuery("shop", "SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
  });

  it("ends a connection that announces a message over the size limit", async () => {
    const { runQuery, queryError } = shop({ access: "read-write", concurrency: 1 });
    const before = process.memoryUsage().rss;
    const large = "SELECT repeat('x', 200000000) AS x";
    expect(await queryError("shop", large)).toMatchObject({ code: "output_too_large", transient: false });
    expect(process.memoryUsage().rss - before).toBeLessThan(50 * 1024 * 1024);
    const insert = "INSERT INTO orders (id, region) VALUES (9, 'west') RETURNING repeat('x', 9000000) AS x";
    expect((await queryError("shop", insert, {}, { write: true })).code).toBe("output_too_large");
    expect((await runQuery("shop", "SELECT count(*) AS n FROM orders")).rows).toEqual([{ n: 2 }]);
    const { rows } = await runQuery("shop", "SELECT repeat('x', 8000000) AS x", {}, { maxBytes: 9_000_000 });
    expect(rows[0]!["x"]).toHaveLength(8_000_000);
  });

  it("returns samples of tables with large values", async () => {
    await owner.query("CREATE DATABASE wide");
    const wide = await server.connect("wide");
    await wide.query(`CREATE DOMAIN code AS text;
      CREATE VIEW fat AS SELECT 1.5::numeric AS n, true AS yes, repeat('x', 20000000) AS "te""xt",
        decode(repeat('00', 10000000), 'hex') AS bytes, json_build_object('a', repeat('x', 20000000)) AS j,
        '{"a": [1]}'::jsonb AS small, array_fill('x'::text, ARRAY[5000000]) AS list, ARRAY[1, 2] AS short,
        repeat('x', 20000000)::code AS d, timestamp '2026-01-02 03:04:05' AS at`);
    await wide.end();
    const { databases } = shop({ dataset: server.url("wide") });
    const [fat] = await databases.describe("shop", { samples: 1, limit: 1 }, callOf());
    expect(fat!.sample).toEqual([
      {
        n: 1.5,
        yes: true,
        'te"xt': "x".repeat(1_000),
        bytes: Buffer.alloc(1_000).toString("base64"),
        j: expect.stringMatching(/^\{"a" : "x{900}/) as string,
        small: { a: [1] },
        list: null,
        short: [1, 2],
        d: "x".repeat(1_000),
        at: "2026-01-02T03:04:05",
      },
    ]);
  });

  it("cancels the query on the server when it is aborted, even if it waits for a lock", async () => {
    const { runQuery, queryError } = shop();
    const controller = new AbortController();
    const query = queryError(
      "shop",
      "SELECT pg_sleep(60), 'to be cancelled' AS x",
      {},
      {},
      controller.signal,
    );
    await until(1, "to be cancelled");
    controller.abort();
    const expectElapsed = startTimer();
    expect((await query).code).toBe("cancelled");
    // The query itself would take 60 s.
    expectElapsed(30_000);
    await until(0, "to be cancelled");
    const cross =
      "SELECT count(*) AS n FROM generate_series(1, 1000000000) a, generate_series(1, 1000000000) b";
    expect((await queryError("shop", cross, {}, {}, abortAfter(300))).code).toBe("timeout");
    await until(0, "generate_series");
    expect((await runQuery("shop", "SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
  });

  it("stops at the limit of rows and of bytes", async () => {
    const { runQuery } = shop({ concurrency: 1 });
    const million = "SELECT generate_series(1, 1000000000) AS i, repeat('x', 1000) AS x";
    const before = process.memoryUsage().rss;
    const rows = await runQuery("shop", million, {}, { maxRows: 1_000, maxBytes: Infinity });
    expect(rows).toMatchObject({ row_count: 1_000, truncated: true });
    expect(rows.rows.at(-1)).toMatchObject({ i: 1_000 });
    const { truncated, rows: some } = await runQuery("shop", million, {}, { maxRows: 10_000 });
    expect(truncated && JSON.stringify(some).length <= 1024 * 1024).toBe(true);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
    expect((await runQuery("shop", "SELECT * FROM orders", {}, { maxRows: 2 })).truncated).toBe(false);
  });

  it("reports a deadlock", async () => {
    const { runQuery, queryError } = shop({ access: "read-write" });
    const waiting = (query: string) =>
      eventually(async () => {
        const { rows } = await watcher.query<{ n: number }>(
          "SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE $1",
          [query],
        );
        return rows[0]!.n === 1 ? true : undefined;
      }, `the lock of ${query}`);
    await watcher.query("SELECT pg_advisory_lock(4711)");
    // Only the step looks for deadlocks, once, a second after it began to wait: so all others must wait by then.
    await owner.query("BEGIN; SET LOCAL deadlock_timeout = '1h'; UPDATE counters SET n = n + 1 WHERE id = 2");
    const both = `WITH one AS (UPDATE counters SET n = n + 1 WHERE id = 1 RETURNING id),
                  gate AS MATERIALIZED (SELECT pg_advisory_xact_lock(4711), id FROM one)
                  UPDATE counters SET n = n + 1 FROM gate WHERE counters.id = 2 RETURNING 'deadlocked' AS d`;
    const step = queryError("shop", both, {}, { write: true });
    await waiting("%deadlocked%");
    const wants = owner.query("UPDATE counters SET n = n + 1 WHERE id = 1");
    await waiting("UPDATE counters SET n = n + 1 WHERE id = 1");
    await watcher.query("SELECT pg_advisory_unlock(4711)");
    const error = await step;
    expect(error).toMatchObject({ code: "deadlock", message: "shop: deadlock detected", transient: true });
    await wants;
    await owner.query("ROLLBACK");
    expect((await runQuery("shop", "SELECT sum(n) AS n FROM counters")).rows).toEqual([{ n: 0 }]);
  });

  it("reports that it can't be reached or refuses the sign-in, and never the password", async () => {
    const away = createServer().listen(0, "127.0.0.1");
    await once(away, "listening");
    const { port } = away.address() as AddressInfo;
    away.close();
    await once(away, "close");
    const nobody = shop({ dataset: `postgresql://postgres@127.0.0.1:${port}/postgres` });
    expect(await nobody.queryError("shop", "SELECT 1")).toMatchObject({
      code: "database_unavailable",
      transient: true,
    });
    const issue = nobody.databases.prepare(
      { database: "shop", query: "SELECT 1", params: [], write: false },
      callOf(),
    );
    expect(await issue).toMatchObject({ issues: [{ path: ["database"], code: "database_unavailable" }] });
    const secret = "wrong but secret";
    const wrong = await shop({}, { SHOP_PASSWORD: secret }).queryError("shop", "SELECT 1");
    expect(wrong).toMatchObject({ code: "environment" });
    expect(JSON.stringify([wrong.message, wrong.options.fix, wrong.options.details])).not.toContain(secret);
    const { databases } = shop({}, {} as never);
    expect(databases.list()[0]!.unavailableReason).toBe("the environment variable SHOP_PASSWORD is not set");
    const unset = await databases.prepare(
      { database: "shop", query: "SELECT 1", params: [], write: false },
      callOf(),
    );
    expect(unset).toMatchObject({ issues: [{ path: ["database"], code: "environment" }] });
    const noSuch = await shop({ dataset: server.url("nowhere") }).queryError("shop", "SELECT 1");
    expect(noSuch).toMatchObject({ code: "environment", message: 'database "nowhere" does not exist' });
  });

  it("distinguishes a lost connection from a refusal, and continues with a new one", async () => {
    const proxy = await tcpProxy(server.port);
    const { runQuery, queryError } = shop({
      dataset: `postgresql://postgres@127.0.0.1:${proxy.port}/postgres`,
      access: "read-write",
    });
    expect((await runQuery("shop", "SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
    proxy.resetConnections();
    expect(
      await eventually(() => runQuery("shop", "SELECT 2 AS two").catch(() => undefined), "a new connection"),
    ).toMatchObject({ row_count: 1 });
    const query = queryError("shop", "SELECT pg_sleep(60), 'to be cut' AS x");
    await until(1, "to be cut");
    proxy.resetConnections();
    expect(await query).toMatchObject({ code: "database_unavailable", transient: true });
    const write = queryError(
      "shop",
      "UPDATE counters SET n = 0 WHERE pg_sleep(60) IS NULL",
      {},
      { write: true },
    );
    await until(1, "UPDATE counters SET n = 0");
    proxy.resetConnections();
    expect(await write).toMatchObject({ code: "database_unavailable", transient: false });
    await owner.query(
      "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query LIKE '%pg_sleep%'",
    );
  });

  it("does not wait for a server that stopped responding", async () => {
    const proxy = await tcpProxy(server.port);
    const dataset = `postgresql://postgres@127.0.0.1:${proxy.port}/postgres`;
    const { runQuery, queryError } = shop({ dataset }, undefined, { connectTimeoutMs: patiently(1_500) });
    await runQuery("shop", "SELECT 1");
    proxy.stall();
    const expectElapsed = startTimer();
    expect((await queryError("shop", "SELECT 1", {}, {}, abortAfter(200))).code).toBe("timeout");
    expect((await queryError("shop", "SELECT 1")).code).toBe("database_unavailable");
    // The defaults are more than 10 s.
    expectElapsed(10_000);
  });

  it("opens at most the configured number of connections, and reports when the server has none left", async () => {
    const proxy = await tcpProxy(server.port);
    const { runQuery, databases } = shop({
      dataset: `postgresql://postgres@127.0.0.1:${proxy.port}/postgres`,
      concurrency: 2,
    });
    await Promise.all(Array.from({ length: 8 }, () => runQuery("shop", "SELECT pg_sleep(0.01)")));
    // The second one is left for another owner.
    expect(proxy.connectionCount()).toBe(1);
    const request = { database: "shop", query: "SELECT pg_sleep(0.01)", params: {}, write: false };
    const limits = { maxRows: 1, maxBytes: 99, keepTruncated: true };
    const asked = (by: string) => databases.query({ ...request, ...limits }, callOf(undefined, by));
    await Promise.all(Array.from({ length: 8 }, (_, index) => asked(`owner${index % 4}`)));
    expect(proxy.connectionCount()).toBe(2);
    expect(databases.concurrencyOf("shop")).toBe(2);
    await owner.query("CREATE ROLE lonely LOGIN PASSWORD 'lonely' CONNECTION LIMIT 0");
    onTestFinished(() => void owner.query("DROP ROLE lonely"));
    const lonely = shop({ dataset: server.url("postgres", "lonely") }, { SHOP_PASSWORD: "lonely" });
    expect((await lonely.queryError("shop", "SELECT 1")).code).toBe("database_unavailable");
  });

  it("cancels running queries when it is closed", async () => {
    const { databases, queryError } = shop();
    const query = queryError("shop", "SELECT pg_sleep(60), 'to be closed' AS x");
    await until(1, "to be closed");
    await databases.close();
    expect((await query).code).toBe("interrupted");
    await until(0, "to be closed");
  });

  it("describes tables and views", async () => {
    const { databases } = shop();
    const [counters, orders, regions, ...others] = await databases.describe(
      "shop",
      { samples: 1, limit: 10 },
      callOf(),
    );
    expect([counters!.name, others]).toEqual(["counters", []]);
    expect(orders).toMatchObject({
      name: "orders",
      kind: "table",
      row_count: 2,
      sample: [{ id: 1, extra: { a: [1] } }],
    });
    expect(orders!.columns.slice(0, 3)).toEqual([
      { name: "id", type: "integer", nullable: false },
      { name: "region", type: "text", nullable: false },
      { name: "amount", type: "numeric(20,2)", nullable: true },
    ]);
    expect(regions).toMatchObject({ name: "regions", kind: "view" });
    const meant = databases.describe("shop", { table: "oders", samples: 0, limit: 10 }, callOf());
    await expect(meant).rejects.toMatchObject({ options: { fix: "Did you mean orders?" } });
  });
});

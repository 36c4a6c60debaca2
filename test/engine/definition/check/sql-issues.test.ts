/** Issues of sql steps that a database finds while a definition is checked. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Client } from "pg";
import { createSqliteFile } from "../../../support/databases.ts";
import { testEngine } from "../../../support/engine.ts";
import { temporaryDirectory } from "../../../support/instance.ts";
import { PASSWORD, type Postgres, startPostgres } from "../../../support/postgres.ts";

const SHOP = "CREATE TABLE products (name TEXT, price REAL)";

let server: Postgres;
let owner: Client;
beforeAll(async () => {
  server = await startPostgres();
  owner = await server.connect();
  await owner.query("CREATE TABLE products (name text, price numeric(10,2), since date)");
});
afterAll(async () => {
  await owner.end();
  await server.stop();
});

async function checker(access = "read-write") {
  const dataset = createSqliteFile(temporaryDirectory(), SHOP);
  const postgres = { type: "postgresql", dataset: server.url(), password_var: "SHOP_PASSWORD" };
  const harness = await testEngine({
    config: {
      databases: [
        { name: "shop", type: "sqlite", dataset, access },
        { name: "pg", ...postgres, access },
        { name: "pg_read", ...postgres },
      ],
    },
    env: { SHOP_PASSWORD: PASSWORD },
  });
  return async (...steps: (object | string)[]) =>
    harness.engine.check(
      typeof steps[0] === "string"
        ? steps[0]
        : { steps: steps.map((step, index) => Object.assign({ id: `s${index}`, type: "sql" }, step)) },
      { checkConnections: true },
    );
}

const definitionWith = (database: string, query: string): string =>
  `steps:\n  - id: a\n    type: sql\n    database: ${database}\n    query: |\n${query.replaceAll(/^/gm, "      ")}\n`;

describe("a wrong word in a query", () => {
  const SELECT = "SELECT name,\n  price AS prise_now -- prise?\nFROM products\n\n";

  it.each([
    ["pg", `${SELECT}WHERE «prise» > 1`],
    ["pg", `${SELECT}WHERE name = :name AND «products.prise» > 1`],
    ["pg", "SELECT *\nFROM «prodcts» AS p"],
    ["pg", `${SELECT}WHERE «ORDER» = 1`],
    ["shop", `${SELECT}WHERE «prise» > 1`],
    ["shop", `${SELECT}WHERE products.«prise» > 1`],
    ["shop", "SELECT *\nFROM «prodcts» AS p"],
    ["shop", `${SELECT}WHERE «ORDER» = 1`],
    ["scratch", "SELECT i AS range_i\nFROM range(10) t(i)\nWHERE «j» > 1"],
    ["scratch", "SELECT *\nFROM «nothing» AS p"],
    ["scratch", "SELECT 1 AS x\nFROM range(10)\nWHERE «ORDER» = 1"],
  ])("has its line and column, on %s: %s", async (database, marked) => {
    const check = await checker();
    const text = definitionWith(database, marked.replaceAll(/[«»]/g, ""));
    const params = marked.includes(":name") ? `    params: { name: x }\n` : "";
    const { errors } = await check(text + params);
    expect(errors).toMatchObject([{ path: "steps[0].query" }]);
    const { line, column } = errors[0]!;
    const before = marked.slice(0, marked.indexOf("«")).split("\n");
    expect([line, column]).toEqual([5 + before.length, 7 + before.at(-1)!.length]);
  });
});

describe("a step that only reads", () => {
  it.each([
    ["WITH x AS (DELETE FROM products RETURNING *) SELECT * FROM x", "WITH … AS (DELETE …)"],
    ["WITH x AS MATERIALIZED (\n update products set price = 1 RETURNING *) SELECT * FROM x", "UPDATE"],
    ["WITH x AS (SELECT 1 AS n), y AS (SELECT 2 AS n) DELETE FROM products", "contains DELETE"],
    ["SELECT * INTO copied FROM products", "INTO"],
    ["SELECT * FROM products FOR UPDATE", "FOR UPDATE"],
    ["SELECT * FROM products FOR NO KEY UPDATE", "FOR NO KEY UPDATE"],
    ["EXPLAIN ANALYZE DELETE FROM products", "runs DELETE"],
  ])("must not contain a statement that writes: %s", async (query, message) => {
    const check = await checker();
    const [issue, ...others] = (await check({ database: "pg", query })).errors;
    expect(others).toEqual([]);
    expect(issue).toMatchObject({ path: "steps[0].query", code: "database_read_only" });
    expect([issue!.message.includes(message), issue!.fix]).toEqual([true, "Set write: true on the step."]);
    const reading = (await check({ database: "pg_read", query })).errors;
    expect(reading[0]!.fix).toContain("access: read-write");
    expect((await check({ database: "pg", query, write: true })).errors).toEqual([]);
  });

  it.each([
    `SELECT 'WITH x AS (DELETE FROM t)' AS "delete", name AS update_name FROM products -- FOR UPDATE`,
    "WITH x(n) AS (SELECT 1) SELECT substring(name FROM 1 FOR 2) AS s FROM products, x",
    "WITH deleted AS (SELECT 1 AS n) SELECT * FROM deleted",
    "EXPLAIN SELECT * FROM products",
  ])("may contain words that look like one: %s", async (query) => {
    const check = await checker();
    expect((await check({ database: "pg", query })).errors).toEqual([]);
  });
});

describe("a constant parameter", () => {
  it.each([
    ["pg", "SELECT * FROM products WHERE price < :most", { most: "abc" }, "most", "numeric"],
    ["pg", "SELECT * FROM products WHERE since >= :day", { day: "yesterday morning" }, "day", "date"],
    ["pg", "SELECT * FROM products LIMIT :n", { n: true }, "n", "bigint"],
    ["scratch", "SELECT * FROM range(10) t(i) WHERE i < :most", { most: "abc" }, "most", "abc"],
    ["scratch", "SELECT * FROM range(10) t(i) LIMIT :n", { n: "few" }, "n", "few"],
    ["scratch", "SELECT i + :n AS x FROM range(10) t(i)", { n: true }, "n", "BOOLEAN"],
  ])("must fit its place in the query, %s: %s", async (database, query, params, name, message) => {
    const check = await checker();
    const { errors } = await check({ database, query, params });
    expect(errors).toMatchObject([{ path: `steps[0].params.${name}`, code: "wrong_type" }]);
    expect(errors[0]!.message).toContain(message);
  });

  it.each([
    ["pg", "SELECT * FROM products WHERE price < :most", { most: 10 }],
    ["pg", "SELECT * FROM products WHERE price < :most", { most: "9.50" }],
    ["pg", "SELECT * FROM products WHERE name = :name", { name: 5 }],
    ["pg", "SELECT :o::jsonb ->> 'x' AS x", { o: { x: 1 } }],
    ["pg", "SELECT * FROM products WHERE price < :most", { most: null }],
    ["scratch", "SELECT * FROM range(10) t(i) WHERE i < :most", { most: 5 }],
    ["scratch", "SELECT CAST(:day AS DATE) AS day", { day: "2026-01-02" }],
    ["shop", "SELECT * FROM products WHERE price < :most", { most: "abc" }],
  ])("that fits is accepted, %s: %s %o", async (database, query, params) => {
    const check = await checker();
    expect((await check({ database, query, params })).errors).toEqual([]);
  });
});

describe("a definition with several issues", () => {
  it("reports all of them, whatever the databases report", async () => {
    const check = await checker("read-only");
    const { errors } = await check(
      {
        database: "shop",
        query: "SELECT nmae FROM products WHERE price < :most",
        params: { most: "${{ inputs.x }}" },
      },
      { database: "shop", query: "SELECT prise FROM products", limit: 5 },
      { database: "pg", query: "SELECT prise FROM products", write: true },
      { database: "pg", query: "DELETE FROM products", write: true },
      { database: "scratch", query: "SELECT frm", params: { a: "${{ upperr('x') }}" } },
      { database: "shpo", query: "SELECT 1" },
      { type: "set", values: { x: "${{ steps.s0.rowz }}" } },
    );
    expect(errors.map(({ path }) => path)).toEqual([
      "steps[0].query",
      "steps[0].params.most",
      "steps[1].query",
      "steps[1].limit",
      "steps[2].query",
      "steps[2].write",
      "steps[3].write",
      "steps[4].query",
      "steps[4].params.a",
      "steps[4].params.a",
      "steps[5].database",
      "steps[6].values.x",
    ]);
  });
});

const create = (database: string, more: object = {}) => ({
  database,
  query: "CREATE TABLE IF NOT EXISTS totals (day TEXT, total REAL)",
  write: true,
  ...more,
});
const insert = (database: string, more: object = {}) => ({
  database,
  query: "INSERT INTO totals VALUES (:day, 1)",
  params: { day: "2026-01-02" },
  write: true,
  ...more,
});

describe("a table that an earlier step creates", () => {
  it.each(["shop", "pg"])("can be used by later steps of %s", async (database) => {
    const check = await checker();
    const read = { database, query: "SELECT total FROM totals" };
    const { errors, warnings } = await check(create(database), insert(database), read);
    expect([errors, warnings.map(({ path, code }) => [path, code])]).toEqual([
      [],
      [
        ["steps[1].query", "not_checked"],
        ["steps[2].query", "not_checked"],
      ],
    ]);
  });

  it("can have columns that an earlier step adds", async () => {
    const check = await checker();
    const alter = { database: "shop", query: "ALTER TABLE products ADD COLUMN stock INTEGER", write: true };
    const read = { database: "shop", query: "SELECT stock FROM products" };
    expect((await check(alter, read)).errors).toEqual([]);
  });

  it.each([
    ["on another database", [create("shop"), insert("pg")]],
    ["afterwards", [insert("shop"), create("shop")]],
    ["beside it", [create("shop"), insert("shop", { needs: [] })]],
    ["of another name", [create("shop"), { ...insert("shop"), query: "INSERT INTO total VALUES (:day, 1)" }]],
  ])("is missing when the step creates it %s", async (_, steps) => {
    const check = await checker();
    expect((await check(...steps)).errors).toMatchObject([{ code: "database_failed" }]);
  });
});

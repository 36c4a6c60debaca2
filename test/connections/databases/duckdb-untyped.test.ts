/** Statements of DuckDB in which a parameter has no type before it has a value are prepared, and run. */
import { describe, expect, it } from "vitest";
import { callOf } from "../../support/call-context.ts";
import { openDatabases } from "../../support/databases.ts";
import { sharedDuckdb } from "../../support/shared-duckdb.ts";

/** An empty table, and one with a row. */
const shop = sharedDuckdb([
  "CREATE TABLE w (id INTEGER PRIMARY KEY, tx VARCHAR, ts TIMESTAMP)",
  "CREATE TABLE one AS SELECT 1 AS id, 'x' AS tx",
]);

const MERGE = `MERGE INTO w USING (SELECT :n::INTEGER AS a, nullif(:x, '') AS b) AS s ON w.id = s.a
               WHEN MATCHED THEN UPDATE SET tx = s.b WHEN NOT MATCHED THEN INSERT (id, tx) VALUES (s.a, s.b)`;

/** Statements with the parameters that they have, and the columns that they return. */
const WRITES: readonly [statement: string, params: string[], columns: string[]][] = [
  ["INSERT INTO w (id, tx) SELECT :n, :x", ["n", "x"], []],
  ["INSERT INTO w (id, tx) VALUES (7, nullif(:x, ''))", ["x"], []],
  ["INSERT INTO w (id) SELECT :n WHERE NOT EXISTS (SELECT 1 FROM w WHERE id = :n)", ["n"], []],
  ["INSERT INTO w (id, tx) SELECT :n, :x RETURNING id, tx AS text", ["n", "x"], ["id", "text"]],
  ["INSERT INTO w (id) SELECT :n ON CONFLICT DO NOTHING", ["n"], []],
  [
    "INSERT INTO w (id, tx) VALUES (7, nullif(:x, '')) ON CONFLICT (id) DO UPDATE SET tx = excluded.tx RETURNING *",
    ["x"],
    ["id", "tx", "ts"],
  ],
  ["WITH q AS (SELECT :n AS a) INSERT INTO w (id) SELECT a FROM q", ["n"], []],
  ["WITH q AS (SELECT :n AS a) INSERT INTO w (id) SELECT a FROM q RETURNING id + 1", ["n"], ["(id + 1)"]],
  ["INSERT INTO w (id, ts) SELECT :n, :at", ["n", "at"], []],
  ["UPDATE one SET tx = nullif(:x, '')", ["x"], []],
  ["UPDATE one SET tx = nullif(:x, '') WHERE id = 1 RETURNING tx", ["x"], ["tx"]],
  ["DELETE FROM one WHERE tx = nullif(:x, '')", ["x"], []],
  ["DELETE FROM one WHERE tx = nullif(:x, '') RETURNING one.id", ["x"], ["id"]],
  [MERGE, ["n", "x"], []],
  [`${MERGE} RETURNING merge_action, id`, ["n", "x"], ["merge_action", "id"]],
  ["CREATE TABLE z AS SELECT :x AS x, :n AS n", ["x", "n"], []],
];
const VALUES = [
  { n: 7, x: "x", at: "2026-01-31T23:30:00Z" },
  { n: "7", x: "2026-01-31T23:30:00Z", at: "2026-01-31" },
  { n: 7, x: null, at: null },
];

describe("statements of DuckDB with parameters without a type", () => {
  it.each(WRITES)("are prepared and write: %s", async (query, names, columns) => {
    const { databases } = await shop();
    for (const constants of [{}, ...VALUES]) {
      const request = { database: "shop", query, params: names, constants, write: true };
      const answer = await databases.prepare(request, callOf());
      const returned = columns.length === 0 ? ["Count"] : columns;
      expect(answer).toEqual({
        columns: returned.map((name) => ({ name, type: "any", databaseType: null })),
      });
    }
    for (const values of VALUES) {
      const { runQuery } = await shop();
      const params = Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)));
      const result = await runQuery("shop", query, params, { write: true });
      expect(result.columns.map(({ name }) => name)).toEqual(columns);
    }
  });

  it("are refused with the error of DuckDB where they are wrong, also those that write", async () => {
    const { databases } = await shop();
    const prepare = (query: string, params: string[] = ["x"]) =>
      databases.prepare({ database: "shop", query, params, write: true }, callOf());
    expect(await prepare("INSERT INTO w (id, tx) SELECT :x, txx FROM one")).toMatchObject({
      issues: [{ path: ["query"], did_you_mean: "tx" }],
    });
    expect(await prepare("UPDATE one SET tx = nullif(:x, '') WHERE idd = 1")).toMatchObject({
      issues: [{ path: ["query"], did_you_mean: "id" }],
    });
    expect(await prepare("EXPLAIN INSERT INTO w (id) SELECT :x")).toMatchObject({
      columns: [{ name: "explain_key" }, { name: "explain_value" }],
    });
  });

  it.each([
    ["{'a': :x}", { a: "x" }],
    ["struct_pack(a := :x)", { a: "x" }],
    ["{'a': {'b': [:x]}, 'c': 1}", { a: { b: ["x"] }, c: 1 }],
    ["union_value(a := :x)", "x"],
    ["[{'a': :x}]", [{ a: "x" }]],
    ["MAP {'a': {'b': :x}}", [{ key: "a", value: { b: "x" } }]],
  ])("have structs and unions with parameters in their columns: %s", async (expression, value) => {
    const { databases, runQuery } = await shop();
    for (const database of ["shop", "scratch"]) {
      const query = `SELECT 1 AS id, ${expression} AS s`;
      expect(await databases.prepare({ database, query, params: ["x"], write: false }, callOf())).toEqual({
        columns: ["id", "s"].map((name) => ({ name, type: "any", databaseType: null })),
      });
      expect((await runQuery(database, query, { x: "x" })).rows).toEqual([{ id: 1, s: value }]);
    }
  });

  it("are refused when they run where a struct has fields without names", async () => {
    const { queryError } = openDatabases([]);
    expect((await queryError("scratch", "SELECT row(:x, 1) AS s", { x: "x" })).message).toContain(
      "The column s has a struct whose fields have no names.",
    );
  });
});

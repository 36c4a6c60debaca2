import { describe, expect, it } from "vitest";
import type { Databases } from "../../src/core/connections.ts";
import { ANY, listOf, mapOf, NUMBER, nullable, objectOf, type Shape, STRING } from "../../src/core/shapes.ts";
import { sqlStep } from "../../src/steps/sql.ts";
import { openDatabases, createSqliteFile } from "../support/databases.ts";
import { temporaryDirectory } from "../support/instance.ts";
import { checkStep, runStep } from "../support/step-check.ts";

function shop(access = "read-only"): { databases: Databases; defaultDatabase: string | null } {
  const sql = `CREATE TABLE orders (id INTEGER PRIMARY KEY, region TEXT); INSERT INTO orders VALUES (1, 'north'), (2, 'south')`;
  const dataset = createSqliteFile(temporaryDirectory(), sql);
  const { databases } = openDatabases([{ name: "shop", type: "sqlite", dataset, access }]);
  return { databases, defaultDatabase: "shop" };
}

const rowsOf = (shape: Shape | undefined): Shape | undefined =>
  shape?.kind === "object" ? shape.fields["rows"] : undefined;

describe("a sql step", () => {
  it("returns rows, columns, the row count and whether it was truncated", async () => {
    const connections = shop();
    const query = "SELECT * FROM orders WHERE id >= :least";
    const step = { query, params: { least: 1 }, max_rows: 1, on_truncate: "keep" };
    expect(await runStep(sqlStep, step, { connections })).toEqual({
      kind: "done",
      output: {
        rows: [{ id: 1, region: "north" }],
        columns: [
          { name: "id", type: "any" },
          { name: "region", type: "string" },
        ],
        row_count: 1,
        truncated: true,
      },
      rows: 1,
    });
  });

  it("fails when there are more rows than its limit, and writes nothing then", async () => {
    const connections = shop("read-write");
    await expect(
      runStep(sqlStep, { query: "SELECT * FROM orders", max_rows: 1 }, { connections }),
    ).rejects.toMatchObject({
      code: "truncated",
      message: "The query returned more than 1 rows.",
      options: { fix: expect.stringContaining("on_truncate: keep") as string },
    });
    const large = { query: "SELECT hex(zeroblob(600000)) AS x, id FROM orders" };
    await expect(runStep(sqlStep, large, { connections })).rejects.toMatchObject({
      code: "truncated",
      message: "The query returned more than 1 MiB (the limit is reached after 0 rows).",
    });
    const write = { query: "UPDATE orders SET region = 'x' RETURNING id", write: true, max_rows: 1 };
    await expect(runStep(sqlStep, write, { connections })).rejects.toMatchObject({ code: "truncated" });
    const count = { query: "SELECT count(*) AS n FROM orders WHERE region = 'x'" };
    expect(await runStep(sqlStep, count, { connections })).toMatchObject({ output: { rows: [{ n: 0 }] } });
    expect(await runStep(sqlStep, { ...write, on_truncate: "keep" }, { connections })).toMatchObject({
      output: { row_count: 1, truncated: true },
    });
    expect(await runStep(sqlStep, count, { connections })).toMatchObject({ output: { rows: [{ n: 2 }] } });
  });

  it("joins rows of earlier steps in the database scratch", async () => {
    const connections = shop();
    const tables = { a: [{ id: 1, x: "one" }], b: [{ id: 1, y: 2.5 }] };
    const step = { database: "scratch", query: "SELECT x, y FROM a JOIN b USING (id)", tables };
    expect(await runStep(sqlStep, step, { connections })).toMatchObject({
      output: { rows: [{ x: "one", y: 2.5 }] },
      // The rows were metered when they were read.
      rows: 0,
    });
  });

  it("derives its columns before it runs, each of them nullable", async () => {
    const connections = shop();
    const { issues, output } = await checkStep(
      sqlStep,
      { query: "SELECT id, region AS r FROM orders" },
      { connections },
    );
    expect(issues).toEqual([]);
    expect(rowsOf(output)).toEqual(
      listOf(objectOf({ id: nullable({ kind: "any", sqlNumber: "integer" }), r: nullable(STRING) })),
    );
  });

  it("reports issues of the query, its parameters and its access", async () => {
    const connections = shop();
    const check = async (step: object, world = {}) =>
      (await checkStep(sqlStep, step, { connections, ...world })).issues;
    expect(
      await check({ query: "SELECT regoin FROM orders WHERE id = :least", params: { laest: 1 } }),
    ).toMatchObject([
      { path: ["params", "least"], did_you_mean: "laest" },
      { path: ["params", "laest"], did_you_mean: "least" },
      { path: ["query"], did_you_mean: "region" },
    ]);
    expect(await check({ query: "DELETE FROM orders", write: true })).toMatchObject([
      { path: ["write"], code: "database_read_only" },
    ]);
    expect(await check({ query: "SELECT 1", database: "shpo" })).toMatchObject([
      { path: ["database"], code: "unknown_database", did_you_mean: "shop" },
    ]);
    expect(await check({ query: "SELECT 1", tables: { t: [] } })).toMatchObject([{ path: ["tables"] }]);
    const nowhere = { connections: { ...connections, defaultDatabase: null } };
    expect(await check({ query: "SELECT 1" }, nowhere)).toMatchObject([
      { path: ["database"], code: "missing" },
    ]);
    const list = { shapeAt: () => listOf(NUMBER) };
    expect(await check({ query: "SELECT :ids", params: { ids: "${{ steps.a.rows }}" } }, list)).toMatchObject(
      [{ path: ["params", "ids"], code: "wrong_type" }],
    );
  });

  it("is checked as far as possible when an expression computes all parameters or tables", async () => {
    const connections = shop();
    const query = "SELECT regoin FROM orders WHERE id = :id";
    const check = (step: object, world = {}) => checkStep(sqlStep, step, { connections, ...world });
    expect((await check({ query, params: "${{ inputs }}" })).issues).toMatchObject([
      { path: ["query"], did_you_mean: "region" },
    ]);
    const inputs = { shapeOf: () => objectOf({ id: NUMBER, more: STRING }) };
    expect(
      (await check({ query: "SELECT :id AS id", params: "${{ inputs }}" }, inputs)).issues,
    ).toMatchObject([{ path: ["params", "more"], code: "unused_parameter" }]);
    const tables = await check({
      database: "scratch",
      query: "SELECT x FROM t",
      tables: "${{ inputs.tables }}",
    });
    expect([tables.issues, rowsOf(tables.output)]).toEqual([[], undefined]);
    const known = { shapeAt: () => listOf(objectOf({ x: STRING })) };
    const scratch = { database: "scratch", query: "SELECT x FROM t", tables: { t: "${{ steps.a.rows }}" } };
    expect(rowsOf((await check(scratch, known)).output)).toEqual(listOf(objectOf({ x: nullable(STRING) })));
    expect((await check({ ...scratch, query: "SELECT y FROM t" }, known)).issues).toMatchObject([
      { path: ["query"] },
    ]);
    expect(rowsOf((await check(scratch, { shapeAt: () => ANY })).output)).toBeUndefined();
    expect(rowsOf(sqlStep.output)).toEqual(listOf(mapOf(ANY)));
  });

  it("accepts no expression in the query, and a limited number of rows", () => {
    const { query, max_rows: maxRows } = sqlStep.fields;
    expect(query.schema.safeParse("SELECT '${{ inputs.x }}'").error?.issues).toMatchObject([
      { message: "must not contain ${{ }}: write :name in the query, and set its value in params" },
    ]);
    expect(maxRows.schema.parse(undefined)).toBe(1_000);
    expect(maxRows.schema.safeParse(10_001).success).toBe(false);
  });

  it("uses the resource of its database, and has effects if it writes", async () => {
    const step = { id: "a", type: "sql", query: "SELECT 1" };
    expect(sqlStep.resource(step, { defaultDatabase: "shop" })).toBe("database:shop");
    expect(sqlStep.resource({ ...step, database: "other" }, { defaultDatabase: "shop" })).toBe(
      "database:other",
    );
    expect(sqlStep.resource(step, { defaultDatabase: null })).toBeNull();
    expect([sqlStep.hasEffects(step), sqlStep.hasEffects({ ...step, write: true })]).toEqual([false, true]);
    const connections = { ...shop(), defaultDatabase: null };
    await expect(runStep(sqlStep, { query: "SELECT 1" }, { connections })).rejects.toMatchObject({
      code: "environment",
    });
  });
});

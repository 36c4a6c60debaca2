/** Lists are loaded into `scratch` with the columns and types that the checker knows. */
import { describe, expect, it } from "vitest";
import type { SqlColumn } from "../../../src/core/connections.ts";
import { openDatabases } from "../../support/databases.ts";
import { callOf } from "../../support/call-context.ts";

type Known = Pick<SqlColumn, "type" | "sqlNumber">;

const TEXT: Known = { type: "string" };
const NUMBER: Known = { type: "number" };
const ANY: Known = { type: "any" };
const INTEGER: Known = { type: "any", sqlNumber: "integer" };
const DECIMAL: Known = { type: "any", sqlNumber: "decimal" };
const FLOAT: Known = { type: "any", sqlNumber: "float" };

const columns = (known: Record<string, Known>): SqlColumn[] =>
  Object.entries(known).map(([name, { type, sqlNumber }]) =>
    Object.assign({ name, type, databaseType: null }, sqlNumber && { sqlNumber }),
  );

/** Runs a query on table `t` with these rows and known columns. */
async function load(rows: unknown[], known: Record<string, Known>, query = "FROM t") {
  const { runQuery } = openDatabases([]);
  const tableColumns = { t: columns(known) };
  const result = await runQuery("scratch", query, {}, { tables: { t: rows }, tableColumns });
  return {
    rows: result.rows,
    types: Object.fromEntries(result.columns.map(({ name, databaseType }) => [name, databaseType])),
  };
}

describe("a list in scratch", () => {
  it.each([
    ["without rows", []],
    ["with null only", [{ name: null, n: null, x: null, big: null, money: null }]],
    ["with absent fields", [{}]],
  ])("%s has the columns and types that the checker knows", async (_, rows) => {
    const known = { name: TEXT, n: NUMBER, x: ANY, big: INTEGER, money: DECIMAL };
    const { types } = await load(rows, known);
    expect(types).toEqual({
      name: "VARCHAR",
      n: "DOUBLE",
      x: "JSON",
      big: "BIGINT",
      money: "DECIMAL(38,4)",
    });
    const sums = await load(
      rows,
      known,
      "SELECT sum(n) + sum(big) + sum(money) AS s, max(upper(name)) AS u FROM t",
    );
    expect(sums.rows).toEqual([{ s: null, u: null }]);
  });

  it("keeps integers beyond 53 bits exact among smaller ones", async () => {
    const rows = [{ id: 7 }, { id: "9007199254740993" }, { id: null }];
    expect(await load(rows, { id: INTEGER }, "SELECT max(id) AS m, sum(id) AS s FROM t")).toMatchObject({
      rows: [{ m: "9007199254740993", s: "9007199254741000" }],
    });
    const huge = [{ id: "18446744073709551615" }, { id: -1 }];
    expect(await load(huge, { id: INTEGER })).toEqual({
      rows: [{ id: "18446744073709551615" }, { id: -1 }],
      types: { id: "HUGEINT" },
    });
  });

  it("keeps decimals exact that a double can't hold", async () => {
    const rows = [{ a: 2.5 }, { a: "12345678901234567.89" }, { a: 1e-7 }, { a: 3 }];
    expect(await load(rows, { a: DECIMAL }, "SELECT sum(a) AS s FROM t")).toMatchObject({
      rows: [{ s: "12345678901234573.3900001" }],
    });
    expect((await load([{ a: 2.5 }, { a: 1 }], { a: DECIMAL })).types).toEqual({ a: "DOUBLE" });
    expect((await load([{ a: 2 }, { a: 1 }], { a: FLOAT })).types).toEqual({ a: "DOUBLE" });
  });

  it("refuses a number of more digits than DuckDB has", async () => {
    const { queryError } = openDatabases([]);
    const error = (value: string, known: Known) =>
      queryError(
        "scratch",
        "FROM t",
        {},
        { tables: { t: [{ a: value }] }, tableColumns: { t: columns({ a: known }) } },
      );
    expect(await error(`1${"0".repeat(39)}`, INTEGER)).toMatchObject({
      code: "input_invalid",
      message: "The column a of table t has a number of more than 38 digits.",
    });
    expect((await error(`1${"0".repeat(30)}.${"1".repeat(10)}`, DECIMAL)).code).toBe("input_invalid");
  });

  it("has the type of its values where one contradicts the checker, and the columns that only rows have", async () => {
    const rows = [{ n: "abc", extra: 1 }, { n: 5 }];
    expect(await load(rows, { n: INTEGER })).toEqual({
      rows: [
        { n: "abc", extra: 1 },
        { n: 5, extra: null },
      ],
      types: { n: "JSON", extra: "BIGINT" },
    });
    expect((await load([{ n: "12" }], { n: TEXT })).rows).toEqual([{ n: "12" }]);
    expect(
      (await load([{ n: 1 }, { n: 2 }], { n: NUMBER }, "SELECT 'no ' || n AS t FROM t")).rows[0],
    ).toEqual({
      t: "no 1",
    });
  });

  it("of single values has one column, also without rows", async () => {
    const { databases } = openDatabases([]);
    const prepared = await databases.prepare(
      {
        database: "scratch",
        query: "SELECT upper(value) AS u FROM t",
        params: [],
        write: false,
        tables: { t: columns({ value: TEXT }) },
      },
      callOf(),
    );
    expect(prepared).toMatchObject({ columns: [{ name: "u", type: "string" }] });
    expect((await load([], { value: TEXT }, "SELECT upper(value) AS u FROM t")).rows).toEqual([]);
  });
});

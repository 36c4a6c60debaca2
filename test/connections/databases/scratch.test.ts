/** Lists are loaded into `scratch` with the columns and types that the checker knows. */
import * as fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
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

/** Its process serves all tests of this file. */
const { databases, runQuery, queryError } = openDatabases([], {}, {}, afterAll);

/** Runs a query on table `t` with these rows and known columns. */
async function load(rows: unknown[], known: Record<string, Known>, query = "FROM t") {
  const tableColumns = { t: columns(known) };
  const result = await runQuery("scratch", query, {}, { tables: { t: rows }, tableColumns });
  return {
    rows: result.rows,
    types: Object.fromEntries(result.columns.map(({ name, databaseType }) => [name, databaseType])),
  };
}

/** The error of a query on table `t` with this value in its only column. */
const errorOf = (value: string, known: Known) =>
  queryError(
    "scratch",
    "FROM t",
    {},
    { tables: { t: [{ a: value }] }, tableColumns: { t: columns({ a: known }) } },
  );

/** Long numbers without zeros at their end: a column of decimals has one number of digits after the point. */
const withoutZeros = (values: unknown) =>
  JSON.parse(
    JSON.stringify(values).replaceAll(/"(-?\d{10,}(?:\.\d*[1-9])?)\.?(?<=\.\d*)0*"/g, '"$1"'),
  ) as unknown;

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

  it("loads the digits that a number has in JSON", async () => {
    const values = [1e23, "12345678901234567", 7, -1.5e22].map((a) => ({ a }));
    expect((await load(values, {})).rows.map(({ a }) => String(a))).toEqual([
      "100000000000000000000000",
      "12345678901234567",
      "7",
      "-15000000000000000000000",
    ]);
    const decimals = [0.1, "12345678901234567.125", 1e30, 1.5e-5].map((a) => ({ a }));
    expect((await load(decimals, {}, "SELECT a::VARCHAR AS a FROM t")).rows).toEqual([
      { a: "0.100000" },
      { a: "12345678901234567.125000" },
      { a: `1${"0".repeat(30)}.000000` },
      { a: "0.000015" },
    ]);
    // MySQL writes a decimal with all zeros of its type.
    const padded = [{ a: `12345678901234567.25${"0".repeat(28)}` }, { a: 1 }];
    expect((await load(padded, { a: DECIMAL }, "SELECT max(a) AS a FROM t")).rows).toEqual([
      { a: "12345678901234567.25" },
    ]);
  });

  it("refuses a number of more digits than DuckDB has", async () => {
    expect(await errorOf(`1${"0".repeat(39)}`, INTEGER)).toMatchObject({
      code: "input_invalid",
      message: "The column a of table t has a number of more than 38 digits.",
    });
    expect((await errorOf(`1${"0".repeat(30)}.${"1".repeat(10)}`, DECIMAL)).code).toBe("input_invalid");
  });

  it("names the table where a heading is empty, and says what to do", async () => {
    const rows = [{ "": 1, b: 2 }];
    const failure = await load(rows, {}).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: "input_invalid",
      message: "The rows of table t have a column whose name is empty.",
      options: { fix: expect.stringContaining("heading") },
    });
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

  it("orders and adds long numbers as numbers, whatever the checker knows of them", async () => {
    const rows = [{ id: "999999999999999999" }, { id: "1000000000000000001" }, { id: 5 }];
    const query = "SELECT max(id) AS m, sum(id) AS s, list(id ORDER BY id) AS l FROM t";
    const sorted = [5, "999999999999999999", "1000000000000000001"];
    for (const known of [{}, { id: NUMBER }])
      expect((await load(rows, known, query)).rows).toEqual([
        { m: "1000000000000000001", s: "2000000000000000005", l: sorted },
      ]);
    expect((await load(rows.slice(0, 2), {})).types).toEqual({ id: "BIGINT" });
    expect((await load(rows.slice(0, 2), { id: TEXT })).types).toEqual({ id: "VARCHAR" });
    expect((await load([{ id: "0071234567890123456" }, { id: "1000000000000000001" }], {})).types).toEqual({
      id: "VARCHAR",
    });
    const money = [{ a: "12345678901234567.5" }, { a: 0.125 }, { a: "-9007199254740993" }];
    expect(await load(money, {}, "SELECT sum(a) AS s, min(a) AS l FROM t")).toMatchObject({
      rows: [{ s: "3338479646493574.625", l: "-9007199254740993.000" }],
    });
  });

  it("keeps numbers that DuckDB has no type for as they are", async () => {
    const huge = `1${"0".repeat(60)}`;
    expect(await load([{ a: huge }, { a: "9007199254740993" }], {})).toEqual({
      rows: [{ a: huge }, { a: "9007199254740993" }],
      types: { a: "VARCHAR" },
    });
    expect(await load([{ a: huge }, { a: 1e-300 }, { a: 7 }], {})).toEqual({
      rows: [{ a: huge }, { a: 1e-300 }, { a: 7 }],
      types: { a: "JSON" },
    });
  });

  it("keeps texts with any characters", async () => {
    const rows = ["a\u0000b", "\ud83e\udd86", "\ud800", "\ufffd", "\u202e"].map((t) => ({ t, j: [t] }));
    expect((await load(rows, {})).rows).toEqual(rows);
  });

  it("gives back rows of any JSON as they are", async () => {
    const digits = fc.stringMatching(/^-?[1-9]\d{15,36}$/);
    const value: fc.Arbitrary<unknown> = fc.oneof(
      fc.jsonValue({ maxDepth: 3, stringUnit: "grapheme" }),
      digits,
      fc.stringMatching(/^-?[1-9]\d{10,20}\.\d{0,14}[1-9]$/),
      fc.constantFrom("007", "12", "1e400", "1.50", "", "null", "2026-01-01", 1e20, -0.1, 5e-324, 1e308),
      fc.record({ id: digits, deep: fc.array(digits, { maxLength: 2 }) }),
    );
    // Columns of one kind are loaded with its type, and others as JSON.
    const column = fc.oneof(
      fc.array(value, { minLength: 4, maxLength: 4 }),
      fc.array(fc.oneof(digits, fc.maxSafeInteger()), { minLength: 4, maxLength: 4 }),
      fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 4, maxLength: 4 }),
    );
    const columnValues = fc.sample(column, { seed: 29, numRuns: 300 });
    const rows = Array.from({ length: 4 }, (_, row) =>
      Object.fromEntries(columnValues.map((values, index) => [`c${index}`, values[row] ?? null])),
    );
    expect(withoutZeros((await load(rows, {})).rows)).toEqual(withoutZeros(rows));
  });

  it("of single values has one column, also without rows", async () => {
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

/** Rows in the browser: what is a table, in which order, and when a chart says something. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildChartData, describeChart } from "../../../src/web/values/chart-data.ts";
import {
  cellValue,
  suggestChart,
  type Column,
  type ColumnKind,
  parseTimestamp,
  type Row,
  parseRows,
  sortRows,
} from "../../../src/web/values/rows.ts";

const kindsOf = (value: unknown): Record<string, ColumnKind> =>
  Object.fromEntries(parseRows(value)!.columns.map(({ name, kind }) => [name, kind]));

const asSql = (rows: Row[], columns: { name: string; type: string }[]) => ({
  rows,
  columns,
  row_count: rows.length,
  truncated: false,
});

describe("recognising rows", () => {
  it("takes what a sql step gives, with its columns in their order", () => {
    const value = asSql(
      [{ total: 3, region: "north" }],
      [
        { name: "region", type: "string" },
        { name: "total", type: "number" },
      ],
    );
    expect(parseRows({ ...value, truncated: true })).toEqual({
      rows: value.rows,
      columns: [
        { name: "region", kind: "text" },
        { name: "total", kind: "number" },
      ],
      rowCount: 1,
      truncated: true,
    });
  });

  it("takes a list of flat objects, with every key that one of them has", () => {
    expect(kindsOf([{ a: 1 }, { b: "x", a: null }])).toEqual({ a: "number", b: "text" });
  });

  it.each([
    ["an empty list", []],
    ["a list of numbers", [1, 2]],
    ["a list with nested objects", [{ a: { b: 1 } }]],
    ["an object with more than rows", { rows: [{ a: 1 }], page: 2 }],
    ["a value that the server cut", { truncated: true, chars: 9, preview: "{", ref: "output" }],
    ["null", null],
    ["text", "rows"],
  ])("does not take %s", (_, value) => {
    expect(parseRows(value)).toBeNull();
  });

  it("tells kinds of columns by their values, and by the database where there are none", () => {
    const rows = [
      { n: 1.5, t: "2026-01-01", b: true, s: "x", j: [1], big: "9007199254740993", none: null },
      { n: null, t: "2026-01-02 10:00:00+00", b: false, s: "2026-01-01", j: null, big: 5, none: null },
    ];
    const columns = Object.keys(rows[0]!).map((name) => ({
      name,
      type: name === "big" || name === "none" ? "number" : "any",
    }));
    expect(kindsOf(asSql(rows, columns))).toEqual({
      n: "number",
      t: "time",
      b: "boolean",
      s: "text",
      j: "json",
      big: "number",
      none: "number",
    });
  });

  it("reads moments as databases write them", () => {
    expect(parseTimestamp("2026-01")).toBe(Date.UTC(2026, 0));
    expect(parseTimestamp("2026-01-02 03:04:05+02")).toBe(Date.UTC(2026, 0, 2, 1, 4, 5));
    expect(parseTimestamp("2026-01-02T03:04:05.5-0130")).toBe(Date.UTC(2026, 0, 2, 4, 34, 5, 500));
    expect(parseTimestamp("2026-13-01")).toBeNull();
    expect(parseTimestamp("12026")).toBeNull();
  });

  it("does not take what every object inherits for a cell", () => {
    expect(cellValue({ a: 1 }, "constructor")).toBeNull();
  });
});

const KINDS: Record<Exclude<ColumnKind, "json">, fc.Arbitrary<unknown>> = {
  number: fc.double({ noNaN: true }),
  text: fc.string(),
  boolean: fc.boolean(),
  time: fc
    .date({ min: new Date("1970-01-01"), max: new Date("2100-01-01"), noInvalidDate: true })
    .map((date) => date.toISOString()),
};
const table = fc.constantFrom(...(Object.keys(KINDS) as (keyof typeof KINDS)[])).chain((kind) =>
  fc.record({
    kind: fc.constant(kind),
    cells: fc.array(fc.option(KINDS[kind], { nil: null }), { maxLength: 40 }),
    descending: fc.boolean(),
  }),
);

describe("sorting", () => {
  it("keeps every row, puts those without a value last, and sorting again changes nothing", () => {
    fc.assert(
      fc.property(table, ({ kind, cells, descending }) => {
        const rows = cells.map((v, at) => ({ v, at }));
        const by: Column = { name: "v", kind };
        const sorted = sortRows(rows, by, descending);
        expect(new Set(sorted)).toEqual(new Set(rows));
        expect(sorted).toHaveLength(rows.length);
        const valued = cells.filter((cell) => cell !== null).length;
        expect(sorted.slice(valued).every((row) => row["v"] === null)).toBe(true);
        expect(sortRows(sorted, by, descending)).toEqual(sorted);
      }),
    );
  });

  it("keeps the order of equal rows, either way", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 3 })), fc.boolean(), (cells, descending) => {
        const rows = cells.map((v, at) => ({ v, at }));
        const sorted = sortRows(rows, { name: "v", kind: "number" }, descending) as typeof rows;
        const expected = rows.toSorted((a, b) => (descending ? b.v - a.v : a.v - b.v) || a.at - b.at);
        expect(sorted).toEqual(expected);
      }),
    );
  });

  it("sorts numbers as numbers, also those that stand as text", () => {
    const rows = [{ v: 10 }, { v: 9 }, { v: "9007199254740993" }, { v: null }, { v: -1 }];
    const order = sortRows(rows, { name: "v", kind: "number" }, false).map((row) => row["v"]);
    expect(order).toEqual([-1, 9, 10, "9007199254740993", null]);
  });
});

const chartOfValue = (value: unknown) => {
  const { rows, columns } = parseRows(value)!;
  return suggestChart(rows, columns);
};

describe("charts", () => {
  const regions = [
    { region: "north", revenue: 22_958.05, orders: 139 },
    { region: "west", revenue: 17_000, orders: 126 },
  ];

  it("draws bars along categories", () => {
    const chart = chartOfValue(regions);
    expect(chart).toMatchObject({ kind: "bar", xAxis: { name: "region" } });
    expect(chart!.series.map(({ name }) => name)).toEqual(["revenue", "orders"]);
  });

  it("draws lines along time, in its order whatever that of the rows is", () => {
    const days = [
      { day: "2026-01-03", n: 3 },
      { day: "2026-01-01", n: 1 },
      { day: "2026-01-02", n: null },
    ];
    const chart = chartOfValue(days)!;
    expect(chart.kind).toBe("line");
    expect(buildChartData(chart, days).data).toEqual([
      { along: "2026-01-01", s0: 1 },
      { along: "2026-01-02", s0: null },
      { along: "2026-01-03", s0: 3 },
    ]);
  });

  it.each([
    ["one row", [{ a: "x", n: 1 }]],
    ["more rows than can be told apart", Array.from({ length: 201 }, (_, n) => ({ a: `x${n}`, n }))],
    [
      "two columns of text",
      [
        { a: "x", b: "y", n: 1 },
        { a: "z", b: "y", n: 2 },
      ],
    ],
    ["no numbers", [{ a: "x" }, { a: "y" }]],
    ["five numbers", ["x", "y"].map((a) => ({ a, b: 1, c: 2, d: 3, e: 4, f: 5 }))],
    [
      "a category that is there twice",
      [
        { a: "x", n: 1 },
        { a: "x", n: 2 },
      ],
    ],
    [
      "a category that is missing",
      [
        { a: "x", n: 1 },
        { a: null, n: 2 },
      ],
    ],
    [
      "numbers that name things",
      [
        { a: "x", customer_id: 1 },
        { a: "y", customer_id: 2 },
      ],
    ],
    [
      "prose",
      [
        { a: "x".repeat(61), n: 1 },
        { a: "y", n: 2 },
      ],
    ],
  ])("draws none of %s", (_, rows) => {
    expect(chartOfValue(rows)).toBeNull();
  });

  it("gives a series an axis of its own where it would lie flat on that of the greatest", () => {
    const chart = chartOfValue(regions)!;
    expect(buildChartData(chart, regions).series.map(({ right }) => right)).toEqual([false, true]);
    const alike = regions.map((row) => ({ ...row, orders: row.revenue / 2 }));
    expect(buildChartData(chart, alike).hasRight).toBe(false);
  });

  it("says in words what it shows", () => {
    expect(describeChart(chartOfValue(regions)!, regions)).toBe(
      "Bar chart of revenue, orders by region, 2 rows. revenue: from 17000 (west) to 22958.05 (north). " +
        "orders: from 126 (west) to 139 (north). The table has all values.",
    );
  });
});

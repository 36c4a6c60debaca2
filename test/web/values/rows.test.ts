/** Rows in the browser: how they are recognized and sorted, and when a chart is suggested. */
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

describe("recognizing rows", () => {
  it("accepts the output of a sql step, and keeps the order of its columns", () => {
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

  it("accepts a list of flat objects, with the keys of all of them", () => {
    expect(kindsOf([{ a: 1 }, { b: "x", a: null }])).toEqual({ a: "number", b: "text" });
  });

  it.each([
    ["an empty list", []],
    ["a list of numbers", [1, 2]],
    ["a list with nested objects", [{ a: { b: 1 } }]],
    ["an object with more than rows", { rows: [{ a: 1 }], page: 2 }],
    ["a value that the server truncated", { truncated: true, chars: 9, preview: "{", ref: "output" }],
    ["null", null],
    ["text", "rows"],
  ])("rejects %s", (_, value) => {
    expect(parseRows(value)).toBeNull();
  });

  it("derives the kind of a column from its values, or from the declared type if it has none", () => {
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

  it("parses the timestamp formats of common databases", () => {
    expect(parseTimestamp("2026-01")).toBe(Date.UTC(2026, 0));
    expect(parseTimestamp("2026-01-02 03:04:05+02")).toBe(Date.UTC(2026, 0, 2, 1, 4, 5));
    expect(parseTimestamp("2026-01-02T03:04:05.5-0130")).toBe(Date.UTC(2026, 0, 2, 4, 34, 5, 500));
    expect(parseTimestamp("2026-13-01")).toBeNull();
    expect(parseTimestamp("12026")).toBeNull();
  });

  it("ignores inherited properties", () => {
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
  it("keeps every row, puts rows without a value last, and is idempotent", () => {
    fc.assert(
      fc.property(table, ({ kind, cells, descending }) => {
        const rows = cells.map((v, at) => ({ v, at }));
        const column: Column = { name: "v", kind };
        const sorted = sortRows(rows, column, descending);
        expect(new Set(sorted)).toEqual(new Set(rows));
        expect(sorted).toHaveLength(rows.length);
        const valued = cells.filter((cell) => cell !== null).length;
        expect(sorted.slice(valued).every((row) => row["v"] === null)).toBe(true);
        expect(sortRows(sorted, column, descending)).toEqual(sorted);
      }),
    );
  });

  it("keeps the order of equal rows in both directions", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 3 })), fc.boolean(), (cells, descending) => {
        const rows = cells.map((v, at) => ({ v, at }));
        const sorted = sortRows(rows, { name: "v", kind: "number" }, descending) as typeof rows;
        const expected = rows.toSorted((a, b) => (descending ? b.v - a.v : a.v - b.v) || a.at - b.at);
        expect(sorted).toEqual(expected);
      }),
    );
  });

  it("sorts numbers numerically, including those in strings", () => {
    const rows = [{ v: 10 }, { v: 9 }, { v: "9007199254740993" }, { v: null }, { v: -1 }];
    const order = sortRows(rows, { name: "v", kind: "number" }, false).map((row) => row["v"]);
    expect(order).toEqual([-1, 9, 10, "9007199254740993", null]);
  });

  it("sorts numbers that differ only in digits that a double loses", () => {
    const rows = [
      "900719925474099.23",
      "-9007199254740993",
      "1000000000000000001",
      "-9007199254740994",
      "1000000000000000000",
      "900719925474099.3",
      2,
    ].map((v) => ({ v }));
    expect(parseRows(rows)!.columns).toEqual([{ name: "v", kind: "number" }]);
    expect(sortRows(rows, { name: "v", kind: "number" }, false).map(({ v }) => v)).toEqual([
      "-9007199254740994",
      "-9007199254740993",
      2,
      "900719925474099.23",
      "900719925474099.3",
      "1000000000000000000",
      "1000000000000000001",
    ]);
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

  it("suggests bars for categories", () => {
    const chart = chartOfValue(regions);
    expect(chart).toMatchObject({ kind: "bar", xAxis: { name: "region" } });
    expect(chart!.series.map(({ name }) => name)).toEqual(["revenue", "orders"]);
  });

  it("suggests lines for times, and orders the points by time", () => {
    const days = [
      { day: "2026-01-03", n: 3 },
      { day: "2026-01-01", n: 1 },
      { day: "2026-01-02", n: null },
    ];
    const chart = chartOfValue(days)!;
    expect(chart.kind).toBe("line");
    expect(buildChartData(chart, days).data).toEqual([
      { x: "2026-01-01", s0: 1 },
      { x: "2026-01-02", s0: null },
      { x: "2026-01-03", s0: 3 },
    ]);
  });

  it.each([
    ["one row", [{ a: "x", n: 1 }]],
    ["too many rows", Array.from({ length: 201 }, (_, n) => ({ a: `x${n}`, n }))],
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
      "a duplicate category",
      [
        { a: "x", n: 1 },
        { a: "x", n: 2 },
      ],
    ],
    [
      "a missing category",
      [
        { a: "x", n: 1 },
        { a: null, n: 2 },
      ],
    ],
    [
      "identifiers",
      [
        { a: "x", customer_id: 1 },
        { a: "y", customer_id: 2 },
      ],
    ],
    [
      "long texts",
      [
        { a: "x".repeat(61), n: 1 },
        { a: "y", n: 2 },
      ],
    ],
  ])("suggests none for %s", (_, rows) => {
    expect(chartOfValue(rows)).toBeNull();
  });

  it("puts much smaller series on the right axis", () => {
    const chart = chartOfValue(regions)!;
    expect(buildChartData(chart, regions).series.map(({ onRightAxis }) => onRightAxis)).toEqual([
      false,
      true,
    ]);
    const similar = regions.map((row) => ({ ...row, orders: row.revenue / 2 }));
    expect(buildChartData(chart, similar).hasRightAxis).toBe(false);
  });

  it("has a text alternative", () => {
    expect(describeChart(chartOfValue(regions)!, regions)).toBe(
      "Bar chart of revenue, orders by region, 2 rows. revenue: from 17000 (west) to 22958.05 (north). " +
        "orders: from 126 (west) to 139 (north). The table has all values.",
    );
  });
});

/** Values of DuckDB arrive as they are: in columns, and inside lists, structs, maps and unions. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { callOf } from "../../support/call-context.ts";
import { openDatabases } from "../../support/databases.ts";

type Cases = readonly (readonly [expression: string, value: unknown])[];

/** The values as which expressions of SQL arrive. One query computes all, because each takes a process of its own. */
async function arriving(cases: Cases): Promise<Cases> {
  const columns = cases.map(([expression], index) => `${expression} AS v${index}`);
  const { rows } = await openDatabases([]).runQuery("scratch", `SELECT ${columns.join(", ")}`);
  return cases.map(([expression], index) => [expression, rows[0]![`v${index}`]]);
}

const LONG = "123456789012345678901234567890";

describe("duckdbToJson", () => {
  it("parses JSON at every level, with all digits", async () => {
    const cases: Cases = [
      [
        '\'{"id": 1533947986218845197, "x": 1e400}\'::JSON',
        { id: "1533947986218845197", x: `1${"0".repeat(400)}` },
      ],
      ["json_object('n', 9007199254740993)", { n: "9007199254740993" }],
      ["['{\"a\": [1]}'::JSON, NULL]", [{ a: [1] }, null]],
      ["['[9007199254740993]'::JSON]::JSON[1]", [["9007199254740993"]]],
      ["{'j': '{\"a\": 1.5}'::JSON, 't': '{\"a\": 1.5}'}", { j: { a: 1.5 }, t: '{"a": 1.5}' }],
      ["MAP {'k': '[true]'::JSON}", [{ key: "k", value: [true] }]],
      ["MAP {'[1]'::JSON: [{'j': 'null'::JSON}]}", [{ key: [1], value: [{ j: null }] }]],
      ["union_value(j := '[1]'::JSON)", [1]],
      ["union_value(t := '[1]')", "[1]"],
      ["'not JSON'", "not JSON"],
    ];
    expect(await arriving(cases)).toEqual(cases);
  });

  it("keeps null in a union, which is no text", async () => {
    const cases: Cases = [
      ["union_value(a := NULL::INTEGER)", null],
      ["{'u': union_value(a := NULL::VARCHAR), 'v': [union_value(a := NULL::JSON)]}", { u: null, v: [null] }],
      ["CAST(NULL AS UNION(a INTEGER, b VARCHAR))", null],
    ];
    expect(await arriving(cases)).toEqual(cases);
  });

  it("gives a number of single precision its own digits", async () => {
    const cases: Cases = [
      ["0.1::FLOAT", 0.1],
      ["16777217::FLOAT", 16777216],
      ["3.4028235e38::FLOAT", 3.4028235e38],
      ["'nan'::FLOAT", null],
      ["'-inf'::FLOAT", null],
      ["[0.1::FLOAT, NULL, 'inf'::FLOAT]", [0.1, null, null]],
      ["[0.1, 0.2]::FLOAT[2]", [0.1, 0.2]],
      ["{'f': 0.7::FLOAT, 'd': 0.7::DOUBLE}", { f: 0.7, d: 0.7 }],
      ["MAP {0.3::FLOAT: 0.6::FLOAT}", [{ key: 0.3, value: 0.6 }]],
      ["union_value(f := 0.1::FLOAT)", 0.1],
      ["[{'l': [1.1::FLOAT]}]", [{ l: [1.1] }]],
      // In double precision it has these digits.
      ["0.1::FLOAT::DOUBLE", 0.10000000149011612],
    ];
    expect(await arriving(cases)).toEqual(cases);
  });

  it("gives every number of single precision the shortest text that is the same number", async () => {
    const numbers = fc.sample(fc.float({ noNaN: true, noDefaultInfinity: true }), {
      numRuns: 2_000,
      seed: 29,
    });
    const query = "SELECT v::FLOAT AS v, v::FLOAT::VARCHAR AS own FROM t";
    const tables = { t: numbers.map((v) => ({ v })) };
    const { rows } = await openDatabases([]).runQuery("scratch", query, {}, { tables, maxRows: 2_000 });
    expect(rows.map(({ v }) => Math.fround(v as number))).toEqual(numbers.map((v) => v + 0));
    const longer = rows.filter(({ v, own }) => String(v).length > String(Number(own)).length);
    expect(longer).toEqual([]);
  });

  it("keeps every digit and character", async () => {
    const cases: Cases = [
      ["170141183460469231731687303715884105727::HUGEINT", "170141183460469231731687303715884105727"],
      ["'-170141183460469231731687303715884105728'::HUGEINT", "-170141183460469231731687303715884105728"],
      ["340282366920938463463374607431768211455::UHUGEINT", "340282366920938463463374607431768211455"],
      ["18446744073709551615::UBIGINT", "18446744073709551615"],
      ["9007199254740991::BIGINT", 9007199254740991],
      ["9007199254740992::BIGINT", "9007199254740992"],
      ["[9007199254740993]", ["9007199254740993"]],
      [`'${LONG}'::BIGNUM`, LONG],
      [
        "'1234567890123456789012345678.0123456789'::DECIMAL(38,10)",
        "1234567890123456789012345678.0123456789",
      ],
      ["'1.5'::DECIMAL(38,10)", 1.5],
      ["'0.1234567890123456'::DECIMAL(38,16)", 0.1234567890123456],
      ["1e308::DOUBLE", 1e308],
      ["5e-324::DOUBLE", 5e-324],
      ["'nan'::DOUBLE", null],
      ["'00:00:00.000001'::TIME", "00:00:00.000001"],
      ["'24:00:00'::TIME", "24:00:00"],
      ["'12:00:00.123456+05:30:15'::TIMETZ", "12:00:00.123456+05:30:15"],
      ["INTERVAL '-1 month 3 days -1.5 seconds'", "-1 month 3 days -00:00:01.5"],
      ["'0101'::BIT", "0101"],
      ["'a'::ENUM('a', 'b')", "a"],
      ["'\\x00\\xFF'::BLOB", "AP8="],
      ["{'a': 1}::VARIANT", { a: 1 }],
      ["{'a': 9007199254740993, 'f': 0.1::FLOAT}::VARIANT", { a: "9007199254740993", f: 0.1 }],
    ];
    expect(await arriving(cases)).toEqual(cases);
  });

  it("writes the moment and date", async () => {
    const cases: Cases = [
      ["'1969-12-31 23:59:59.999999+00'::TIMESTAMPTZ", "1969-12-31T23:59:59.999999Z"],
      ["'1969-12-31 23:59:59.999+00'::TIMESTAMPTZ", "1969-12-31T23:59:59.999Z"],
      ["'1900-01-01 00:00:00.000001+00'::TIMESTAMPTZ", "1900-01-01T00:00:00.000001Z"],
      ["'infinity'::TIMESTAMPTZ", "infinity"],
      ["'-infinity'::TIMESTAMPTZ", "-infinity"],
      ["'infinity'::DATE", "infinity"],
      ["'-infinity'::DATE", "-infinity"],
      ["['infinity'::DATE]", ["infinity"]],
      ["'infinity'::TIMESTAMP", "infinity"],
      ["'infinity'::TIMESTAMP_S", "infinity"],
      ["'-infinity'::TIMESTAMP_MS", "-infinity"],
      ["'infinity'::TIMESTAMP_NS", "infinity"],
      ["'1969-12-31 23:59:59.999999'::TIMESTAMP", "1969-12-31T23:59:59.999999"],
      ["'1969-12-31 23:59:59.999999999'::TIMESTAMP_NS", "1969-12-31T23:59:59.999999999"],
      ["'1969-12-31 23:59:59.999'::TIMESTAMP_MS", "1969-12-31T23:59:59.999"],
      ["'1969-12-31 23:59:59'::TIMESTAMP_S", "1969-12-31T23:59:59"],
      ["'0001-12-31 (BC)'::DATE", "0001-12-31 (BC)"],
      ["'0044-03-15 (BC)'::DATE", "0044-03-15 (BC)"],
    ];
    expect(await arriving(cases)).toEqual(cases);
  });

  it("writes every moment that a timestamp with a time zone can hold, to the microsecond", async () => {
    const LATEST = 8_640_000_000_000_000_000n;
    const moments = fc.sample(
      fc.oneof(fc.bigInt({ min: -LATEST, max: LATEST }), fc.bigInt({ min: -4_000_000n, max: 4_000_000n })),
      { numRuns: 1_000, seed: 7 },
    );
    const tables = { t: moments.map((us) => ({ us: String(us) })) };
    const query = "SELECT make_timestamptz(us::BIGINT) AS at FROM t";
    const { rows } = await openDatabases([]).runQuery("scratch", query, {}, { tables });
    expect(rows.map(({ at }) => microsOf(at as string))).toEqual(moments);
  });

  it("refuses a struct with fields that JSON can't tell apart, also while checking", async () => {
    const { queryError, databases } = openDatabases([]);
    const message = "The column pair has a struct whose fields have no names.";
    for (const query of ["SELECT row(1, 2) AS pair", "SELECT [row(1, 2)] AS pair"]) {
      const request = { database: "scratch", query, params: [], write: false };
      expect(await databases.prepare(request, callOf())).toMatchObject({ issues: [{ message }] });
      expect(await queryError("scratch", query)).toMatchObject({
        code: "database_failed",
        message: `scratch: ${message}`,
      });
    }
    expect((await queryError("scratch", "SELECT {'__proto__': 1} AS s")).message).toContain("__proto__");
  });
});

/** Microseconds since 1970 of ISO text in UTC. */
function microsOf(text: string): bigint {
  const [, whole, rest = ""] = /^(.*\.\d{3})(\d{0,3})Z$/.exec(text)!;
  return BigInt(Date.parse(`${whole}Z`)) * 1_000n + BigInt(rest.padEnd(3, "0"));
}

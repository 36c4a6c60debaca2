/** Timestamps and durations are exact to the nanosecond, or refused. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { evaluate, failure } from "./scope.ts";

const SECOND = 1_000_000_000n;
const LATEST = 253_402_300_800n * SECOND - 1n;
const EARLIEST = -62_135_596_800n * SECOND;
const moments = fc.oneof(
  fc.bigInt({ min: EARLIEST, max: LATEST }),
  fc.bigInt({ min: -3n * SECOND, max: 3n * SECOND }),
  fc.bigInt({ min: EARLIEST / 1_000n, max: LATEST / 1_000n }).map((micros) => micros * 1_000n),
);

/** ISO text of nanoseconds since 1970, as this test writes it itself. */
function isoOf(nanos: bigint): string {
  const rest = ((nanos % SECOND) + SECOND) % SECOND;
  const [whole] = new Date(Number((nanos - rest) / 1_000_000n)).toISOString().split(".");
  const digits = String(rest)
    .padStart(9, "0")
    .replace(/(?:000){0,2}$/, "");
  return `${whole}.${digits}Z`;
}

describe("a timestamp", () => {
  it.each([
    ["timestamp('2026-01-01T00:00:00.123456Z')", "2026-01-01T00:00:00.123456Z"],
    ["timestamp('1969-12-31T23:59:59.999999Z')", "1969-12-31T23:59:59.999999Z"],
    ["timestamp('2026-01-01T00:00:00.123456789Z')", "2026-01-01T00:00:00.123456789Z"],
    ["timestamp('2026-01-01T00:00:00.1230000Z')", "2026-01-01T00:00:00.123Z"],
    ["string(timestamp('2026-01-01T00:00:00.5000001Z'))", "2026-01-01T00:00:00.500000100Z"],
    ["timestamp('2026-01-01T08:00:00.000001+05:30:15')", "2026-01-01T02:29:45.000001Z"],
    ["timestamp('2026-01-01 08:00:00+02')", "2026-01-01T06:00:00.000Z"],
    ["timestamp('2026-01-01 08:00:00 +0200')", "2026-01-01T06:00:00.000Z"],
    ["timestamp('2026-07-01T08:00:00.000001', 'Europe/Berlin')", "2026-07-01T06:00:00.000001Z"],
    ["timestamp(1.000001)", "1970-01-01T00:00:01.000001Z"],
    ["timestamp(-0.000000001)", "1969-12-31T23:59:59.999999999Z"],
    ["timestamp(double(timestamp('2026-01-01T00:00:00.123456789Z')))", "2026-01-01T00:00:00.123456789Z"],
    ["double(timestamp('2026-01-01T00:00:00.123456789Z'))", "1767225600.123456789"],
    ["int(timestamp('2026-01-01T00:00:00.999999999Z'))", 1767225600],
    ["timestamp('2026-01-01T00:00:00.000001Z') == timestamp('2026-01-01T00:00:00Z')", false],
    ["timestamp('2026-01-01T00:00:00.000001Z') > timestamp('2026-01-01T00:00:00Z')", true],
    ["timestamp('2026-01-01T00:00:00.0000010Z') == timestamp('2026-01-01T00:00:00.000001Z')", true],
    ["[timestamp('2026-01-01T00:00:00.000001Z'), timestamp('2026-01-01')].unique().size()", 2],
    [
      "[timestamp('2026-01-01T00:00:00.000001Z'), timestamp('2026-01-01')].max()",
      "2026-01-01T00:00:00.000001Z",
    ],
    ["timestamp('2026-01-01T00:00:00.000001Z') - timestamp('2026-01-01')", 0.000001],
    ["timestamp('2026-01-01') - duration('1us')", "2025-12-31T23:59:59.999999Z"],
    ["duration('1ns') + timestamp('2026-01-01')", "2026-01-01T00:00:00.000000001Z"],
    ["start_of(timestamp('2026-01-01T10:00:00.000001Z'), 'hour')", "2026-01-01T10:00:00.000Z"],
    ["add_days('2026-01-31T10:00:00.123456Z', 1)", "2026-02-01T10:00:00.123456Z"],
    ["add_months('2026-03-01T10:00:00.123456Z', 1, 'Europe/Berlin')", "2026-04-01T09:00:00.123456Z"],
    // 02:30 does not exist on this day: the moment of the change has no digits.
    ["add_days('2026-03-28T01:30:00.000001Z', 1, 'Europe/Berlin')", "2026-03-29T01:00:00.000Z"],
    ["format_date('2026-01-01T00:00:00.123456789Z', 'SSS SSSSSS SSSSSSSSS')", "123 123456 123456789"],
    ["timestamp('2026-01-01T00:00:00.123999Z').getMilliseconds()", 123],
  ])("keeps every digit: %s", (source, value) => {
    expect(evaluate(source)).toEqual(value);
  });

  it("is written as it was read, whatever its digits are", () => {
    fc.assert(
      fc.property(moments, (nanos) => {
        const x = isoOf(nanos);
        expect(evaluate("timestamp(inputs.x)", { x })).toBe(x);
        expect(evaluate("timestamp(double(timestamp(inputs.x)))", { x })).toBe(x);
      }),
      { seed: 29, numRuns: 200 },
    );
  });

  it("is ordered, and its differences are, by nanoseconds", () => {
    const near = fc.tuple(moments, fc.bigInt({ min: -2_000_000n, max: 2_000_000n }));
    fc.assert(
      fc.property(near, ([one, by]) => {
        const other = one + by > LATEST || one + by < EARLIEST ? one : one + by;
        const inputs = { a: isoOf(one), b: isoOf(other), by: `${other - one}ns` };
        const [a, b] = ["timestamp(inputs.a)", "timestamp(inputs.b)"];
        expect(evaluate(`${a} < ${b}`, inputs)).toBe(one < other);
        expect(evaluate(`${a} == ${b}`, inputs)).toBe(one === other);
        expect(evaluate(`[${a}, ${b}].unique().size() == 1`, inputs)).toBe(one === other);
        expect(evaluate(`${b} - ${a} == duration(inputs.by)`, inputs)).toBe(true);
        expect(evaluate(`${a} + duration(inputs.by)`, inputs)).toBe(inputs.b);
        expect(evaluate(`${b} - duration(inputs.by)`, inputs)).toBe(inputs.a);
      }),
      { seed: 29, numRuns: 200 },
    );
  });

  it.each([
    ["infinity", '"infinity" to a timestamp, which is not a moment', "x == 'infinity'"],
    ["-infinity", '"-infinity"', "Handle it first"],
    [
      "0000-00-00 00:00:00",
      '"0000-00-00 00:00:00" to a timestamp, which has a date that does not exist',
      "0001 to 9999",
    ],
    [
      "12026-01-01T00:00:00Z",
      '"12026-01-01T00:00:00Z" to a timestamp, which has a year outside 0001 to 9999',
      "0001",
    ],
    ["+012026-01-01T00:00:00Z", "a year outside", "0001"],
    ["0044-03-15 (BC)", '"0044-03-15 (BC)"', "0001"],
    ["2026-02-30", '"2026-02-30" to a timestamp, which has a date that does not exist', "2026-01-31"],
    ["2026-01-01T24:00:00Z", "a time of day that does not exist", "2026-01-31"],
    ["2026-01-01T00:00:00+24:00", "an offset that does not exist", "2026-01-31"],
    ["2026-01-01T00:00:00.1234567891Z", "has 10 digits after the second, and a timestamp has at most 9", ""],
    ["2026/01/02", '"2026/01/02" to a timestamp, which is in no known form', "2026-01-31"],
    ["2026-01", '"2026-01" to a timestamp, which is in no known form', "2026-01-31"],
    ["2026-01-02 8:30 PM", '"2026-01-02 8:30 PM" to a timestamp', "2026-01-31"],
    // Numbers of cards, persons and telephones are not repeated.
    ["4111-1111-1111-1111", "converts text to a timestamp", "2026-01-31"],
    ["4111-11-11111111", "converts text to a timestamp", "2026-01-31"],
    ["2026-01-02 4111-1111-1111-1111", "converts text to a timestamp", "2026-01-31"],
    ["2026-01-02 4111111111111111", "converts text to a timestamp", "2026-01-31"],
    ["123-45-6789", "converts text to a timestamp", "2026-01-31"],
    ["+49 30/12-34.5", "converts text to a timestamp", "2026-01-31"],
    ["192.168.10.2", "converts text to a timestamp", "2026-01-31"],
    ["01/02/2026", "converts text to a timestamp, which is in no known form", "2026-01-31"],
    ["hunter2-password", "converts text to a timestamp", "2026-01-31"],
  ])("is not made of %s, and the error says why", (x, message, fix) => {
    const error = failure("timestamp(inputs.x)", { x });
    expect(error).toMatchObject({ code: "expression_failed" });
    expect(error.message).toContain(message);
    expect(error.options.fix).toContain(fix);
  });

  it("refuses a number of seconds with parts of a nanosecond", () => {
    expect(failure("timestamp(1.0 / 3.0)")).toMatchObject({
      code: "expression_failed",
      options: { fix: "Round the seconds first: round(x, 9)." },
    });
  });
});

describe("a duration", () => {
  it.each([
    ["duration('1.5us')", 0.0000015],
    ["duration('1ns')", 0.000000001],
    ["-duration('1ns')", -0.000000001],
    ["duration('-1.000000001s')", -1.000000001],
    ["string(duration('1h0.000000001s'))", "3600.000000001s"],
    ["duration('0.1s') + duration('0.2s') == duration('0.3s')", true],
    ["duration('-1999.5ms').getSeconds()", -1],
    ["duration('-0.5ms').getMilliseconds() == 0", true],
    ["duration('86400000.123456789s')", "86400000.123456789"],
  ])("keeps every digit: %s", (source, value) => {
    expect(evaluate(source)).toEqual(value);
  });

  it("refuses parts of a nanosecond", () => {
    expect(failure("duration('0.5ns')").message).toContain("no whole number of nanoseconds");
  });
});

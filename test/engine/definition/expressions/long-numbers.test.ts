import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readNumber } from "../../../../schemas/long-numbers.ts";
import { checkCel, checkValue, compileCel } from "../../../../src/engine/definition/expressions/index.ts";
import { evaluate, failure, typeScope } from "./scope.ts";

const inputs = {
  small: "999999999999999999",
  large: "1000000000000000001",
  id: "9007199254740993",
  negative: "-9007199254740993",
  amount: "900719925474099.23",
  spelled: "900719925474099.230",
  text: "12345678901234567890-A",
  list: ["1000000000000000001", 7, "999999999999999999"],
  ids: ["1000000000000000001", "7", "999999999999999999"],
  rows: [{ id: "1000000000000000001" }, { id: "999999999999999999" }, { id: 3 }],
};

/** The number of an integer over a power of ten, as JSON has it. */
function fraction(integer: bigint, scale: bigint): number | string | undefined {
  const sign = integer < 0n ? "-" : "";
  const size = integer < 0n ? -integer : integer;
  const digits = String(size % scale).padStart(String(scale).length - 1, "0");
  const number = readNumber(`${sign}${size / scale}.${digits}`.replace(/\.?0*$/, ""));
  return number === 0 ? 0 : number;
}

const written = ({ integer, decimals }: { integer: number; decimals: number }) => integer / 10 ** decimals;

const nearest = (dividend: bigint, divisor: bigint): number =>
  Number(`${(dividend * 10n ** 80n) / divisor}e-80`);

describe("long numbers in expressions", () => {
  it.each([
    ["inputs.small < inputs.large", true],
    ["inputs.small > inputs.large", false],
    ["inputs.large >= inputs.small && inputs.small <= inputs.large", true],
    ["5 < inputs.small && inputs.negative < -5", true],
    ["max(inputs.small, inputs.large)", "1000000000000000001"],
    ["min(inputs.small, inputs.large)", "999999999999999999"],
    ["inputs.list.max()", "1000000000000000001"],
    ["inputs.list.min()", 7],
    ["inputs.list.sort()", [7, "999999999999999999", "1000000000000000001"]],
    ["inputs.list.sort('desc')", ["1000000000000000001", "999999999999999999", 7]],
    ["inputs.rows.sort_by(r, r.id).map(r, r.id)", [3, "999999999999999999", "1000000000000000001"]],
    ["inputs.rows.map(r, r.id).sum()", "2000000000000000003"],
    ["[inputs.small, inputs.large].avg()", "1000000000000000000"],
    ["inputs.small + 1", "1000000000000000000"],
    ["inputs.small + inputs.large", "2000000000000000000"],
    ["inputs.large - inputs.small", 2],
    ["inputs.id * 2", "18014398509481986"],
    ["inputs.id / 2", "4503599627370496.5"],
    ["inputs.id % 10", 3],
    ["-inputs.id", "-9007199254740993"],
    ["-inputs.negative", "9007199254740993"],
    ["inputs.amount + 0.02", "900719925474099.25"],
    ["abs(inputs.negative)", "9007199254740993"],
    ["round(inputs.amount, 1) == 900719925474099.2", true],
    ["round(inputs.amount, 0)", 900719925474099],
    ["floor(inputs.amount)", 900719925474099],
    ["ceil(inputs.amount)", 900719925474100],
  ])("%s is %j", (source, value) => {
    expect(evaluate(source, inputs)).toEqual(value);
  });

  it.each([
    ["inputs.amount == inputs.spelled", true],
    ["inputs.id == '9007199254740993'", true],
    ["inputs.id == '9007199254740993.0'", true],
    ["inputs.id == 9007199254740992.0", false],
    ["inputs.id != inputs.large", true],
    ["inputs.spelled in [inputs.amount]", true],
    [
      "[inputs.amount, inputs.spelled, '1000000000000000000', 1e18].unique()",
      ["900719925474099.23", "1000000000000000000"],
    ],
    ["[inputs.amount, inputs.spelled].group_by(x, x).keys()", ["900719925474099.23"]],
    ["{'id': inputs.amount} == {'id': inputs.spelled}", true],
  ])("equality: %s is %j", (source, value) => {
    expect(evaluate(source, inputs)).toEqual(value);
  });

  it.each([
    ["int('9007199254740993')", "9007199254740993"],
    ["int('+009007199254740993.9')", "9007199254740993"],
    ["int('-9007199254740993') - 1", "-9007199254740994"],
    ["int('1e20')", 1e20],
    ["int('12') + int('30')", 42],
    ["double('900719925474099.23')", "900719925474099.23"],
    ["double('.5') + double('5.')", 5.5],
    ["double(inputs.amount) * 100", "90071992547409923"],
    ["string(int('9007199254740993'))", "9007199254740993"],
    ["type(inputs.id)", "number"],
    ["type(inputs.text)", "string"],
    ["'${inputs}'", "${inputs}"],
    ["parse_json('[9007199254740993]')[0] + 1", "9007199254740994"],
    ["to_json([inputs.id, 1])", '["9007199254740993",1]'],
  ])("conversion: %s is %j", (source, value) => {
    expect(evaluate(source, inputs)).toEqual(value);
  });

  it.each([
    ["9007199254740991 + 2", "9007199254740993"],
    ["3037000500 * 3037000501", "9223372040037250500"],
    ["-9007199254740991 - 2", "-9007199254740993"],
    ["[9007199254740991, 2, inputs.negative].sum()", 0],
    ["1e300 * 10", 1e301],
    ["0.5 + 0.25", 0.75],
  ])("integers that exceed a double: %s is %j", (source, value) => {
    expect(evaluate(source, inputs)).toEqual(value);
  });

  it.each([
    ["inputs.id + '-A'", "9007199254740993-A"],
    ["inputs.text + inputs.id", "12345678901234567890-A9007199254740993"],
    ["string(inputs.id) + string(inputs.large)", "90071992547409931000000000000000001"],
    ["inputs.id + '' + inputs.id", "90071992547409939007199254740993"],
    ["[inputs.id, inputs.large].join('')", "90071992547409931000000000000000001"],
    ["inputs.ids.sort()", ["1000000000000000001", "7", "999999999999999999"]],
    ["inputs.id.size() + inputs.id.indexOf('7')", 19],
    ["inputs.id.startsWith('900')", true],
    ["'0009007199254740993' < '1'", true],
  ])("as text: %s is %j", (source, value) => {
    expect(evaluate(source, inputs)).toEqual(value);
  });

  it.each([
    ["inputs.id / 0", "divides by zero"],
    ["range(inputs.id)", "expected a number, got text"],
    ["inputs.text * 2", "which it does not accept"],
    ["[inputs.id, 'a'].sum()", "expected a number or a duration, got text"],
    ["[inputs.id, 'a', 1].sort()", "which have no order"],
    ["range(12).map(n, int('9' + 'e400')).sum() * int('1e700')", "more than 1,000 digits"],
  ])("%s fails", (source, message) => {
    expect(failure(source, inputs).message).toContain(message);
  });

  it.each([
    ["9007199254740993 + 1", "9007199254740994"],
    ["-9223372036854775808", "-9223372036854775808"],
    ["9223372036854775807 < 9223372036854775808", true],
    ["0xFFFFFFFFFFFFFFFF", "18446744073709551615"],
  ])("literals: %s is %j", (source, value) => {
    expect(checkCel(source, typeScope).issues).toEqual([]);
    expect(evaluate(source, inputs)).toBe(value);
  });

  it.each([
    ["0.12345678901234567890 * 2.0", "0.2469135780246913578"],
    ["1e-400 + 1e-400", `0.${"0".repeat(399)}2`],
    ["double('1e-400') == 1e-400", true],
    ["round(123456789012345.678, 2)", "123456789012345.68"],
  ])("literals: %s is %j", (source, value) => {
    expect(checkCel(source, typeScope).issues).toEqual([]);
    expect(evaluate(source, inputs)).toBe(value);
  });

  it.each([
    ["0.1 + 0.2", 0.3],
    ["0.3 - 0.1", 0.2],
    ["19.99 * 1.1", 21.989],
    ["0.3 % 0.1", 0],
    ["900719925474099 + 0.23", "900719925474099.23"],
    ["[900719925474099.0, 0.23, 0.10].sum()", "900719925474099.33"],
    ["[99999423381406.4, 99999423381406.4, 99999423381406.4].sum()", 299998270144219.2],
    ["9007199254740991 + 0.5", "9007199254740991.5"],
    ["9007199254740991 * 1.5", "13510798882111486.5"],
    ["[9007199254740991, 1, 0.5].sum() == [9007199254740991, 0.5, 1].sum()", true],
    ["1e16 + 1", "10000000000000001"],
    ["1e20 * 10.0", 1e21],
    ["1e300 * 10.0", 1e301],
    ["0.6 / 3", 0.2],
    ["0.6 / 0.3", 2],
    ["-0.3 / 0.1", -3],
    ["floor(0.3 / 0.1)", 3],
    ["2 / 0.3", 6.666666666666667],
    ["1e20 / 0.3", 333333333333333300000],
    ["0.000000000001 / 3", 3.3333333333333334e-13],
    ["123456789012.345 / 0.00000000000000000003", 4.1152263004115e30],
    ["[0.1, 0.2, 0.3].avg()", 0.2],
    ["[1.1, 2.2, 3.3].avg()", 2.2],
    ["[123456789.123456, 0.0000007, 0].avg()", 41152263.04115223],
    ["avg([1e308, 1e308])", 1e308],
    ["avg([1.7976931348623157e308, 1.7976931348623157e308, 1.7976931348623157e308])", Number.MAX_VALUE],
    ["avg([1e308, 1e308, -1e308, -1e308, 0.5])", 0.1],
    ["avg([1e308, 1e308, -1e308, -1e308, 1e-300])", 2e-301],
    ["0.3 % 0.1", 0],
    ["5.5 % 0.0000007", 6e-7],
    ["1.0 / 3.0 * 3.0", 1],
    ["1.0 / 3.0 + 1.0 / 7.0", 1 / 3 + 1 / 7],
    ["1e-300 * 1e-300", 0],
  ])("decimals: %s is %j", (source, value) => {
    expect(evaluate(source, inputs)).toBe(value);
  });

  it("adds, subtracts and multiplies amounts as integers of their last digit do", () => {
    const amount = fc.record({
      integer: fc.integer({ min: -(10 ** 9), max: 10 ** 9 }),
      decimals: fc.nat({ max: 9 }),
    });
    const expressions = ["+", "-", "*"].map((op) => compileCel(`inputs.a ${op} inputs.b`));
    fc.assert(
      fc.property(amount, amount, (a, b) => {
        const scale = 10n ** BigInt(9);
        const exact = (one: typeof a): bigint => BigInt(one.integer) * 10n ** BigInt(9 - one.decimals);
        const scope = { inputs: { a: written(a), b: written(b) }, run: {}, steps: {} };
        const [sum, difference, product] = expressions.map((expression) => expression.evaluate(scope));
        expect(sum).toBe(fraction(exact(a) + exact(b), scale));
        expect(difference).toBe(fraction(exact(a) - exact(b), scale));
        expect(product).toBe(fraction(exact(a) * exact(b), scale * scale));
      }),
      { seed: 29, numRuns: 500 },
    );
  });

  it("divides decimals to the double that is nearest to the exact quotient, and so it does with means", () => {
    const amount = fc.record({
      integer: fc.integer({ min: 1 - 10 ** 15, max: 10 ** 15 - 1 }).filter((integer) => integer !== 0),
      decimals: fc.nat({ max: 18 }),
    });
    const quotient = compileCel("inputs.a / inputs.b");
    const mean = compileCel("[inputs.a, inputs.a, inputs.a].avg()");
    fc.assert(
      fc.property(amount, amount, (a, b) => {
        const exact = (one: typeof a): bigint => BigInt(one.integer) * 10n ** BigInt(18 - one.decimals);
        const double = (one: typeof a): number => Number(`${one.integer}e-${one.decimals}`);
        const scope = { inputs: { a: double(a), b: double(b) }, run: {}, steps: {} };
        expect(quotient.evaluate(scope)).toBe(nearest(exact(a), exact(b)));
        expect(Number(mean.evaluate(scope))).toBe(double(a));
      }),
      { seed: 30, numRuns: 1_000 },
    );
  });

  it("compares a double with its own digits, and groups it with them", () => {
    for (const value of [1.2345678901234568e20, 2 ** 60, 1e17, 9e20]) {
      const scope = { inputs: { a: value, b: BigInt(String(value)).toString() }, run: {}, steps: {} };
      const source = "inputs.a == inputs.b && inputs.a <= inputs.b && !(inputs.a > inputs.b)";
      expect(compileCel(`${source} && [inputs.a, inputs.b].unique().size() == 1`).evaluate(scope)).toBe(true);
      expect(compileCel("[inputs.a, inputs.b].group_by(x, x).size()").evaluate(scope)).toBe(1);
    }
    expect(evaluate("[1e22, inputs.n].group_by(x, x).size()", { n: "10000000000000000000000" })).toBe(1);
  });

  it("divides to 20 digits at least, and to the end if there is one", () => {
    expect(evaluate("inputs.id / 1e37", inputs)).toBe(9.007199254740993e-22);
    expect(evaluate("inputs.large / 3", inputs)).toBe("333333333333333333.66666666666666666667");
    expect(evaluate("10 / inputs.id", inputs)).toBe("0.0000000000000011102230246251564172");
    expect(evaluate("int('1234567890123456789012345678') / 1e27", inputs)).toBe(
      "1.234567890123456789012345678",
    );
  });

  it("reads long texts of zeros in one pass", () => {
    const text = `0.1${"0".repeat(60_000)}1`;
    expect(evaluate("inputs.text.size()", { text })).toBe(60_004);
    expect(failure("double(inputs.text)", { text }).message).toContain("more than 1,000 digits");
    expect(evaluate("double(inputs.text)", { text: `1.${"0".repeat(60_000)}` })).toBe(1);
  });

  it.each([
    ["['2026-01-31T08:00:00.12Z', '2026-01-31T08:00:00.123Z'].max()", "2026-01-31T08:00:00.123Z"],
    ["['2026-01-31T08:00:00.5Z', '2026-01-31T08:00:00Z'].max()", "2026-01-31T08:00:00.5Z"],
    ["'2026-01-31T08:00:00.000001Z' > '2026-01-31T08:00:00.000Z'", true],
    ["'2026-01-31T09:30:00+02:00' < '2026-01-31T08:00:00Z'", true],
    ["['2026-01-31 09:30:00+02', '2026-01-31T08:00:00Z'].sort()[0]", "2026-01-31 09:30:00+02"],
    ["['2026-01-31T08:00:00', '2026-01-31T08:00:00Z'].max()", "2026-01-31T08:00:00Z"],
    ["'2026-01-31T08:00:00Z' < 'x'", true],
  ])("texts that are moments: %s is %j", (source, value) => {
    expect(evaluate(source, inputs)).toBe(value);
  });

  it("has no type of its own where it is known, so that both of its uses check", () => {
    const known = checkValue({ id: "9007199254740993" }, typeScope).shape;
    const scope = { ...typeScope, steps: { k: known } };
    for (const source of [
      "steps.k.id + 1",
      "steps.k.id * 2 > 5",
      "[steps.k.id].sum()",
      "steps.k.id.startsWith('9')",
    ])
      expect(checkCel(source, scope).issues).toEqual([]);
    expect(checkCel('"9007199254740993" == 9007199254740993', typeScope).issues).toEqual([]);
  });

  it("sorts and adds integers of any length as BigInt does", () => {
    const integer = fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n });
    const [sorted, sum] = [compileCel("inputs.list.sort()"), compileCel("inputs.list.sum()")];
    fc.assert(
      fc.property(fc.array(integer, { minLength: 1, maxLength: 20 }), (integers) => {
        const list = integers.map((value) => readNumber(String(value)));
        const scope = { inputs: { list }, run: {}, steps: {} };
        const expected = integers.toSorted((a, b) => (a < b ? -1 : Number(a > b)));
        expect(sorted.evaluate(scope)).toEqual(expected.map((value) => readNumber(String(value))));
        expect(sum.evaluate(scope)).toBe(readNumber(String(integers.reduce((a, b) => a + b))));
      }),
      { seed: 29, numRuns: 300 },
    );
  });
});

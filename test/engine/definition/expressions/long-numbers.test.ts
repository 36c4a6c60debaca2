import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readNumber } from "../../../../schemas/long-numbers.ts";
import { checkCel, compileCel } from "../../../../src/engine/definition/expressions/index.ts";
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
    ["[inputs.id, 'a'].sum()", "expected a number, got text"],
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

  it("refuses a literal with decimals that a double can't hold, with a fix that works", () => {
    const [issue] = checkCel("0.12345678901234567890 * 2.0", typeScope).issues;
    expect(issue!.message).toContain('write double("0.12345678901234567890")');
    expect(evaluate('double("0.12345678901234567890") * 2.0')).toBe("0.2469135780246913578");
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

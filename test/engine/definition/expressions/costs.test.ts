import { describe, expect, it } from "vitest";
import { compileCel } from "../../../../src/engine/definition/expressions/index.ts";
import { charge, startEvaluation } from "../../../../src/engine/definition/expressions/evaluation-context.ts";
import { boundedIndexOf, splitText } from "../../../../src/engine/definition/expressions/text-search.ts";
import { evaluate, failure, scope } from "./scope.ts";
import * as fc from "fast-check";

const big = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, index]));
const l = Array.from({ length: 2_000 }, (_, index) => index);
const long = "a".repeat(3_000_000);
/** The texts are equal up to their last letter, and not stored as ropes. */
const [t, t2] = [`${long}c`, `${long}d`].map((text) => Buffer.from(text).toString()) as [string, string];
const inputs = {
  big,
  l,
  t,
  t2,
  digits: "1".repeat(3_000_000),
  blank: " ".repeat(3_000_000),
  bad: "(a|b|[\\pL\\pN]{90}){100}",
  empty: {},
  named: Object.fromEntries([[`${long}e`, 1]]),
};

/** Maximum duration of an evaluation on a busy machine, in milliseconds. The backstop would end it later. */
const MS = 450;

const PLACE = { input: "1", pos: 0 };

describe("work inside a loop", () => {
  it.each([
    "inputs.l.map(x, inputs.big.size()).size()",
    "inputs.l.map(x, inputs.big.exists(k, true)).size()",
    "inputs.l.map(x, inputs.big.keys()).size()",
    "inputs.l.map(x, inputs.big.values()).size()",
    "inputs.l.map(x, inputs.t == inputs.t2).size()",
    "inputs.l.map(x, inputs.t in [inputs.t2, inputs.t2]).size()",
    "inputs.l.map(x, [inputs.t2].contains(inputs.t)).size()",
    "inputs.l.map(x, inputs.t < inputs.t2).size()",
    "inputs.l.map(x, max(inputs.t, inputs.t2)).size()",
    "inputs.l.exists(x, double(inputs.digits) == x)",
    "inputs.l.exists(x, timestamp(inputs.blank) == null)",
    "inputs.l.exists(x, duration(inputs.blank) == null)",
    "inputs.l.exists(x, format_date('2026-01-01', inputs.blank) == x)",
    "inputs.l.exists(x, 'a'.matches(inputs.bad + string(x)))",
    "inputs.l.map(x, {}  == inputs.big).size()",
  ])("is charged: %s", (source) => {
    const compiled = compileCel(source);
    const started = performance.now();
    expect(() => compiled.evaluate({ ...scope, inputs })).toThrow(
      expect.objectContaining({ code: "expression_limit" }),
    );
    expect(performance.now() - started).toBeLessThan(MS);
  });

  it("is charged if it fails and another part decides the result", () => {
    const many = { empty: {}, l: Array.from({ length: 1_000_000 }, (_, index) => index) };
    const started = performance.now();
    expect(failure("inputs.l.all(x, inputs.empty.a == x || true)", many).code).toBe("expression_limit");
    expect(failure("inputs.l.exists(x, inputs.empty.a == x)", many).code).toBe("expression_limit");
    expect(performance.now() - started).toBeLessThan(2 * MS);
  });

  it("searches for a near match once, for the error that is reported", () => {
    const started = performance.now();
    const error = failure("inputs.l.exists(x, inputs.big.k1x == x)", { big, l: l.slice(0, 300) });
    expect(error.code).toBe("expression_failed");
    expect(error.options).toMatchObject({ fix: "Did you mean k1?", details: { did_you_mean: "k1" } });
    expect(performance.now() - started).toBeLessThan(MS);
    expect(failure("inputs.big.zzzzzzzzz").message).toContain("Test for it first with has(…).");
  });
});

it("parses the header of a CSV in linear time", () => {
  const names = Array.from({ length: 49_000 }, (_, index) => `n${index}`).join(",");
  const started = performance.now();
  expect(evaluate("parse_csv(inputs.t).size()", { t: `${names}\n` })).toBe(0);
  expect(performance.now() - started).toBeLessThan(2 * MS);
});

const late = (ms: number) => ({
  ...startEvaluation(scope, PLACE, 1_000),
  deadline: performance.now() - ms,
});

describe("the time limit of an evaluation", () => {
  it("reads the clock at intervals, however little is charged", () => {
    const run = late(1_000);
    expect(() => {
      for (let time = 0; time < 1_000; time += 1) charge(run, 0);
    }).toThrow("longer than 100 ms");
  });

  it("does not end an evaluation that only waited for a busy machine", () => {
    const run = late(100);
    for (let time = 0; time < 1_000; time += 1) charge(run, 0);
    expect(run.cost).toBe(0);
  });
});

describe("a search in a text", () => {
  const part = `${"a".repeat(300)}b${"a".repeat(1_500_000)}`;

  it.each([
    ["inputs.t.contains(inputs.part)", false],
    ["inputs.part in inputs.t", false],
    ["inputs.t.indexOf(inputs.part)", -1],
    ["inputs.t.split(inputs.part).size()", 1],
    ["inputs.t.replace(inputs.part, '').size()", 3_000_000],
  ])("takes linear time for any search text: %s", (source, result) => {
    const started = performance.now();
    let found: unknown;
    try {
      found = evaluate(source, { t: long, part });
    } catch (error) {
      // A busy machine may still take longer than 100 ms.
      found = (error as { code: string }).code;
    }
    expect([result, "expression_limit"]).toContain(found);
    expect(performance.now() - started).toBeLessThan(MS);
  });

  it("finds the same positions as JavaScript's own search", () => {
    // The texts are long enough for the linear search, and have few letters, so that much repeats.
    const letters = fc
      .array(fc.constantFrom("a", "b"), { minLength: 17, maxLength: 40 })
      .map((found) => found.join(""));
    fc.assert(
      fc.property(letters, fc.integer({ min: 1, max: 40 }), fc.nat(39), (unit, times, cut) => {
        const text = `${unit.repeat(times * 50)}ab${unit.slice(cut)}${unit.repeat(times * 50)}`;
        const wanted = `${unit.slice(cut)}${unit.repeat(Math.ceil(600 / unit.length))}ab${unit.slice(cut)}`;
        expect(boundedIndexOf(startEvaluation(scope, PLACE, 1_000), text, wanted)).toBe(text.indexOf(wanted));
        const separator = `${unit.slice(cut)}${unit.repeat(2)}`;
        expect(splitText(startEvaluation(scope, PLACE, 1_000), text, separator)).toEqual(
          text.split(separator),
        );
      }),
      { numRuns: 100 },
    );
  });
});

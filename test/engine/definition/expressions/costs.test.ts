import { describe, expect, it, vi } from "vitest";
import { compileCel } from "../../../../src/engine/definition/expressions/index.ts";
import { compileBlock } from "../../../../src/engine/definition/expressions/compile.ts";
import { startEvaluation } from "../../../../src/engine/definition/expressions/evaluation-context.ts";
import { boundedIndexOf, splitText } from "../../../../src/engine/definition/expressions/text-search.ts";
import { parseCel } from "../../../../src/engine/definition/expressions/parse.ts";
import { compilePattern, matches } from "../../../../src/engine/definition/expressions/patterns.ts";
import { commonTime } from "../../../support/slowness.ts";
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
  html: "<".repeat(500_000),
  surrogates: "\ud800".repeat(100_000),
  bad: "(a|b|[\\pL\\pN]{90}){100}",
  empty: {},
  named: Object.fromEntries([[`${long}e`, 1]]),
};

/** The work that the evaluations of this test may need: 100 ms on a common machine. */
const WORK = 10_000_000;
/** Maximum processor time of so much work, in milliseconds: 4.5 times that of additions. */
const MS = 450;

/** Fails if work takes longer than so many milliseconds of a common machine. */
const expectTime = (ms: number, work: () => void): void => expect(commonTime(work, ms)).toBeLessThan(ms);

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
    "inputs.l.exists(x, day('2026-01-01', inputs.t + string(x)) == 1)",
    "inputs.l.exists(x, escape_html(inputs.html) == x)",
    "inputs.l.exists(x, to_json(inputs.surrogates) == x)",
  ])("is charged: %s", (source) => {
    const compiled = compileCel(source);
    expectTime(MS, () => {
      expect(() => compiled.evaluate({ ...scope, inputs }, WORK)).toThrow(
        expect.objectContaining({ code: "expression_limit" }),
      );
    });
  });

  it("is charged if it fails and another part decides the result", () => {
    const many = { empty: {}, l: Array.from({ length: 1_000_000 }, (_, index) => index) };
    expectTime(2 * MS, () => {
      for (const source of [
        "inputs.l.all(x, inputs.empty.a == x || true)",
        "inputs.l.exists(x, inputs.empty.a == x)",
      ])
        expect(() => compileCel(source).evaluate({ ...scope, inputs: many }, WORK)).toThrow(
          expect.objectContaining({ code: "expression_limit" }),
        );
    });
  });

  it("searches for a near match once, for the error that is reported", () => {
    expectTime(MS, () => {
      const error = failure("inputs.l.exists(x, inputs.big.k1x == x)", { big, l: l.slice(0, 300) });
      expect(error.code).toBe("expression_failed");
      expect(error.options).toMatchObject({ fix: "Did you mean k1?", details: { did_you_mean: "k1" } });
    });
    expect(failure("inputs.big.zzzzzzzzz").message).toContain("Test for it first with has(…).");
  });
});

it("parses the header of a CSV in linear time", () => {
  const names = Array.from({ length: 49_000 }, (_, index) => `n${index}`).join(",");
  expectTime(2 * MS, () => {
    expect(evaluate("parse_csv(inputs.t).size()", { t: `${names}\n` })).toBe(0);
  });
});

describe("the limit of an evaluation", () => {
  const source = "inputs.l.map(x, inputs.l.map(y, x * y).sum()).sum()";

  it("depends on the work alone, not on a clock that a busy machine moves on", () => {
    const jump = vi.spyOn(performance, "now");
    let now = 0;
    // The processor is taken away for a minute whenever the clock is read.
    jump.mockImplementation(() => (now += 60_000));
    try {
      expect(evaluate(source, { l: l.slice(0, 1_000) })).toBe((999 * 500) ** 2);
      expect(evaluate("inputs.t.matches('^a*b')", inputs)).toBe(false);
    } finally {
      jump.mockRestore();
    }
  });

  it("is the same work each time", () => {
    const compiled = compileCel("range(100).map(x, range(100).map(y, x * y).sum()).sum()");
    const needed = (maxCost: number): boolean => {
      try {
        compiled.evaluate({ ...scope, inputs }, maxCost);
        return false;
      } catch {
        return true;
      }
    };
    let [low, high] = [0, 1_000_000];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (needed(middle)) low = middle;
      else high = middle;
    }
    expect([needed(low), needed(high), needed(low), needed(high)]).toEqual([true, false, true, false]);
  });

  it("counts what a branch evaluates, not what it leaves out", () => {
    const sum = Array.from({ length: 90 }, (_, index) => `x + ${index}`).join(" + ");
    const work = (taken: string): number => {
      const evaluation = startEvaluation({ ...scope, inputs }, PLACE, 1_000_000);
      const parsed = parseCel(`inputs.l.map(x, ${taken} ? ${sum} : 0)`);
      if ("issues" in parsed) throw new Error("does not parse");
      compileBlock(parsed.expr)(evaluation);
      return evaluation.cost;
    };
    expect(work("x < 0")).toBeLessThan(50_000);
    expect(work("x >= 0")).toBeGreaterThan(500_000);
  });
});

describe("a regular expression", () => {
  // Without repetitions, so that the automaton can't reuse its states.
  let seed = 1;
  const letters = Array.from({ length: 400_000 }, () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % 64 < 32 ? "a" : "b";
  }).join("");

  it("is charged for the states that its automaton makes, and ends at the limit", () => {
    const pattern = compilePattern("a[ab]{300}[cd]");
    const few = startEvaluation(scope, PLACE, 1_000);
    matches(few, pattern, "a".repeat(400_000));
    expectTime(MS, () => {
      const many = startEvaluation(scope, PLACE, 1_000, WORK);
      expect(() => matches(many, compilePattern("[ab]*a[ab]{300}[cd]"), letters)).toThrow(
        expect.objectContaining({ code: "expression_limit" }),
      );
    });
    expect(few.cost).toBeLessThan(WORK / 5);
  });

  it("finds the same after it was ended as before", () => {
    const pattern = compilePattern("[ab]*a[ab]{12}[cd]");
    const text = `${letters}d`;
    for (let limit = 1_000; limit < 400_000; limit += 17_001)
      expect(() => matches(startEvaluation(scope, PLACE, 1_000, limit), pattern, letters)).toThrow(
        expect.objectContaining({ code: "expression_limit" }),
      );
    const expected = compilePattern("[ab]*a[ab]{12}[cd]");
    for (const subject of [letters, text, `${text}${letters}`, "abab"])
      expect(matches(startEvaluation(scope, PLACE, 1_000), pattern, subject)).toBe(
        matches(startEvaluation(scope, PLACE, 1_000), expected, subject),
      );
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
    expectTime(MS, () => {
      expect(evaluate(source, { t: long, part })).toBe(result);
    });
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

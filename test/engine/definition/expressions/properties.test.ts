import * as fc from "fast-check";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { AppError } from "../../../../src/core/errors.ts";
import { ANY, BOOLEAN, listOf, NUMBER, objectOf, STRING } from "../../../../src/core/shapes.ts";
import type { Shape } from "../../../../src/core/shapes.ts";
import {
  checkCel,
  checkValue,
  compileCel,
  compileValue,
} from "../../../../src/engine/definition/expressions/index.ts";
import type { Compiled, Scope } from "../../../../src/engine/definition/expressions/index.ts";
import { StepError } from "../../../../src/core/step-errors.ts";
import { scope, typeScope } from "./scope.ts";

const NAMES = ["a", "b", "rows", "total", "__proto__", "constructor", "x"];
const FUNCTIONS =
  "sum,avg,min,max,join,split,lower,upper,replace,trim,unique,flatten,keys,values,format_date,to_json,parse_json,size,contains,startsWith,matches,int,double,string,timestamp,duration,round,reverse,sort,substring,indexOf,getHours,type,bool,abs".split(
    ",",
  );
const LOOPS = ["map", "filter", "all", "exists", "exists_one", "sort_by", "group_by"];

const leaf = fc.oneof(
  fc.constantFrom(
    "inputs",
    "inputs.a",
    "inputs.b",
    "inputs.rows",
    "run.started_at",
    "x",
    "null",
    "true",
    "1",
    "0",
    "2.5",
    "-1",
  ),
  fc.constantFrom(
    '"a"',
    '"2026-01-01"',
    '"1h"',
    '"["',
    '""',
    "[]",
    "{}",
    'timestamp("2026-01-01")',
    'duration("1h")',
  ),
);

/** Expressions that parse, though most of them make little sense. */
const { source: sources } = fc.letrec<{ source: string }>((tie) => ({
  source: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaf,
    fc
      .tuple(tie("source"), fc.constantFrom(..."+,-,*,/,%,==,!=,<,>=,&&,||,in".split(",")), tie("source"))
      .map(([left, op, right]) => `(${left} ${op} ${right})`),
    fc.tuple(tie("source"), fc.constantFrom(...NAMES)).map(([of, name]) => `(${of}).${name}`),
    fc.tuple(tie("source"), tie("source")).map(([of, key]) => `(${of})[${key}]`),
    fc.tuple(fc.constantFrom("!", "-"), tie("source")).map(([op, of]) => `${op}(${of})`),
    fc.tuple(tie("source"), tie("source"), tie("source")).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
    fc.array(tie("source"), { maxLength: 3 }).map((items) => `[${items.join()}]`),
    fc.tuple(tie("source"), tie("source")).map(([key, value]) => `{${key}: ${value}}`),
    fc
      .tuple(fc.constantFrom(...FUNCTIONS), fc.array(tie("source"), { minLength: 1, maxLength: 3 }))
      .map(([name, args]) => `${name}(${args.join()})`),
    fc
      .tuple(tie("source"), fc.constantFrom(...LOOPS), tie("source"))
      .map(([over, name, body]) => `(${over}).${name}(x, ${body})`),
    fc.tuple(tie("source"), fc.constantFrom(...NAMES)).map(([of, name]) => `has((${of}).${name})`),
  ),
}));

const LETTERS = "ab.x[](){}'\"?:$,+-!=&|<1 \n\\/".split("");

const inputsOf = fc.dictionary(fc.constantFrom(...NAMES), fc.jsonValue({ maxDepth: 3 }));

/** Drops the prototypes, which a comparison ignores. */
const plain = (value: unknown): unknown => structuredClone(value);

/** Compiles an expression; undefined if it calls a function with too few arguments. */
function compiledOr(source: string): Compiled | undefined {
  try {
    return compileCel(source);
  } catch (error) {
    if (error instanceof AppError && error.code === "invalid_input") return undefined;
    throw error;
  }
}

/** Returns the value or the StepError; rethrows any other error. */
function outcome(work: () => unknown): { value: unknown } | { error: StepError } {
  try {
    return { value: work() };
  } catch (error) {
    if (error instanceof StepError) return { error };
    throw error;
  }
}

describe("any expression", () => {
  it("returns plain JSON or fails with a StepError, and its check throws nothing", () => {
    let evaluated = 0;
    fc.assert(
      fc.property(sources, inputsOf, (source, inputs) => {
        const runScope: Scope = { ...scope, inputs };
        checkCel(source, { ...typeScope, inputs: ANY });
        const compiled = compiledOr(source);
        if (compiled === undefined) return true;
        const ended = outcome(() => compiled.evaluate(runScope));
        if ("error" in ended) return true;
        evaluated += 1;
        return isDeepStrictEqual(plain(JSON.parse(JSON.stringify(ended.value))), plain(ended.value));
      }),
      { numRuns: 5_000 },
    );
    expect(evaluated).toBeGreaterThan(300);
  });

  it("does not throw on any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...LETTERS) }), (text) => {
        expect(() => checkCel(text, typeScope)).not.toThrow();
        expect(() => checkValue(text, typeScope)).not.toThrow();
      }),
      { numRuns: 3_000 },
    );
  });
});

const escaped = (text: string): string => text.replaceAll("${{", () => "$${{");

describe("any text without an expression", () => {
  it("is returned unchanged", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        fc.pre(!JSON.stringify(value).includes("${{"));
        const compiled = compileValue(value);
        expect(compiled.isConstant).toBe(true);
        expect(JSON.stringify(compiled.evaluate(scope))).toBe(JSON.stringify(value));
      }),
    );
  });

  it("is returned when its ${{ are escaped, also beside an expression", () => {
    const text = fc.string({ unit: fc.constantFrom("$", "{", "}", "a", "'", " ") });
    fc.assert(
      fc.property(text, text, (before, after) => {
        // A `$` before the braces would escape them.
        fc.pre(!before.endsWith("$"));
        const template = [escaped(before), "${{ inputs.n }}", escaped(after)].join("");
        const alone = (before + after).trim() === "";
        expect(compileValue(template).evaluate(scope)).toBe(alone ? 5 : `${before}5${after}`);
      }),
      { numRuns: 1_000 },
    );
  });
});

/** The most precise shape of a value. The items of a list have one if they are alike. */
function exactShape(value: unknown): Shape {
  if (value === null) return { kind: "null" };
  if (Array.isArray(value)) {
    const shapes = value.map(exactShape);
    const alike = new Set(shapes.map((shape) => JSON.stringify(shape))).size === 1;
    return listOf(alike ? shapes[0]! : ANY);
  }
  if (typeof value === "object") {
    return objectOf(Object.fromEntries(Object.entries(value).map(([name, of]) => [name, exactShape(of)])));
  }
  if (typeof value === "string") return STRING;
  return typeof value === "number" ? NUMBER : BOOLEAN;
}

/** JSON whose lists have items of one shape, so that all of it is known. */
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { depthSize: "medium" },
    fc.constantFrom<unknown>(null, 1, "text", true),
    fc.dictionary(fc.constantFrom(...NAMES), tie("json"), { maxKeys: 4 }),
    fc
      .tuple(tie("json"), fc.integer({ min: 1, max: 3 }))
      .map(([item, count]) => Array.from({ length: count }, () => item)),
  ),
}));

describe("an expression that checks clean against exact shapes", () => {
  it("never reads a field that does not exist", () => {
    const step = fc.oneof(
      fc.constantFrom(...NAMES).map((name) => `.${name}`),
      fc.constantFrom(...NAMES).map((name) => `["${name}"]`),
      fc.constant("[0]"),
      fc.constantFrom(...NAMES).map((name) => `.map(x, x.${name})[0]`),
      fc.constantFrom(...NAMES).map((name) => `.sort_by(x, "k")[0].${name}`),
    );
    const dictionary = fc.dictionary(fc.constantFrom(...NAMES), json, { minKeys: 1 });
    let clean = 0;
    fc.assert(
      fc.property(dictionary, fc.array(step, { minLength: 1, maxLength: 4 }), (inputs, steps) => {
        const source = `inputs${steps.join("")}`;
        const { issues, shape } = checkCel(source, { ...typeScope, inputs: exactShape(inputs) });
        if (issues.length > 0) return true;
        clean += 1;
        const ended = outcome(() => compileCel(source).evaluate({ ...scope, inputs }));
        if ("error" in ended) return ended.error.options.details?.["unknown_field"] === undefined;
        return ended.value === null || isDeepStrictEqual(exactShape(ended.value), shape);
      }),
      { numRuns: 5_000 },
    );
    expect(clean).toBeGreaterThan(300);
  });
});

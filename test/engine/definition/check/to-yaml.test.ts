import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { toYaml } from "../../../../src/engine/definition/check/index.ts";
import { readSource } from "../../../../src/engine/definition/check/source.ts";

/** Texts that programs which read YAML 1.1 take for something else without quotes. */
const OTHER_IN_YAML_1_1 =
  "= << no No y n on OFF yes 12:30 12:30:45 -1:30.5 1_000 1,000 +1_0.5 .5_0 0b11 0B1 0x_1 017 0o17 0_7 2026-1-1 2001-12-14t21:59:43.10-05:00 1.2e+3 1. ~ true null .inf".split(
    " ",
  );
/** Characters that end lines in YAML 1.1, or that no YAML has as they are. */
const UNPRINTABLE = [
  "\u0085",
  "\u2028",
  "\u2029",
  "\ufeff",
  "\u007f",
  "\u0080",
  "\u009f",
  "\ufffe",
  "\uffff",
];

const readYaml11 = (text: string): unknown => parse(text, { version: "1.1", schema: "yaml-1.1" });
const readYaml12 = (text: string): unknown => parse(text, { version: "1.2", schema: "core" });

describe("toYaml", () => {
  it.each(OTHER_IN_YAML_1_1)("writes %s in quotes, as a value and as a key", (text) => {
    const value = { [text]: 1, x: text, list: [text] };
    const written = toYaml(value);
    expect(written.split(JSON.stringify(text))).toHaveLength(4);
    expect([readYaml11(written), readYaml12(written)]).toEqual([value, value]);
  });

  it.each(UNPRINTABLE)(
    "writes %j as an escape in texts of one line and of several, and in keys",
    (character) => {
      const value = {
        [`a${character}b`]: `${character}c`,
        x: [`a${character}`, `a\n${character}b\n`, character],
      };
      const written = toYaml(value);
      expect(written).not.toContain(character);
      expect([readYaml11(written), readYaml12(written)]).toEqual([value, value]);
    },
  );

  it("writes what follows failures and interruptions at the end of a step", () => {
    const lookup = { type: "http" };
    const step = { lookup, on_interrupted: "ask", cache: "1h", url: "https://x.example.com", id: "a" };
    const [first] = (parse(toYaml({ steps: [step] })) as { steps: object[] }).steps;
    expect(Object.keys(first!)).toEqual(["id", "url", "cache", "on_interrupted", "lookup"]);
  });

  it("leaves other texts without quotes", () => {
    const texts = ["noon", "only", "a=b", "1 item", "v1.2", "10 000", "é", "on_error"];
    expect(toYaml({ x: texts })).toBe(`x:\n${texts.map((text) => `  - ${text}\n`).join("")}`);
    expect(toYaml({ on_error: "fail", no: 1 })).toBe('on_error: fail\n"no": 1\n');
  });

  it("declares the state before the steps that read it, and commits it after the output", () => {
    const text = toYaml({ commit: { n: 1 }, output: 1, steps: [], state: { n: {} }, inputs: {}, name: "A" });
    expect(Object.keys(parse(text) as object)).toEqual([
      "name",
      "inputs",
      "state",
      "steps",
      "output",
      "commit",
    ]);
  });

  it("writes text that parses to the same value", () => {
    const nasty = fc.constantFrom(
      "",
      " ",
      "a\nb",
      "a\n",
      "\n",
      "a \nb",
      " a\nb",
      "a\r\nb",
      "yes",
      "null",
      "1",
      "1e3",
      "0x1",
      "~",
      "2026-01-01",
      "!x",
      "# x",
      "a # b",
      "a: b",
      "- a",
      "${{ x ? 1 : 2 }}",
      "{a}",
      "*a",
      "&a",
      "\u2028",
      "\ufeffa",
      "\u0000",
      "'\"",
      "%",
      "@a",
      "`a",
      "a:",
      "a\n\n",
      "\ta\nb",
      "a\n b\nc ",
      "🦄\n🦄",
    );
    const text = fc
      .oneof(
        nasty,
        fc.string({ unit: "binary" }),
        fc.string({ unit: fc.constantFrom("a", "\n", " ", ":", "#", "-", "$", "{", "}", "'", '"') }),
      )
      .filter((given) => given.isWellFormed());
    const { tree } = fc.letrec((tie) => ({
      leaf: fc.oneof(
        text,
        fc.boolean(),
        fc.constant(null),
        fc.integer(),
        fc.double({ noNaN: true, noDefaultInfinity: true }).map((given) => given + 0),
      ),
      tree: fc.oneof(
        { depthSize: "small" },
        tie("leaf"),
        fc.array(tie("tree"), { maxLength: 3 }),
        fc.dictionary(
          text.filter((given) => given !== "__proto__"),
          tie("tree"),
          { maxKeys: 3 },
        ),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom("steps", "inputs", "output", "x"), tree), (made) => {
        const json: unknown = JSON.parse(JSON.stringify(made));
        expect(readYaml12(toYaml(made))).toEqual(json);
      }),
      { numRuns: 1_000 },
    );
    fc.assert(
      fc.property(fc.dictionary(text, text), (made) => {
        const { ["__proto__"]: _, ...texts } = made;
        expect(readYaml11(toYaml(texts))).toEqual({ ...texts });
      }),
      { numRuns: 1_000 },
    );
  });

  it("writes text that is read as the same definition, as JSON does, whatever its numbers are", () => {
    const large = fc.tuple(fc.double({ min: 1, max: 10, noNaN: true }), fc.integer({ min: 14, max: 24 }));
    const number = fc.oneof(
      large.map(([digits, exponent]) => digits * 10 ** exponent),
      fc.integer({ min: 14, max: 24 }).map((exponent) => -(10 ** exponent)),
      fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }).map(String),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
    );
    fc.assert(
      fc.property(fc.array(number, { minLength: 1, maxLength: 5 }), (numbers) => {
        const { value } = readSource({ steps: numbers });
        const definition = value as Record<string, unknown>;
        expect(readSource(toYaml(definition)).value).toEqual(definition);
        expect(readSource(JSON.stringify(definition)).value).toEqual(definition);
        expect(readSource(JSON.parse(JSON.stringify(definition))).value).toEqual(definition);
      }),
      { seed: 30, numRuns: 500 },
    );
  });

  it.each([
    ["1e20", "100000000000000000000"],
    ["1.5e18", "1500000000000000000"],
    ["9007199254740992.0", "9007199254740992"],
    ["9007199254740991.0", 9007199254740991],
    ["6.02214076e23", 6.02214076e23],
  ])("has one form for %s, in YAML, in JSON and as a value", (source, value) => {
    expect(readSource(`output: ${source}\n`).value).toEqual({ output: value });
    expect(readSource(`{"output": ${source}}`).value).toEqual({ output: value });
    expect(readSource({ output: Number(source) }).value).toEqual({ output: value });
  });
});

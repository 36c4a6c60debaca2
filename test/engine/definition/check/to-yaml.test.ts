import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { toYaml } from "../../../../src/engine/definition/check/index.ts";

describe("toYaml", () => {
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
        expect(parse(toYaml(made), { version: "1.2", schema: "core" })).toEqual(json);
      }),
      { numRuns: 1_000 },
    );
  });
});

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { toYaml } from "../../../../src/engine/definition/check/index.ts";
import { parseExactJson } from "../../../../src/core/json-text.ts";
import { readYaml } from "../../../../src/engine/definition/check/read-yaml.ts";
import { expectCost } from "../../../support/expect-cost.ts";
import { issueOf, set, defaultChecker } from "./test-checker.ts";

/** Texts that YAML reads as something else where they are not quoted, or that other programs do. */
const WORDS =
  "9007199254740993|900719925474099.23|01067|1e5|0x1F|0o17|+4930123|3.10|.5|5.|~|yes|True|NULL|null|| |2026-01-01|12:30|1_000|.inf|.nan|-|<<|a: b|# x".split(
    "|",
  );
const QUOTE = expect.stringContaining("Quote it");

const warningsOf = async (values: string) => {
  const text = `steps:\n  - id: a\n    type: set\n    values:\n      x: ${values}\n`;
  const { errors, warnings } = await defaultChecker.check(text, { checkConnections: false });
  expect(errors).toEqual([]);
  return warnings;
};

describe("a YAML value that may have been meant as text", () => {
  it.each<[written: string, read: string]>([
    ["01067", "the number 1067"],
    ["0777", "the number 777"],
    ["-007", "the number -7"],
    ["3.10", "the number 3.1"],
    ["1.0", "the number 1"],
    ["7e10", "the number 70000000000"],
    ["12e03", "the number 12000"],
    ["1e3", "the number 1000"],
    ["1e22", "the number 1e+22"],
    ["9e99", "the number 9e+99"],
    ["5E-7", "the number 5e-7"],
    ["+4930123", "the number 4930123"],
    ["0x1F", "the number 31"],
    ["0o17", "the number 15"],
    [".5", "the number 0.5"],
    ["5.", "the number 5"],
    ["0x1FFFFFFFFFFFFFFFF", "the number 36893488147419103231"],
    ["TRUE", "true"],
    ["False", "false"],
    ["NULL", "null"],
  ])("is reported with the quoted text as the fix: %s", async (written, read) => {
    expect(await warningsOf(written)).toEqual([
      {
        path: "steps[0].values.x",
        code: "unquoted",
        message: `is read as ${read}, not as the text ${written}`,
        fix: `Write "${written}" in quotes if it is text, else ${read.replace("the number ", "")}.`,
        line: 5,
        column: 7,
        patch: [{ op: "replace", path: "/steps/0/values/x", value: written }],
      },
    ]);
  });

  it.each([
    "10",
    "-3",
    "1.5",
    "0.25",
    "1e+21",
    "1e-7",
    "true",
    "null",
    "~",
    "",
    "yes",
    "1_000",
    "2026-01-01",
    "12:30",
    "'01067'",
    '"3.10"',
    "!!str 01067",
    "9007199254740993",
    "900719925474099.23",
    "v1.0",
    "1.2.3",
  ])("is none of the usual values: %s", async (written) => {
    expect(await warningsOf(written)).toEqual([]);
  });

  it("is not reported where only a number is right, nor in JSON", async () => {
    const steps = "steps:\n  - { id: a, type: set, values: { x: '${{ inputs.n }}' } }\n";
    const text = `inputs:\n  type: object\n  properties:\n    n: { type: number, minimum: 1.0, default: 2.50 }\n${steps}`;
    expect(await defaultChecker.check(text, { checkConnections: false })).toMatchObject({
      valid: true,
      warnings: [],
    });
    const json = '{ "steps": [{ "id": "a", "type": "set", "values": { "x": 1.0, "y": 1e3 } }] }';
    expect(await defaultChecker.check(json, { checkConnections: false })).toMatchObject({
      valid: true,
      warnings: [],
    });
  });

  it("is not reported among the values that a schema lists for a number", async () => {
    const text = `inputs:
  type: object
  properties:
    n: { type: number, enum: [1.0, 1.50], examples: [1.50] }
    m: { type: [integer, "null"], const: 1.0 }
    l: { type: array, items: { anyOf: [{ type: number, enum: [2.50] }] } }
    s: { type: string, examples: [3.10] }
    e: { enum: [1.0, a] }
    p: { type: object, default: { type: number, const: 01067 } }
state:
  k: { type: number, enum: [1.0], default: 1.0 }
examples:
  - inputs: { n: 1.50, m: 1.0 }
steps:
  - { id: a, type: set, values: { y: { type: number, const: 01067 } } }
  - { id: b, type: approval, message: ok?, form: { type: object, properties: { n: { type: number, enum: [1.0] } } } }
  - { id: c, type: wait, event: { schema: { type: object, properties: { n: { type: number, enum: [1.0] } } } } }
`;
    const { warnings } = await defaultChecker.check(text, { checkConnections: false });
    expect(warnings.flatMap(({ path, code }) => (code === "unquoted" ? [path] : []))).toEqual([
      "inputs.properties.s.examples[0]",
      "inputs.properties.e.enum[0]",
      "inputs.properties.p.default.const",
      "steps[0].values.y.const",
    ]);
  });

  it("becomes the text as it is written where only text is right", async () => {
    const text =
      "steps:\n  - { id: a, type: set, description: 3.10, values: {} }\n  - { id: b, type: approval, message: 01067 }\n";
    const {
      errors,
      warnings,
      applied_fixes: applied,
    } = await defaultChecker.check(text, {
      checkConnections: false,
      applyFixes: true,
    });
    expect({ errors, warnings }).toEqual({ errors: [], warnings: [] });
    expect(applied!.map(({ patch }) => patch[0])).toEqual([
      { op: "replace", path: "/steps/0/description", value: "3.10" },
      { op: "replace", path: "/steps/1/message", value: "01067" },
    ]);
  });

  it("is reported after fixes of other places, where the fixes have moved it", async () => {
    const text = [
      "steps:",
      "  - { id: b, type: set, values: { n: '${{ steps.a.zip }}' } }",
      "  - { id: a, type: set, when: 'true', valeus: { zip: 01067 } }",
      "  - { id: c, type: set, version: 3.10 }",
      "  - { id: d, type: approval, messge: 01.50 }",
    ].join("\n");
    const { definition, errors, warnings } = await defaultChecker.check(text, {
      checkConnections: false,
      applyFixes: true,
    });
    expect(errors).toEqual([]);
    const { steps } = definition as { steps: { id: string; values?: unknown; message?: unknown }[] };
    const at = (id: string) => steps.findIndex((step) => step.id === id);
    expect(steps[at("a")]!.values).toEqual({ zip: 1067 });
    expect(steps[at("d")]!.message).toBe("01.50");
    expect(warnings).toHaveLength(2);
    expect(warnings).toMatchObject([
      {
        path: `steps[${at("a")}].values.zip`,
        code: "unquoted",
        patch: [{ op: "replace", path: `/steps/${at("a")}/values/zip`, value: "01067" }],
      },
      { path: `steps[${at("c")}].values.version`, code: "unquoted" },
    ]);
  });

  it("is the key itself where it is a key", async () => {
    const keys = "{ 01067: a, 1067: b, 3.10: c, True: d, 0x1F: e, null: f }";
    const text = `steps:\n  - id: a\n    type: set\n    values: { x: ${keys} }\n`;
    const { errors, warnings, definition } = await defaultChecker.check(text, { checkConnections: false });
    expect({ errors, warnings }).toEqual({ errors: [], warnings: [] });
    const x = { "01067": "a", "1067": "b", "3.10": "c", True: "d", "0x1F": "e", null: "f" };
    expect(definition).toEqual({ steps: [set("a", { x })] });
  });
});

describe("YAML", () => {
  it("is read like JSON, with dates and words as strings", async () => {
    const text =
      "steps:\n  - id: a\n    type: set\n    values: { on: yes, day: 2026-01-01, n: 1, x: '${{ 1 }}' }\n";
    const { errors, definition } = await defaultChecker.check(text, { checkConnections: false });
    expect(errors).toEqual([]);
    expect(definition).toEqual({ steps: [set("a", { on: "yes", day: "2026-01-01", n: 1, x: "${{ 1 }}" })] });
  });

  it("can be JSON", async () => {
    const definition = { steps: [set("a", { b: [1, null, "x"] })] };
    const report = await defaultChecker.check(JSON.stringify(definition, null, "\t"), {
      checkConnections: false,
    });
    expect(report).toMatchObject({ valid: true, definition });
  });

  it("gives the line and column of an issue", async () => {
    const text = "steps:\n  - id: a\n    type: set\n    values:\n      x: ${{ input.y }}\n";
    expect(await issueOf(text)).toMatchObject({ path: "steps[0].values.x", line: 5, column: 14 });
  });

  it.each([
    ["a plain text", "x: Sum ${{ nope.a }} of nope"],
    ["a text in quotes", 'x: "Sum nope ${{ nope.a }}"'],
    ["a text in single quotes", "x: 'It''s nope ${{ nope.a }}'"],
    ["a block", "x: |\n        nope\n\n          # nope\n        ${{ nope.a }}\n        nope"],
    ["a folded block", "x: >-\n        nope\n        nope ${{ nope.a }}\n        nope"],
    ["a text of several lines", "x: nope\n        nope ${{ nope.a }}\n        nope"],
    ["a text of other scripts", "x: 週間 😀 nope ${{ nope.a }}"],
    ["lines that end in CRLF", "x: |\r\n        nope\r\n        ${{ nope.a }}\r\n"],
  ])("gives the place of a wrong word in %s", async (_, values) => {
    const text = `steps:\n  - id: a\n    type: set\n    values:\n      ${values}\n`;
    const { line, column } = await issueOf(text);
    expect(text.split("\n")[line! - 1]!.slice(column! - 1)).toMatch(/^nope\.a/);
  });

  it.each([
    ["an escape", 'x: "\\nope \\u006eope nope ${{ nope.a }}"'],
    ["an alias", "w: &w ${{ 1 }}\n      x: *w\n      y: ${{ nope.a }}"],
  ])("gives the place of the key or the word, never that of another word, with %s", async (_, values) => {
    const text = `steps:\n  - id: a\n    type: set\n    values:\n      ${values}\n`;
    const { line, column } = await issueOf(text);
    expect(text.split("\n")[line! - 1]!.slice(column! - 1)).toMatch(/^(?:nope\.a|x: )/);
  });

  it.each([
    [
      "a flow map around an expression",
      "steps:\n  - { id: a, type: set, values: { x: ${{ inputs.x }} } }",
      2,
    ],
    ["an unquoted !", "steps:\n  - id: a\n    type: assert\n    that: !steps.a.ok", 4],
    ["an unquoted ternary", "steps:\n  - id: a\n    if: ${{ inputs.x ? 1 : 2 }}", 3],
    ["a # in an expression", "steps:\n  - id: a\n    if: ${{ inputs.x == 'a #b' }}", 3],
    ["a # in a bare expression", "steps:\n  - id: a\n    if: inputs.x == 'a #b'", 3],
    ["two braces alone", "steps:\n  - id: a\n    message: {{ inputs.x }}", 3],
    ["a tag", "a: !!binary aGk=", 1],
  ])("with %s gets the advice to quote it", async (_, text, line) => {
    expect(await issueOf(text)).toMatchObject({ code: "invalid_yaml", line, fix: QUOTE });
  });

  it.each([
    ["flow sequences", (levels: number) => `a: ${"[".repeat(levels)}${"]".repeat(levels)}`],
    ["flow maps", (levels: number) => `a: ${"{a: ".repeat(levels - 1)}{}${"}".repeat(levels - 1)}`],
    [
      "pairs in flow sequences",
      (levels: number) => `a: ${"[a: ".repeat(levels / 2)}1${"]".repeat(levels / 2)}`,
    ],
    ["sequences", (levels: number) => `a:\n  ${"- ".repeat(levels)}x`],
    [
      "maps",
      (levels: number) => Array.from({ length: levels + 1 }, (_, at) => `${" ".repeat(at)}a:`).join("\n"),
    ],
    ["JSON", (levels: number) => `{"a":${'{"a":['.repeat(levels / 2)}${"]}".repeat(levels / 2)}}`],
  ])("may be 64 levels deep, and not deeper: %s", async (_, nested) => {
    const codes = async (levels: number): Promise<(string | undefined)[]> => {
      const { errors } = await defaultChecker.check(nested(levels), { checkConnections: false });
      return errors.map(({ code }) => code);
    };
    // The definition itself is one level.
    expect(await codes(62)).not.toContain("too_deep");
    expect(await codes(64)).toEqual(["too_deep"]);
  });

  it("does not count brackets in text and comments as levels", async () => {
    const brackets = "[{".repeat(1_000);
    const text = `steps: []\n# ${brackets}\nname: "${brackets}"\ndescription: |\n  ${brackets}\nother: x${brackets}\n`;
    const { errors } = await defaultChecker.check(text, { checkConnections: false });
    expect(errors.map(({ code }) => code)).not.toContain("too_deep");
  });

  it("can have comments", async () => {
    const text =
      "# What it does\nsteps:\n  - id: a # the first\n    type: assert\n    that: 1 > 0 # of course\n";
    expect((await defaultChecker.check(text, { checkConnections: false })).errors).toEqual([]);
  });

  it.each([
    ["an alias in itself", "steps: &a [*a]", "invalid_yaml"],
    [
      "aliases without end",
      `a: &a [x, x, x, x, x, x, x, x, x]\n${"bcdef"
        .split("")
        .map((name, index) => `${name}: &${name} [${Array(9).fill(`*${"abcdef"[index]}`).join(", ")}]`)
        .join("\n")}`,
      "invalid_yaml",
    ],
    ["a second document", "steps: []\n---\nsteps: []", "invalid_yaml"],
    ["YAML 1.1", "%YAML 1.1\n---\nsteps: []", "invalid_yaml"],
    ["nothing", "", "wrong_type"],
    ["more than a megabyte", `a: ${"x".repeat(1024 * 1024)}`, "too_large"],
    ["too deep a value", "[".repeat(100) + "]".repeat(100), "too_deep"],
    ["brackets that don't end", "[".repeat(500_000), "too_deep"],
    ["braces that don't end", "{".repeat(500_000), "too_deep"],
    ["maps in flow maps", "{a: ".repeat(100_000), "too_deep"],
    ["sequences in sequences", "- ".repeat(500_000), "too_deep"],
    ["keys that are maps", "? ".repeat(500_000), "too_deep"],
    ["several documents", "steps: []\n---\nsteps: []", "invalid_yaml"],
  ])("is rejected with %s", async (_, text, code) => {
    expect(await issueOf(text)).toMatchObject({ path: "", code });
  });

  it.each<[string, string, string, number, number]>([
    ["a key twice", "steps:\n  - id: a\n    type: set\n    id: b\n", "steps[0].id duplicate_key", 4, 5],
    ["a key twice in JSON", '{"steps": [], "steps": []}', "steps duplicate_key", 1, 15],
    ["a number that is too long", "a: { b: [1, -1e4000] }", "a.b[1] not_finite", 1, 13],
    ["one in another base", `a: 0x${"F".repeat(1_000)}`, "a not_finite", 1, 4],
    ["exponents that add too many digits", `a: [${"1e990, ".repeat(100)}]`, "a[67] not_finite", 1, 474],
    ["infinity", "a: .inf", "a not_finite", 1, 4],
    ["a key named __proto__", "a:\n  __proto__: {}", "a.__proto__ not_allowed", 2, 3],
    ["a wrong merge key", "a:\n  <<: text", " invalid_yaml", 2, 3],
    ["two merge keys", "a: &a { x: 1 }\nb:\n  <<: *a\n  <<: *a", "b.<< duplicate_key", 4, 3],
  ])("is rejected with its path, line and column: %s", async (_, text, expected, line, column) => {
    const { errors, definition } = await defaultChecker.check(text, { checkConnections: false });
    const found = errors.find(({ path, code }) => `${path} ${code}` === expected);
    expect(errors.map(({ path, code }) => `${path} ${code}`)).toContain(expected);
    expect(found).toMatchObject({ line, column });
    expect(definition).toBeNull();
  });

  it("changes no object outside of the definition, whatever its keys", async () => {
    const before = Object.prototype.toLocaleString;
    const { errors } = await defaultChecker.check(
      "steps: [{ id: a, type: set, values: {} }]\ninputs:\n  __proto__:\n    toLocaleString: 010\ninputs: {}\n",
      { checkConnections: false },
    );
    const after = Object.prototype.toLocaleString;
    // Restored first: a failed assertion prints objects.
    Reflect.set(Object.prototype, "toLocaleString", before);
    expect(after).toBe(before);
    expect(errors.map(({ code }) => code)).toContain("duplicate_key");
  });

  it("reports a value that it can't hold together with all other issues", async () => {
    const text =
      "steps:\n  - { id: a, type: sett, timeout: 1e4000 }\n  - { id: b, type: set, values: { x: '${{ 1 + }}' } }\n";
    const { errors } = await defaultChecker.check(text, { checkConnections: false });
    expect(errors.map(({ path }) => path)).toEqual(
      expect.arrayContaining(["steps[0].type", "steps[0].timeout", "steps[1].values.x"]),
    );
    expect(errors.filter(({ path }) => path === "steps[0].timeout")).toHaveLength(1);
  });

  it("accepts numbers of any length, as text where a double can't hold them", async () => {
    const values =
      "{ a: 9007199254740991, b: 10000000000000000, c: '9007199254740993', d: 0x1F, e: +7, f: 1e300, " +
      "g: 9007199254740993, h: 900719925474099.23, i: 0xFFFFFFFFFFFFFFFF, j: +0009007199254740993, k: !!int '9007199254740993' }";
    const text = `steps:\n  - { id: a, type: set, values: ${values} }`;
    const { errors, definition } = await defaultChecker.check(text, { checkConnections: false });
    expect(errors).toEqual([]);
    expect(definition).toEqual({
      steps: [
        set("a", {
          a: 9007199254740991,
          b: "10000000000000000",
          c: "9007199254740993",
          d: 31,
          e: 7,
          f: 1e300,
          g: "9007199254740993",
          h: "900719925474099.23",
          i: "18446744073709551615",
          j: "9007199254740993",
          k: "9007199254740993",
        }),
      ],
    });
  });

  it("merges objects with <<, own fields and earlier objects first", async () => {
    const text = `
inputs: { type: object }
steps:
  - &first { id: a, type: set, values: &values { x: 1, y: 1 } }
  - { <<: *first, id: b, values: { <<: [{ y: 2 }, *values], z: 3 } }
`;
    const { errors, definition } = await defaultChecker.check(text, { checkConnections: false });
    expect(errors).toEqual([]);
    const [a, b] = definition!["steps"] as object[];
    expect([a, b]).toEqual([set("a", { x: 1, y: 1 }), set("b", { x: 1, y: 2, z: 3 })]);
  });

  it("refuses merge keys that copy without end", async () => {
    const fields = Array.from({ length: 200 }, (_, index) => `k${index}: 1`).join(", ");
    const text = [
      `a0: &a0 { ${fields} }`,
      ...Array.from(
        { length: 60 },
        (_, i) => `a${i + 1}: &a${i + 1} { x: { <<: *a${i} }, y: { <<: *a${i} } }`,
      ),
    ].join("\n");
    const read = async (): Promise<void> =>
      expect(await issueOf(text)).toMatchObject({ code: "invalid_yaml", line: expect.any(Number) });
    await expectCost(2_000, read);
  });

  it("offers no patch for a misread value with aliases, which would reach one of its places only", async () => {
    for (const text of [
      "steps:\n  - { id: a, type: set, values: { x: &v 01067 } }\n  - { id: b, type: set, values: { x: *v } }\n",
      "steps:\n  - { id: a, type: set, values: &v { x: 01067 } }\n  - { id: b, type: set, values: *v }\n",
    ]) {
      const { warnings } = await defaultChecker.check(text, { checkConnections: false });
      const found = warnings.filter(({ code }) => code === "unquoted");
      expect(found).toMatchObject([
        {
          path: "steps[0].values.x",
          fix: 'Write "01067" in quotes if it is text, else 1067, where it is written: its aliases follow.',
        },
      ]);
      expect(found[0]).not.toHaveProperty("patch");
    }
  });

  it("does not share the nodes of aliases", async () => {
    const text =
      "steps:\n  - { id: a, type: set, values: &v { x: 1 } }\n  - { id: b, type: set, values: *v }\n";
    const { definition } = await defaultChecker.check(text, { checkConnections: false });
    const [a, b] = definition!["steps"] as { values: object }[];
    expect(a!.values).toEqual(b!.values);
    expect(a!.values).not.toBe(b!.values);
  });

  it("is read in a worker if it is long, with positions", async () => {
    const long = Array.from({ length: 500 }, (_, index) => set(`a${index}`, { text: "x".repeat(100) }));
    const text = toYaml({ steps: [...long, set("last", { x: "${{ nothing }}" })] });
    expect(await issueOf(text)).toMatchObject({ path: "steps[500].values.x", line: 4 * 500 + 5, column: 15 });
  });

  it("is written with blocks for long strings and with id and type first in a step", () => {
    const text = toYaml({
      output: "${{ steps.a.x }}",
      steps: [{ timeout: "5s", values: { x: "SELECT 1\nFROM t\n" }, type: "set", id: "a" }],
    });
    expect(text).toBe(
      'steps:\n  - id: a\n    type: set\n    values:\n      x: |\n        SELECT 1\n        FROM t\n    timeout: 5s\noutput: "${{ steps.a.x }}"\n',
    );
  });

  it("is written so that every text, number and key comes back as it is, without a warning", () => {
    const words = fc.constantFrom(...WORDS);
    const scalars = fc.oneof(
      words,
      fc.string(),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
    );
    const keys = fc.oneof(words, fc.string()).filter((key) => key !== "__proto__");
    fc.assert(
      fc.property(fc.dictionary(keys, fc.oneof(scalars, fc.array(scalars))), (values) => {
        // As a definition is stored: without -0, and with long numbers as text.
        const stored = parseExactJson(JSON.stringify({ values }), 64) as Record<string, unknown>;
        const { value, issues, valueIssues, misread } = readYaml(toYaml(stored));
        expect({ value, issues, valueIssues, misread }).toEqual({
          value: stored,
          issues: [],
          valueIssues: [],
          misread: [],
        });
      }),
      { numRuns: 1_000 },
    );
  });

  it("is written so that YAML 1.1 reads the same strings", () => {
    const values = { a: "yes", b: "2026-01-01", c: "!x", d: "a # b", e: "1", f: "null" };
    expect(parse(toYaml({ values }), { version: "1.1" })).toEqual({ values });
  });
});

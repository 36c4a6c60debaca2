import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readJson } from "../../../src/core/json-text.ts";
import { readYaml } from "../../../src/engine/definition/check/read-yaml.ts";
import { convert, parse, placeIssues, toText } from "../../../src/web/editor/format.ts";

const DEFINITION = {
  steps: [
    { type: "sql", id: "revenue", params: { since: "${{ inputs.since }}" }, query: "SELECT 1\nFROM a # b\n" },
    { id: "gate", type: "assert", that: "steps.revenue.row_count > 0", needs: ["revenue"], message: "a: b" },
    { id: "null", type: "set", values: { yes: "no", day: "2026-01-01", n: 1, none: null, text: "x " } },
  ],
  inputs: { type: "object" },
};

describe("toText", () => {
  it("writes YAML with a fixed key order that parses back to the same definition", async () => {
    const text = await toText(DEFINITION, "yaml");
    expect(await parse(text, "yaml")).toEqual({ definition: DEFINITION });
    expect(text).toMatch(/^inputs:\n {2}type: object\nsteps:\n {2}- id: revenue\n {4}type: sql\n/);
    expect(text).toContain('since: "${{ inputs.since }}"');
    expect(text).toContain("query: |\n");
  });

  it("quotes what YAML 1.1 takes for something else, and escapes its other line ends", async () => {
    const definition = { x: ["12:30", "=", "a\u2028b"], no: 1 };
    const text = await toText(definition, "yaml");
    expect(text).toBe(String.raw`x:
  - "12:30"
  - "="
  - "a\u2028b"
"no": 1
`);
    expect(await parse(text, "yaml")).toEqual({ definition });
  });

  it("keeps the digits of numbers when the format changes", async () => {
    const yaml = "n: [9007199254740993, 900719925474099.23, 0x1FFFFFFFFFFFFFFFF, 0x1F, +5, .5]\n01067: a\n";
    const definition = {
      "01067": "a",
      n: ["9007199254740993", "900719925474099.23", "36893488147419103231", 31, 5, 0.5],
    };
    expect(await parse(yaml, "yaml")).toEqual({ definition });
    expect(await parse('{ "n": [9007199254740993, 900719925474099.23, 1.50] }', "json")).toEqual({
      definition: { n: ["9007199254740993", "900719925474099.23", 1.5] },
    });
    const message = expect.stringContaining("Numbers must have at most 1000 digits, got") as string;
    expect(await parse('{ "n": 1e4000 }', "json")).toMatchObject({ issues: [{ message }] });
    for (const tooLong of ["1e4000", "1e-4000", ".inf"])
      expect(await parse(`a: 1\nn: [1, ${tooLong}]\n`, "yaml")).toMatchObject({
        issues: [{ message, line: 2, column: 8 }],
      });
    const json = await convert(yaml, "yaml", "json");
    expect(await convert("text" in json ? json.text : "", "json", "yaml")).toMatchObject({
      text: expect.stringContaining('"9007199254740993"') as string,
    });
  });

  // The same numbers as in the schemas of the server: YAML and JSON, there and here.
  it.each<[string, number | string]>([
    ["6.02e23", 6.02e23],
    ["1e25", 1e25],
    ["1e400", `1${"0".repeat(400)}`],
    ["10000000000000000", "10000000000000000"],
  ])("reads %s as the server does", async (written, value) => {
    expect(await parse(`a: ${written}`, "yaml")).toEqual({ definition: { a: value } });
    expect(await parse(`{ "a": ${written} }`, "json")).toEqual({ definition: { a: value } });
    expect(readYaml(`a: ${written}`).value).toEqual({ a: value });
    expect(readJson(`{ "a": ${written} }`).value).toEqual({ a: value });
  });

  it("returns an empty text for no definition", async () => {
    expect(await toText(null, "yaml")).toBe("");
    expect(await toText(null, "json")).toBe("");
  });

  it.each(readdirSync("examples/samples"))(
    "converts %s to JSON and back without a difference",
    async (file) => {
      const text = readFileSync(`examples/samples/${file}`, "utf8");
      const json = await convert(text, "yaml", "json");
      if (!("text" in json)) throw new Error("not converted");
      const back = await convert(json.text, "json", "yaml");
      if (!("text" in back)) throw new Error("not converted back");
      expect(await parse(back.text, "yaml")).toEqual(await parse(text, "yaml"));
    },
  );
});

describe("parse", () => {
  it.each(["", " \n\n", "# nothing yet\n"])("reports an empty YAML text: %j", async (text) => {
    expect(await parse(text, "yaml")).toMatchObject({
      issues: [{ message: "The definition is empty", line: 1 }],
    });
  });

  it("reports an empty JSON text, a list and null", async () => {
    expect(await parse("  ", "json")).toMatchObject({ issues: [{ message: "The definition is empty" }] });
    expect(await parse("[]", "json")).toMatchObject({
      issues: [{ message: "The definition must be an object, not a list" }],
    });
    expect(await parse("null", "json")).toMatchObject({
      issues: [{ message: "The definition must be an object, not null" }],
    });
  });

  it("reports line and column of YAML errors and warnings, with a hint", async () => {
    expect(await parse("steps:\n  - id: [a\n", "yaml")).toMatchObject({ issues: [{ severity: "error" }] });
    expect(await parse("a: 1\nb: !x y\n", "yaml")).toMatchObject({ issues: [{ line: 2, column: 4 }] });
    expect(await parse("a: 1\na: 2\n", "yaml")).toMatchObject({ issues: [{ line: 2, column: 1 }] });
    expect(await parse("a: b: c\n", "yaml")).toMatchObject({
      issues: [
        {
          message: expect.stringMatching(/^Invalid YAML: /) as string,
          fix: "Put text that contains a colon between quotes.",
        },
      ],
    });
  });

  it.each([
    ['{\n  "a": 1,\n}', "trailing comma before }", 2, 9],
    ['{\n  "a": 1\n  "b": 2\n}', "a comma is missing", 2, 9],
    ["{\n  a: 1\n}", "expected a key in double quotes", 2, 3],
    ["{ 'a': 1 }", "expected a key in double quotes", 1, 3],
    ['{ "a": yes }', "yes is not a JSON value", 1, 8],
    ['{ "a": 01 }', "01 is not a JSON value", 1, 8],
    ['{ "a": "b\n" }', "unterminated string", 1, 8],
    ['{ "a": "\\x" }', "invalid escape sequence", 1, 8],
    ['{ "a": "\t" }', "control character in a string", 1, 9],
    ['{\n  "a": [1, 2', "a ] is missing", 2, 13],
    ['{ "a": 1 } x', "unexpected text after the end", 1, 12],
    ['{ "a": 1, "a": 2 }', "duplicate key a", 1, 11],
    ['{ "a" 1 }', "a colon is missing after a", 1, 6],
    ['{ // no\n "a": 1 }', "comments are not allowed", 1, 3],
    ['{ "a": }', "a value is missing before }", 1, 8],
  ])("locates JSON syntax errors: %j", async (text, message, line, column) => {
    expect(await parse(text, "json")).toMatchObject({
      issues: [{ message: `Invalid JSON: ${message}`, line, column }],
    });
  });

  it("accepts everything that JSON allows", async () => {
    const text = JSON.stringify(
      { a: [1, -2.5e3, true, null, '\u2028 \\ " \n é'], "": {}, b: [] },
      null,
      "\t",
    );
    expect(await parse(text, "json")).toEqual({ definition: JSON.parse(text) as unknown });
  });
});

describe("convert", () => {
  it("reports lost comments, and keeps an empty text empty", async () => {
    expect(await convert("a: 1 # why\n", "yaml", "json")).toMatchObject({ commentsLost: true });
    expect(await convert("a: 1\n", "yaml", "json")).toMatchObject({ commentsLost: false });
    expect(await convert("", "yaml", "json")).toEqual({ text: "", commentsLost: false });
  });

  it("returns the issues of a text with syntax errors", async () => {
    expect(await convert("a: [", "yaml", "json")).toHaveProperty("issues");
  });
});

describe("placeIssues", () => {
  const yaml = "# first\nsteps:\n  - id: revenue\n    type: sql\n    params: { since: 1 }\n  - id: late\n";
  const json = '{\n  "steps": [\n    { "id": "revenue", "query": 1 }\n  ]\n}\n';
  const at = async (text: string, path: string) => {
    const [placed] = await placeIssues(text, text === json ? "json" : "yaml", [
      { path, code: "x", message: "m" },
    ]);
    return [placed?.line, placed?.column];
  };

  it("finds keys by step index and by step id, with or without the prefix definition", async () => {
    expect(await at(yaml, "steps[0].params.since")).toEqual([5, 15]);
    expect(await at(yaml, "definition.steps[0].type")).toEqual([4, 5]);
    expect(await at(yaml, "steps.revenue.type")).toEqual([4, 5]);
    expect(await at(json, "steps[0].query")).toEqual([3, 24]);
  });

  it("falls back to the nearest parent of a missing key", async () => {
    expect(await at(yaml, "steps[1].type")).toEqual([6, 5]);
    expect(await at(yaml, "output")).toEqual([2, 1]);
    expect(await at("", "steps")).toEqual([1, 1]);
  });

  it("uses the server's line, and a near match as the fix", async () => {
    const issue = { path: "", code: "x", message: "is too large", did_you_mean: "b", line: 7 };
    expect(await placeIssues(yaml, "yaml", [issue])).toEqual([
      {
        path: "",
        message: "The definition is too large",
        fix: "Did you mean b?",
        line: 7,
        column: 1,
        severity: "error",
      },
    ]);
  });
});

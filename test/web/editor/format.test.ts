import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
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
  const marked = async (text: string, path: string, code = "wrong_type") => {
    const [placed] = await placeIssues(text, text === json ? "json" : "yaml", [{ path, code, message: "m" }]);
    const lines = text.split("\n");
    expect(placed!.endLine).toBe(placed!.line);
    return [placed!.line, lines[placed!.line! - 1]!.slice(placed!.column! - 1, placed!.endColumn! - 1)];
  };

  it("finds values by step index and by step id, with or without the prefix definition", async () => {
    expect(await marked(yaml, "steps[0].params.since")).toEqual([5, "1"]);
    expect(await marked(yaml, "definition.steps[0].type")).toEqual([4, "sql"]);
    expect(await marked(yaml, "steps.revenue.type")).toEqual([4, "sql"]);
    expect(await marked(yaml, "steps[0].params")).toEqual([5, "{ since: 1 }"]);
    expect(await marked(json, "steps[0].query")).toEqual([3, "1"]);
    expect(await marked(json, "steps[0].id")).toEqual([3, '"revenue"']);
  });

  it("marks the key of a value of several lines, of an unknown field, and of an empty value", async () => {
    expect(await marked(yaml, "steps")).toEqual([2, "steps"]);
    expect(await marked(yaml, "steps[0].params.since", "unknown_key")).toEqual([5, "since"]);
    expect(await marked("query: |\n  SELECT 1\n  FROM a # b\n", "query")).toEqual([1, "query"]);
    expect(await marked("steps:\ninputs: {}\n", "steps")).toEqual([1, "steps"]);
  });

  it("falls back to the nearest parent of a missing key", async () => {
    expect(await marked(yaml, "steps[1].type", "missing")).toEqual([6, "id: late"]);
    expect(await marked(yaml, "output", "missing")).toEqual([2, "steps"]);
    expect(await marked("", "steps")).toEqual([1, ""]);
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

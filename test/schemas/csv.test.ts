import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { csvText, CSV_SEPARATORS, rowsToCsv } from "../../schemas/csv.ts";
import { parseCsv } from "../../src/core/csv.ts";

const BOM = "\uFEFF";

/** What a spreadsheet that expects the separator gets for one cell, besides a plain one. */
const written = (cell: string): string => {
  const text = csvText([["a", cell]]);
  const result = parseCsv(text, { header: false });
  return (result as { rows: string[][] }).rows[0]![1]!;
};

/** The cells of a reader that splits at a separator and at line breaks, and knows no quotes inside of a cell. */
const naiveCells = (text: string, separator: string): string[] =>
  text
    .slice(1)
    .split(/\r\n|\r|\n/)
    .flatMap((line) => line.split(separator));

const withoutApostrophes = (rows: readonly (readonly string[])[]): string[][] =>
  rows.map((row) => row.map((one) => one.replaceAll("'", "")));

const CHARACTERS = [
  "a",
  "1",
  " ",
  '"',
  "'",
  ",",
  ";",
  "\t",
  "\r",
  "\n",
  "=",
  "+",
  "-",
  "@",
  "＝",
  "﹢",
  "⁻",
  "(",
  ".",
  BOM,
  "\u200B",
  "\u0000",
  "\uD800",
  "é",
  "😀",
  "sep=",
  "=",
];
const cell = fc.string({ unit: fc.constantFrom(...CHARACTERS), maxLength: 8 });
const table = fc
  .integer({ min: 1, max: 3 })
  .chain((width) =>
    fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 4 }),
  );

describe("csvText", () => {
  it("is read by parseCsv to the same values when it is for a program, with every separator", () => {
    fc.assert(
      fc.property(table, fc.constantFrom(...CSV_SEPARATORS), (lines, separator) => {
        const text = csvText(lines, { for: "program", separator });
        expect(parseCsv(text, { header: false, separator })).toEqual({ rows: lines });
      }),
      { numRuns: 2_000 },
    );
  });

  it("is read to the same values but for apostrophes when it is for a spreadsheet", () => {
    fc.assert(
      fc.property(table, fc.constantFrom(...CSV_SEPARATORS), (lines, separator) => {
        const text = csvText(lines, { separator });
        expect(text.startsWith(BOM)).toBe(true);
        const { rows } = parseCsv(text, { header: false, separator }) as { rows: string[][] };
        expect(withoutApostrophes(rows)).toEqual(withoutApostrophes(lines));
      }),
      { numRuns: 2_000 },
    );
  });

  it("is the same text when it is written in parts", () => {
    fc.assert(
      fc.property(table, table, fc.constantFrom("spreadsheet", "program"), (first, rest, reader) => {
        const format = { for: reader } as const;
        expect(csvText(first, format) + csvText(rest, { ...format, continues: true })).toBe(
          csvText([...first, ...rest], format),
        );
      }),
    );
  });

  it("has no formula for a reader of any separator, also for one that splits inside of quotes", () => {
    fc.assert(
      fc.property(table, fc.constantFrom(...CSV_SEPARATORS), (lines, separator) => {
        const { rows } = parseCsv(csvText(lines, { separator }), { header: false, separator }) as {
          rows: string[][];
        };
        for (const value of rows.flat()) expect(value).not.toMatch(/^[\s\p{C}"]*[=@＝﹢⁻]/u);
        for (const other of CSV_SEPARATORS.filter((one) => one !== separator))
          for (const value of naiveCells(csvText(lines, { separator }), other).slice(1))
            expect(value).not.toMatch(/^[\s\p{C}"]*[=@＝][(a1.]/u);
      }),
      { numRuns: 2_000 },
    );
  });

  it("writes CRLF after each line, quotes where RFC 4180 needs them, and a byte order mark for a spreadsheet only", () => {
    const lines = [
      ["aaa", "b bb", "c,c"],
      ['b"bb', "z\r\nz", ""],
    ];
    const expected = 'aaa,b bb,"c,c"\r\n"b""bb","z\r\nz",\r\n';
    expect(csvText(lines, { for: "program" })).toBe(expected);
    expect(csvText(lines)).toBe(BOM + expected);
    expect(csvText([["a;b", "c,d", "e\tf"]], { for: "program", separator: ";" })).toBe('"a;b";c,d;e\tf\r\n');
    // Excel reads a file that begins with ID as SYLK, which the mark prevents.
    expect(csvText([["ID", "name"]])).toBe(`${BOM}ID,name\r\n`);
    expect(csvText([[""], ["a"]], { for: "program" })).toBe('""\r\na\r\n');
  });

  it("names the separator for a program where the first cell would be taken for its name", () => {
    expect(csvText([["sep=;", "b"]], { for: "program" })).toBe("sep=,\r\nsep=;,b\r\n");
    expect(csvText([["SEP=;"]])).toBe(`${BOM}'SEP=;\r\n`);
  });

  it.each([
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(1+9)",
    "-A1",
    "+A1",
    "--1",
    "-- comment",
    "=",
    "-",
    "\t=1",
    "\r=1",
    "\n=1",
    "\u0000=1",
    " =1",
    "\u00A0=1",
    `${BOM}=1`,
    "\u200B=1",
    '"=1"',
    '" =1',
    "＝1+1",
    "＋A1",
    "－A1",
    "＠SUM(1)",
    "﹦1",
    "﹢A1",
    "﹣A1",
    "﹫A1",
    "⁼1",
    "₊A1",
    "⁻A1",
    "−A1",
    "+49-30-123",
    "+49/30",
    "-1+1",
    "-5 EUR",
    "+1 (800) 555",
  ])("puts an apostrophe in front of %j", (text) => {
    expect(written(text).startsWith(`'${text.slice(0, 1)}`)).toBe(true);
  });

  it.each([
    ["a;=1+1", "a;'=1+1"],
    ["a; =1+1;b", "a;' =1+1;b"],
    ['a;"=1+1"', 'a;\'"=1+1"'],
    ["a\t@SUM(1)", "a\t'@SUM(1)"],
    ["- one\n- two", "'- one\n'- two"],
    ["a\r\n=HYPERLINK(1)", "a\r\n'=HYPERLINK(1)"],
    ["a;＝1+1", "a;'＝1+1"],
    ["\t=2", "'\t'=2"],
    // github.com/mholt/PapaParse/pull/1149: a guard that saw no formula in several lines.
    ["=1+1\nnote", "'=1+1\nnote"],
    ["@SUM(A1)\r\nbar", "'@SUM(A1)\r\nbar"],
  ])("puts an apostrophe where another reader begins a cell, in %j", (text, guarded) => {
    expect(written(text)).toBe(guarded);
  });

  it.each([
    "-5",
    "+5",
    "-1.5e3",
    "-1.5E-3",
    "-.5",
    "-5.",
    "+4930123456",
    "+49 30 123456",
    "-1,234.56",
    "-1.234,56",
    "-1 234,5",
    "-12%",
    "−5",
    "- 5",
    "-9007199254740993",
    "-900719925474099.23",
    "01067",
    "1e5",
    "4111111111111111",

    "a=1",
    "a@example.com",
    "x-1",
    "see you ;-)",
    "a; b",
    "a;-5",
    "a\n-5\n+7",
    "Zoë",
    "'=1",
    "",
    "€5",
    "·",
  ])("leaves %j as it is", (text) => {
    expect(written(text)).toBe(text);
  });

  it("does not backtrack in a long cell", () => {
    for (const text of [
      "+1".padEnd(200_000, " ") + "x",
      " ".repeat(200_000),
      `-${"1 ".repeat(100_000)}x`,
      ";-".repeat(100_000),
    ])
      expect(csvText([[text]]).length).toBeGreaterThan(200_000);
  });
});

describe("rowsToCsv", () => {
  it("writes the columns in their order, null as empty, objects as JSON, and nothing that a row inherits", () => {
    const rows = [{ "=x": -5, b: null, c: { d: 'a"b' } }, { b: true }];
    expect(rowsToCsv(rows, ["=x", "b", "c", "toString", "__proto__"])).toBe(
      `${BOM}'=x,b,c,toString,__proto__\r\n-5,,"{""d"":""a\\""b""}",,\r\n,true,,,\r\n`,
    );
  });

  it("keeps all digits of long numbers, which are texts", () => {
    const rows = [{ n: "-9007199254740993", d: "-900719925474099.23", zip: "01067", f: "-1+1" }];
    expect(rowsToCsv(rows, ["n", "d", "zip", "f"])).toBe(
      `${BOM}n,d,zip,f\r\n-9007199254740993,-900719925474099.23,01067,'-1+1\r\n`,
    );
  });
});

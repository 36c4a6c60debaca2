import { describe, expect, it } from "vitest";
import { csvText } from "../../schemas/csv.ts";
import { csvOptionsIssue, type CsvOptions, parseCsv } from "../../src/core/csv.ts";

const rows = (text: string, options?: CsvOptions): unknown => {
  const result = parseCsv(text, options);
  return "rows" in result ? result.rows : result.issue;
};

describe("parseCsv", () => {
  it.each([
    ["a sep= line", "sep=;\na;b\n1,5;2\n", [{ a: "1,5", b: "2" }]],
    [
      "a sep= line after a byte order mark, with CRLF",
      "\uFEFFSEP=\t\r\na\tb\r\n1\t2\r\n",
      [{ a: "1", b: "2" }],
    ],
    ["a sep= line in quotes", '"sep=;"\na;b\n1;2', [{ a: "1", b: "2" }]],
    ["nothing after a sep= line", "sep=;", []],
    [
      "digits as they are written",
      "zip,id\n01067,900719925474099312345\n",
      [{ zip: "01067", id: "900719925474099312345" }],
    ],
    [
      "CR, LF and CRLF as line ends",
      "a,b\r1,2\n3,4\r\n5,6",
      [
        { a: "1", b: "2" },
        { a: "3", b: "4" },
        { a: "5", b: "6" },
      ],
    ],
    ["quotes inside of a value without quotes", 'a,b\n5" disk,"x"\n', [{ a: '5" disk', b: "x" }]],
    ["spaces as part of a value", "a,b\n 1 , 2\n", [{ a: " 1 ", b: " 2" }]],
    ["a NUL character", "a,b\n\0,2", [{ a: "\0", b: "2" }]],
    ["one column without a name", ",name\n0,Ada", [{ "": "0", name: "Ada" }]],
    ["no row of empty lines", "a,b\n\n1,2\r\n\r\n", [{ a: "1", b: "2" }]],
  ])("reads %s", (_what, text, expected) => {
    expect(rows(text)).toEqual(expected);
  });

  it.each([
    ["a doubled name", "id,name,id\n1,2,3", 1, 'the name "id" twice, in columns 1 and 3', "header: false"],
    [
      "a doubled empty name, after an empty line",
      "\na,,\n1,2,3",
      2,
      "no names for columns 2 and 3",
      "header: false",
    ],
    [
      "a row that is too short",
      'a,b,c\n"1\n1",2,3\n4,5\n',
      4,
      "line 4 has 2 values, but the header in line 1 has 3",
      '"pad"',
    ],
    [
      "a row that is too long",
      "sep=;\na;b\n1;2;3",
      3,
      "line 3 has 3 values, but the header in line 2 has 2",
      "quotes",
    ],
    [
      "a quote that is not closed",
      'a,b\n1,2\n3,"4\n5,6\n',
      3,
      "the quote that begins value 2 of line 3 is not closed",
      '""',
    ],
    [
      "text after a closing quote",
      'a,b\n"1\n2"x,3',
      3,
      'line 3 has "x" after the quote that ends value 1, which begins in line 2',
      '""',
    ],
    [
      "a space after a closing quote",
      'a,b\n"1" ,3',
      2,
      'line 2 has " " after the quote that ends value 1',
      "separator",
    ],
    [
      "a space before an opening quote",
      'a,b\n1, "2, 3"',
      2,
      "a space before the quote that begins value 2",
      "Remove the space",
    ],
    ["a sep= line with more than a separator", "sep=;;;\na;b", 1, "begins with sep=", "nothing else"],
  ])("refuses %s with its line and a fix", (_what, text, line, message, fix) => {
    expect(rows(text)).toEqual({
      line,
      message: expect.stringContaining(message),
      fix: expect.stringContaining(fix),
    });
  });

  it.each([
    ["n;p\nx;1,5", "';'"],
    ["n\tp\nx\t1,5", "'\\t'"],
    ["n|p\nx|1,5", "'|'"],
  ])(
    "names the separator of the first line first, where rows of %j have other numbers of values",
    (text, named) => {
      for (const options of [{}, { header: false }])
        expect(rows(text, options)).toMatchObject({
          line: 2,
          message: expect.stringContaining("line 2 has 2 values"),
          fix: expect.stringMatching(/^Set the option separator: \{'separator': /),
        });
      expect(rows(text)).toMatchObject({ fix: expect.stringContaining(`{'separator': ${named}}`) });
      expect(rows("n\nx,1")).toMatchObject({ fix: expect.stringMatching(/^Put quotes/) });
      expect(rows("a,b;c\n1,2,3")).toMatchObject({ fix: expect.stringMatching(/^Put quotes/) });
      expect(rows("n,p\nx;1,5,2", { separator: ";" })).toMatchObject({
        fix: expect.stringContaining("{'separator': ','}"),
      });
    },
  );

  it("refuses a separator other than the one that the text names", () => {
    expect(rows("sep=;\na;b\n1;2", { separator: ";" })).toEqual([{ a: "1", b: "2" }]);
    expect(rows("sep=;\na;b\n1;2", { separator: "," })).toMatchObject({
      message: 'line 1 says that the separator is ";", but the option separator is ","',
    });
  });

  it("reads lists without a header, whatever the names are", () => {
    expect(rows("id,,id\n1,2,3", { header: false })).toEqual([
      ["id", "", "id"],
      ["1", "2", "3"],
    ]);
    expect(rows("1\n2,3", { header: false })).toMatchObject({
      line: 2,
      message: "line 2 has 2 values, but line 1 has 1",
    });
  });

  it("pads rows with null, which is no value of the text, and leaves none out", () => {
    expect(rows('a,b,c\n1\n"",2\n3,4,5', { ragged: "pad" })).toEqual([
      { a: "1", b: null, c: null },
      { a: "", b: "2", c: null },
      { a: "3", b: "4", c: "5" },
    ]);
    expect(rows("a,b\n1,2,3", { ragged: "pad" })).toEqual({
      line: 2,
      message: "line 2 has 3 values, but the header in line 1 has 2",
      fix: expect.stringContaining('header: false and ragged: "pad"'),
    });
    expect(rows("a,b\n1,2,3", { header: false, ragged: "pad" })).toEqual([
      ["a", "b", null],
      ["1", "2", "3"],
    ]);
  });

  it("refuses to add more values than memory holds", () => {
    const text = `${",".repeat(2_000)}\n${"1\n".repeat(1_000)}`;
    expect(rows(text, { header: false, ragged: "pad" })).toMatchObject({
      message: expect.stringContaining("lack 2,000,000 values of 2001 columns"),
    });
  });
});

describe("csvText", () => {
  it("writes what parseCsv reads back", () => {
    const lines = [
      ["a", 'b "x"'],
      ["1,5", "\r\n2"],
      ["", " "],
      ["-9007199254740993", "01067"],
    ];
    expect(rows(csvText(lines), { header: false })).toEqual(lines.with(1, ["1,5", "'\r\n2"]));
    expect(rows(csvText([["a"], [""], ["b"]]))).toEqual([{ a: "" }, { a: "b" }]);
  });
});

describe("csvOptionsIssue", () => {
  it("accepts valid options, and those that are not known yet", () => {
    expect(csvOptionsIssue({ header: false, separator: "\t", ragged: "pad" })).toBeUndefined();
    expect(csvOptionsIssue({ header: undefined, separator: undefined, ragged: undefined })).toBeUndefined();
  });

  it.each(["", "ab", '"', "\r", "\n", "\uD83D"])("refuses the separator %j", (separator) => {
    expect(csvOptionsIssue({ separator })?.message).toContain("separator");
  });
});

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Dialect, MAX_QUERY_LENGTH, scanQuery } from "../../../src/connections/databases/sql-scanner.ts";
import { commonTime } from "../../support/slowness.ts";

const DIALECTS: readonly Dialect[] = ["sqlite", "duckdb", "postgresql", "mysql"];

const rendered = (query: string, dialect: Dialect = "postgresql") =>
  scanQuery(query, dialect).render((index) => `$${index + 1}`);
const names = (query: string, dialect: Dialect = "postgresql") => scanQuery(query, dialect).parameterNames;
const codes = (query: string, dialect: Dialect = "postgresql") =>
  scanQuery(query, dialect).issues.map(({ code }) => code);

describe("scanQuery", () => {
  it.each(DIALECTS)("finds each parameter once, with its positions, for %s", (dialect) => {
    const query = "SELECT :b, :a FROM t WHERE x=:b AND y IN (:a,:c)";
    expect(names(query, dialect)).toEqual(["b", "a", "c"]);
    expect(rendered(query, dialect)).toMatchObject({
      text: "SELECT $1, $2 FROM t WHERE x=$1 AND y IN ($2,$3)",
      parameterOrder: [0, 1, 0, 1, 2],
    });
  });

  it.each([
    ["'it''s :no'", "sqlite"],
    [`"a "" :no"`, "sqlite"],
    ["`a :no`", "sqlite"],
    ["[a :no]", "sqlite"],
    ["x -- :no\n", "sqlite"],
    ["x /* :no */", "sqlite"],
    [String.raw`'back\' || :yes || '`, "sqlite"],
    ["a::no", "postgresql"],
    ["$$ :no $$", "postgresql"],
    ["$x$ :no $$ :no $x$", "postgresql"],
    [String.raw`E'it\'s :no'`, "postgresql"],
    ["x /* /* */ :no */", "postgresql"],
    ["a[1:no]", "postgresql"],
    ["'12:30'", "postgresql"],
    ["f(a := 1)", "postgresql"],
    ["{'a':no}", "duckdb"],
    ["$$ :no $$", "duckdb"],
    [String.raw`'it\'s :no'`, "mysql"],
    [String.raw`"it\"s :no"`, "mysql"],
    ["`a :no`", "mysql"],
    ["x # :no\n", "mysql"],
    ["x -- :no\n", "mysql"],
    ["5--:yes\n", "mysql"],
    ["5--\u00a0:yes\n", "mysql"],
    ["x --\r:yes", "postgresql"],
    ["x --\r:yes", "duckdb"],
    ["x --\r:no", "mysql"],
    ["'\x01' -- :no", "mysql"],
  ] as const)("reads %s as %s does", (text, dialect) => {
    expect(names(`SELECT ${text}`, dialect)).toEqual(text.includes(":yes") ? ["yes"] : []);
    expect(codes(`SELECT ${text}`, dialect)).toEqual([]);
  });

  it("accepts one statement, followed by a semicolon and a comment", () => {
    expect(rendered("SELECT 1; -- done\n /* really */ ").text).toBe("SELECT 1");
    for (const dialect of DIALECTS)
      expect(codes("SELECT 1; DROP TABLE t", dialect)).toEqual(["several_statements"]);
    expect(codes("SELECT 1;;")).toEqual([]);
    expect(codes("SELECT ';'")).toEqual([]);
  });

  it("refuses foreign parameters, executable comments, and empty or long queries", () => {
    expect(codes("SELECT $1")).toEqual(["foreign_parameter"]);
    expect(codes("SELECT a ? 'b'")).toEqual([]);
    expect(codes("SELECT ?", "mysql")).toEqual(["foreign_parameter"]);
    expect(codes("SELECT @name", "sqlite")).toEqual(["foreign_parameter"]);
    expect(codes("SELECT $name", "duckdb")).toEqual(["foreign_parameter"]);
    expect(codes("SELECT 1 /*!50000 INTO OUTFILE 'x' */", "mysql")).toEqual(["executable_comment"]);
    expect(codes("SELECT 1 /*M! INTO OUTFILE 'x' */", "mysql")).toEqual(["executable_comment"]);
    expect(codes(" -- nothing")).toEqual(["empty_query"]);
    expect(codes(`SELECT '${"x".repeat(MAX_QUERY_LENGTH)}'`)).toEqual(["too_long"]);
  });

  it.each(DIALECTS)("refuses control characters outside of quotes, for %s", (dialect) => {
    for (const character of ["\x01", "\x0b", "\x0c", "\x7f"]) {
      expect(codes(`SELECT 1 --${character}'\n INTO OUTFILE 'x' -- '`, dialect)).toContain(
        "control_character",
      );
      for (const query of [`SELECT${character}1`, `SELECT 1 /*${character}*/`, `SELECT 1;${character}`])
        expect(codes(query, dialect)).toContain("control_character");
      expect(codes(`SELECT '${character}'`, dialect)).toEqual([]);
    }
    expect(codes("SELECT '\0'", dialect)).toContain("control_character");
    expect(codes("\tSELECT\r\n1", dialect)).toEqual([]);
  });

  it("reads the text after the end of a comment in the server's syntax", () => {
    const { words } = scanQuery("SELECT 1 --\x01'\n INTO OUTFILE 'x' -- '", "mysql");
    expect([words.has("into"), words.has("outfile")]).toEqual([true, true]);
    expect(scanQuery("--\rDELETE FROM t --\nSELECT 1", "postgresql").keyword).toBe("delete");
  });

  it("finds the first keyword after comments and parentheses", () => {
    expect(scanQuery("/* a */ ( -- b\n sElEcT 1)", "postgresql").keyword).toBe("select");
  });

  it("maps an offset of the rendered text to line and column of the query", () => {
    const query = "SELECT :first_name,\n  :x + oops";
    const { text, locate } = rendered(query);
    expect(locate(text.indexOf("oops"))).toBe("line 2, column 8");
    expect(locate(0)).toBe("line 1, column 1");
  });

  it("changes nothing but the parameters of any text, and never hangs or throws", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "'",
        '"',
        "`",
        "$$",
        "$a$",
        "--",
        "/*",
        "*/",
        "\n",
        "\\",
        "#",
        "[",
        "]",
        "e'",
        "::",
        ":=",
        " ",
      ),
      fc.string({ maxLength: 4 }),
      fc.constantFrom(":a", ":b", "SELECT", "1", "x"),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.constantFrom(...DIALECTS), (pieces, dialect) => {
        const query = pieces.join("").replaceAll(";", "");
        const scanned = scanQuery(query, dialect);
        expect(scanned.render((index) => `:${scanned.parameterNames[index]}`).text).toBe(query);
      }),
    );
  });

  it("reads the longest query in less than 2 s of processor time", () => {
    for (const text of ["'", "/*", "$a$", ":a ", "((", "e'\\", "- ", '""']) {
      const query = text.repeat(MAX_QUERY_LENGTH / text.length);
      const scan = (): void => {
        for (const dialect of DIALECTS) scanQuery(query, dialect);
      };
      expect(commonTime(scan, 2_000)).toBeLessThan(2_000);
    }
  });
});

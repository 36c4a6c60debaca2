/** CSV: parsing the output returns the same cells, and no cell is a formula. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toCsv } from "../../../src/web/values/csv.ts";

const column = (name: string) => ({ name, kind: "text" as const });

/** A minimal RFC 4180 parser. */
function parseCsv(csv: string): string[][] {
  const lines: string[][] = [];
  for (let at = 0; at < csv.length; at += 2) {
    const line: string[] = [];
    for (;;) {
      const [whole, quoted, plain] = /^(?:"((?:[^"]|"")*)"|([^",\r\n]*))/.exec(csv.slice(at))!;
      line.push(quoted?.replaceAll('""', '"') ?? plain!);
      at += whole.length;
      if (csv[at] !== ",") break;
      at += 1;
    }
    expect(csv.slice(at, at + 2)).toBe("\r\n");
    lines.push(line);
  }
  return lines;
}

describe("CSV", () => {
  it("parses to the same cells, with an apostrophe before formulas", () => {
    const text = fc.string({
      unit: fc.constantFrom("a", '"', ",", "\r", "\n", "=", "-", "@", "\t", "é", " "),
    });
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text)), (cells) => {
        const rows = cells.map(([a, b]) => ({ a, b }));
        const lines = parseCsv(toCsv(rows, [column("a"), column("b")]));
        expect(lines[0]).toEqual(["a", "b"]);
        for (const field of lines.flat()) expect(field).not.toMatch(/^[=+\-@\t\r\n]/);
        expect(lines.slice(1)).toEqual(
          cells.map((line) => line.map((cell) => (/^[=+\-@\t\r\n]/.test(cell) ? `'${cell}` : cell))),
        );
      }),
    );
  });

  it("escapes column names too, keeps numbers, and writes null as empty and objects as JSON", () => {
    const rows = [{ "=x": -5, b: null, c: { d: 'a"b' } }];
    expect(toCsv(rows, [column("=x"), column("b"), column("c")])).toBe(
      `'=x,b,c\r\n-5,,"{""d"":""a\\""b""}"\r\n`,
    );
  });

  it("keeps the digits and the sign of long numbers, which are texts", () => {
    const rows = [{ n: "-9007199254740993", d: "-900719925474099.23", zip: "01067", f: "-1+1" }];
    expect(toCsv(rows, ["n", "d", "zip", "f"].map(column))).toBe(
      "n,d,zip,f\r\n-9007199254740993,-900719925474099.23,01067,'-1+1\r\n",
    );
  });
});

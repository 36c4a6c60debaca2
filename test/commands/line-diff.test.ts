import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type DiffLine, lineDiff } from "../../src/commands/line-diff.ts";

const shown = (lines: readonly DiffLine[]): string[] =>
  lines.map(({ kind, text }) => `${{ same: " ", added: "+", removed: "-", gap: " " }[kind]}${text}`);
const texts = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");
const count = (list: readonly string[], word: string): number => list.filter((one) => one === word).length;

describe("a difference of lines", () => {
  it("shows what was added and removed with three lines around it, and leaves the rest out", () => {
    const before = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "a", "b", "c"];
    const after = before.with(4, "five").with(11, "C");
    expect(shown(lineDiff(texts(before), texts(after)))).toEqual([
      " 2",
      " 3",
      " 4",
      "-5",
      "+five",
      " 6",
      " 7",
      " 8",
      " 9",
      " a",
      " b",
      "-c",
      "+C",
    ]);
    const long = Array.from({ length: 30 }, (_, index) => String(index));
    expect(shown(lineDiff(texts(long), texts(long.with(2, "x").with(20, "y"))))).toContain(" …");
  });

  it("is empty where nothing differs, and whole for what is new", () => {
    expect(lineDiff("a\nb\n", "a\nb\n")).toEqual([]);
    expect(shown(lineDiff("", "a\nb\n"))).toEqual(["+a", "+b"]);
  });

  it("leads from the one text to the other", () => {
    const lines = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 6 });
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        fc.pre(before.join() !== after.join());
        // So few lines that none is left out.
        const diff = lineDiff(texts(before), texts(after)).filter(({ kind }) => kind !== "gap");
        const of = (kind: DiffLine["kind"]) =>
          diff.filter((line) => line.kind === kind).map(({ text }) => text);
        for (const word of ["a", "b", "c"]) {
          const grown = count(after, word) - count(before, word);
          expect(count(of("added"), word) - count(of("removed"), word)).toBe(grown);
        }
        const without = (kind: DiffLine["kind"]) =>
          diff
            .filter((line) => line.kind !== kind)
            .map(({ text }) => text)
            .join("\n");
        expect(texts(before)).toContain(without("added"));
        expect(texts(after)).toContain(without("removed"));
      }),
    );
  });
});

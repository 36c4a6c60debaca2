import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type DiffLine, lineDiff } from "../../src/core/line-diff.ts";

const format = (lines: readonly DiffLine[]): string[] =>
  lines.map(({ kind, text }) => `${{ same: " ", added: "+", removed: "-", gap: " " }[kind]}${text}`);
const texts = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");
const count = (list: readonly string[], word: string): number => list.filter((one) => one === word).length;

describe("lineDiff", () => {
  it("returns added and removed lines with three lines of context", () => {
    const before = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "a", "b", "c"];
    const after = before.with(4, "five").with(11, "C");
    expect(format(lineDiff(texts(before), texts(after)))).toEqual([
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
    expect(format(lineDiff(texts(long), texts(long.with(2, "x").with(20, "y"))))).toContain(" …");
  });

  it("returns nothing for equal texts, and every line of a new text", () => {
    expect(lineDiff("a\nb\n", "a\nb\n")).toEqual([]);
    expect(format(lineDiff("", "a\nb\n"))).toEqual(["+a", "+b"]);
    expect(lineDiff("a\nb", "a\nb\n")).toEqual([]);
  });

  it("replaces the whole text when nearly every line changed", () => {
    const before = Array.from({ length: 6_000 }, (_, index) => `old ${index}`);
    const after = Array.from({ length: 6_000 }, (_, index) => `new ${index}`);
    expect(format(lineDiff(texts(before), texts(after)))).toEqual([
      ...before.map((line) => `-${line}`),
      ...after.map((line) => `+${line}`),
    ]);
  });

  it("turns one text into the other", () => {
    const lines = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 6 });
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        fc.pre(before.join() !== after.join());
        // The texts are so short that the context covers every line.
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

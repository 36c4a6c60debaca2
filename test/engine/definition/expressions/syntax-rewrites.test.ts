import { describe, expect, it } from "vitest";
import {
  foreignTemplate,
  translateSyntax,
} from "../../../../src/engine/definition/expressions/syntax-rewrites.ts";

const repeated = (text: string, length: number): string =>
  text.repeat(Math.ceil(length / text.length)).slice(0, length);

/** With patterns that take a power of the length each of these takes minutes, so the test ends by the limit of its time. */
describe("the patterns of rewrites end for long texts", () => {
  it.each([
    ["inputs", ".ab", " zz"],
    ["inputs", '""', " zz"],
    ["a", "[a]", " zz"],
    ["not ", " ", "("],
    ["a if b ", " ", "("],
    ["[", "a for x in b if ", ""],
    ["", "a not in ", "("],
    ["", ".é", " zz"],
    ["", "a | b ", "("],
  ])("of translateSyntax: %j and then many of %j and %j", (before, text, after) => {
    for (const length of [1_900, 9_900])
      expect(translateSyntax(before + repeated(text, length) + after)).toBeUndefined();
  });

  it.each([
    ["{{ item.", " "],
    ["", "{{ item."],
    ["", "<%= item "],
    ["<%= item", " "],
    ["${item", " "],
  ])("of foreignTemplate: %j and then many of %j", (before, text) => {
    expect(foreignTemplate(before + repeated(text, 100_000))).toBeUndefined();
  });

  it.each([
    ["inputs.a[0].b not in inputs.list", "!(inputs.a[0].b in inputs.list)"],
    ["not inputs.a.b", "!inputs.a.b"],
    ["inputs.a[0].b | size", "size(inputs.a[0].b)"],
  ])("translateSyntax still reads %s", (source, translated) => {
    expect(translateSyntax(source)).toBe(translated);
  });
});

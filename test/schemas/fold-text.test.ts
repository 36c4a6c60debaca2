import { describe, expect, it } from "vitest";
import { foldText, isSameText, searchTerms } from "../../schemas/fold-text.ts";

/** Texts that are one after full case folding (CaseFolding.txt, statuses C and F) and canonical equivalence (Unicode, D145). */
const SAME = [
  ["Straße", "STRASSE", "STRAẞE", "strasse"],
  ["ΟΔΟΣ", "οδος", "οδοσ", "Οδοσ"],
  ["İstanbul", "i̇stanbul", "I\u0307STANBUL"],
  ["Größe", "Gro\u0308ße", "GRÖSSE", "GRO\u0308SSE"],
  ["ÉTÉ", "e\u0301te\u0301", "été"],
  ["ﬁnance", "FINANCE"],
  ["Ångström", "\u212Bngström", "A\u030Angstro\u0308m"],
  ["1 kΩ", "1 \u212A\u2126"],
  ["ᾳ", "ΑΙ", "αι"],
  ["Ᏸ", "ᏸ"],
  ["ſ", "S"],
  ["한국", "\u1112\u1161\u11AB\u1100\u116E\u11A8"],
  ["می\u200Cخواهم", "میخواهم"],
  ["❤\uFE0F", "❤"],
  // Marks in another order are canonically equivalent.
  ["q\u0307\u0323", "Q\u0323\u0307"],
] satisfies [string, string, ...string[]][];

const DIFFERENT = [
  ["ı", "i"],
  ["é", "e"],
  ["ö", "oe"],
  ["ｆｕｌｌ", "full"],
  ["½", "1/2"],
  ["и", "й"],
] as const;

describe("foldText", () => {
  it.each(SAME)("makes one text of %j, %j and other spellings", (...texts) => {
    expect(new Set(texts.map(foldText)).size).toBe(1);
    expect(isSameText(texts[0], texts[1])).toBe(true);
  });

  it.each(DIFFERENT)("distinguishes %j and %j", (a, b) => {
    expect(isSameText(a, b)).toBe(false);
  });

  it("returns folded letters of every script unchanged", () => {
    const changed: string[] = [];
    for (let code = 0; code <= 0x1_ff_ff; code += 1) {
      const folded = foldText(String.fromCodePoint(code));
      if (foldText(folded) !== folded) changed.push(folded);
    }
    expect(changed).toEqual([]);
  });
});

describe("searchTerms", () => {
  it("are the distinct words, folded, without those that show nothing", () => {
    expect(searchTerms("  Größe gro\u0308sse \u200B\n GRÖẞE\u3000b ")).toEqual(["grösse", "b"]);
    expect(searchTerms("50% w_x \\")).toEqual(["50%", "w_x", "\\"]);
  });
});

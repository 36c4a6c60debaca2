import { describe, expect, it } from "vitest";
import { chooseLocale, formatNumber } from "../../../src/web/locale/locale.ts";

describe("the locale of dates and numbers", () => {
  it.each([
    ["the first of the browser that has the language", "en", ["de-DE", "en-GB", "en-US"], "en-GB"],
    ["one with a region", "de", ["de-AT", "de", "en"], "de-AT"],
    ["one with a script", "de", ["de-Latn-CH"], "de-Latn-CH"],
    ["the language itself in the browser", "de", ["en", "de"], "de"],
    ["the language if the browser has another", "de", ["en-US", "fr"], "de"],
    ["the language if a locale only begins like it", "de", ["den", "deu-DE"], "de"],
    ["the language without a browser", "en", [], "en"],
  ])("is %s", (_what, language, preferred, locale) => {
    expect(chooseLocale(language, preferred)).toBe(locale);
  });
});

describe("a number", () => {
  it("is written with the options given, and the default ones without", () => {
    expect(formatNumber(1_234.5)).toBe("1,234.5");
    expect(formatNumber(0.256, { style: "percent" })).toBe("26%");
    expect(formatNumber(1_234.5, { minimumFractionDigits: 2 })).toBe("1,234.50");
    expect(formatNumber(1_234.5)).toBe("1,234.5");
  });
});

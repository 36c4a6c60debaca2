import { readdirSync } from "node:fs";
import { parseSetCookie } from "cookie";
import { afterEach, describe, expect, it, vi } from "vitest";
import { chooseLanguage, languageCookie, LANGUAGES } from "../../../src/web/locale/choose-language.ts";

/** Chooses a language on a page with this protocol. @returns the cookie, and how often the page was loaded again */
function choose(code: string, protocol: string) {
  const reload = vi.fn<() => void>();
  const document = { cookie: "" };
  vi.stubGlobal("document", document);
  vi.stubGlobal("location", { protocol, reload });
  chooseLanguage(code);
  return { cookie: document.cookie, reloads: reload.mock.calls.length };
}

describe("the choice of a language", () => {
  afterEach(() => vi.unstubAllGlobals());

  it("is kept for a year in a cookie for every page, and loads the page again", () => {
    const { cookie, reloads } = choose("de", "http:");
    expect({ ...parseSetCookie(cookie) }).toEqual({
      name: "millrace_language",
      value: "de",
      path: "/",
      maxAge: 365 * 86_400,
      sameSite: "lax",
    });
    expect(reloads).toBe(1);
  });

  it("is sent only over https where it was made there", () => {
    expect(choose("en", "https:").cookie).toBe(languageCookie("en", true));
    expect(parseSetCookie(languageCookie("en", true))).toMatchObject({ value: "en", secure: true });
    expect(parseSetCookie(languageCookie("en", false))).not.toHaveProperty("secure");
  });

  it("offers each language that has a catalogue, under its own name", () => {
    const catalogues = readdirSync(new URL("../../../src/web/messages/", import.meta.url), {
      withFileTypes: true,
    })
      .filter((entry) => entry.isDirectory() && entry.name !== "generated")
      .map(({ name }) => name);
    expect(LANGUAGES.map(({ code }) => code).toSorted()).toEqual(catalogues.toSorted());
    for (const { code, name } of LANGUAGES)
      expect(new Intl.DisplayNames(code, { type: "language" }).of(code)).toBe(name);
  });
});

/** The page of the web interface as the server sends it: its language, and what caches may keep. */
import { writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import express from "express";
import { describe, expect, it, onTestFinished } from "vitest";
import { webPages } from "../../src/surfaces/web/pages.ts";
import { temporaryDirectory } from "../support/instance.ts";
import { type RawResponse, rawRequest } from "../support/raw-http.ts";
import { openRest } from "../support/rest.ts";

/** @returns the language that a page names in its header, and in its document */
const languagesOf = ({ headers, text }: RawResponse): (string | undefined)[] => [
  headers["content-language"],
  /<html lang="(\w+)"/.exec(text)?.[1],
];

/** Names that a header lists, in lower case. */
const namesIn = (header: string | undefined): string[] => (header ?? "").toLowerCase().split(/ *, */);

const cookie = (value: string) => ({ Cookie: `millrace_language=${value}` });
const accept = (value: string) => ({ "Accept-Language": value });

describe("the page of the web interface", () => {
  it("is in the chosen language, else in the one that the browser prefers, else in English", async () => {
    const { url } = await openRest();
    const cases: readonly (readonly [headers: Record<string, string>, language: string])[] = [
      [{}, "en"],
      [accept("*"), "en"],
      [accept("en-GB,en;q=0.9,de;q=0.8"), "en"],
      [accept("de"), "de"],
      [accept("de-AT"), "de"],
      [accept("DE-at, en;q=0.9"), "de"],
      [accept("fr-FR, fr;q=0.9, de;q=0.3, en;q=0.2"), "de"],
      [accept("fr-FR, fr;q=0.9"), "en"],
      [accept("de;q=0"), "en"],
      [accept("den"), "en"],
      [accept(",;q=x,\u00e9"), "en"],
      [cookie("de"), "de"],
      [{ ...cookie("de"), ...accept("en") }, "de"],
      [{ ...cookie("en"), ...accept("de-AT, de") }, "en"],
      [{ Cookie: "a=1; millrace_language=de; b=2" }, "de"],
      [{ Cookie: "not_millrace_language=de" }, "en"],
    ];
    for (const [headers, language] of cases) {
      const page = await rawRequest("GET", `${url}/ui/`, { headers });
      expect([headers, page.status, ...languagesOf(page)]).toEqual([headers, 200, language, language]);
    }
  });

  it("ignores a cookie without one of its languages", async () => {
    const { url } = await openRest();
    for (const value of [
      "",
      "fr",
      "DE",
      "de-AT",
      "d",
      "%zz",
      "%64e%00",
      "../index.de",
      "__proto__",
      "constructor",
      '"><script>',
      "x".repeat(4_000),
    ]) {
      const headers = { ...cookie(value), ...accept("de") };
      const german = await rawRequest("GET", `${url}/ui/sign-in`, { headers });
      expect([value, german.status, ...languagesOf(german)]).toEqual([value, 200, "de", "de"]);
      const english = await rawRequest("GET", `${url}/ui/sign-in`, { headers: cookie(value) });
      expect([value, ...languagesOf(english)]).toEqual([value, "en", "en"]);
    }
  });

  it("tells people without scripts in its language what they need", async () => {
    const { url } = await openRest();
    const noscript = async (language: string): Promise<string | undefined> => {
      const { text } = await rawRequest("GET", `${url}/ui/`, { headers: accept(language) });
      return /<noscript>(.*?)<\/noscript>/.exec(text)?.[1];
    };
    expect(await noscript("en")).toBe(
      "This page needs JavaScript. Scripts and agents can use the API, see /apidoc/.",
    );
    expect(await noscript("de")).toBe(
      "Diese Seite benötigt JavaScript. Skripte und Agenten können die API verwenden, siehe /apidoc/.",
    );
  });

  it("is kept by no cache, names the headers that it depends on, and has a nonce of its own", async () => {
    const { url } = await openRest();
    for (const headers of [{}, accept("de"), cookie("de")]) {
      const [first, second] = [
        await rawRequest("GET", `${url}/ui/runs`, { headers }),
        await rawRequest("GET", `${url}/ui/runs`, { headers }),
      ];
      expect(namesIn(first.headers.vary)).toEqual(expect.arrayContaining(["accept-language", "cookie"]));
      expect(first.headers).toMatchObject({
        "cache-control": "no-store",
        "content-type": "text/html; charset=utf-8",
        "cross-origin-opener-policy": "same-origin",
      });
      expect(first.headers).not.toHaveProperty("etag");
      expect(first.headers).not.toHaveProperty("last-modified");
      expect(first.headers).not.toHaveProperty("set-cookie");
      const nonces = [first, second].map(
        (page) => /'nonce-([^']{24})'/.exec(String(page.headers["content-security-policy"]))![1]!,
      );
      expect(new Set(nonces).size).toBe(2);
      expect(first.text).toContain(`nonce="${nonces[0]!}"`);
      expect(first.text).not.toContain("__CSP_NONCE__");
      // A page with an old nonce would be empty.
      const later = { ...headers, "If-None-Match": '"x"', "If-Modified-Since": new Date().toUTCString() };
      expect((await rawRequest("GET", `${url}/ui/runs`, { headers: later })).status).toBe(200);
    }
  });

  it("loads files that depend on no language, and may be kept for ever or asked for again", async () => {
    const { url } = await openRest();
    const { text } = await rawRequest("GET", `${url}/ui/`, { headers: accept("de") });
    const script = /src="(\/ui\/assets\/[^"]+\.js)"/.exec(text)![1]!;
    for (const [path, caching] of [
      [script, "public,max-age=31536000,immutable"],
      ["/ui/icon.svg", "public,max-age=3600"],
      ["/ui/color-scheme.js", "public,max-age=3600"],
    ] as const) {
      const file = await rawRequest("GET", url + path, { headers: cookie("de") });
      expect([path, file.status, file.headers["cache-control"]]).toEqual([path, 200, caching]);
      expect(file.headers).not.toHaveProperty("content-language");
      expect(namesIn(file.headers.vary)).not.toContain("cookie");
      expect(namesIn(file.headers.vary)).not.toContain("accept-language");
      const headers = { ...cookie("en"), "If-None-Match": String(file.headers.etag) };
      expect([path, (await rawRequest("GET", url + path, { headers })).status]).toEqual([path, 304]);
    }
  });
});

/** Serves the pages of a directory. @returns the address of the page */
async function serve(directory: string): Promise<string> {
  const server = express().use("/ui", webPages(directory)).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/ui/`;
}

describe("a build without the page of a language", () => {
  it.each(["index.html", "index.de.html"])("is refused: only %s", async (name) => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, name), "<html></html>");
    const { status, text } = await rawRequest("GET", await serve(directory), { headers: accept("de") });
    expect([status, text]).toEqual([503, expect.stringContaining("npm run build:web")]);
  });
});

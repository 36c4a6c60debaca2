import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMasker } from "../../src/connections/masking.ts";
import { commonTime } from "../support/slowness.ts";

const SECRET = 's3cr3t/"+ü value';

const utf16be = (text: string) => Buffer.from(text, "utf16le").swap16();

describe("masker", () => {
  it("masks every occurrence of a secret", () => {
    expect(createMasker([SECRET]).text(`a ${SECRET} b ${SECRET}`)).toBe("a *** b ***");
  });

  it("masks the longer of two overlapping secrets completely", () => {
    expect(createMasker(["abc", "abcdef"]).text("abcdef abc")).toBe("*** ***");
  });

  it("masks keys, strings and numbers of a JSON value", () => {
    expect(createMasker(["12345678"]).json({ k12345678: [12_345_678, "x12345678", null, true, 7] })).toEqual({
      "k***": ["***", "x***", null, true, 7],
    });
  });

  it("masks a list of a secret's characters", () => {
    const { json } = createMasker(["sk_live_12345"]);
    expect(json({ key: Array.from("sk_live_12345"), other: Array.from("sk_live_12346") })).toEqual({
      key: ["***"],
      other: Array.from("sk_live_12346"),
    });
  });

  it("changes nothing without secrets", () => {
    const value = { a: [1, "***"] };
    expect(createMasker([]).json(value)).toBe(value);
    expect(createMasker([""]).text("abc")).toBe("abc");
  });

  it.each<[string, (text: string) => string]>([
    ["as it is", (text) => text],
    ["in upper case", (text) => text.toUpperCase()],
    ["in base64", (text) => Buffer.from(text).toString("base64")],
    ["in base64 with line breaks", (text) => Buffer.from(text).toString("base64").replace(/.{5}/g, "$&\r\n")],
    ["in base64url", (text) => Buffer.from(text).toString("base64url")],
    ["in hex", (text) => Buffer.from(text).toString("hex")],
    ["in spaced hex", (text) => Buffer.from(text).toString("hex").toUpperCase().replace(/../g, "$& ")],
    ["in UTF-16 as base64", (text) => Buffer.from(text, "utf16le").toString("base64")],
    ["in UTF-16 as hex", (text) => Buffer.from(text, "utf16le").toString("hex")],
    ["in UTF-16, read as bytes", (text) => Buffer.from(text, "utf16le").toString("latin1")],
    ["in UTF-8, read as bytes", (text) => Buffer.from(text).toString("latin1")],
    ["escaped for URLs", encodeURIComponent],
    ["escaped for forms", (text) => new URLSearchParams({ a: text }).toString()],
    [
      "escaped for URLs, each character",
      (text) => `%${Buffer.from(text).toString("hex").match(/../g)!.join("%")}`,
    ],
    ["escaped for URLs twice", (text) => encodeURIComponent(encodeURIComponent(text))],
    ["escaped for URLs, in base64", (text) => Buffer.from(encodeURIComponent(text)).toString("base64")],
    [
      "escaped for HTML",
      (text) => text.replaceAll("/", "&#47;").replaceAll('"', "&quot;").replaceAll("3", "&#x33;"),
    ],
    ["escaped for JSON", (text) => JSON.stringify(text)],
    [
      "escaped for JSON, each character",
      (text) => text.replace(/[\s\S]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`),
    ],
    ["escaped for JSON twice", (text) => JSON.stringify(JSON.stringify({ text }))],
    ["in quoted-printable", (text) => Buffer.from(text).toString("hex").toUpperCase().replace(/../g, "=$&")],
    ["with soft line breaks", (text) => text.replace(/.{4}/g, "$&=\r\n")],
    ["in UTF-16 of the other byte order as hex", (text) => utf16be(text).toString("hex")],
    ["in UTF-16 of the other byte order as base64", (text) => utf16be(text).toString("base64")],
    ["with combining marks", (text) => text.split("").join("\u0301")],
    ["with emoji", (text) => text.split("").join("\u{1F600}")],
    ["with tag characters", (text) => text.split("").join("\u{E0041}")],
    ["with letters that are not visible", (text) => text.split("").join("\u3164")],
    [
      "in letters of full width",
      (text) => text.replace(/[!-~]/g, (char) => String.fromCharCode(char.charCodeAt(0) + 0xfe_e0)),
    ],
    [
      "escaped for HTML with names",
      (text) => text.replaceAll("/", "&sol;").replaceAll('"', "&quot;").replaceAll("+", "&plus;"),
    ],
    [
      "escaped for HTML without semicolons",
      (text) => text.replace(/[!-~]/g, (char) => `&#${char.charCodeAt(0)} `),
    ],
    [
      "escaped for JavaScript with braces",
      (text) => text.replace(/[!-~]/g, (char) => `\\u{${char.charCodeAt(0).toString(16)}}`),
    ],
    [
      "escaped in octal",
      (text) => text.replace(/[!-~]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`),
    ],
    ["reversed", (text) => text.split("").toReversed().join("")],
    ["with spaces", (text) => text.split("").join(" ")],
    ["with hyphens and line breaks", (text) => text.split("").join("-\n")],
    ["with marks without width", (text) => text.split("").join("\u200B")],
    ["reversed with spaces", (text) => text.split("").toReversed().join("  ")],
  ])("masks a secret %s, whatever the surrounding text is", (_, encode) => {
    fc.assert(
      fc.property(fc.string({ maxLength: 20 }), fc.string({ maxLength: 20 }), (before, after) => {
        const { text } = createMasker(["another secret", SECRET]);
        expect(text(encode(before + SECRET + after))).toContain("***");
        expect(text(`${before} ${encode(SECRET)} ${after}`)).toContain("***");
        expect(text(`${before} ${encode(SECRET)} ${after}`)).not.toContain(encode(SECRET));
      }),
    );
  });

  it("masks a short secret as it is and escaped, but not in spaced text", () => {
    const { text } = createMasker(["p@55/"]);
    expect(text("a P@55/ b p%4055%2f c p&#64;55/")).toBe("a *** b *** c ***");
    expect(text("p @55/")).toBe("p @55/");
    expect(createMasker(["ab"]).text("xabx")).toBe("x***x");
  });

  it("keeps the text around a secret", () => {
    const { text } = createMasker(["correct horse"]);
    expect(text("<b>&lt;correct%20horse&gt;</b> c-o-r-r-e-c-t horse!")).toBe("<b>&lt;***&gt;</b> ***!");
  });

  it("changes no text without a secret", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200, unit: "binary" }), (value) => {
        expect(createMasker([SECRET, "p@55/w0rd12"]).text(value)).toBe(value);
      }),
    );
  });

  it("takes work in proportion to the text, however many secrets there are", () => {
    const secrets = Array.from({ length: 100 }, (_, index) => `sk-${index}-abcdefgh-${index * 7_919}`);
    const { text } = createMasker(secrets);
    const long = "the quick brown fox, 100% & more \\ ".repeat(30_000);
    expect(commonTime(() => text(long), 1_000)).toBeLessThan(1_000);
  });
});

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMasker } from "../../src/connections/masking.ts";

const SECRET = 's3cr3t/"+ü value';

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

  it("changes nothing without secrets", () => {
    const value = { a: [1, "***"] };
    expect(createMasker([]).json(value)).toBe(value);
    expect(createMasker([""]).text("abc")).toBe("abc");
  });

  it("masks encoded forms, whatever the surrounding text is", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 20 }), fc.string({ maxLength: 20 }), (before, after) => {
        const whole = Buffer.from(before + SECRET + after);
        const { text } = createMasker([SECRET]);
        const pieces = [
          whole.toString("base64"),
          whole.toString("base64url"),
          whole.toString("hex"),
          Buffer.from(whole.toString(), "utf16le").toString("base64"),
          Buffer.from(SECRET, "utf16le").toString("hex"),
          SECRET.toUpperCase(),
          encodeURIComponent(SECRET),
          new URLSearchParams({ a: SECRET }).toString(),
          JSON.stringify(SECRET),
        ];
        for (const piece of pieces) expect(text(piece)).toContain("***");
      }),
    );
  });
});

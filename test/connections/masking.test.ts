import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMasker } from "../../src/connections/masking.ts";

const SECRET = 's3cr3t/"+ü value';

describe("masker", () => {
  it("masks a secret wherever it stands", () => {
    expect(createMasker([SECRET]).text(`a ${SECRET} b ${SECRET}`)).toBe("a *** b ***");
  });

  it("masks the longer of two secrets whole", () => {
    expect(createMasker(["abc", "abcdef"]).text("abcdef abc")).toBe("*** ***");
  });

  it("masks keys, texts and numbers of a value", () => {
    expect(createMasker(["12345678"]).json({ k12345678: [12_345_678, "x12345678", null, true, 7] })).toEqual({
      "k***": ["***", "x***", null, true, 7],
    });
  });

  it("leaves everything as it is without secrets", () => {
    const value = { a: [1, "***"] };
    expect(createMasker([]).json(value)).toBe(value);
    expect(createMasker([""]).text("abc")).toBe("abc");
  });

  it("masks encoded forms, whatever stands around them", () => {
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

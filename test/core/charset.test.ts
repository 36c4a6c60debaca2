import { describe, expect, it } from "vitest";
import { charsetOfMark, decoderOf, isAsciiCompatible, parseContentType } from "../../src/core/charset.ts";

const decode = (charset: string, bytes: number[], hasMark = true): string | undefined =>
  decoderOf(charset, { hasMark })!(Uint8Array.from(bytes));

describe("decoderOf", () => {
  it("decodes what the charset has, and replaces nothing", () => {
    expect(decode("utf-8", [0xc3, 0xbc])).toBe("ü");
    expect(decode("utf-8", [0xfc])).toBeUndefined();
    expect(decode("ISO-8859-1", [0xfc])).toBe("ü");
    expect(decode("us-ascii", [0x61])).toBe("a");
    expect(decode("us-ascii", [0xfc])).toBeUndefined();
    expect(decode("utf-16le", [0x61, 0x00, 0x61])).toBeUndefined();
    expect(decoderOf("none", { hasMark: true })).toBeUndefined();
  });

  it("takes a byte order mark for a part of the text unless it says otherwise", () => {
    const bytes = [0xef, 0xbb, 0xbf, 0x61];
    expect([decode("utf-8", bytes), decode("utf-8", bytes, false)]).toEqual(["a", "\uFEFFa"]);
  });
});

describe("isAsciiCompatible", () => {
  it("is false for charsets with other bytes", () => {
    expect(["utf-8", "latin1", "shift_jis", "utf-16le", "none"].filter(isAsciiCompatible)).toEqual([
      "utf-8",
      "latin1",
      "shift_jis",
    ]);
  });
});

describe("charsetOfMark", () => {
  it.each([
    [[0xef, 0xbb, 0xbf], "utf-8"],
    [[0xfe, 0xff], "utf-16be"],
    [[0xff, 0xfe], "utf-16le"],
    [[0x7b], undefined],
  ])("of %j is %s", (bytes, charset) => {
    expect(charsetOfMark(Uint8Array.from(bytes))).toBe(charset);
  });
});

describe("parseContentType", () => {
  it("reads odd case and parameters, and nothing of what is no type", () => {
    const type = parseContentType('Text/CSV ;Charset="Latin1"; header=present;');
    expect([type?.essence, type?.params.get("charset")]).toEqual(["text/csv", "Latin1"]);
    expect([undefined, "", "csv"].map(parseContentType)).toEqual([undefined, undefined, undefined]);
  });
});

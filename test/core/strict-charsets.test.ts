import { describe, expect, it } from "vitest";
import {
  charsetIssue,
  decodeStrictly,
  encodingOf,
  charsetOfMark,
  invalidOffset,
} from "../../src/core/charset.ts";

const decode = (encoding: string, ...bytes: number[]): string | undefined =>
  decodeStrictly(Uint8Array.from(bytes), encoding);

describe("decodeStrictly", () => {
  it("decodes the encodings of the standard, with the 27 characters that windows-1252 adds to Latin-1", () => {
    expect(decode("windows-1252", 0x80, 0x92, 0xfc)).toBe("€’ü");
    expect(decode("iso-8859-15", 0xa4)).toBe("€");
    expect(decode("shift_jis", 0x82, 0xa0)).toBe("あ");
    expect(decode("gb18030", 0xc4, 0xe3)).toBe("你");
    expect(decode("utf-16be", 0xfe, 0xff, 0, 0x61)).toBe("a");
    expect(decode("utf-8", 0xef, 0xbb, 0xbf, 0x61)).toBe("a");
  });

  it("keeps U+FFFD where the bytes say so", () => {
    expect(decode("utf-8", 0x61, 0xef, 0xbf, 0xbd)).toBe("a\ufffd");
  });

  it.each([
    ["a byte of Latin-1", "utf-8", [0x61, 0x62, 0xfc, 0x63], 2],
    ["half a surrogate pair", "utf-8", [0x61, 0xed, 0xa0, 0x80], 2],
    ["an overlong form", "utf-8", [0xc0, 0x80], 0],
    ["an incomplete character at the end", "utf-8", [0x61, 0xe2, 0x82], 3],
    ["half a unit", "utf-16le", [0x61, 0, 0x62], 3],
    ["half a pair", "utf-16le", [0, 0xd8, 0x61, 0], 3],
    ["a byte without a meaning", "windows-1253", [0x61, 0xd2], 1],
  ])("refuses %s, with its offset: %s", (_name, encoding, bytes, offset) => {
    expect(decode(encoding, ...bytes)).toBeUndefined();
    expect(invalidOffset(Uint8Array.from(bytes), encoding)).toBe(offset);
  });
});

describe("charsetOfMark", () => {
  it.each([
    ["utf-8", [0xef, 0xbb, 0xbf]],
    ["utf-16le", [0xff, 0xfe, 0x61, 0]],
    ["utf-16be", [0xfe, 0xff]],
    ["utf-32le", [0xff, 0xfe, 0, 0]],
    ["utf-32be", [0, 0, 0xfe, 0xff]],
    ["utf-16le", [0xff, 0xfe]],
    [undefined, [0x61]],
    [undefined, []],
  ])("finds %s", (encoding, bytes) => {
    expect(charsetOfMark(Uint8Array.from(bytes))).toBe(encoding);
  });
});

describe("a charset", () => {
  it("has any label of the standard, in any case", () => {
    expect(["Latin1", "cp1252", "UTF8", "sjis", "UTF-16"].map(encodingOf)).toEqual([
      "windows-1252",
      "windows-1252",
      "utf-8",
      "shift_jis",
      "utf-16le",
    ]);
  });

  it.each([
    ["latin-1", "latin1"],
    ["windows1252", "windows-1252"],
    ["utf_8", "utf-8"],
    ["nonsense", undefined],
  ])("%s is refused with the near match %s", (label, near) => {
    expect(charsetIssue(label)).toMatchObject({ code: "not_allowed" });
    expect(charsetIssue(label)!.did_you_mean).toBe(near);
  });
});

import { describe, expect, it } from "vitest";
import {
  charsetOfMark,
  charsetParameter,
  decoderOf,
  isAsciiCompatible,
  parseContentType,
} from "../../src/core/charset.ts";

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

/** The encodings of the Encoding standard, section 4.2. The last four have no decoder. */
const ENCODINGS = (
  "utf-8 ibm866 iso-8859-2 iso-8859-3 iso-8859-4 iso-8859-5 iso-8859-6 iso-8859-7 iso-8859-8 iso-8859-8-i iso-8859-10 " +
  "iso-8859-13 iso-8859-14 iso-8859-15 iso-8859-16 koi8-r koi8-u macintosh windows-874 windows-1250 windows-1251 " +
  "windows-1252 windows-1253 windows-1254 windows-1255 windows-1256 windows-1257 windows-1258 x-mac-cyrillic gbk " +
  "gb18030 big5 euc-jp iso-2022-jp shift_jis euc-kr utf-16be utf-16le iso-2022-kr iso-2022-cn hz-gb-2312 replacement"
).split(" ");

describe("isAsciiCompatible", () => {
  it("is false for charsets in which bytes below 0x80 mean something else", () => {
    expect(ENCODINGS.filter((charset) => !isAsciiCompatible(charset))).toEqual([
      "iso-2022-jp",
      "utf-16be",
      "utf-16le",
      "iso-2022-kr",
      "iso-2022-cn",
      "hz-gb-2312",
      "replacement",
    ]);
    expect(["us-ascii", "none"].map(isAsciiCompatible)).toEqual([true, false]);
  });
});

describe("a decoder of Shift_JIS", () => {
  it("keeps the control characters that other tables of this charset exchange", () => {
    expect(decode("shift_jis", [0x93, 0xfa, 0x1a, 0x1c, 0x7f])).toBe("日\x1a\x1c\x7f");
  });
});

describe("a decoder of ISO-2022-JP", () => {
  it("begins each text in ASCII, whatever the text before ended in or failed with", () => {
    const decoder = decoderOf("iso-2022-jp", { hasMark: false })!;
    const texts = ['\x1b$B$"', '$"', "\x1b$B$", '$"', "\x1b(J~", "~"];
    expect(texts.map((text) => decoder(Buffer.from(text, "latin1")))).toEqual([
      "あ",
      '$"',
      undefined,
      '$"',
      "‾",
      "~",
    ]);
  });
});

describe("charsetParameter", () => {
  it.each([
    ["text/html; charset=UTF-8", "UTF-8"],
    ['text/html;Charset="latin1" ;x=y', "latin1"],
    ["text/html; charset = utf-8", "utf-8"],
    ["text/html; charset=utf-8, text/html", "utf-8"],
    ['text/html; x="a; charset=b"; charset=c', "c"],
    ["text/html; charset=a; charset=b", "a"],
    ["text; charset=a", "a"],
    ["; charset=a", "a"],
    ["text/html; charset=", undefined],
    ['text/html; charset=""', undefined],
    ["text/html; xcharset=a", undefined],
    ["charset=a", undefined],
    ["", undefined],
    [undefined, undefined],
  ])("of %j is %s", (header, charset) => {
    expect(charsetParameter(header)).toBe(charset);
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

  // Senders without a key choose these: MIMEType alone needs half an hour for one.
  it.each([
    ["spaces before the type ends", `text/csv${" ".repeat(1_000_000)}x`],
    ["many parameters", `text/csv${"; a".repeat(300_000)}`],
    ["quotes without an end", `text/csv${';a="\\'.repeat(200_000)}`],
  ])("ends for %s", (_, header) => {
    expect(parseContentType(header)).toBeUndefined();
    expect(charsetParameter(`${header}; charset=latin1`)).toBe("latin1");
  });
});

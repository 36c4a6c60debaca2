import { describe, expect, it } from "vitest";
import { parseMultipart } from "../../../src/surfaces/rest/multipart.ts";

const TYPE = "multipart/form-data; boundary=XX";

/** Parts as they are sent: the lines of each head, and its content. */
const formOf = (...parts: [head: string[], content: string][]): Buffer =>
  Buffer.concat([
    ...parts.map(([head, content]) =>
      Buffer.from(`--XX\r\n${head.join("\r\n")}\r\n\r\n${content}\r\n`, "latin1"),
    ),
    Buffer.from("--XX--\r\n"),
  ]);

const named = (name: string, more = ""): string => `Content-Disposition: form-data; name="${name}"${more}`;
const utf8 = (text: string): string => Buffer.from(text).toString("latin1");

describe("parseMultipart", () => {
  it.each([
    ["no parts", formOf(), []],
    ["a name that looks encoded", formOf([[named("a; name*=b")], "1"]), [["a; name*=b", "1"]]],
    [
      "fields in order",
      formOf([[named("b")], "1"], [[named("a")], ""], [[named("b")], "2"]),
      [
        ["b", "1"],
        ["a", ""],
        ["b", "2"],
      ],
    ],
    [
      "a name without quotes after a type (.NET)",
      formOf([
        ["Content-Type: text/plain; charset=utf-8", "Content-Disposition: form-data; name=a"],
        utf8("ü"),
      ]),
      [["a", "ü"]],
    ],
    [
      "a part in its own charset",
      formOf(
        [[named("a"), "content-type: text/plain; charset=ISO-8859-1"], "\u00fc"],
        [[named("b")], utf8("ü")],
      ),
      [
        ["a", "ü"],
        ["b", "ü"],
      ],
    ],
    [
      "all parts in the charset of _charset_",
      formOf([[named("_charset_")], "iso-8859-1"], [[named("a")], "\u00fc"]),
      [
        ["_charset_", "iso-8859-1"],
        ["a", "ü"],
      ],
    ],
    [
      "parts in ISO-2022-JP, whose bytes are those of ASCII",
      formOf(
        [[named("_charset_")], "iso-2022-jp"],
        [[named("a")], '\u001b$B$"\u001b(B'],
        [[named("b"), "content-type: text/plain; charset=utf-8"], '$"'],
      ),
      [
        ["_charset_", "iso-2022-jp"],
        ["a", "あ"],
        ["b", '$"'],
      ],
    ],
    [
      "line ends and byte order marks as they are",
      formOf([[named("a")], utf8("\uFEFFx\r\n\r\ny\n")]),
      [["a", "\uFEFFx\r\n\r\ny\n"]],
    ],
    ["quotes in names", formOf([[named("a%22b")], "1"]), [['a"b', "1"]]],
    ["the name __proto__", formOf([[named("__proto__")], "1"]), [["__proto__", "1"]]],
    [
      "a file input without a file as none",
      formOf(
        [[named("a")], "1"],
        [[named("f", '; filename=""'), "Content-Type: application/octet-stream"], ""],
      ),
      [["a", "1"]],
    ],
    [
      "line breaks before the parts and text after them",
      Buffer.concat([Buffer.from("\r\n"), formOf([[named("a")], "1"]), Buffer.from("after")]),
      [["a", "1"]],
    ],
  ])("reads %s", async (_what, body, fields) => {
    expect(await parseMultipart(body, TYPE)).toEqual(fields);
  });

  it.each([
    [
      "files, by name",
      formOf(
        [[named("a")], "1"],
        [[named("photo", `; filename="${utf8("fötö.jpg")}"`), "Content-Type: image/jpeg"], "\u00ff\u00d8"],
      ),
      'photo is the file "fötö.jpg", and files can\'t be received',
    ],
    [
      "files with an encoded name",
      formOf([[named("f", "; filename*=utf-8''x.txt")], "1"]),
      'f is the file "x.txt"',
    ],
    [
      "names that are encoded",
      formOf([[named("a")], "1"], [["Content-Disposition: form-data; name*=utf-8''gr%C3%B6%C3%9Fe"], "2"]),
      "parts[1] has its name as name*",
    ],
    [
      "names that are encoded beside others",
      formOf([[named("a", "; NAME* = utf-8''b")], "1"]),
      "parts[0] has its name as name*",
    ],
    [
      "bytes of another charset",
      formOf([[named("city")], "M\u00fcnchen"]),
      "city is not valid text in the charset utf-8",
    ],
    [
      "a part whose charset is not known",
      formOf([[named("a"), "Content-Type: text/plain; charset=none"], "1"]),
      '"none" of the form is not known',
    ],
    [
      "encodings of parts",
      formOf([[named("a"), "Content-Transfer-Encoding: base64"], "aGk="]),
      'a has the Content-Transfer-Encoding "base64"',
    ],
    ["a form that is cut off", formOf([[named("a")], "1"]).subarray(0, -6), "not valid multipart/form-data"],
    [
      "line feeds alone",
      Buffer.from(
        formOf([[named("a")], "1"])
          .toString()
          .replaceAll("\r\n", "\n"),
      ),
      "not valid multipart/form-data",
    ],
    ["an empty body", Buffer.alloc(0), "not valid multipart/form-data"],
    [
      "too many parts",
      formOf(...Array.from({ length: 2_001 }, (): [string[], string] => [[named("a")], ""])),
      "at most 2,000 fields",
    ],
  ])("refuses %s", async (_what, body, message) => {
    await expect(parseMultipart(body, TYPE)).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining(message),
    });
  });

  it("refuses a type without a boundary, and reads one in quotes", async () => {
    const body = formOf([[named("a")], "1"]);
    await expect(parseMultipart(body, "multipart/form-data")).rejects.toThrow("names no boundary");
    expect(await parseMultipart(body, 'Multipart/Form-Data ; Boundary="XX"')).toEqual([["a", "1"]]);
  });
});

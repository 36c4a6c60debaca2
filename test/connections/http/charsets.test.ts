import { describe, expect, it } from "vitest";
import { bodyFrom } from "../../support/http-client.ts";
import { stepErrorOf } from "../../support/mock-http-server.ts";

const typed = (type: string): Record<string, string> => ({ "content-type": type });
const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");
const utf16be = (text: string): Buffer => Buffer.from(text, "utf16le").swap16();

describe("the text of a response", () => {
  it("is in the encoding of its byte order mark, whatever is declared", async () => {
    for (const type of ["text/plain", "text/csv; charset=utf-8", "text/plain; charset=nonsense"]) {
      expect(await bodyFrom(typed(type), Buffer.from("\ufeffa,ü", "utf16le"))).toBe("a,ü");
      expect(await bodyFrom(typed(type), utf16be("\ufeffa,ü"))).toBe("a,ü");
      expect(await bodyFrom(typed(type), "\ufeffa,ü")).toBe("a,ü");
    }
    expect(await bodyFrom({}, Buffer.from("\ufeffa,ü", "utf16le"))).toBe("a,ü");
  });

  it("is in the declared charset", async () => {
    expect(await bodyFrom(typed("text/plain; charset=iso-8859-1"), latin1("ü"))).toBe("ü");
    expect(await bodyFrom(typed('text/plain; charset="windows-1252"'), latin1("\x80\x92"))).toBe("€’");
    expect(await bodyFrom(typed("text/plain;charset = Shift_JIS"), Buffer.from([0x82, 0xa0]))).toBe("あ");
    expect(await bodyFrom(typed("text/plain; charset=utf-16be"), utf16be("ü"))).toBe("ü");
  });

  it("is in the charset that XML and HTML declare inside, if the header names none", async () => {
    const xml = '<?xml version="1.0" encoding="ISO-8859-1"?><a>ü</a>';
    expect(await bodyFrom(typed("application/xml"), latin1(xml))).toBe(xml);
    expect(await bodyFrom(typed("application/xml; charset=utf-8"), xml)).toBe(xml);
    const html = '<html><head><meta charset="windows-1252"></head>ü';
    expect(await bodyFrom(typed("text/html"), latin1(html))).toBe(html);
    const old = '<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-2">\u00b1';
    expect(await bodyFrom(typed("text/html"), latin1(old))).toBe(old.replace("\u00b1", "ą"));
    const wrong = '<?xml version="1.0" encoding="utf-16"?><a>ü</a>';
    expect(await bodyFrom(typed("text/xml"), wrong)).toBe(wrong);
  });

  it("is in the charset of the step", async () => {
    for (const type of ["text/csv", "text/csv; charset=utf-8", "text/csv; charset=nonsense", "x/y"])
      expect(await bodyFrom(typed(type), latin1("ü"), { format: { charset: "latin1" } })).toBe("ü");
  });

  it("keeps U+FFFD that was sent", async () => {
    expect(await bodyFrom(typed("text/plain"), "a\ufffdb")).toBe("a\ufffdb");
  });

  it.each([
    ["text/csv", latin1("ab\u00fcc"), "declares no charset and is not UTF-8: it has 0xfc at byte 2"],
    [
      "text/csv; charset=utf-8",
      latin1("ab\u00fcc"),
      "declares the charset utf-8 and is not valid utf-8: it has 0xfc at byte 2",
    ],
    ["text/plain", Buffer.from("ü").subarray(0, 1), "ends inside a character"],
    ["text/plain; charset=utf8mb4", "a", "declares the charset utf8mb4, which is unknown here"],
    ["text/plain", Buffer.from("fffe000061000000", "hex"), "begins with the byte order mark of utf-32le"],
    ["text/plain", Buffer.from("fffe6100d8", "hex"), "of utf-16le and is not valid utf-16le"],
    ["text/xml", '<?xml version="1.0" encoding="x-own"?>', "declares the charset x-own in its text"],
  ])("fails as %s of %o: %s", async (type, body, message) => {
    const error = await stepErrorOf(bodyFrom(typed(type), body));
    expect(error).toMatchObject({ code: "http_failed", transient: false });
    expect(error.message).toContain(message);
    expect(error.options.fix).toMatch(
      /^Set charset to the one that the server uses, such as .*parse: base64/,
    );
  });

  it("proposes the charset that a misspelt one means", async () => {
    const error = await stepErrorOf(bodyFrom(typed("text/plain; charset=windows1250"), "a"));
    expect(error.options.fix).toContain("such as windows-1250,");
  });
});

describe("the JSON of a response", () => {
  const value = { name: "Müller" };
  const json = JSON.stringify(value);

  it("is UTF-8, with or without a byte order mark, also where the header names Latin-1", async () => {
    for (const type of ["application/json", "application/json; charset=iso-8859-1"])
      for (const body of [json, `\ufeff${json}`]) expect(await bodyFrom(typed(type), body)).toEqual(value);
    expect(await bodyFrom(typed("application/json; charset=nonsense"), json)).toEqual(value);
  });

  it("may be in another charset that is declared, marked or set", async () => {
    const type = "application/json; charset=iso-8859-1";
    expect(await bodyFrom(typed(type), latin1(json))).toEqual(value);
    expect(await bodyFrom(typed("application/json"), Buffer.from(`\ufeff${json}`, "utf16le"))).toEqual(value);
    expect(await bodyFrom(typed("application/json; charset=utf-16le"), Buffer.from(json, "utf16le"))).toEqual(
      value,
    );
    const format = { charset: "windows-1252" };
    expect(await bodyFrom(typed("application/json"), latin1(json), { format })).toEqual(value);
  });

  it("fails if it is in none", async () => {
    const error = await stepErrorOf(bodyFrom(typed("application/json"), latin1(json)));
    expect(error.message).toBe("The response declares no charset and is not UTF-8: it has 0xfc at byte 10.");
  });
});

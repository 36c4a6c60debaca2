import type { Request } from "express";
import { describe, expect, it } from "vitest";
import { receivedEvent } from "../../../src/surfaces/rest/received-event.ts";

const FORM = "application/x-www-form-urlencoded";
const JSON_TYPE = "application/json";
const PARTS = "multipart/form-data; boundary=b";

const bodyOf = async (body: string | Buffer, contentType: string): Promise<unknown> => {
  const headersDistinct = { "content-type": [contentType] };
  const req = { headers: { "content-type": contentType }, headersDistinct, query: {} } as unknown as Request;
  const { event } = await receivedEvent(req, Buffer.from(body as string), undefined);
  return event.body;
};
const refusalOf = (body: string | Buffer, contentType: string): Promise<unknown> =>
  bodyOf(body, contentType).then(
    (read) => ({ read }),
    (error: unknown) => error,
  );

/** JSON of which a text becomes the field `payload` of a form. */
const HIDDEN_FORM = '{"note":"&payload=%7B%22tag%22%3A%5B%22x%22%5D%7D&"}';
const utf16be = (text: string): Buffer => Buffer.from(text, "utf16le").swap16();

describe("assertUrlEncoded", () => {
  it.each([
    ["JSON", HIDDEN_FORM],
    ["JSON after a byte order mark", `\uFEFF${HIDDEN_FORM}`],
    ["JSON after a byte order mark and blanks", `\uFEFF \r\n\t${HIDDEN_FORM}`],
    ["JSON after many blanks", " ".repeat(10_000) + HIDDEN_FORM],
    ["JSON in UTF-16", Buffer.from(HIDDEN_FORM, "utf16le")],
    ["JSON in UTF-16 after blanks", Buffer.from(`  ${HIDDEN_FORM}`, "utf16le")],
    // The bytes of these letters are `&payload=%7B%7D&`.
    [
      "JSON in UTF-16 with the bytes of a form",
      utf16be('{"note":"\u2670\u6179\u6C6F\u6164\u3D25\u3742\u2537\u4426"}'),
    ],
    ["JSON in UTF-16 with a byte order mark", utf16be(`\uFEFF${HIDDEN_FORM}`)],
    ["JSON in ISO-2022-JP after an escape", `\u001b(B${HIDDEN_FORM}`],
    ["a text in JSON", '"&payload=%7B%7D&"'],
    ["a form in parts", "--b\r\n&payload=%7B%7D&"],
    ["a form in parts after line breaks", "\r\n\r\n--b\r\n&payload=%7B%7D&"],
  ])("refuses %s that is sent as a form", async (_name, body) => {
    expect(await refusalOf(body, FORM)).toMatchObject({ code: "invalid_input" });
  });

  it("says how curl sends JSON, whose default is a form", async () => {
    expect(await refusalOf('{"a":1}', FORM)).toMatchObject({
      message: expect.stringContaining("curl -H 'Content-Type: application/json'") as string,
    });
  });

  it.each([
    ["a=%7B", { a: "{" }],
    ["-a=1", { "-a": "1" }],
    ["\n a=1", { "\n a": "1" }],
    ["%EF%BB%BFa=1", { "\uFEFFa": "1" }],
    ["ü=1", { ü: "1" }],
    ["", {}],
  ])("accepts the form %j", async (body, read) => {
    expect(await bodyOf(body, FORM)).toEqual(read);
  });
});

describe("assertMultipart", () => {
  const form = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--b--\r\n';

  it.each(["", "\r\n", "\r\n\r\n"])("accepts parts after the line breaks %j", async (before) => {
    expect(await bodyOf(before + form, PARTS)).toEqual({ a: "1" });
  });

  it.each([
    ["another text before the parts", `x\r\n${form}`, "b"],
    ["a boundary with which the form ends where it begins", form.replaceAll("--b", "------b"), "--"],
    ["a boundary that begins like the one of the parts", form.replaceAll("--b", "--bc"), "b"],
  ])("refuses %s", async (_name, body, boundary) => {
    expect(await refusalOf(body, `multipart/form-data; boundary="${boundary}"`)).toMatchObject({
      code: "invalid_input",
    });
  });
});

describe("hasOtherAscii", () => {
  /** In GBK the last byte of the first letter and the quote, or the backslash, are one letter. */
  const other = JSON.stringify({ note: '\u4F60","amount":"1000","a":"' });
  const encoded = encodeURIComponent(other);

  it.each(["gbk", "gb18030", "big5", "shift_jis", "euc-kr"])(
    "refuses JSON in UTF-8 that is declared as %s, also with U+FFFD in it",
    async (charset) => {
      for (const text of [other, `{"first":"\uFFFDa ",${other.slice(1)}`]) {
        const refusal = await refusalOf(text, `${JSON_TYPE}; charset=${charset}`);
        expect(refusal).toMatchObject({ code: "invalid_json" });
        expect(await bodyOf(text, JSON_TYPE)).toEqual(JSON.parse(text));
      }
    },
  );

  it.each(["payload", "mandrill_events", "a"])(
    "refuses UTF-8 in the field %s of a form in GBK",
    async (name) => {
      const refusal = await refusalOf(`${name}=${encoded}`, `${FORM}; charset=gbk`);
      expect(refusal).toMatchObject({ code: "invalid_input", details: { errors: [{ path: name }] } });
    },
  );

  it("refuses it in names and beside U+FFFD too", async () => {
    for (const body of [`${encoded}=1`, `a=%EF%BF%BD${encoded}`])
      expect(await refusalOf(body, `${FORM}; charset=gbk`)).toMatchObject({ code: "invalid_input" });
  });

  it.each([
    [`${FORM}; charset=gbk`, "a=%C4%E3%5C", { a: "你\\" }],
    [`${FORM}; charset=iso-8859-1`, "payload=%7B%22a%22%3A%22caf%E9%22%7D", { a: "café" }],
    [`${FORM}; charset=iso-2022-jp`, "a=%1B%24B%24%22%1B%28B", { a: "あ" }],
    [`${FORM}; charset=utf-8`, `payload=${encoded}`, JSON.parse(other)],
    // The sender's own form says so: the charset is among the bytes that are signed.
    [FORM, "_charset_=gbk&a=%C4%E3%5C", { _charset_: "gbk", a: "你\\" }],
  ] as [string, string, unknown][])("reads fields in %s: %s", async (type, body, read) => {
    expect(await bodyOf(body, type)).toEqual(read);
  });
});

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AppError } from "../../../src/core/errors.ts";
import { groupFields, parseForm, parseQuery } from "../../../src/surfaces/rest/form-fields.ts";

const FORM = "application/x-www-form-urlencoded";

const fieldsOf = (body: string | Buffer, contentType = FORM): unknown =>
  groupFields(parseForm(Buffer.from(body as string), contentType));

const refusal = (read: () => unknown): AppError => {
  try {
    read();
  } catch (error) {
    return error as AppError;
  }
  throw new Error("nothing was refused");
};

describe("parseForm", () => {
  it.each([
    ["", {}],
    ["a", { a: "" }],
    ["a=&b=1&&a=2", { a: ["", "2"], b: "1" }],
    ["a+b=c+d%2B", { "a b": "c d+" }],
    ["a=b=c", { a: "b=c" }],
    ["tag[]=a&tag[]=b&user[name]=x", { "tag[]": ["a", "b"], "user[name]": "x" }],
    ["a=%zz%4&b=100%", { a: "%zz%4", b: "100%" }],
    ["a=%00%EF%BB%BF", { a: "\0\uFEFF" }],
    ["id=01067&n=9007199254740993", { id: "01067", n: "9007199254740993" }],
    ["__proto__=x&__proto__=y&constructor=z", JSON.parse('{"__proto__":["x","y"],"constructor":"z"}')],
  ])("reads %j", (body, fields) => {
    expect(fieldsOf(body)).toEqual(fields);
    expect(Object.keys(fieldsOf(body) as object)).toEqual(Object.keys(fields as object));
  });

  it.each([
    [`${FORM};charset=windows-1252`, "a=%80", "€"],
    [`${FORM}; charset="Shift_JIS"`, "a=%93%fa", "日"],
    [`${FORM}; charset=UTF-8`, "a=%E2%82%AC", "€"],
    [FORM, "_charset_=iso-8859-1&a=%FC", "ü"],
    // Its bytes are those of ASCII, after an escape.
    [`${FORM}; charset=iso-2022-jp`, "a=%1B%24B%24%22%1B%28B", "あ"],
    [`${FORM}; charset=csISO2022JP`, "a=x+%1B$B%24%26%25%2B%1B(B%3D", "x うカ="],
    [FORM, "_charset_=ISO-2022-JP&a=%1B%24B%24%22%1B%28B", "あ"],
  ])("decodes fields of %s", (type, body, value) => {
    expect(fieldsOf(body, type)).toMatchObject({ a: value });
  });

  it.each([
    ["a=%FC", FORM, "a is not valid text in the charset utf-8"],
    ["%FC=1", FORM, "? is not valid text in the charset utf-8"],
    ["a=%FC", `${FORM}; charset=us-ascii`, "a is not valid text in the charset us-ascii"],
    ["a=1", `${FORM}; charset=utf-16le`, "not supported for forms"],
    ["a=%1B%24B%24%1B%28B", `${FORM}; charset=iso-2022-jp`, "a is not valid text in the charset iso-2022-jp"],
    // `&`, `%` and `=` can be halves of characters there.
    ["a=\u001b$B$&\u001b(B", `${FORM}; charset=iso-2022-jp`, "escapes that are not percent-encoded"],
    ["a=1", `${FORM}; charset=none`, '"none" of the form is not known'],
    ["&".repeat(2_000), FORM, "at most 2,000 fields, got 2,001"],
  ])("refuses %j as %s", (body, type, message) => {
    const error = refusal(() => fieldsOf(body, type));
    expect([error.code, error.message]).toEqual(["invalid_input", expect.stringContaining(message)]);
  });
});

it("parseForm reads back every field that a browser writes, in order", () => {
  const text = fc.string({
    unit: fc.constantFrom("a", "=", "&", "+", "%", " ", "ü", "€", "\0", "\n", "😀", "[]"),
  });
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text)), (fields) => {
      const sent = new URLSearchParams(fields).toString();
      expect(parseForm(Buffer.from(sent), FORM)).toEqual(fields);
      const values = Object.values(groupFields(fields)).flat();
      expect(values.toSorted()).toEqual(fields.map(([, value]) => value).toSorted());
    }),
  );
});

describe("parseQuery", () => {
  it("reads parameters in the same way, as UTF-8", () => {
    expect(parseQuery("tag=b&tag=a&q=%C3%BC")).toEqual({ tag: ["b", "a"], q: "ü" });
    expect(parseQuery(null)).toEqual({});
    expect(refusal(() => parseQuery("q=%FC")).message).toContain("q is not valid UTF-8 in the query string");
  });
});

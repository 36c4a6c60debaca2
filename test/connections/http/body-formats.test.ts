import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { EncodedJson } from "../../../src/core/encoded-json.ts";
import { bodyFrom, responseFrom } from "../../support/http-client.ts";
import { stepErrorOf } from "../../support/mock-http-server.ts";

const JSON_TEXT = '{"id": 9007199254740993, "a": [1]}';
const JSON_VALUE = { id: "9007199254740993", a: [1] };
const typed = (type: string): Record<string, string> => (type === "" ? {} : { "content-type": type });
const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe("the content type of a response", () => {
  it.each([
    "application/json",
    "Application/JSON; charset=utf-8",
    "text/json",
    "text/x-json",
    "application/x-json",
    "application/x-amz-json-1.0",
    "application/x-amz-json-1.1",
    "application/problem+json",
    "application/vnd.github.v3+json",
    "application/vnd.example.json",
    "model/gltf+json",
  ])("%s is JSON", async (type) => {
    expect(await bodyFrom(typed(type), JSON_TEXT)).toEqual(JSON_VALUE);
  });

  it.each([
    "text/csv",
    "application/csv",
    "text/tab-separated-values",
    "text/event-stream",
    "application/xml",
    "image/svg+xml",
    "application/soap+xml; charset=utf-8",
    "application/x-ndjson",
    "application/jsonl",
    "application/json-seq",
    "application/geo+json-seq",
    "application/javascript",
    "application/x-yaml",
    "application/vnd.oai.openapi+yaml",
    "application/toml",
    "application/x-www-form-urlencoded",
    "application/x-unknown; charset=utf-8",
    "",
  ])("%s is text", async (type) => {
    expect(await bodyFrom(typed(type), "a;b\n1;ü")).toBe("a;b\n1;ü");
  });

  it.each([
    "application/octet-stream",
    "image/png",
    "image/png; charset=utf-8",
    "image/png; charset=iso-8859-1",
    "application/pdf",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/json+gzip",
    "text/csv+gzip",
    "application/x-protobuf",
  ])("%s is bytes", async (type) => {
    const mediaType = type.split(";")[0];
    expect(await bodyFrom(typed(type), "abc")).toEqual({ media_type: mediaType, base64: base64("abc") });
  });

  it("is not text, though it names a charset, where the bytes are not", async () => {
    const bytes = Buffer.from([0x89, 0x50, 0xff, 0x00]);
    expect(await bodyFrom(typed("application/x-unknown; charset=utf-8"), bytes)).toEqual({
      media_type: "application/x-unknown",
      base64: bytes.toString("base64"),
    });
  });
});

/** The body of a response without one. */
const empty = async (parse: "json" | "csv" | "text" | "base64"): Promise<unknown> => {
  const request = { method: "HEAD", format: { parse } };
  const { body } = await responseFrom((response) => {
    response.writeHead(200, { "content-type": "text/csv" });
    response.end();
  }, request);
  return body;
};

describe("parse", () => {
  it.each(["application/octet-stream", "binary/octet-stream", "text/plain", "text/html", "image/png", ""])(
    "reads %s as json, text and base64",
    async (type) => {
      const read = (parse: "json" | "text" | "base64"): Promise<unknown> =>
        bodyFrom(typed(type), JSON_TEXT, { format: { parse } });
      expect(await read("json")).toEqual(JSON_VALUE);
      expect(await read("text")).toBe(JSON_TEXT);
      const mediaType = type || "application/octet-stream";
      expect(await read("base64")).toEqual({ media_type: mediaType, base64: base64(JSON_TEXT) });
    },
  );

  it("text and base64 return JSON as it was sent", async () => {
    const type = typed("application/json");
    expect(await bodyFrom(type, JSON_TEXT, { format: { parse: "text" } })).toBe(JSON_TEXT);
    expect(await bodyFrom(type, "[", { format: { parse: "base64" } })).toMatchObject({
      base64: base64("["),
    });
  });

  it("fails where a key occurs twice with a way to read it nevertheless", async () => {
    const body = '{"rows": [{"id": 1, "id": 2}]}';
    for (const parse of [undefined, "json" as const]) {
      const error = await stepErrorOf(
        bodyFrom(typed("application/json"), body, { format: { ...(parse && { parse }) } }),
      );
      expect(error).toMatchObject({
        code: "http_failed",
        transient: false,
        message: expect.stringContaining("has the key rows[0].id twice in the same object"),
        options: { fix: "Let the server send each key once, or set parse: text." },
      });
    }
    expect(await bodyFrom(typed("application/json"), body, { format: { parse: "text" } })).toBe(body);
  });

  it("json fails with the content type and the beginning of the body", async () => {
    const body = `<html>${"x".repeat(500)}`;
    for (const [type, clause] of [
      ["text/html", "has the content type text/html and is not valid JSON"],
      ["", "has no content type and is not valid JSON"],
    ] as const) {
      const error = await stepErrorOf(bodyFrom(typed(type), body, { format: { parse: "json" } }));
      expect(error).toMatchObject({ code: "http_failed", transient: false });
      expect(error.message).toContain(clause);
      expect(error.options.details).toEqual({
        content_type: type || null,
        starts_with: body.slice(0, 200),
      });
    }
  });

  it("reads large bodies in the same way", async () => {
    const items = Array.from({ length: 5_000 }, (_, index) => ({ index, name: "ü" }));
    const body = gzipSync(JSON.stringify(items));
    const headers = { "content-type": "application/octet-stream", "content-encoding": "gzip" };
    const request = { maxBytes: 1_000_000, format: { parse: "json" } } as const;
    const value = await bodyFrom(headers, body, request);
    expect(JSON.parse((value as EncodedJson).text)).toEqual(items);
  });

  it("gives the same type for a response without a body", async () => {
    expect(await empty("json")).toBeNull();
    expect(await empty("csv")).toEqual([]);
    expect(await empty("text")).toBe("");
    expect(await empty("base64")).toEqual({ media_type: "text/csv", base64: "" });
  });

  it("does not apply to a status outside 2xx, which often is another kind of document", async () => {
    const format = { parse: "json" } as const;
    const page = { format, acceptStatus: [404] };
    expect(await bodyFrom(typed("text/html"), "<html>", page, 404)).toBe("<html>");
    expect(await bodyFrom(typed("application/json"), "[1]", page, 404)).toEqual([1]);
    expect(await bodyFrom(typed("application/json"), "<html>", page, 404)).toBe("<html>");
    const latin = Buffer.from("<p>\u00fc", "latin1");
    expect(await bodyFrom(typed("text/html"), latin, page, 404)).toEqual({
      media_type: "text/html",
      base64: latin.toString("base64"),
    });
  });
});

describe("the body of a failure", () => {
  it("is shown as text, whatever its bytes are", async () => {
    const latin = Buffer.from("<p>\u00fcber", "latin1");
    expect(await bodyFrom(typed("text/html"), latin, {}, 500)).toBe("<p>\ufffdber");
    expect(await bodyFrom(typed("text/html; charset=latin1"), latin, {}, 500)).toBe("<p>\u00fcber");
  });

  it.each([
    ["is too large", {}, "x".repeat(20_000)],
    ["is in an unknown coding", { "content-encoding": "compress" }, "x"],
    ["is not compressed as its headers say", { "content-encoding": "gzip" }, "x"],
  ])("does not hide the status if it %s", async (_name, headers, body) => {
    const { status, body: shown } = await responseFrom((response) => {
      response.writeHead(429, { ...headers, "retry-after": "7" });
      response.end(body);
    });
    expect([status, shown]).toEqual([429, null]);
  });
});

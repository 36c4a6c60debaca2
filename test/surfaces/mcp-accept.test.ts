import { describe, expect, it } from "vitest";
import { acceptedTypes } from "../../src/surfaces/mcp/accept.ts";
import {
  INITIALIZE_REQUEST,
  LIST_WORKFLOWS_CALL,
  modernRequest,
  openMcp,
  openSession,
  openSse,
  postMessage,
} from "../support/raw-mcp.ts";
import { openEventStream, rawRequest } from "../support/raw-http.ts";

const messageIn = (text: string): unknown => JSON.parse(/\{.*\}/s.exec(text)![0]);

/** Headers with another Accept; undefined for none. */
async function openAccepting(accept: string | undefined) {
  const { url, key } = await openMcp();
  const { Accept: _, ...headers } = key;
  return {
    url: `${url}/mcp`,
    base: url,
    headers: { ...headers, ...(accept !== undefined && { Accept: accept }) },
  };
}

describe("acceptedTypes", () => {
  it.each([
    ["no header", undefined, true, true],
    ["an empty header", "", true, true],
    ["both types", "application/json, text/event-stream", true, true],
    ["upper case", "APPLICATION/JSON, Text/Event-Stream", true, true],
    ["a range of subtypes", "application/*", true, false],
    ["a range of all types", "*/*;q=0.1", true, true],
    ["weights", "application/json;q=0.9,text/event-stream; Q=0.5", true, true],
    ["other parameters", 'application/json;charset="a,b";q=1', true, false],
    ["one type", "text/event-stream", false, true],
    ["another type", "text/html", false, false],
    ["a weight of zero", "application/json;q=0, text/event-stream;q=0.000", false, false],
    // The most specific range decides (RFC 9110, section 12.5.1).
    ["a specific range before a general one", "*/*, text/event-stream;q=0", true, false],
    ["a specific range after a general one", "text/*;q=0, text/event-stream, */*;q=0", false, true],
    ["a list with empty parts", ", application/json,,", true, false],
    ["a quotation without an end", 'application/json;x="a', true, false],
  ])("reads %s", (_what, header, json, events) => {
    expect(acceptedTypes(header)).toEqual({ json, events });
  });
});

describe("a request to /mcp", () => {
  it.each([
    ["in upper case", "APPLICATION/JSON, TEXT/EVENT-STREAM", "text/event-stream", "application/json"],
    ["with a range", "application/*", "application/json", "application/json"],
    [
      "with weights",
      "application/json;q=0.9, text/event-stream;q=0.8",
      "text/event-stream",
      "application/json",
    ],
    ["with JSON alone", "application/json", "application/json", "application/json"],
    ["with event streams alone", "text/event-stream", "text/event-stream", "text/event-stream"],
    ["that is missing", undefined, "text/event-stream", "application/json"],
  ])("with an Accept header %s gets a type that it takes", async (_what, accept, type, newest) => {
    const { url, base, headers } = await openAccepting(accept);
    const session = await openSession(base, headers);
    expect(session["Mcp-Session-Id"]).toMatch(/\S/);
    const called = await postMessage(url, session, LIST_WORKFLOWS_CALL);
    expect([called.status, called.headers["content-type"]]).toEqual([200, type]);
    expect(messageIn(called.text)).toMatchObject({ id: 2, result: { structuredContent: { total: 0 } } });

    const { body, headers: modern } = modernRequest(headers, "tools/list");
    const listed = await postMessage(url, modern, body);
    expect([listed.status, listed.headers["content-type"]]).toEqual([200, newest]);
    expect(messageIn(listed.text)).toMatchObject({ result: { tools: expect.any(Array) } });
  });

  it("of the newest revision gets an event stream if it takes nothing else", async () => {
    const { url, headers } = await openAccepting("text/event-stream");
    const { body, headers: modern } = modernRequest(headers, "tools/list");
    const { headers: got, text } = await postMessage(url, modern, body);
    expect(got["content-type"]).toBe("text/event-stream");
    expect(text).toMatch(/^event: message\ndata: \{.*\}\n\n$/);
  });

  it.each([
    ["of another type", "text/html"],
    ["with weights of zero", "application/json;q=0, text/event-stream;q=0"],
  ])("with an Accept header %s is refused with its id", async (_what, accept) => {
    const { url, headers } = await openAccepting(accept);
    const modern = modernRequest(headers, "tools/list");
    for (const [sent, body] of [
      [headers, { ...INITIALIZE_REQUEST, id: "first" }],
      [modern.headers, { ...modern.body, id: "first" }],
    ] as const) {
      const refused = await postMessage(url, sent, body);
      expect(refused.status).toBe(406);
      expect(JSON.parse(refused.text)).toMatchObject({
        id: "first",
        error: {
          message: expect.stringContaining(`(${accept}). Send Accept: application/json, text/event-stream.`),
        },
      });
    }
  });

  it("for a stream of notifications needs only event streams", async () => {
    const { base, url, headers } = await openAccepting("Text/*;q=0.5");
    const session = await openSession(base, { ...headers, Accept: "*/*" });
    const stream = await openEventStream("GET", url, { headers: { ...session, Accept: "Text/*;q=0.5" } });
    expect(stream.status).toBe(200);
    const refused = await rawRequest("GET", url, { headers: { ...session, Accept: "application/json" } });
    expect(refused.status).toBe(406);
    expect(JSON.parse(refused.text)).toMatchObject({
      id: null,
      error: { message: expect.stringContaining("The response is text/event-stream, which") },
    });
  });

  it.each([
    ["Application/JSON"],
    ["application/json; charset=utf-8"],
    ["APPLICATION/JSON;CHARSET=UTF-8"],
    ["application/json;charset=UTF8"],
    ['application/json; charset="utf8"'],
    ["application/json; charset="],
  ])("may have the Content-Type %s", async (type) => {
    const { url, headers } = await openAccepting("*/*");
    const sent = await postMessage(url, { ...headers, "Content-Type": type }, INITIALIZE_REQUEST);
    expect(sent.status).toBe(200);
  });

  it.each(["iso-8859-1", "utf-16le", "none"])(
    "is refused in the charset %s on both transports",
    async (charset) => {
      const { url, key } = await openMcp();
      const { messages } = await openSse(url, key);
      for (const address of [`${url}/mcp`, messages]) {
        const headers = { ...key, "Content-Type": `application/json; charset=${charset}` };
        const sent = await postMessage(address, headers, INITIALIZE_REQUEST);
        expect([sent.status, sent.json()]).toEqual([
          415,
          expect.objectContaining({
            code: "unsupported_media_type",
            detail: `Content-Type declares the charset "${charset}". Send the body as UTF-8, with Content-Type: application/json.`,
          }),
        ]);
      }
    },
  );
});

import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { maskKeys, redactSecrets } from "../../src/commands/log-redaction.ts";
import { loggableText } from "../../src/core/loggable-text.ts";
import { testInstance } from "../support/instance.ts";
import { rawRequest } from "../support/raw-http.ts";

/** Maximum length of a line, in characters, whatever the caller sends. */
const MAX_LINE = 1_000;

/** Both listeners with one log, whose lines are returned as they are written. */
async function open() {
  const lines: string[] = [];
  const log = pino(
    {
      formatters: { log: (fields) => redactSecrets(fields) },
      serializers: { err: (error: unknown) => error },
      hooks: { streamWrite: maskKeys },
    },
    { write: (line) => void lines.push(line) },
  );
  const instance = await testInstance({ log });
  const [rest, mcp] = [await instance.rest(), await instance.mcp()];
  const { value: key } = await instance.key();
  lines.length = 0;
  return { lines, rest: rest.url, mcp: mcp.url, key };
}

describe("the log of refused requests", () => {
  it("holds the beginning of a long path, and how long it was", async () => {
    const { lines, rest, mcp, key } = await open();
    const path = `/${"a".repeat(60_000)}`;
    expect((await rawRequest("GET", rest + path)).status).toBe(404);
    expect((await rawRequest("GET", mcp + path, { headers: { "X-API-Key": key } })).status).toBe(404);
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      expect((JSON.parse(line) as { path: string }).path).toBe(`/${"a".repeat(199)}… (60001 characters)`);
      expect(line.length).toBeLessThan(MAX_LINE);
    }
  });

  it("stays short for every field that a caller fills", async () => {
    const { lines, rest, mcp, key } = await open();
    const long = "é%0a".repeat(10_000);
    const headers = {
      "X-API-Key": key,
      "X-Request-Id": "x".repeat(20_000),
      "User-Agent": "y".repeat(20_000),
      traceparent: "z".repeat(5_000),
      "X-Forwarded-For": "1".repeat(5_000),
    };
    const query = encodeURIComponent(long).slice(0, 5_000);
    await rawRequest("GET", `${rest}/runs/${query}`, { headers });
    await rawRequest("GET", `${rest}/workflows/${query}?${query}`, { headers });
    await rawRequest("POST", `${rest}/workflows/${query}/runs`, { headers, body: { [long]: long } });
    await rawRequest("POST", `${rest}/events/${query}`, { headers });
    const call = { jsonrpc: "2.0", id: 1, method: long, params: { name: long, arguments: { run_id: long } } };
    const accept = { ...headers, Accept: "application/json, text/event-stream" };
    await rawRequest("POST", `${mcp}/mcp`, { headers: accept, body: call });
    await rawRequest("POST", `${mcp}/mcp`, { headers: accept, body: { ...call, method: "tools/call" } });
    await rawRequest("POST", `${mcp}/messages?sessionId=${query}`, { headers: accept, body: call });
    expect(lines.length).toBeGreaterThanOrEqual(5);
    for (const line of lines) expect(line.length).toBeLessThan(MAX_LINE);
  });
});

describe("a field of the log", () => {
  it("is cut when it is long, also in an error and in a list", () => {
    const error = Object.assign(new Error("m".repeat(100_000)), {
      details: { text: "t".repeat(100_000), list: Array.from({ length: 1_000 }, (_, index) => index) },
    });
    const line = redactSecrets({ reason: "r".repeat(100_000), err: error });
    expect(JSON.stringify(line).length).toBeLessThan(20_000);
    expect(line["reason"]).toMatch(/^r{4000}… \(100000 characters\)$/);
    expect(line["err"]).toMatchObject({ type: "Error", message: expect.stringMatching(/^m{4000}…/) });
    const { list } = (line["err"] as { details: { list: unknown[] } }).details;
    expect(list).toHaveLength(51);
    expect(list.at(-1)).toBe("… (1000 items)");
  });

  it("shows no character that a terminal acts upon", () => {
    expect(loggableText("/a\u009b31m\u202e\u00adb\u0007\ud800", 100)).toBe(
      "/a\ufffd31m\ufffd\ufffdb\ufffd\ufffd",
    );
  });
});

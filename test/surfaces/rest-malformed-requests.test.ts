import { describe, expect, it } from "vitest";
import { Problem } from "../../schemas/problem.ts";
import { insertWorkflows } from "../support/many-workflows.ts";
import { openRest } from "../support/rest.ts";
import { socketClient, formatRequest } from "../support/sockets.ts";

/** Sends text unchanged and returns everything received until the server closes. */
async function exchange(url: string, text: string) {
  const client = await socketClient(url);
  client.send(text);
  await client.ended;
  const [head, body] = client.received().split("\r\n\r\n", 2) as [string, string];
  return { head, body, status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]), all: client.received() };
}

describe("a request that no HTTP client sends", () => {
  it.each([
    [
      "headers above 64 KiB",
      formatRequest("GET", "/workflows", { X: "a".repeat(66_000) }),
      431,
      "headers_too_large",
    ],
    [
      "far larger headers",
      formatRequest("GET", "/workflows", { X: "a".repeat(7_000_000) }),
      431,
      "headers_too_large",
    ],
    ["a path above 64 KiB", formatRequest("GET", `/${"a".repeat(66_000)}`), 431, "headers_too_large"],
    ["no HTTP at all", "hello\r\n\r\n", 400, "invalid_request"],
    ["HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "invalid_request"],
    ["a request without Host", "GET /workflows HTTP/1.1\r\n\r\n", 400, "invalid_request"],
    [
      "two lengths",
      formatRequest("POST", "/workflows", { "Content-Length": "3", "content-length": "4" }),
      400,
      "invalid_request",
    ],
    [
      "a length and chunks",
      formatRequest("POST", "/workflows", { "Content-Length": "3", "Transfer-Encoding": "chunked" }),
      400,
      "invalid_request",
    ],
    [
      "bytes in the path that are not ASCII",
      formatRequest("GET", "/workflows/\u00e4"),
      400,
      "invalid_request",
    ],
    [
      "two hosts",
      "GET /workflows HTTP/1.1\r\nHost: localhost\r\nHost: evil.com\r\n\r\n",
      400,
      "invalid_request",
    ],
    [
      "a host with a fragment",
      formatRequest("GET", "/health", { Host: "127.0.0.1#evil.com" }),
      400,
      "invalid_request",
    ],
    [
      "a host with a user",
      formatRequest("GET", "/health", { Host: "user@127.0.0.1" }),
      400,
      "invalid_request",
    ],
    [
      "a host with a port that does not exist",
      formatRequest("GET", "/health", { Host: "localhost:65536" }),
      400,
      "invalid_request",
    ],
    ["a target on another host", formatRequest("GET", "http://evil.com/health"), 400, "invalid_request"],
    ["a method of its own", "BREW /workflows HTTP/1.1\r\nHost: x\r\n\r\n", 400, "invalid_request"],
    ["TRACE", formatRequest("TRACE", "/workflows", { Connection: "close" }), 405, "method_not_allowed"],
    ["OPTIONS *", formatRequest("OPTIONS", "*", { Connection: "close" }), 404, "route_not_found"],
    [
      "another expectation",
      formatRequest("GET", "/workflows", { Expect: "tea", Connection: "close" }),
      401,
      "unauthorized",
    ],
    [
      "an upgrade",
      formatRequest("GET", "/workflows", { Upgrade: "websocket", Connection: "upgrade, close" }),
      401,
      "unauthorized",
    ],
  ])("gets a problem: %s", async (_, text, status, code) => {
    const { url, call } = await openRest();
    const { head, body, status: got } = await exchange(url, text);
    expect(got).toBe(status);
    expect(head).toMatch(/^Content-Type: application\/problem\+json\r?$/m);
    const problem = Problem.parse(JSON.parse(body));
    expect(problem).toMatchObject({ status, code });
    expect(head).toContain(`X-Request-Id: ${problem.request_id}`);
    expect((await call("GET", "/workflows")).status).toBe(200);
  });

  it("gets a problem for broken chunks in a body", async () => {
    const { url, key } = await openRest();
    const head = formatRequest("POST", "/workflows", {
      "X-API-Key": key,
      "Content-Type": "application/json",
      "Transfer-Encoding": "chunked",
    });
    const { status, body } = await exchange(url, `${head}zz\r\n`);
    expect(status).toBe(400);
    expect(Problem.parse(JSON.parse(body)).code).toBe("invalid_request");
  });

  it("never gets an answer in the middle of another one", async () => {
    const { instance, url, key } = await openRest();
    await insertWorkflows(instance, { count: 5_000, length: 2_000 });
    const client = await socketClient(url);
    client.socket.pause();
    client.send(formatRequest("GET", "/workflows", { "X-API-Key": key }));
    client.socket.once("readable", () => {});
    await new Promise<void>((resolve) => client.socket.once("readable", resolve));
    client.send("nonsense\r\n\r\n");
    client.socket.resume();
    await client.ended;
    expect(client.received()).toMatch(/^HTTP\/1\.1 200 /);
    expect(client.received()).not.toContain("problem");
  });

  it("does not have its unread body parsed as the next request", async () => {
    const { url } = await openRest();
    const smuggled = formatRequest("GET", "/health");
    const { head, all } = await exchange(url, formatRequest("POST", "/workflows", {}, smuggled));
    expect(head).toMatch(/^HTTP\/1\.1 401 /);
    expect(head).toMatch(/^Connection: close\r?$/m);
    expect(all.match(/HTTP\/1\.1 /g)).toHaveLength(1);
  });

  it("is answered by its path when it has an absolute address, which does not appear in Link", async () => {
    const { instance, url, key } = await openRest();
    await insertWorkflows(instance, { count: 3 });
    const { head } = await exchange(
      url,
      formatRequest("GET", "http://LOCALHOST/workflows?limit=1", {
        "X-API-Key": key,
        Connection: "close",
      }),
    );
    expect(head).toMatch(/^HTTP\/1\.1 200 /);
    expect(head).toMatch(/^Link: <\/workflows\?limit=1&cursor=/m);
  });
});

import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { brotliCompressSync, gzipSync, zstdCompressSync } from "node:zlib";
import type { ServerResponse } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { createHttpClient } from "../../../src/connections/http/index.ts";
import type { HttpResponse, HttpRequest } from "../../../src/core/connections.ts";
import { fixedSecrets } from "../../../src/core/secret-source.ts";
import { StepError } from "../../../src/core/step-errors.ts";
import { parseConfig, stepErrorOf, mockHttpServer, sendJson } from "../../support/mock-http-server.ts";
import { callOf } from "../../support/call-context.ts";
import { quietTime } from "../../support/eventually.ts";

const SECRET = "Zw9-key+with/signs";
const client = createHttpClient(
  parseConfig({
    http: { allowed_hosts: ["127.0.0.1"] },
    secrets: [
      { name: "hook", key_var: "HOOK", hosts: ["127.0.0.1"] },
      { name: "other", key_var: "OTHER", hosts: ["other.test"] },
      { name: "broken", key_var: "BROKEN", hosts: ["127.0.0.1"] },
    ],
  }),
  fixedSecrets({ HOOK: SECRET, OTHER: "another", BROKEN: "two\nlines" }),
);

const never = new AbortController().signal;
const send = (url: string, more: Partial<HttpRequest> = {}, signal = never): Promise<HttpResponse> =>
  client.send({ method: "GET", url, headers: {}, maxBytes: 10_000, ...more }, callOf(signal));

/** Returns the client's result for a server's response. */
async function responseFrom(
  write: (response: ServerResponse) => void,
  more: Partial<HttpRequest> = {},
): Promise<HttpResponse> {
  const peer = await mockHttpServer((_request, response) => write(response));
  return send(peer.url, more);
}
const parsedBody = (type: string | undefined, body: string | Buffer) =>
  responseFrom((response) => {
    response.writeHead(200, type === undefined ? {} : { "content-type": type });
    response.end(body);
  }).then(({ body: parsed }) => parsed);

const invalidJson = (status: number) =>
  responseFrom((response) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end("<html>");
  });

/** A TCP server that calls the handler when a connection has sent data. */
async function rawPeer(handle: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => handle(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The message of the error of a header value. */
const messageOf = async (value: string) =>
  (await stepErrorOf(send("http://127.0.0.1:1/", { headers: { "X-A": value } }))).message;

describe("an http request", () => {
  it("sends method, path, query, headers and a JSON body", async () => {
    const peer = await mockHttpServer((_request, response) =>
      sendJson(response, { done: true }, 201, { "x-a": "b" }),
    );
    const answer = await send(`${peer.url}/a%20b?c=d%2Fe#f`, {
      method: "POST",
      headers: { "X-One": "1" },
      body: [{ a: "ü" }],
    });
    expect(answer).toMatchObject({ status: 201, headers: { "x-a": "b" }, body: { done: true } });
    expect(peer.received).toMatchObject([
      {
        method: "POST",
        path: "/a%20b?c=d%2Fe",
        body: '[{"a":"ü"}]',
        headers: { "content-type": "application/json", "x-one": "1" },
      },
    ]);
  });

  it("sends text unchanged, with the given content type", async () => {
    const peer = await mockHttpServer((_request, response) => void response.end());
    await send(peer.url, { method: "PUT", body: "a=b" });
    await send(peer.url, {
      method: "PUT",
      body: "a=b",
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
    });
    expect(peer.received.map((one) => [one.body, one.headers["content-type"]])).toEqual([
      ["a=b", "text/plain; charset=utf-8"],
      ["a=b", "application/x-www-form-urlencoded"],
    ]);
  });

  it("sends an object as a form where its content type says so", async () => {
    const peer = await mockHttpServer((_request, response) => void response.end());
    const headers = { "content-type": "application/x-www-form-urlencoded; charset=UTF-8" };
    const body = {
      tag: ["b", "a", "b"],
      id: "9007199254740993",
      "user[name]": "ü &",
      none: null,
      n: 1.5,
      on: true,
    };
    await send(peer.url, { method: "POST", headers, body });
    expect(peer.received).toMatchObject([
      {
        headers,
        body: "tag=b&tag=a&tag=b&id=9007199254740993&user%5Bname%5D=%C3%BC+%26&n=1.5&on=true",
      },
    ]);
  });

  it.each([
    ["application/x-www-form-urlencoded", { user: { name: "Ada" } }, "body.user must be a text"],
    ["application/x-www-form-urlencoded", { tags: [["a"]] }, "body.tags must be a text"],
    ["application/x-www-form-urlencoded", [1], "body must be an object"],
    ["application/x-www-form-urlencoded; charset=latin1", { a: "ü" }, "declares the charset latin1"],
    ["application/x-www-form-urlencoded", { a: "\uD800" }, "half a surrogate pair"],
    ["multipart/form-data; boundary=x", { a: "b" }, "body can't be written in parts"],
  ])("refuses what a form of type %s can't have: %j", async (type, body, message) => {
    await expect(
      send("http://127.0.0.1:1/", { method: "POST", headers: { "Content-Type": type }, body }),
    ).rejects.toMatchObject({ code: "input_invalid", message: expect.stringContaining(message) });
  });

  it.each([
    ["Host", "evil.test"],
    ["content-length", "3"],
    ["Transfer-Encoding", "chunked"],
    ["Connection", "close"],
    ["X A", "b"],
    ["X-A", "b\r\nX-B: c"],
    ["X-A", "b\nc"],
    ["X-A", "\u0000"],
    ["X-A", "日本"],
  ])("refuses the header %s: %j", async (name, value) => {
    const peer = await mockHttpServer((_request, response) => void response.end());
    expect((await stepErrorOf(send(peer.url, { headers: { [name]: value } }))).code).toBe("input_invalid");
    expect(peer.received).toEqual([]);
  });

  it("refuses headers above 32 KiB, and trims what surrounds a value, with many spaces in it", async () => {
    const peer = await mockHttpServer((_request, response) => void response.end());
    const sendValue = (value: string) => send(peer.url, { headers: { "X-A": value } });
    expect((await stepErrorOf(sendValue(`a${" ".repeat(4_000_000)}b`))).message).toBe(
      "The headers must have at most 32768 bytes, got 4000005.",
    );
    await sendValue(`\t a${" ".repeat(20)}b\u00a0 \t`);
    expect(peer.received[0]!.headers["x-a"]).toBe(`a${" ".repeat(20)}b\u00a0`);
    await sendValue(" \t ");
    expect(peer.received[1]!.headers["x-a"]).toBe("");
  });

  it("names the character that a header can't carry, but none of a secret", async () => {
    expect(await messageOf("1 € too much")).toBe(
      'The header "X-A" contains "€" (U+20AC), which headers can\'t carry.',
    );
    expect(await messageOf("a\nb")).toBe(
      'The header "X-A" contains the control character U+000A, which headers can\'t carry.',
    );
    const secret = createHttpClient(
      parseConfig({
        http: { allowed_hosts: ["127.0.0.1"] },
        secrets: [{ name: "hook", key_var: "HOOK", hosts: ["127.0.0.1"] }],
      }),
      fixedSecrets({ HOOK: "kö€y" }),
    );
    const call = secret.send(
      { method: "GET", url: "http://127.0.0.1:1/", headers: { "X-A": { secret: "hook" } }, maxBytes: 1 },
      callOf(never),
    );
    expect((await stepErrorOf(call)).message).not.toMatch(/€|20AC/);
  });

  it("encodes text as its content type declares, or refuses it", async () => {
    const peer = await mockHttpServer((_request, response) => void response.end());
    const sendText = (type: string, body: string) =>
      send(peer.url, { method: "POST", headers: { "Content-Type": type }, body });
    for (const type of ["text/plain; charset=ISO-8859-1", "text/csv; charset=UTF-8", "text/csv"])
      await sendText(type, "ü");
    // The server of the test reads UTF-8.
    expect(peer.received.map((one) => one.body)).toEqual(["\ufffd", "ü", "ü"]);
    for (const [type, body] of [
      ["text/plain; charset=iso-8859-1", "€"],
      ["text/plain; charset=us-ascii", "ü"],
      ["text/plain; charset=utf-16", "a"],
      ["text/plain", "a\ud800"],
    ] as const)
      expect(await stepErrorOf(sendText(type, body))).toMatchObject({ code: "input_invalid" });
    expect(peer.received).toHaveLength(3);
  });

  it.each(["iso-8859-1", '"latin1"', "utf-16", "us-ascii"])(
    "refuses a JSON body whose content type declares the charset %s",
    async (charset) => {
      const peer = await mockHttpServer((_request, response) => void response.end());
      const sendTyped = (type: string, body: unknown): Promise<unknown> =>
        send(peer.url, { method: "POST", headers: { "Content-Type": type }, body });
      for (const body of [{ name: "ü" }, ["a"], 1, null])
        expect(await stepErrorOf(sendTyped(`application/json; charset=${charset}`, body))).toMatchObject({
          code: "input_invalid",
          options: { fix: expect.stringContaining("Remove the charset") },
        });
      expect(peer.received).toEqual([]);
      await sendTyped("application/vnd.api+json; charset=UTF-8", { name: "ü" });
      expect(peer.received[0]!.body).toBe('{"name":"ü"}');
    },
  );

  it("refuses a body that is too large", async () => {
    const error = await stepErrorOf(
      send("http://127.0.0.1:1/", { method: "POST", body: "x".repeat(5_000_000) }),
    );
    expect(error).toMatchObject({ code: "input_invalid" });
  });
});

describe("an http response", () => {
  it("is parsed by its content type", async () => {
    expect(await parsedBody("application/json; charset=utf-8", '{"a":1}')).toEqual({ a: 1 });
    expect(await parsedBody("application/problem+json", "[1]")).toEqual([1]);
    expect(await parsedBody("application/json", '{"id": 9007199254740993, "n": 9007199254740991}')).toEqual({
      id: "9007199254740993",
      n: 9007199254740991,
    });
    const tooLarge = await stepErrorOf(parsedBody("application/json", '{"a": [1e4000]}'));
    expect(tooLarge).toMatchObject({ code: "http_failed", message: expect.stringContaining("at a[0]") });
    expect(await parsedBody("text/plain; charset=iso-8859-1", Buffer.from([0xfc]))).toBe("ü");
    expect(await parsedBody("text/csv", "a,b")).toBe("a,b");
    expect(await parsedBody("application/atom+xml", "<a/>")).toBe("<a/>");
    expect(await parsedBody(undefined, "plain")).toBe("plain");
    expect(await parsedBody(undefined, Buffer.from([0xff, 0xfe, 0x00]))).toEqual({
      media_type: "application/octet-stream",
      base64: "//4A",
    });
    expect(await parsedBody("image/png", Buffer.from([1, 2]))).toEqual({
      media_type: "image/png",
      base64: "AQI=",
    });
    expect(await parsedBody("application/json", "")).toBeNull();
  });

  it("fails if it is not valid JSON, and returns the text of an error page", async () => {
    expect(await stepErrorOf(invalidJson(200))).toMatchObject({ code: "http_failed", transient: false });
    expect(await invalidJson(502)).toMatchObject({ status: 502, body: "<html>" });
  });

  it("fails if it is nested too deep", async () => {
    const error = await stepErrorOf(parsedBody("application/json", "[".repeat(4_000) + "]".repeat(4_000)));
    expect(error).toMatchObject({ code: "http_failed", transient: false });
    expect(error.message).toContain("64 levels");
  });

  it.each([
    ["gzip", gzipSync],
    ["br", brotliCompressSync],
    ["zstd", zstdCompressSync],
  ])("is decompressed: %s", async (encoding, compress) => {
    const answer = await responseFrom((response) => {
      response.writeHead(200, { "content-type": "text/plain", "content-encoding": encoding });
      response.end(compress(Buffer.from("x".repeat(5_000))));
    });
    expect(answer.body).toBe("x".repeat(5_000));
  });

  it.each([
    ["a decompression bomb", "gzip", gzipSync(Buffer.alloc(50_000_000))],
    ["a bomb inside a bomb", "gzip, gzip", gzipSync(gzipSync(Buffer.alloc(50_000_000)))],
  ])("is read up to the limit if it is %s", async (_name, encoding, body) => {
    const peer = await mockHttpServer((_request, response) => {
      response.writeHead(200, { "content-encoding": encoding });
      response.end(body);
    });
    const error = await stepErrorOf(send(peer.url, { maxBytes: 100_000 }));
    expect(error.code).toBe("output_too_large");
    expect(error.message).toContain("more than 100000 bytes");
  });

  it("fails if its encoding is unknown, or if it has too many encodings", async () => {
    for (const encoding of ["compress", "gzip, gzip, gzip"]) {
      const call = responseFrom((response) => {
        response.writeHead(200, { "content-encoding": encoding });
        response.end("x");
      });
      expect(await stepErrorOf(call)).toMatchObject({ code: "http_failed", transient: false });
    }
  });

  it("is not read if its declared size is too large, and the error names the size", async () => {
    const peer = await mockHttpServer((_request, response) => {
      response.writeHead(200, { "content-length": "1073741824" });
      response.write("x");
    });
    const error = await stepErrorOf(send(peer.url));
    expect(error.code).toBe("output_too_large");
    expect(error.message).toContain("1073741824 bytes");
    await peer.connectionClosed;
  });

  it("is read up to the limit if it never ends", async () => {
    let sent = 0;
    const peer = await mockHttpServer((_request, response) => {
      response.writeHead(200, { "content-type": "text/plain" });
      const part = Buffer.alloc(64 * 1024);
      const more = (): void => {
        while (sent < 1024 ** 3 && !response.destroyed) {
          sent += part.length;
          if (!response.write(part)) return void response.once("drain", more);
        }
      };
      more();
    });
    expect((await stepErrorOf(send(peer.url, { maxBytes: 1024 * 1024 }))).code).toBe("output_too_large");
    await peer.connectionClosed;
    expect(sent).toBeLessThan(100 * 1024 * 1024);
  });
});

describe("a secret", () => {
  it("is sent in a header, and masked in the response", async () => {
    const peer = await mockHttpServer((request, response) => {
      const key = request.headers.authorization!;
      const forms = [key, Buffer.from(key).toString("base64"), encodeURIComponent(key), { [SECRET]: SECRET }];
      sendJson(response, forms, 200, { "x-echo": key });
    });
    const answer = await send(peer.url, {
      headers: { Authorization: { secret: "hook", prefix: "Bearer " } },
    });
    expect(peer.received[0]!.headers.authorization).toBe(`Bearer ${SECRET}`);
    const shown = JSON.stringify(answer);
    for (const form of [
      SECRET,
      encodeURIComponent(SECRET),
      Buffer.from(SECRET).toString("base64").slice(3, -3),
    ])
      expect(shown).not.toContain(form);
    expect(answer.headers["x-echo"]).toBe("Bearer ***");
    expect(answer.body).toMatchObject(["Bearer ***", expect.any(String), "Bearer%20***", { "***": "***" }]);
  });

  it("is masked in responses to other requests, and in errors", async () => {
    const peer = await mockHttpServer((request, response) => {
      if (request.path === "/list") return sendJson(response, [SECRET]);
      if (request.path === "/lie") {
        response.writeHead(200, { "content-type": "application/json" });
        return void response.end(`not JSON: ${SECRET}`);
      }
      response.writeHead(302, { location: `https://elsewhere.test/${SECRET}` });
      return void response.end();
    });
    expect((await send(`${peer.url}/list`)).body).toEqual(["***"]);
    for (const path of ["/lie", "/away"]) {
      const error = await stepErrorOf(send(peer.url + path));
      expect(error.message + JSON.stringify(error.options.details)).toContain("***");
      expect(error.message + JSON.stringify(error.options.details)).not.toContain(SECRET);
    }
  });

  it("is masked before texts are truncated, in header names, in any case and in UTF-16", async () => {
    const bare = SECRET.replaceAll(/[^\w-]/g, "");
    const named = createHttpClient(
      parseConfig({
        http: { allowed_hosts: ["127.0.0.1"] },
        secrets: [{ name: "hook", key_var: "HOOK", hosts: ["127.0.0.1"] }],
      }),
      fixedSecrets({ HOOK: bare }),
    );
    const peer = await mockHttpServer((request, response) => {
      if (request.path === "/cut") {
        response.writeHead(200, { "content-type": "application/json" });
        return void response.end("x".repeat(190) + bare);
      }
      if (request.path === "/packed") {
        response.writeHead(200, { "content-encoding": `${"x".repeat(45)}${bare}` });
        return void response.end();
      }
      if (request.path === "/wide") {
        response.writeHead(200, { "content-type": "application/octet-stream" });
        return void response.end(Buffer.from(`a${bare}b`, "utf16le"));
      }
      response.writeHead(200, { [bare]: "1", "content-type": `text/${bare}` });
      return void response.end(bare.toUpperCase());
    });
    const of = (path: string) =>
      named.send({ method: "GET", url: peer.url + path, headers: {}, maxBytes: 10_000 }, callOf(never));
    const answer = await of("/");
    expect(answer).toMatchObject({ headers: { "***": "1", "content-type": "text/***" }, body: "***" });
    expect((await of("/wide")).body).toMatchObject({ base64: expect.stringContaining("***") as string });
    expect((await stepErrorOf(of("/cut"))).options).toEqual({
      fix: expect.any(String) as string,
      details: { content_type: "application/json", starts_with: `${"x".repeat(190)}***` },
      transient: false,
    });
    expect((await stepErrorOf(of("/packed"))).message).toContain(`"${"x".repeat(45)}***"`);
  });

  it("is masked although it was not sent, and whatever the server encodes", async () => {
    const other = "another secret of ours";
    const named = createHttpClient(
      parseConfig({
        http: { allowed_hosts: ["127.0.0.1"] },
        secrets: [{ name: "hook", key_var: "HOOK", hosts: ["elsewhere.test"] }],
        databases: [{ name: "d", type: "mysql", dataset: "mysql://u@h/d", password_var: "PASSWORD" }],
      }),
      fixedSecrets({ HOOK: other, PASSWORD: "correct horse battery" }),
    );
    const peer = await mockHttpServer((_request, response) =>
      sendJson(response, {
        a: other.split("").toReversed().join(" "),
        b: ["the correct%20horse-battery"],
        c: 1,
      }),
    );
    const answer = await named.send(
      { method: "GET", url: peer.url, headers: {}, maxBytes: 10_000 },
      callOf(never),
    );
    expect(answer.body).toEqual({ a: "***", b: ["the ***"], c: 1 });
  });

  it("is sent only with its methods and in its headers, also after a redirect", async () => {
    const peer = await mockHttpServer((request, response) => {
      response.writeHead(request.path === "/see-other" ? 303 : 200, { location: "/done" });
      response.end();
    });
    const bound = createHttpClient(
      parseConfig({
        http: { allowed_hosts: ["127.0.0.1"] },
        secrets: [
          {
            name: "hook",
            key_var: "HOOK",
            hosts: ["127.0.0.1"],
            methods: ["POST"],
            headers: ["Authorization"],
          },
        ],
      }),
      fixedSecrets({ HOOK: SECRET }),
    );
    const ask = (method: string, path: string, header: string) =>
      bound.send(
        { method, url: peer.url + path, headers: { [header]: { secret: "hook" } }, maxBytes: 10_000 },
        callOf(never),
      );
    const override = (name: string) =>
      bound.send(
        {
          method: "POST",
          url: peer.url,
          headers: { Authorization: { secret: "hook" }, [name]: "delete" },
          maxBytes: 10_000,
        },
        callOf(never),
      );
    for (const name of ["X-HTTP-Method-Override", "x-http-method", "X-Method-Override"])
      expect((await stepErrorOf(override(name))).message).toContain("must not be sent with DELETE");
    expect(peer.received).toEqual([]);
    expect((await ask("POST", "/", "authorization")).status).toBe(200);
    const received = peer.received.length;
    expect((await stepErrorOf(ask("GET", "/", "authorization"))).code).toBe("http_blocked");
    expect((await stepErrorOf(ask("POST", "/", "x-echo"))).code).toBe("http_blocked");
    expect(peer.received).toHaveLength(received);
    expect((await stepErrorOf(ask("POST", "/see-other", "authorization"))).message).toContain(
      "must not be sent with GET",
    );
    expect(peer.received).toHaveLength(received + 1);
  });

  it("is sent only to its hosts", async () => {
    const peer = await mockHttpServer((_request, response) => void response.end());
    const codes = async (name: string, url = peer.url) =>
      (await stepErrorOf(send(url, { headers: { "X-Key": { secret: name } } }))).code;
    expect(await codes("other")).toBe("http_blocked");
    expect(await codes("other", "http://other.test/")).toBe("http_blocked");
    expect(await codes("none")).toBe("environment");
    expect(await codes("broken")).toBe("environment");
    expect(peer.received).toEqual([]);
    expect(client.secrets().map(({ name, unavailableReason }) => [name, unavailableReason === null])).toEqual(
      [
        ["hook", true],
        ["other", true],
        ["broken", false],
      ],
    );
  });
});

describe("a server that fails", () => {
  const HEAD = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";

  it.each([
    ["closes the connection immediately", (socket: Socket) => void socket.end()],
    ["resets the connection", (socket: Socket) => void socket.resetAndDestroy()],
    [
      "closes in the middle of the body",
      (socket: Socket) => void socket.end(`${HEAD}Content-Length: 10\r\n\r\nabc`),
    ],
    [
      "closes in the middle of a chunk",
      (socket: Socket) => void socket.end(`${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\nabc`),
    ],
    [
      "sends truncated gzip data",
      (socket: Socket) => void socket.end(`${HEAD}Content-Encoding: gzip\r\nConnection: close\r\n\r\n\u001f`),
    ],
  ])("causes a transient http_failed if it %s", async (_name, handle) => {
    const error = await stepErrorOf(send(await rawPeer(handle)));
    expect(error).toMatchObject({ code: "http_failed", transient: true });
    expect(error.options.fix).toBe("Try again.");
  });

  it.each([
    ["does not speak HTTP", (socket: Socket) => void socket.end("220 mail.test ESMTP\r\n")],
    [
      "sends an invalid content length",
      (socket: Socket) => void socket.write(`${HEAD}Content-Length: x\r\n\r\n`),
    ],
    [
      "sends endless headers",
      (socket: Socket) => void socket.write(HEAD + "X-A: ".concat("x".repeat(200_000))),
    ],
    [
      "declares a compression that it does not use",
      (socket: Socket) => void socket.end(`${HEAD}Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nplain`),
    ],
  ])("causes a permanent http_failed if it %s", async (_name, handle) => {
    expect(await stepErrorOf(send(await rawPeer(handle)))).toMatchObject({
      code: "http_failed",
      transient: false,
    });
  });

  it("causes different messages if nothing listens, the name does not exist, or it does not speak TLS", async () => {
    const peer = await mockHttpServer((_request, response) => void response.end());
    const tls = await stepErrorOf(send(`https://${peer.host}/`));
    expect(tls).toMatchObject({ code: "http_failed", transient: false });
    const unused = await unusedPort();
    expect((await stepErrorOf(send(`http://127.0.0.1:${unused}/`))).message).toContain(
      "nothing listens on that port",
    );
    const nameless = createHttpClient(parseConfig({}), fixedSecrets({}), {
      resolve: (_name, done) => done(null, []),
    });
    const error = await stepErrorOf(
      nameless.send({ method: "GET", url: "http://no.test/", headers: {}, maxBytes: 1 }, callOf(never)),
    );
    expect(error.message).toContain("the host name does not exist");
  });

  it.each([
    ["before its headers", () => undefined],
    ["in its headers", (response: ServerResponse) => void response.socket!.write("HTTP/1.1 200 OK\r\nX-A:")],
    ["after its headers", (response: ServerResponse) => response.flushHeaders()],
    [
      "in a compressed body",
      (response: ServerResponse) => {
        response.writeHead(200, { "content-encoding": "gzip" });
        response.write(gzipSync("x".repeat(1_000)).subarray(0, 12));
      },
    ],
    [
      "while it sends byte by byte",
      (response: ServerResponse) => {
        const timer = setInterval(() => response.write("x"), 5);
        response.on("close", () => clearInterval(timer));
      },
    ],
  ])("is disconnected with the step's reason when the step is aborted %s", async (_name, handle) => {
    const peer = await mockHttpServer((_request, response) => handle(response));
    const stop = new AbortController();
    const reason = new StepError("timeout", "It took too long.");
    const call = stepErrorOf(send(peer.url, {}, stop.signal));
    await peer.requestReceived;
    // Waits until the data that the server sent has arrived.
    await quietTime(20);
    stop.abort(reason);
    expect(await call).toBe(reason);
    await peer.connectionClosed;
  });

  it("is not called if the step is already aborted", async () => {
    const peer = await mockHttpServer((_request, response) => void response.end());
    const reason = new StepError("cancelled", "The run was cancelled.");
    expect(await stepErrorOf(send(peer.url, {}, AbortSignal.abort(reason)))).toBe(reason);
    expect(peer.connectionCount()).toBe(0);
  });
});

/** A port where nothing listens, because its server has just closed. */
async function unusedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => void server.close(resolve));
  await new Promise<void>((resolve) => {
    connect(port, "127.0.0.1").once("error", () => resolve());
  });
  return port;
}

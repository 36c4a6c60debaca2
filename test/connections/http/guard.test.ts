import type { LookupAddress } from "node:dns";
import { describe, expect, it } from "vitest";
import { createHttpClient } from "../../../src/connections/http/index.ts";
import type { HttpRequest, PartialIssue } from "../../../src/core/connections.ts";
import { fixedSecrets } from "../../../src/core/secret-source.ts";
import { parseConfig, stepErrorOf, mockHttpServer, sendJson } from "../../support/mock-http-server.ts";
import { callOf } from "../../support/call-context.ts";

const signal = new AbortController().signal;
const get = (url: string, more: Partial<HttpRequest> = {}): HttpRequest => ({
  method: "GET",
  url,
  headers: {},
  maxBytes: 10_000,
  ...more,
});

const ok = () => mockHttpServer((_request, response) => sendJson(response, { ok: true }));

const client = (allowed: string[], addresses: Record<string, string[]> = {}) =>
  createHttpClient(parseConfig({ http: { allowed_hosts: allowed } }), fixedSecrets({}), {
    resolve: (hostname, done) =>
      done(
        null,
        (addresses[hostname] ?? []).map((address): LookupAddress => ({
          address,
          family: address.includes(":") ? 6 : 4,
        })),
      ),
  });

describe("the guard of http", () => {
  it("refuses private addresses in any spelling without connecting", async () => {
    const peer = await ok();
    const hosts = [
      "127.0.0.1",
      "2130706433",
      "0x7f.1",
      "0177.0.0.1",
      "127.1",
      "0.0.0.0",
      "[::ffff:127.0.0.1]",
      "[::]",
    ];
    for (const host of hosts) {
      const error = await stepErrorOf(client([]).send(get(`http://${host}:${peer.port}/`), callOf(signal)));
      expect(error.code).toBe("http_blocked");
      expect(error.options.fix).toContain("http.allowed_hosts");
    }
    expect(peer.connectionCount()).toBe(0);
  });

  it("reads a URL as its parser does, whatever follows or precedes the host", async () => {
    const peer = await ok();
    const spellings: [url: (port: number) => string, code: string][] = [
      [(port) => `http://127.0.0.1:${port}#hooks.example.com`, "http_blocked"],
      [(port) => `http://127.0.0.1:${port}?@hooks.example.com`, "http_blocked"],
      [(port) => `http://127.0.0.1:${port}\\@hooks.example.com`, "http_blocked"],
      [(port) => `http:\\\\127.0.0.1:${port}/`, "http_blocked"],
      [(port) => `http:127.0.0.1:${port}`, "http_blocked"],
      [(port) => `HTTP://LOCALHOST:${port}/`, "http_blocked"],
      [(port) => `http://localhost.:${port}/`, "http_blocked"],
      [(port) => `http://127.0.0.1.:${port}/`, "http_blocked"],
      [(port) => `http://%31%32%37.0.0.1:${port}/`, "http_blocked"],
      [(port) => `http://１２７.0.0.1:${port}/`, "http_blocked"],
      [(port) => ` http://127.0.\t0.1:${port}/`, "http_blocked"],
      [(port) => `http://user@127.0.0.1:${port}/`, "input_invalid"],
      [(port) => `http://hooks.example.com@127.0.0.1:${port}/`, "input_invalid"],
      [(port) => `http://hooks.example.com:80@127.0.0.1:${port}/`, "input_invalid"],
      [() => "http://[::1%25lo]/", "input_invalid"],
      [() => "http://127.0.0.1:65536/", "input_invalid"],
      [() => "http://127.0.0.1:80:80/", "input_invalid"],
      [() => "http://exa mple.com/", "input_invalid"],
    ];
    const here = { localhost: ["127.0.0.1"], "localhost.": ["127.0.0.1"] };
    for (const [url, code] of spellings) {
      const sent = client(["hooks.example.com"], here).send(get(url(peer.port)), callOf(signal));
      expect([url(0), (await stepErrorOf(sent)).code]).toEqual([url(0), code]);
    }
    expect(peer.connectionCount()).toBe(0);
  });

  it("refuses a name that the system resolves to loopback", async () => {
    const peer = await ok();
    const real = createHttpClient(parseConfig({}), fixedSecrets({}));
    for (const name of ["localhost", "LOCALHOST"]) {
      const error = await stepErrorOf(real.send(get(`http://${name}:${peer.port}/`), callOf(signal)));
      expect(error.code).toBe("http_blocked");
      expect(error.message).not.toContain("127.0.0.1");
    }
    expect(peer.connectionCount()).toBe(0);
  });

  it("refuses a name with one private address among public ones", async () => {
    const peer = await ok();
    const mixed = client([], { "mixed.test": ["93.184.215.14", "127.0.0.1"] });
    expect((await stepErrorOf(mixed.send(get(`http://mixed.test:${peer.port}/`), callOf(signal)))).code).toBe(
      "http_blocked",
    );
    expect(peer.connectionCount()).toBe(0);
  });

  it("connects to the address that it checked, even if the name server returns another one next time", async () => {
    const peer = await ok();
    let lookups = 0;
    // Returns a public address the first time and a private one afterwards, as a rebinding name server does.
    const rebinding = createHttpClient(parseConfig({}), fixedSecrets({}), {
      resolve: (_hostname, done) => {
        lookups += 1;
        done(null, [
          { address: lookups === 1 ? "2606:4700::ffff" : "127.0.0.1", family: lookups === 1 ? 6 : 4 },
        ]);
      },
    });
    const stop = new AbortController();
    const call = stepErrorOf(rebinding.send(get(`http://rebinding.test:${peer.port}/`), callOf(stop.signal)));
    setImmediate(() => stop.abort());
    await call.catch(() => undefined);
    expect(lookups).toBe(1);
    const again = await stepErrorOf(
      rebinding.send(get(`http://rebinding.test:${peer.port}/`), callOf(signal)),
    );
    expect(again.code).toBe("http_blocked");
    expect(peer.connectionCount()).toBe(0);
  });

  it("connects to allowed hosts by address, name, pattern and port, and to no others", async () => {
    const peer = await ok();
    const names = { "api.corp.test": ["127.0.0.1"], "corp.test": ["127.0.0.1"] };
    const reach = (allowed: string, host: string) =>
      client([allowed], names).send(get(`http://${host}:${peer.port}/`), callOf(signal));
    for (const [allowed, host] of [
      ["127.0.0.1", "127.0.0.1"],
      [peer.host, "2130706433"],
      ["*.corp.test", "api.corp.test"],
      [`corp.test:${peer.port}`, "corp.test"],
    ] as const)
      expect((await reach(allowed, host)).status).toBe(200);
    for (const [allowed, host] of [
      ["127.0.0.1:1", "127.0.0.1"],
      ["*.corp.test", "corp.test"],
      ["api.corp.test", "127.0.0.1"],
    ] as const)
      expect((await stepErrorOf(reach(allowed, host))).code).toBe("http_blocked");
  });

  it.each([
    ["ftp://127.0.0.1/", "must begin with https: or http:"],
    ["file:///etc/passwd", "must begin with https: or http:"],
    ["not a url", "is not a URL"],
    ["http://user:word@127.0.0.1/", "user name or password"],
  ])("refuses %s", async (url, message) => {
    const error = await stepErrorOf(client(["127.0.0.1"]).send(get(url), callOf(signal)));
    expect(error).toMatchObject({ code: "input_invalid" });
    expect(error.message).toContain(message);
    expect(error.message).not.toContain("word@");
  });
});

const redirecting = (status: number, to: string | ((path: string) => string)) =>
  mockHttpServer((request, response) => {
    if (request.path.startsWith("/end"))
      return sendJson(response, { method: request.method, body: request.body });
    response.writeHead(status, { location: typeof to === "string" ? to : to(request.path) });
    return void response.end();
  });

describe("redirects", () => {
  it.each([
    [301, "POST", "GET"],
    [302, "POST", "GET"],
    [303, "PUT", "GET"],
    [307, "POST", "POST"],
    [308, "PUT", "PUT"],
    [302, "PUT", "PUT"],
  ])("are followed within the origin: %i turns %s into %s", async (status, method, expected) => {
    const peer = await redirecting(status, "/end?x=1");
    const answer = await client([peer.host]).send(get(peer.url, { method, body: { a: 1 } }), callOf(signal));
    expect(answer.body).toEqual({ method: expected, body: expected === "GET" ? "" : '{"a":1}' });
    expect(peer.received[1]!.headers["content-type"]).toBe(
      expected === "GET" ? undefined : "application/json",
    );
  });

  it("are not followed to another origin, and the error names it without the query", async () => {
    const target = await ok();
    const peer = await redirecting(302, `${target.url}/there?key=abc`);
    const error = await stepErrorOf(client([peer.host, target.host]).send(get(peer.url), callOf(signal)));
    expect(error).toMatchObject({
      code: "http_blocked",
      options: { details: { location: `${target.url}/there` } },
    });
    expect(error.message).toContain(`${target.url}/there`);
    expect(error.message).not.toContain("abc");
    expect(target.connectionCount()).toBe(0);
  });

  it("to a private address are not followed", async () => {
    const peer = await redirecting(307, "http://169.254.169.254/latest/meta-data/");
    expect((await stepErrorOf(client([peer.host]).send(get(peer.url), callOf(signal)))).code).toBe(
      "http_blocked",
    );
  });

  it("end after five", async () => {
    const peer = await redirecting(302, (path) => `/${path.length}`.repeat(path.length));
    const error = await stepErrorOf(client([peer.host]).send(get(peer.url), callOf(signal)));
    expect(error).toMatchObject({ code: "http_failed", transient: false });
    expect(peer.received).toHaveLength(6);
  });

  it("are returned unchanged if the caller accepts their status", async () => {
    const peer = await redirecting(302, "https://elsewhere.test/");
    const answer = await client([peer.host]).send(get(peer.url, { acceptStatus: [302] }), callOf(signal));
    expect(answer).toMatchObject({
      status: 302,
      headers: { location: "https://elsewhere.test/" },
      body: null,
    });
  });
});

describe("the check of an http step", () => {
  const config = parseConfig({
    http: { allowed_hosts: ["10.0.0.5"] },
    secrets: [
      { name: "team_hook", key_var: "HOOK", hosts: ["hooks.example.com", "10.0.0.5"] },
      { name: "empty", key_var: "EMPTY", hosts: ["hooks.example.com"] },
      {
        name: "bound",
        key_var: "HOOK",
        hosts: ["hooks.example.com:8443"],
        methods: ["POST", "PUT"],
        headers: ["Authorization", "X-Signature"],
      },
    ],
  });
  const { check } = createHttpClient(config, fixedSecrets({ HOOK: "s3cr3t" }));
  const codes = (url: string | null, name: string, method: string | null = "POST", header = "X-Key") =>
    (check({ url, method, secrets: [{ name, header }] }) as PartialIssue[]).map((one) => one.code);

  it.each([["http://10.0.0.6/"], ["http://0x7f000001/"], ["http://[fd00::1]/"], ["http://a.localhost/"]])(
    "reports that %s is private",
    (url) => {
      expect(check({ url, method: null, secrets: [] })).toMatchObject([
        { path: ["url"], code: "private_host" },
      ]);
    },
  );

  it("reports no issues for valid requests", () => {
    expect(codes("https://hooks.example.com/x", "team_hook")).toEqual([]);
    expect(codes("http://10.0.0.5/", "team_hook")).toEqual([]);
    expect(codes(null, "team_hook")).toEqual([]);
  });

  it("reports secrets that are unknown, not set, for another host, or sent without encryption", () => {
    expect(
      check({ url: null, method: null, secrets: [{ name: "team_hok", header: "X-Key" }] }),
    ).toMatchObject([{ path: ["secrets", 0], code: "unknown_secret", did_you_mean: "team_hook" }]);
    expect(codes(null, "empty")).toEqual(["secret_not_set"]);
    expect(codes("https://example.com/", "team_hook")).toEqual(["secret_not_for_host"]);
    expect(codes("http://hooks.example.com/", "team_hook")).toEqual(["secret_in_plain"]);
    expect(codes("gopher://hooks.example.com/", "team_hook")).toEqual(["not_allowed"]);
  });

  it("reports secrets in a port, method or header that they are not bound to", () => {
    const url = "https://hooks.example.com:8443/";
    expect(codes(url, "bound", "POST", "authorization")).toEqual([]);
    expect(codes(null, "bound", null, "x-signature")).toEqual([]);
    expect(codes("https://hooks.example.com/", "bound", "POST", "authorization")).toEqual([
      "secret_not_for_host",
    ]);
    expect(codes(url, "bound", "GET", "authorization")).toEqual(["secret_not_for_method"]);
    expect(check({ url, method: "POST", secrets: [{ name: "bound", header: "User-Agent" }] })).toEqual([
      {
        path: ["secrets", 0],
        code: "secret_not_for_header",
        message: "must not be sent in the header User-Agent",
        allowed: ["Authorization", "X-Signature"],
        fix: "Send it in Authorization or X-Signature, or ask the operator to add User-Agent to its headers.",
      },
    ]);
  });
});

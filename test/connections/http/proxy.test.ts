import type { LookupAddress } from "node:dns";
import { createServer, type AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { createHttpClient } from "../../../src/connections/http/index.ts";
import type { HttpRequest, PartialIssue } from "../../../src/core/connections.ts";
import { readProxies } from "../../../src/core/outgoing-proxy.ts";
import { fixedSecrets } from "../../../src/core/secret-source.ts";
import { callOf } from "../../support/call-context.ts";
import { mockHttpServer, parseConfig, sendJson, stepErrorOf } from "../../support/mock-http-server.ts";
import { outgoingProxy } from "../../support/outgoing-proxy.ts";
import { tlsServer } from "../../support/tls-server.ts";

type ConfigPart = Parameters<typeof parseConfig>[0];

const PUBLIC = "93.184.215.14";
const PUBLIC_6 = "2606:4700::ffff";

const get = (url: string, more: Partial<HttpRequest> = {}): HttpRequest => ({
  method: "GET",
  url,
  headers: {},
  maxBytes: 10_000,
  ...more,
});

/** A client whose requests leave through a proxy. @param names the addresses that this machine knows */
function client(
  proxy: string,
  names: Record<string, string[]> = {},
  config: ConfigPart = {},
  env: Record<string, string> = {},
) {
  const asked: string[] = [];
  const created = createHttpClient(parseConfig(config), fixedSecrets(env), {
    proxies: readProxies({ HTTPS_PROXY: proxy, HTTP_PROXY: proxy, ...env }).proxies,
    resolve(hostname, done) {
      asked.push(hostname);
      const addresses = names[hostname];
      if (addresses === undefined) return done(Object.assign(new Error(), { code: "ENOTFOUND" }), []);
      return done(
        null,
        addresses.map((address): LookupAddress => ({ address, family: address.includes(":") ? 6 : 4 })),
      );
    },
  });
  const send = (url: string, more?: Partial<HttpRequest>) => created.send(get(url, more), callOf());
  return { ...created, asked, send };
}

const ok = () => mockHttpServer((_request, response) => sendJson(response, { ok: true }));

describe("https requests through a proxy", () => {
  it("go to the address that was checked, with the name in the handshake and in Host", async () => {
    const target = await tlsServer();
    const proxy = await outgoingProxy({ route: () => target.port });
    const { asked, send } = client(proxy.url, { "api.proxied.test": [PUBLIC] });
    expect((await send("https://api.proxied.test/orders?a=1")).body).toEqual({ ok: true });
    expect(proxy.received).toMatchObject([{ method: "CONNECT", target: `${PUBLIC}:443` }]);
    expect(target.names).toEqual(["api.proxied.test"]);
    expect(target.received).toMatchObject([{ path: "/orders?a=1", headers: { host: "api.proxied.test" } }]);
    expect(asked).toEqual(["api.proxied.test"]);
    // Connections are used again; undici may open a second one.
    for (let sent = 0; sent < 5; sent += 1) await send("https://api.proxied.test/");
    expect(proxy.received.length).toBeLessThan(3);
  });

  it("prefer IPv4, and try the next address where the proxy can't reach one", async () => {
    const target = await tlsServer();
    const proxy = await outgoingProxy({
      route: (authority) => (authority === `${PUBLIC}:8443` ? { status: 504 } : target.port),
    });
    const { send } = client(proxy.url, { "api.proxied.test": [PUBLIC_6, PUBLIC] });
    expect((await send("https://api.proxied.test:8443/")).status).toBe(200);
    expect(proxy.received.map((one) => one.target)).toEqual([`${PUBLIC}:8443`, `[${PUBLIC_6}]:8443`]);
  });

  it("have the brackets of a literal IPv6 address", async () => {
    const target = await tlsServer();
    const plain = await ok();
    const proxy = await outgoingProxy({
      route: (authority) => (authority.endsWith(":8443") ? target.port : plain.port),
    });
    const { send } = client(proxy.url);
    // The certificate is for names.
    const error = await stepErrorOf(send(`https://[${PUBLIC_6}]:8443/`));
    expect(error.message).toContain("certificate");
    expect((await send(`http://[${PUBLIC_6}]:8080/x`)).status).toBe(200);
    expect(proxy.received).toMatchObject([
      { method: "CONNECT", target: `[${PUBLIC_6}]:8443` },
      { method: "GET", target: `http://[${PUBLIC_6}]:8080/x` },
    ]);
  });

  it("check the certificate of the target", async () => {
    const target = await tlsServer({ trusted: false });
    const proxy = await outgoingProxy({ route: () => target.port });
    const { send } = client(proxy.url, { "api.proxied.test": [PUBLIC] });
    const error = await stepErrorOf(send("https://api.proxied.test/"));
    expect(error).toMatchObject({ code: "http_failed", transient: false });
    expect(error.message).toContain("certificate");
    expect(target.received).toEqual([]);
  });

  it("send credentials to the proxy only", async () => {
    const target = await tlsServer();
    const proxy = await outgoingProxy({ credentials: "ada:p@ss word", route: () => target.port });
    const url = proxy.url.replace("//", "//ada:p%40ss%20word@");
    const { send } = client(url, { "api.proxied.test": [PUBLIC] });
    expect((await send("https://api.proxied.test/")).status).toBe(200);
    expect(target.received[0]!.headers["proxy-authorization"]).toBeUndefined();
    const refused = send("https://api.proxied.test/", { headers: { "Proxy-Authorization": "Basic x" } });
    expect((await stepErrorOf(refused)).code).toBe("input_invalid");
  });

  it("use a proxy that speaks TLS", async () => {
    const target = await tlsServer();
    const proxy = await outgoingProxy({ tls: true, route: () => target.port });
    const { send } = client(proxy.url, { "api.proxied.test": [PUBLIC] });
    expect((await send("https://api.proxied.test/")).status).toBe(200);
    expect(target.names).toEqual(["api.proxied.test"]);
    const plain = await ok();
    const forwarding = await outgoingProxy({ tls: true, route: () => plain.port });
    const corp = client(forwarding.url, {}, { http: { allowed_hosts: ["*.corp.test"] } });
    expect((await corp.send("http://reports.corp.test/a")).status).toBe(200);
    expect(forwarding.received).toMatchObject([{ method: "GET", target: "http://reports.corp.test/a" }]);
  });
});

describe("the guard with a proxy", () => {
  it("refuses private addresses without asking the proxy", async () => {
    const proxy = await outgoingProxy();
    const names = { "in.test": ["10.0.0.5"], "mixed.test": [PUBLIC, "127.0.0.1"], "rebound.test": ["::1"] };
    const { send } = client(proxy.url, names);
    const urls = [
      "in.test",
      "mixed.test",
      "rebound.test",
      "10.0.0.5",
      "169.254.169.254",
      "[fd00::1]",
      "0xa000005",
    ];
    for (const host of urls)
      for (const scheme of ["http", "https"]) {
        const error = await stepErrorOf(send(`${scheme}://${host}/`));
        expect([host, error.code]).toEqual([host, "http_blocked"]);
        expect(error.options.fix).toContain("http.allowed_hosts");
      }
    expect(proxy.received).toEqual([]);
  });

  it("gives the proxy an address also for plain http, so that it looks no name up", async () => {
    const target = await ok();
    const proxy = await outgoingProxy({ route: () => target.port });
    const { send } = client(proxy.url, { "api.test": [PUBLIC] });
    expect((await send("http://api.test/x?y=1")).status).toBe(200);
    expect(proxy.received).toMatchObject([{ method: "CONNECT", target: `${PUBLIC}:80` }]);
    expect(target.received).toMatchObject([{ path: "/x?y=1", headers: { host: "api.test" } }]);
    // An address needs no lookup.
    expect((await send(`http://${PUBLIC}/z`)).status).toBe(200);
    expect(proxy.received[1]).toMatchObject({ method: "GET", target: `http://${PUBLIC}/z` });
    expect(target.received[1]).toMatchObject({ path: "/z", headers: { host: PUBLIC } });
  });

  it("refuses names that this machine can't look up, unless the proxy may", async () => {
    const target = await tlsServer();
    const proxy = await outgoingProxy({ route: () => target.port });
    const error = await stepErrorOf(client(proxy.url).send("https://api.proxied.test/"));
    expect(error).toMatchObject({ code: "http_failed", transient: true });
    expect(error.options.fix).toContain("http.proxy_resolves");
    expect(proxy.received).toEqual([]);
    const names = { "api2.proxied.test": [PUBLIC], "in.test": ["10.0.0.5"] };
    const trusting = client(proxy.url, names, { http: { proxy_resolves: true } });
    for (const host of ["api.proxied.test", "api2.proxied.test"])
      expect((await trusting.send(`https://${host}/`)).status).toBe(200);
    expect(proxy.received.map((one) => one.target)).toEqual([
      "api.proxied.test:443",
      "api2.proxied.test:443",
    ]);
    // What this machine knows to be private stays refused.
    for (const host of ["in.test", "10.0.0.5", "localhost", "a.localhost"])
      expect((await stepErrorOf(trusting.send(`https://${host}/`))).code).toBe("http_blocked");
    expect(proxy.received).toHaveLength(2);
  });

  it("waits only for a while for its own lookup of a name that the proxy looks up", async () => {
    const target = await tlsServer();
    const proxy = await outgoingProxy({ route: () => target.port });
    const waiting = createHttpClient(parseConfig({ http: { proxy_resolves: true } }), fixedSecrets({}), {
      proxies: readProxies({ HTTPS_PROXY: proxy.url }).proxies,
      resolve: () => undefined,
    });
    expect((await waiting.send(get("https://api.proxied.test/"), callOf())).status).toBe(200);
  });

  it("sends plain http to the proxy with the name where the proxy may look it up", async () => {
    const target = await ok();
    const proxy = await outgoingProxy({ credentials: "ada:secret", route: () => target.port });
    const url = proxy.url.replace("//", "//ada:secret@");
    const { send } = client(url, {}, { http: { proxy_resolves: true } });
    const body = { text: "hi" };
    expect((await send("http://api.test:8080/x?y=1", { method: "POST", body })).status).toBe(200);
    expect(proxy.received).toMatchObject([{ method: "POST", target: "http://api.test:8080/x?y=1" }]);
    expect(target.received).toMatchObject([
      { path: "/x?y=1", body: '{"text":"hi"}', headers: { host: "api.test:8080" } },
    ]);
    expect(target.received[0]!.headers["proxy-authorization"]).toBeUndefined();
  });

  it("reaches allowed hosts through the proxy by name, and those of NO_PROXY directly", async () => {
    const target = await ok();
    const proxy = await outgoingProxy({ route: () => target.port });
    const http = { allowed_hosts: ["*.corp.test"] };
    const names = { "direct.corp.test": ["127.0.0.1"], "evil.test": ["10.0.0.5"] };
    const { send } = client(proxy.url, names, { http }, { NO_PROXY: "direct.corp.test, evil.test" });
    expect((await send("http://reports.corp.test/a")).status).toBe(200);
    expect(proxy.received).toMatchObject([{ method: "GET", target: "http://reports.corp.test/a" }]);
    expect((await send(`http://direct.corp.test:${target.port}/b`)).status).toBe(200);
    expect((await stepErrorOf(send("http://evil.test/"))).code).toBe("http_blocked");
    expect(proxy.received).toHaveLength(1);
    expect(target.received.map(({ path }) => path)).toEqual(["/a", "/b"]);
  });

  it("refuses the proxy as a target, by name and by address, also where it is allowed or reached directly", async () => {
    const proxy = await outgoingProxy();
    const names = {
      "proxy.corp.test": ["127.0.0.1"],
      "alias.corp.test": ["127.0.0.1"],
      "also.test": ["127.0.0.1"],
    };
    const http = { allowed_hosts: ["127.0.0.1", "localhost", "*.corp.test"], public_hosts: [] };
    const hosts = ["127.0.0.1", "2130706433", "alias.corp.test", "proxy.corp.test", "also.test"];
    for (const name of ["127.0.0.1", "proxy.corp.test"])
      for (const env of [{}, { NO_PROXY: "*" }]) {
        const { check, send } = client(`http://${name}:${proxy.port}`, names, { http }, env);
        for (const host of hosts) {
          const url = `http://${host}:${proxy.port}/`;
          expect([name, host, (await stepErrorOf(send(url))).code]).toEqual([name, host, "http_blocked"]);
        }
        const issues = check({ url: `http://${name}:${proxy.port}/`, method: null, secrets: [] });
        expect((issues as PartialIssue[])[0]!.message).toContain("the outgoing proxy");
      }
    expect(proxy.received).toEqual([]);
  });

  it("keeps the lists of public hosts and the policy of a call", async () => {
    const target = await tlsServer();
    const proxy = await outgoingProxy({ route: () => target.port });
    const names = { "api.proxied.test": [PUBLIC], "other.proxied.test": [PUBLIC] };
    const http = { public: "list" as const, public_hosts: ["*.proxied.test"], proxy_resolves: true };
    const { send } = client(proxy.url, names, { http });
    const policy = { public: "list" as const, publicHosts: ["api.proxied.test"], privateHosts: [] };
    expect((await send("https://other.proxied.test/")).status).toBe(200);
    expect((await send("https://api.proxied.test/", { policy })).status).toBe(200);
    for (const refused of [
      send("https://other.proxied.test/", { policy }),
      send("https://proxied.test/"),
      send("https://unknown.test/"),
    ])
      expect((await stepErrorOf(refused)).code).toBe("http_blocked");
    expect(proxy.received).toHaveLength(2);
  });

  it("does not send a secret through the proxy without encryption", async () => {
    const target = await ok();
    const proxy = await outgoingProxy({ route: () => target.port });
    const config: ConfigPart = {
      http: { allowed_hosts: ["*.corp.test"] },
      secrets: [{ name: "hook", key_var: "HOOK", hosts: ["*.corp.test"] }],
    };
    const names = { "direct.corp.test": ["127.0.0.1"] };
    const env = { HOOK: "hook-secret", NO_PROXY: "direct.corp.test" };
    const { check, send } = client(proxy.url, names, config, env);
    const headers = { "X-Key": { secret: "hook" } };
    const error = await stepErrorOf(send("http://reports.corp.test/", { headers }));
    expect(error).toMatchObject({ code: "http_blocked" });
    expect(error.options.fix).toContain("NO_PROXY");
    const secrets = [{ name: "hook", header: "X-Key" }];
    expect(check({ url: "http://reports.corp.test/", method: "GET", secrets })).toMatchObject([
      { code: "secret_in_plain" },
    ]);
    expect(proxy.received).toEqual([]);
    expect((await send(`http://direct.corp.test:${target.port}/`, { headers })).status).toBe(200);
    expect(target.received[0]!.headers["x-key"]).toBe("hook-secret");
  });
});

describe("a proxy that fails", () => {
  const names = { "api.proxied.test": [PUBLIC] };
  const failure = async (proxy: string) => {
    const error = await stepErrorOf(client(proxy, names).send("https://api.proxied.test/"));
    expect(error.code).toBe("http_failed");
    expect(`${error.message} ${JSON.stringify(error.options)}`).not.toMatch(/127\.0\.0\.1|s3cr3t/);
    return error;
  };

  it.each([
    [407, false, /requires a user name and a password, or refuses .* \(status 407\)/, /HTTPS_PROXY/],
    [401, false, /refuses those that it got \(status 401\)/, /HTTPS_PROXY/],
    [403, false, /refuses connections to this host or port \(status 403\)/, /NO_PROXY/],
    [405, false, /refuses connections/, /allow the host and the port/],
    [302, false, /status 302 instead of a connection/, /doctor/],
    [429, true, /can't reach the host now \(status 429\)/, /spelling of the host/],
    [502, true, /can't reach the host now \(status 502\)/, /spelling of the host/],
    [503, true, /can't reach the host now/, /spelling of the host/],
  ])("with status %i: transient is %s", async (status, transient, message, fix) => {
    const proxy = await outgoingProxy({ route: () => ({ status }) });
    const error = await failure(proxy.url.replace("//", "//ada:s3cr3t-password@"));
    expect(error.transient).toBe(transient);
    expect(error.message).toMatch(message);
    expect(error.options.fix).toMatch(fix);
  });

  it("because nothing listens there", async () => {
    const error = await failure("http://ada:s3cr3t-password@127.0.0.1:1");
    expect(error).toMatchObject({ transient: true });
    expect(error.message).toContain("the outgoing proxy can't be reached (ECONNREFUSED)");
  });

  it("because it closes the connection", async () => {
    const proxy = await outgoingProxy({ onConnect: (socket) => void socket.destroy() });
    const error = await failure(proxy.url);
    expect(error).toMatchObject({ transient: true });
    expect(error.message).toContain("the outgoing proxy closed the connection");
  });

  it("because it does not speak HTTP", async () => {
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => socket.write("SSH-2.0-OpenSSH_9.2\r\n"));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const error = await failure(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    expect(error).toMatchObject({ transient: false });
    expect(error.message).toContain("does not speak HTTP");
  });

  it("because it answers a request to an http URL with 407", async () => {
    const proxy = await outgoingProxy({ credentials: "ada:right" });
    const { send } = client(proxy.url, {}, { http: { proxy_resolves: true } });
    const error = await stepErrorOf(send("http://api.test/"));
    expect(error).toMatchObject({ code: "http_failed", transient: false });
    expect(error.options.fix).toContain("HTTP_PROXY");
  });
});

import type { LookupAddress } from "node:dns";
import { describe, expect, it } from "vitest";
import { createHttpClient } from "../../../src/connections/http/index.ts";
import type { HttpPolicy } from "../../../src/core/http-policy.ts";
import type { PartialIssue } from "../../../src/core/connections.ts";
import { fixedSecrets } from "../../../src/core/secret-source.ts";
import { parseConfig, stepErrorOf, mockHttpServer, sendJson } from "../../support/mock-http-server.ts";
import { callOf } from "../../support/call-context.ts";

type HttpConfig = NonNullable<Parameters<typeof parseConfig>[0]["http"]>;

/** A client whose name server knows only `names`: others end with an error that says that the rules let them pass. */
function client(http: HttpConfig, names: Record<string, string> = {}) {
  const asked: string[] = [];
  const created = createHttpClient(parseConfig({ http }), fixedSecrets({}), {
    resolve(hostname, done) {
      asked.push(hostname);
      const address = names[hostname.replace(/\.$/, "")];
      if (address === undefined)
        return done(Object.assign(new Error("no answer"), { code: "EAI_AGAIN" }), []);
      const found: LookupAddress = { address, family: address.includes(":") ? 6 : 4 };
      return done(null, [found]);
    },
  });
  const send = (url: string, policy?: HttpPolicy) =>
    created.send({ method: "GET", url, headers: {}, maxBytes: 10_000, policy }, callOf());
  const check = (url: string, policy?: HttpPolicy) =>
    created.check({ url, method: null, secrets: [], policy }) as PartialIssue[];
  return { ...created, asked, send, check };
}

const policy = (
  hosts: HttpPolicy["public"],
  publicHosts: string[] = [],
  privateHosts: string[] = [],
): HttpPolicy => ({ public: hosts, publicHosts, privateHosts });

const LISTED = ["api.example.com", "*.wild.example.com", "ports.example.com:8443", "xn--bcher-kva.example"];

const ALLOWED_BY_LIST = [
  "https://api.example.com/",
  "https://API.Example.COM/",
  "https://api.example.com./",
  "https://api.example.com:8443/",
  "http://api.example.com/",
  "https://%61pi.example.com/",
  "https://ａpi.example.com/",
  "https://a.wild.example.com/",
  "https://a.b.wild.example.com/",
  "https://ports.example.com:8443/",
  "https://bücher.example/",
  "https://BÜCHER.example/",
  "https://xn--bcher-kva.example/",
];

const REFUSED_BY_LIST = [
  "https://example.com/",
  "https://sub.api.example.com/",
  "https://api.example.com.evil.test/",
  "https://evilapi.example.com/",
  "https://api.example.com../",
  "https://wild.example.com/",
  "https://evilwild.example.com/",
  "https://ports.example.com/",
  "https://ports.example.com:443/",
  "https://ports.example.com:8444/",
  "https://bucher.example/",
  "https://93.184.215.14/",
  "https://1572394766/",
  "https://[2606:4700::ffff]/",
  "https://evil.test#api.example.com",
  "https://evil.test\\@api.example.com",
  "https://evil.test?@api.example.com",
];

/** A user name is refused whatever the host is. */
const WITH_USER = ["https://api.example.com@evil.test/", "https://api.example.com:443@evil.test/"];

describe("http.public", () => {
  it.each(ALLOWED_BY_LIST)("list lets %s pass", async (url) => {
    const { asked, check, send } = client({ public: "list", public_hosts: LISTED });
    expect(check(url)).toEqual([]);
    expect((await stepErrorOf(send(url))).code).toBe("http_failed");
    expect(asked).toHaveLength(1);
  });

  it.each(REFUSED_BY_LIST)("list refuses %s, before its name is looked up", async (url) => {
    const { asked, check, send } = client({ public: "list", public_hosts: LISTED });
    expect(check(url)).toMatchObject([{ path: ["url"], code: "host_not_allowed" }]);
    const error = await stepErrorOf(send(url));
    expect(error).toMatchObject({ code: "http_blocked", transient: false });
    expect(error.message).toContain("not in http.public_hosts");
    expect(error.options.fix).toContain("http.public_hosts");
    expect(asked).toEqual([]);
  });

  it.each(WITH_USER)("list refuses %s", async (url) => {
    const { asked, check, send } = client({ public: "list", public_hosts: LISTED });
    expect(check(url)).toMatchObject([{ path: ["url"], code: "holds_secret" }]);
    expect((await stepErrorOf(send(url))).code).toBe("input_invalid");
    expect(asked).toEqual([]);
  });

  it("list names addresses too, in any spelling", async () => {
    const { check } = client({ public: "list", public_hosts: ["93.184.215.14", "[2606:4700::ffff]:8443"] });
    for (const url of ["https://93.184.215.14/", "https://1572394766/", "https://[2606:4700:0::ffff]:8443/"])
      expect([url, check(url)]).toEqual([url, []]);
    for (const url of ["https://93.184.215.15/", "https://[2606:4700::ffff]/"])
      expect([url, check(url)]).toMatchObject([url, [{ code: "host_not_allowed" }]]);
  });

  it("list does not let a listed name reach a private address", async () => {
    const peer = await mockHttpServer((_request, response) => sendJson(response, {}));
    const { send } = client(
      { public: "list", public_hosts: ["api.example.com", "127.0.0.1"] },
      { "api.example.com": "127.0.0.1" },
    );
    for (const host of ["api.example.com", "127.0.0.1"]) {
      const error = await stepErrorOf(send(`http://${host}:${peer.port}/`));
      expect(error.code).toBe("http_blocked");
      expect(error.options.fix).toContain("http.allowed_hosts");
    }
    expect(peer.connectionCount()).toBe(0);
  });

  it("none lets only http.allowed_hosts pass", async () => {
    const peer = await mockHttpServer((_request, response) => sendJson(response, { ok: true }));
    const { asked, check, send } = client(
      { public: "none", allowed_hosts: [peer.host, "reports.internal"] },
      { "reports.internal": "127.0.0.1" },
    );
    expect((await send(peer.url)).status).toBe(200);
    expect((await send(`http://reports.internal:${peer.port}/`)).status).toBe(200);
    expect(check(`${peer.url}/x`)).toEqual([]);
    asked.length = 0;
    for (const url of ["https://api.example.com/", "https://93.184.215.14/", "https://[2606:4700::ffff]/"]) {
      expect(check(url)).toMatchObject([{ path: ["url"], code: "host_not_allowed" }]);
      const error = await stepErrorOf(send(url));
      expect(error).toMatchObject({ code: "http_blocked", transient: false });
      expect(error.message).toContain("http.public is none");
      expect(error.options.fix).toMatch(/http\.allowed_hosts .*http\.public_hosts/);
    }
    expect(asked).toEqual([]);
    expect(check("http://10.0.0.1/")).toMatchObject([{ code: "private_host" }]);
  });

  it("any is the default", () => {
    const { check } = client({});
    expect(check("https://anything.example/")).toEqual([]);
  });

  it("says the host with its port, so that the operator can copy it", () => {
    const { check } = client({ public: "list", public_hosts: [] });
    expect(check("https://[2606:4700::FFFF]:8443/")).toEqual([
      {
        path: ["url"],
        code: "host_not_allowed",
        message:
          "is [2606:4700::ffff]:8443, not in http.public_hosts, the only public hosts that workflows may call",
        fix: 'Ask the operator to add "[2606:4700::ffff]:8443" to http.public_hosts in the configuration, or to http.allowed_hosts if it is in a private network.',
      },
    ]);
  });
});

describe("the policy of a call", () => {
  const hosts: HttpConfig = {
    public: "list",
    public_hosts: ["api.example.com", "files.example.com"],
    allowed_hosts: ["*.corp.test", "10.0.0.5"],
  };

  it("is in addition to the configuration, never instead of it", () => {
    const { check } = client(hosts);
    const codes = (url: string, limits: HttpPolicy) => check(url, limits).map(({ code }) => code);
    const wide = policy("any", [], ["*.corp.test", "10.0.0.5", "10.0.0.6", "other.test"]);
    expect(codes("https://api.example.com/", wide)).toEqual([]);
    expect(codes("https://evil.test/", wide)).toEqual(["host_not_allowed"]);
    expect(codes("https://other.test/", wide)).toEqual(["host_not_allowed"]);
    expect(codes("http://10.0.0.5/", wide)).toEqual([]);
    expect(codes("http://10.0.0.6/", wide)).toEqual(["private_host"]);
    const narrow = policy("list", ["api.example.com", "evil.test"], ["db.corp.test:8443"]);
    expect(codes("https://api.example.com/", narrow)).toEqual([]);
    expect(codes("https://files.example.com/", narrow)).toEqual(["host_not_allowed"]);
    expect(codes("https://evil.test/", narrow)).toEqual(["host_not_allowed"]);
    expect(codes("https://db.corp.test:8443/", narrow)).toEqual([]);
    expect(codes("https://db.corp.test/", narrow)).toEqual(["host_not_allowed"]);
    expect(codes("http://10.0.0.5/", narrow)).toEqual(["private_host"]);
    expect(codes("https://api.example.com/", policy("none"))).toEqual(["host_not_allowed"]);
  });

  it("has one text whether the configuration or the policy refuses", () => {
    const { check } = client(hosts);
    const text = (url: string, limits: HttpPolicy) =>
      JSON.stringify(check(url, limits)).replaceAll(new URL(url).hostname, "HOST");
    const narrow = policy("list", ["evil.test"], ["10.0.0.6"]);
    expect(text("https://files.example.com/", narrow)).toBe(text("https://evil.test/", narrow));
    expect(text("https://files.example.com/", narrow)).toContain("grant the host");
    expect(text("http://10.0.0.5/", narrow)).toBe(text("http://10.0.0.6/", narrow));
    expect(text("http://10.0.0.5/", narrow)).toContain("grant the host");
  });

  it("holds for each hop of a redirect", async () => {
    let limits = policy("none", [], ["127.0.0.1"]);
    const peer = await mockHttpServer((_request, response) => {
      response.writeHead(302, { location: "http://files.example.com/" });
      response.end();
    });
    const { asked, send } = client({ ...hosts, allowed_hosts: ["127.0.0.1"] });
    expect((await stepErrorOf(send(peer.url, limits))).code).toBe("http_blocked");
    limits = policy("any");
    expect((await stepErrorOf(send(peer.url, limits))).code).toBe("http_blocked");
    expect(peer.received).toHaveLength(1);
    expect(asked).toEqual([]);
  });

  it("lets no call use the connection of another policy", async () => {
    const peer = await mockHttpServer((_request, response) => sendJson(response, { ok: true }));
    const names = { "db.corp.test": "127.0.0.1" };
    const { send } = client({ ...hosts, public: "any", public_hosts: [] }, names);
    const url = `http://db.corp.test:${peer.port}/`;
    const granted = policy("any", [], ["db.corp.test"]);
    expect((await send(url, granted)).status).toBe(200);
    expect((await send(url)).status).toBe(200);
    // Nothing in the name says that it is private: only a new connection finds out.
    const error = await stepErrorOf(send(url, policy("any")));
    expect(error).toMatchObject({ code: "http_blocked" });
    expect(error.message).not.toContain("127.0.0.1");
    // An equal policy uses the open connection.
    const before = peer.connectionCount();
    expect((await send(url, policy("any", [], ["db.corp.test"]))).status).toBe(200);
    expect(peer.connectionCount()).toBe(before);
  });

  it("decides whether a secret may be sent without encryption", () => {
    const { check } = createHttpClient(
      parseConfig({
        http: { allowed_hosts: ["db.corp.test"] },
        secrets: [{ name: "hook", key_var: "HOOK", hosts: ["db.corp.test"] }],
      }),
      fixedSecrets({ HOOK: "s3cr3t" }),
    );
    const codes = (limits: HttpPolicy | undefined) =>
      (
        check({
          url: "http://db.corp.test/",
          method: "GET",
          secrets: [{ name: "hook", header: "X-Key" }],
          policy: limits,
        }) as PartialIssue[]
      ).map(({ code }) => code);
    expect(codes(undefined)).toEqual([]);
    expect(codes(policy("any", [], ["db.corp.test"]))).toEqual([]);
    expect(codes(policy("any"))).toEqual(["secret_in_plain"]);
  });
});

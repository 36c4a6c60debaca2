import { describe, expect, it } from "vitest";
import { proxySecrets, readProxies } from "../../src/core/outgoing-proxy.ts";

const PROXY = "http://proxy.internal:3128";

/** The address of the proxy of a URL, or `direct`. */
const via = (env: Record<string, string>, url: string): string =>
  readProxies(env).proxies.proxyFor(new URL(url))?.url.href ?? "direct";

const issuesOf = (value: string) => readProxies({ HTTPS_PROXY: value }).issues;

const isDirect = (noProxy: string, url: string): boolean =>
  via({ HTTPS_PROXY: PROXY, HTTP_PROXY: PROXY, NO_PROXY: noProxy }, url) === "direct";

describe("the variables of the outgoing proxy", () => {
  it("are for https and http targets", () => {
    const env = { HTTPS_PROXY: "http://a:1", HTTP_PROXY: "https://b:2" };
    expect(via(env, "https://x.test/")).toBe("http://a:1/");
    expect(via(env, "http://x.test/")).toBe("https://b:2/");
    expect(via({ HTTPS_PROXY: "http://a:1" }, "http://x.test/")).toBe("direct");
    expect(via({ HTTP_PROXY: "http://a:1" }, "https://x.test/")).toBe("direct");
    expect(via({ ALL_PROXY: "http://a:1" }, "https://x.test/")).toBe("direct");
    expect(readProxies({}).proxies.all).toEqual([]);
  });

  it("are read in both cases, the lower one first, and empty ones count as not set", () => {
    const env = { HTTPS_PROXY: "http://upper:1", https_proxy: "http://lower:1" };
    expect(via(env, "https://x.test/")).toBe("http://lower:1/");
    expect(via({ ...env, https_proxy: " " }, "https://x.test/")).toBe("http://upper:1/");
    expect(via({ HTTPS_PROXY: "" }, "https://x.test/")).toBe("direct");
    const exceptions = { HTTPS_PROXY: PROXY, NO_PROXY: "x.test", no_proxy: "y.test" };
    expect(via(exceptions, "https://x.test/")).toBe(`${PROXY}/`);
    expect(via(exceptions, "https://y.test/")).toBe("direct");
  });

  it("can omit the scheme, and have a user name and a password, which are taken off", () => {
    expect(via({ HTTPS_PROXY: "proxy:3128" }, "https://x.test/")).toBe("http://proxy:3128/");
    const { proxies } = readProxies({ https_proxy: "http://ada:p%40ss%3Aw@proxy:3128" });
    const [proxy] = proxies.all;
    expect(proxy).toMatchObject({ variable: "https_proxy" });
    expect(proxy!.url.href).toBe("http://proxy:3128/");
    expect(proxy!.authorization).toBe(`Basic ${Buffer.from("ada:p@ss:w").toString("base64")}`);
    expect(readProxies({ HTTPS_PROXY: PROXY }).proxies.all[0]!.authorization).toBeNull();
  });

  it("count one proxy for both once, and give what to mask", () => {
    const env = { HTTPS_PROXY: "http://ada:p%40ssword@p:1", HTTP_PROXY: "http://ada:p%40ssword@p:1" };
    expect(readProxies(env).proxies.all).toHaveLength(1);
    expect(proxySecrets(readProxies(env).proxies)).toEqual(["p%40ssword", "p@ssword"]);
    expect(proxySecrets(readProxies({ HTTPS_PROXY: PROXY }).proxies)).toEqual([]);
  });

  it.each([
    ["http://", "must be the URL of a proxy"],
    ["http://pro xy:3128", "must be the URL of a proxy"],
    ["http://proxy:99999", "must be the URL of a proxy"],
    ["socks5://ada:s3cr3t@proxy:1080", "must begin with http:// or https://, got socks5://"],
    ["ftp://proxy", "must begin with http:// or https://, got ftp://"],
    ["http://ada:s3cr3t#x@proxy:3128", "must be the URL of a proxy"],
    ["http://proxy:3128/path", "must not have a path"],
    ["http://ada:s3cr3t@proxy:3128?x", "must not have a path, a query"],
    ["http://ada:s3cr3t%zz@proxy:3128", "Write % as %25"],
  ])("refuse %s", (value, message) => {
    const [issue] = issuesOf(value);
    expect(issue).toMatch(/^HTTPS_PROXY /);
    expect(issue).toContain(message);
    expect(issue).not.toContain("s3cr3t");
  });
});

describe("NO_PROXY", () => {
  it.each([
    ["*", "https://x.test/"],
    ["a.test, *", "https://x.test/"],
    ["x.test", "https://x.test/"],
    ["x.test", "https://a.x.test/"],
    ["X.Test.", "https://x.test./"],
    ["a.test,x.test", "https://x.test:8443/"],
    ["a.test x.test", "https://x.test/"],
    [".x.test", "https://a.x.test/"],
    ["*.x.test", "https://a.b.x.test/"],
    ["x.test:8443", "https://x.test:8443/"],
    ["x.test:443", "https://x.test/"],
    ["x.test:80", "http://x.test/"],
    ["bücher.example", "https://xn--bcher-kva.example/"],
    ["10.0.0.5", "http://10.0.0.5/"],
    ["10.0.0.5", "http://0xa.5/"],
    ["10.0.0.5:8080", "http://10.0.0.5:8080/"],
    ["10.0.0.0/8", "https://10.200.3.4/"],
    ["fd00::1", "https://[fd00:0::1]/"],
    ["[fd00::1]", "https://[fd00::1]/"],
    ["[fd00::1]:8443", "https://[fd00::1]:8443/"],
    ["fd00::/8", "https://[fdab::1]/"],
    ["", "http://localhost:3000/"],
    ["", "http://LOCALHOST./"],
    ["", "http://127.0.0.1:3000/"],
    ["", "http://127.9.9.9/"],
    ["", "http://[::1]:3000/"],
  ])("%s: %s is reached directly", (noProxy, url) => {
    expect(isDirect(noProxy, url)).toBe(true);
  });

  it.each([
    ["", "https://x.test/"],
    ["x.test", "https://notx.test/"],
    ["x.test", "https://x.test.evil.test/"],
    [".x.test", "https://x.test/"],
    ["*.x.test", "https://x.test/"],
    ["x.test:8443", "https://x.test/"],
    ["x.test:443", "http://x.test/"],
    ["10.0.0.5", "http://10.0.0.50/"],
    ["10.0.0.5:8080", "http://10.0.0.5/"],
    ["10.0.0.0/8", "https://11.0.0.1/"],
    ["10.0.0.0/8", "https://ten.test/"],
    ["fd00::/8", "https://[fe00::1]/"],
    ["fd00::/8", "https://10.0.0.1/"],
    ["localhost", "https://a.localhost.test/"],
  ])("%s: %s goes through the proxy", (noProxy, url) => {
    expect(isDirect(noProxy, url)).toBe(false);
  });

  it.each(["http://x.test", "192.168.*", "<local>", "10.0.0.0/33", "x.test:port", "a*b", "10.0.0.5/x"])(
    "warns about %s, which matches nothing",
    (entry) => {
      const { issues, warnings } = readProxies({ HTTPS_PROXY: PROXY, no_proxy: `ok.test,${entry}` });
      expect(issues).toEqual([]);
      expect(warnings).toEqual([expect.stringContaining(`no_proxy: "${entry}" matches nothing`)]);
    },
  );
});

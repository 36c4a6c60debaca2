import { describe, expect, it, onTestFinished, vi } from "vitest";
import { checkProxies, probeUrl } from "../../src/commands/doctor/outgoing.ts";
import { checkIdentityProvider } from "../../src/commands/doctor/provider.ts";
import { ConfigError } from "../../src/config/config-file.ts";
import { readEnvironment } from "../../src/config/environment.ts";
import { createMcpServers } from "../../src/connections/mcp-servers/index.ts";
import { createModels } from "../../src/connections/models/index.ts";
import { secretMasker } from "../../src/connections/secret-masker.ts";
import { outgoingFetch } from "../../src/core/outgoing-agent.ts";
import { proxySecrets } from "../../src/core/outgoing-proxy.ts";
import { fixedSecrets } from "../../src/core/secret-source.ts";
import { parseTrace } from "../../src/core/trace-context.ts";
import { otlpTracer } from "../../src/telemetry/tracing.ts";
import { callOf } from "../support/call-context.ts";
import { mcpHttpServer } from "../support/mcp-server-http.ts";
import { parseConfig, stepErrorOf } from "../support/mock-http-server.ts";
import { modelConfig, mockModelServer } from "../support/mock-model-server.ts";
import { otlpReceiver } from "../support/otlp-receiver.ts";
import { outgoingProxy } from "../support/outgoing-proxy.ts";
import { tlsServer } from "../support/tls-server.ts";

const withUser = (url: string, user = "ada:s3cr3t-password"): string => url.replace("//", `//${user}@`);
const signal = new AbortController().signal;

const ask = (env: Record<string, string>, url: string) =>
  createModels(
    modelConfig("openai-compatible", { url }),
    fixedSecrets({ MODEL_KEY: "sk-test-0123456789abcdef" }),
    { now: () => 0, proxies: readEnvironment(env).proxies },
  ).generate({ model: "writer", prompt: "Say hello." }, callOf());

const servers = (url: string, env: Record<string, string>) => {
  const all = createMcpServers(parseConfig({ mcp_servers: [{ name: "peer", url }] }), fixedSecrets({}), {
    now: Date.now,
    proxies: readEnvironment(env).proxies,
  });
  onTestFinished(() => all.close());
  return all;
};

const check = (env: Record<string, string>, resolves = false) => checkProxies(readEnvironment(env), resolves);

const proxyUrl = (endpoint: string) =>
  readEnvironment({
    HTTP_PROXY: "http://proxy.test:3128",
    NO_PROXY: "collector.internal",
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  }).tracing.proxyUrl;

function configErrorOf(env: Record<string, string>): ConfigError {
  try {
    readEnvironment(env);
  } catch (error) {
    if (error instanceof ConfigError) return error;
  }
  throw new Error("it is valid");
}

describe("models with an outgoing proxy", () => {
  it("are called through it, with its credentials for it only", async () => {
    const peer = await mockModelServer("openai-compatible", { text: "Hello." });
    const proxy = await outgoingProxy({ credentials: "ada:s3cr3t-password", route: () => peer.port });
    const env = { HTTP_PROXY: withUser(proxy.url) };
    expect((await ask(env, "http://llm.test:8000")).text).toBe("Hello.");
    expect(proxy.received).toMatchObject([
      { method: "POST", target: "http://llm.test:8000/v1/chat/completions" },
    ]);
    expect(peer.received[0]!.headers).toMatchObject({ host: "llm.test:8000" });
    expect(peer.received[0]!.headers["authorization"]).toContain("sk-test");
    expect(peer.received[0]!.headers["proxy-authorization"]).toBeUndefined();
  });

  it("get their key in a tunnel over https", async () => {
    const target = await tlsServer();
    const proxy = await outgoingProxy({ route: () => target.port });
    await stepErrorOf(ask({ HTTPS_PROXY: proxy.url }, "https://llm.proxied.test"));
    expect(proxy.received).toMatchObject([{ method: "CONNECT", target: "llm.proxied.test:443" }]);
    expect(JSON.stringify(proxy.received)).not.toContain("sk-test");
    expect(target.received[0]!.headers["authorization"]).toContain("sk-test");
  });

  it("on this machine and in NO_PROXY are called directly", async () => {
    const peer = await mockModelServer("openai-compatible", { text: "Hello." });
    expect((await ask({ HTTP_PROXY: "http://127.0.0.1:1" }, peer.url)).text).toBe("Hello.");
  });

  it.each([
    ["https", 407, false, /HTTPS_PROXY/],
    ["https", 403, false, /NO_PROXY/],
    ["https", 502, true, /spelling of the host/],
    ["http", 407, false, /HTTP_PROXY/],
  ])("fail clearly when it refuses %s with %i", async (scheme, status, transient, fix) => {
    const proxy = await outgoingProxy({ route: () => ({ status }) });
    const env = { HTTPS_PROXY: withUser(proxy.url), HTTP_PROXY: withUser(proxy.url) };
    const error = await stepErrorOf(ask(env, `${scheme}://llm.test`));
    expect(error).toMatchObject({ code: "model_failed", transient });
    expect(error.message).toMatch(/^The call of the model "writer" failed: the outgoing proxy /);
    expect(error.options.fix).toMatch(fix);
    expect(`${error.message} ${JSON.stringify(error.options)}`).not.toMatch(/s3cr3t|127\.0\.0\.1/);
  });
});

describe("MCP servers with an outgoing proxy", () => {
  it("are called through it", async () => {
    const peer = await mcpHttpServer();
    const { port, pathname } = new URL(peer.url);
    const proxy = await outgoingProxy({ credentials: "ada:s3cr3t-password", route: () => Number(port) });
    const all = servers(`http://tools.test${pathname}`, { HTTP_PROXY: withUser(proxy.url) });
    expect((await all.tools("peer", callOf())).length).toBeGreaterThan(0);
    expect(proxy.received[0]!.target).toBe(`http://tools.test${pathname}`);
  });

  it("fail clearly when it refuses", async () => {
    const proxy = await outgoingProxy({ route: () => ({ status: 403 }) });
    const all = servers("https://tools.test/mcp", { HTTPS_PROXY: withUser(proxy.url) });
    const error = await stepErrorOf(all.tools("peer", callOf()));
    expect(error).toMatchObject({ code: "tool_unavailable", transient: false });
    expect(error.message).toContain(
      "the outgoing proxy refuses connections to this host or port (status 403)",
    );
  });
});

describe("sign-on with an outgoing proxy", () => {
  it("gets metadata and keys through it", async () => {
    const target = await tlsServer();
    const proxy = await outgoingProxy({ route: () => target.port });
    const env = { HTTPS_PROXY: proxy.url };
    const oidc = { MILLRACE_OIDC_ISSUER: "https://id.proxied.test", MILLRACE_OIDC_CLIENT_ID: "mill" };
    await checkIdentityProvider("oidc", readEnvironment({ ...env, ...oidc }));
    const cognito = {
      MILLRACE_COGNITO_USER_POOL_ID: "eu-central-1_AbCdEfGhI",
      MILLRACE_COGNITO_CLIENT_ID: "client",
      MILLRACE_COGNITO_KEYS_URL: "https://keys.proxied.test/jwks.json",
      MILLRACE_ALB_ARN:
        "arn:aws:elasticloadbalancing:eu-central-1:123456789012:loadbalancer/app/mill/0123456789abcdef",
    };
    expect(await checkIdentityProvider("cognito", readEnvironment({ ...env, ...cognito }))).toMatchObject([
      { detail: "https://keys.proxied.test/jwks.json answers, but holds no public keys" },
    ]);
    expect(proxy.received.map((one) => one.target)).toEqual(["id.proxied.test:443", "keys.proxied.test:443"]);
    expect(target.received.map(({ path }) => path)).toEqual([
      "/.well-known/openid-configuration",
      "/jwks.json",
    ]);
  });

  it("says that the proxy is the reason", async () => {
    const proxy = await outgoingProxy({ route: () => ({ status: 407 }) });
    const env = {
      HTTPS_PROXY: withUser(proxy.url),
      MILLRACE_OIDC_ISSUER: "https://id.test",
      MILLRACE_OIDC_CLIENT_ID: "mill",
    };
    const [result] = await checkIdentityProvider("oidc", readEnvironment(env));
    expect(result).toMatchObject({ status: "error" });
    expect(result!.detail).toContain("the outgoing proxy requires a user name");
    expect(JSON.stringify(result)).not.toContain("s3cr3t");
  });

  it("uses Node's own fetch without a proxy", () => {
    expect(outgoingFetch(readEnvironment({}).proxies)).toBe(fetch);
  });
});

describe("traces with an outgoing proxy", () => {
  it("are exported through it", async () => {
    const collector = await otlpReceiver();
    const proxy = await outgoingProxy({
      credentials: "ada:s3cr3t-password",
      route: () => Number(new URL(collector.url).port),
    });
    const env = {
      ...collector.env,
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector.test:4318",
      HTTP_PROXY: withUser(proxy.url),
    };
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { tracing } = readEnvironment(env);
    const log = { warn: () => undefined } as never;
    const tracer = otlpTracer(tracing, { version: "1.2.3", process: "test", log });
    const trace = parseTrace("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "")!;
    tracer.recordSpan({
      name: "run test",
      kind: "internal",
      trace,
      parentId: null,
      start: 0,
      end: 1,
      attributes: {},
      error: null,
    });
    expect(await tracer.close()).toBe(true);
    expect(collector.spans).toMatchObject([{ name: "run test" }]);
    expect(proxy.received).toMatchObject([{ target: "http://collector.test:4318/v1/traces" }]);
    expect(collector.headers[0]!["proxy-authorization"]).toBeUndefined();
  });

  it("are exported directly to this machine and to what NO_PROXY names", () => {
    expect(proxyUrl("http://localhost:4318")).toBeUndefined();
    expect(proxyUrl("http://collector.internal:4318")).toBeUndefined();
    expect(proxyUrl("http://collector.test:4318")).toBe("http://proxy.test:3128/");
  });
});

describe("the settings of an outgoing proxy", () => {
  it("prevent the start if they are not valid, without showing them", () => {
    const { issues } = configErrorOf({
      HTTPS_PROXY: "socks5://ada:s3cr3t@proxy",
      MILLRACE_LOG_LEVEL: "loud",
    });
    expect(issues).toHaveLength(2);
    expect(issues[0]).toMatch(/^environment: HTTPS_PROXY must begin with http/);
    expect(issues.join()).not.toContain("s3cr3t");
    expect(readEnvironment({ NO_PROXY: "192.168.*" }).warnings).toEqual([
      expect.stringContaining('environment: NO_PROXY: "192.168.*" matches nothing'),
    ]);
  });

  it("are masked in what connections return and in the log", () => {
    const { proxies } = readEnvironment({ HTTPS_PROXY: "http://ada:s3cr3t%2Dpassword@proxy:3128" });
    const mask = secretMasker({}, fixedSecrets({}), proxySecrets(proxies));
    const basic = Buffer.from("ada:s3cr3t-password").toString("base64");
    const masked = mask.text(`s3cr3t-password, ada:s3cr3t%2Dpassword@proxy, Basic ${basic}`);
    expect(masked).not.toMatch(/s3cr3t/);
    expect(masked).not.toContain(basic);
  });
});

describe("the checks of doctor with an outgoing proxy", () => {
  it("show it without its credentials, and what goes past it", async () => {
    expect(await check({})).toEqual([]);
    const proxy = await outgoingProxy();
    const env = { HTTPS_PROXY: withUser(proxy.url), no_proxy: "corp.test,10.0.0.0/8" };
    expect(await check(env)).toEqual([
      {
        group: "Addresses",
        check: "outgoing proxy HTTPS_PROXY",
        status: "ok",
        detail: `${proxy.url} (with a user name) answers; names of http steps are looked up on this machine; direct: corp.test,10.0.0.0/8`,
      },
    ]);
    expect((await check({ HTTP_PROXY: proxy.url }, true))[0]!.detail).toBe(
      `${proxy.url} answers; the proxy looks up the names of http steps`,
    );
  });

  it("say why it can't be used", async () => {
    const [down] = await check({ HTTPS_PROXY: "http://ada:s3cr3t@127.0.0.1:1" });
    expect(down).toMatchObject({
      status: "error",
      detail: "http://127.0.0.1:1 (with a user name): the outgoing proxy can't be reached (ECONNREFUSED)",
      fix: expect.stringContaining("HTTPS_PROXY"),
    });
    const proxy = await outgoingProxy({ credentials: "ada:right" });
    const [refused] = await check({ HTTPS_PROXY: withUser(proxy.url) });
    expect(refused).toMatchObject({ status: "error" });
    expect(refused!.detail).toContain("refuses its user name or password");
    expect((await check({ HTTPS_PROXY: proxy.url }))[0]!.detail).toContain("requires a user name");
  });

  it("reach models through it", async () => {
    const target = await tlsServer();
    const proxy = await outgoingProxy({
      route: (authority) => (authority.startsWith("llm.") ? target.port : { status: 403 }),
    });
    const { proxies } = readEnvironment({ HTTPS_PROXY: proxy.url });
    await probeUrl(new URL("https://llm.test/v1"), proxies, signal);
    await expect(probeUrl(new URL("https://other.test/v1"), proxies, signal)).rejects.toThrow(
      "other.test:443 cannot be reached: the outgoing proxy refuses connections to this host or port (status 403)",
    );
    expect(proxy.received.map((one) => one.target)).toEqual(["llm.test:443", "other.test:443"]);
  });
});

import { describe, expect, it } from "vitest";
import { checkAddresses } from "../../src/commands/doctor/addresses.ts";
import { checkClock, checkSignOn } from "../../src/commands/doctor/program.ts";
import { checkIdentityProvider } from "../../src/commands/doctor/provider.ts";
import { readEnvironment } from "../../src/config/environment.ts";
import { findWriteGrants } from "../../src/connections/databases/privileges.ts";
import { systemClock } from "../../src/core/clock.ts";
import { mockHttpServer, sendJson } from "../support/mock-http-server.ts";
import { testOidcProvider } from "../support/oidc-provider.ts";

/** The checks of a provider on a loopback address. */
const provider = (mode: Parameters<typeof checkIdentityProvider>[0], env: Record<string, string>) =>
  checkIdentityProvider(mode, readEnvironment(env));

const metadata = (peer: Awaited<ReturnType<typeof testOidcProvider>>, name: string, value: unknown): void => {
  peer.rewriteResponse = (path, body) =>
    path.startsWith("/.well-known/")
      ? JSON.stringify({ ...(JSON.parse(body) as object), [name]: value })
      : undefined;
};

const at = (env: Record<string, string>, host = "127.0.0.1") =>
  checkAddresses(readEnvironment(env), host).map(({ check, status }) => `${status} ${check}`);

const signOn = (mode: Parameters<typeof checkSignOn>[0], env: Record<string, string> = {}) =>
  checkSignOn(mode, readEnvironment(env));

describe("the address and variable checks of doctor", () => {
  it.each([
    [{}, "127.0.0.1", ["ok base URL"]],
    [{}, "0.0.0.0", ["warning base URL"]],
    [{ MILLRACE_BASE_URL: "https://mill.example.com" }, "0.0.0.0", ["warning base URL"]],
    [{ MILLRACE_BASE_URL: "http://mill.example.com" }, "0.0.0.0", ["warning base URL"]],
    [{ MILLRACE_BASE_URL: "http://localhost:3000" }, "127.0.0.1", ["ok base URL"]],
    [
      { MILLRACE_BASE_URL: "https://mill.example.com/mill", MILLRACE_TRUSTED_PROXIES: "10.0.0.0/8" },
      "0.0.0.0",
      ["ok base URL"],
    ],
    [
      { MILLRACE_BASE_URL: "https://mill.example.com/?mill", MILLRACE_TRUSTED_PROXIES: "10.0.0.0/8" },
      "0.0.0.0",
      ["warning base URL"],
    ],
    [
      { MILLRACE_BASE_URL: "https://mill.example.com", MILLRACE_TRUSTED_PROXIES: "10.0.0.0/8" },
      "0.0.0.0",
      ["ok base URL"],
    ],
    [
      { MILLRACE_BASE_URL: "https://mill.example.com", MILLRACE_TRUSTED_PROXIES: "0.0.0.0/0" },
      "0.0.0.0",
      ["warning trusted proxies", "ok base URL"],
    ],
    [
      {
        MILLRACE_BASE_URL: "https://mill.example.com",
        MILLRACE_TRUSTED_PROXIES: "10.0.0.1",
        MILLRACE_MCP_URL: "http://mcp.example.com",
      },
      "0.0.0.0",
      ["warning MCP URL"],
    ],
  ])("checks %j at %s", (env, host, expected) => {
    expect(at(env as unknown as Record<string, string>, host)).toEqual(expected);
  });

  it("names the missing variables of an auth mode", () => {
    expect(signOn("built-in")).toMatchObject([{ status: "ok" }]);
    const lacking = signOn("cognito");
    expect(lacking.every(({ status }) => status === "error")).toBe(true);
    expect(lacking.map(({ detail }) => detail).join("\n")).toContain("MILLRACE_ALB_ARN");
    const oidc = { MILLRACE_OIDC_ISSUER: "https://id.example.com", MILLRACE_OIDC_CLIENT_ID: "mill" };
    expect(signOn("oidc", oidc)).toMatchObject([
      { status: "warning", detail: expect.stringContaining("base URL") },
    ]);
    expect(signOn("oidc", { ...oidc, MILLRACE_BASE_URL: "https://mill.example.com" })).toMatchObject([
      { status: "ok" },
    ]);
  });

  it("mentions passwords only in built-in mode", () => {
    const settings = readEnvironment({
      MILLRACE_BASE_URL: "http://mill.example.com",
      MILLRACE_TRUSTED_PROXIES: "0.0.0.0/0",
    });
    const https = readEnvironment({ MILLRACE_BASE_URL: "https://mill.example.com" });
    const textOf = (mode: "built-in" | "oidc") =>
      JSON.stringify([checkAddresses(settings, "0.0.0.0", mode), checkAddresses(https, "0.0.0.0", mode)]);
    expect(textOf("built-in").match(/password/g)).toHaveLength(2);
    expect(textOf("oidc")).not.toMatch(/password|throttle/);
  });

  it("checks the configuration of an OpenID Connect provider", async () => {
    const peer = await testOidcProvider({ accounts: {} });
    expect(await provider("built-in", peer.env)).toEqual([]);
    expect(await provider("oidc", {})).toEqual([]);
    expect(await provider("oidc", peer.env)).toMatchObject([
      { status: "ok", detail: expect.stringContaining("code flow with PKCE") },
    ]);
    const offers = "code_challenge_methods_supported";
    metadata(peer, offers, undefined);
    expect(await provider("oidc", peer.env)).toMatchObject([
      { status: "ok", detail: expect.stringContaining("does not say") },
    ]);
    metadata(peer, offers, ["plain"]);
    expect(await provider("oidc", peer.env)).toMatchObject([
      { status: "error", detail: expect.stringContaining("does not offer PKCE with S256") },
    ]);
    metadata(peer, "response_types_supported", ["id_token"]);
    expect(await provider("oidc", peer.env)).toMatchObject([
      { status: "error", detail: expect.stringContaining("authorization code flow") },
    ]);
    metadata(peer, "issuer", "http://127.0.0.1:1");
    expect(await provider("oidc", peer.env)).toMatchObject([
      { status: "error", fix: expect.stringContaining("Set MILLRACE_OIDC_ISSUER to exactly") },
    ]);
    peer.rewriteResponse = undefined;
    const elsewhere = { ...peer.env, MILLRACE_OIDC_ISSUER: `${peer.issuer}/realm` };
    expect(await provider("oidc", elsewhere)).toMatchObject([
      { status: "error", fix: expect.stringContaining("/realm/.well-known/openid-configuration") },
    ]);
    await peer.stop();
    expect(await provider("oidc", peer.env)).toMatchObject([
      { status: "error", detail: expect.stringMatching(/ECONNREFUSED|UND_ERR_SOCKET/) },
    ]);
  });

  it("fetches the public keys of a user pool", async () => {
    const peer = await mockHttpServer((request, response) =>
      request.path === "/none"
        ? sendJson(response, { message: "no" }, 404)
        : sendJson(response, { keys: request.path === "/keys" ? [{ kid: "a", kty: "RSA" }] : [] }),
    );
    const poolAt = (path: string) =>
      provider("cognito", {
        MILLRACE_COGNITO_USER_POOL_ID: "eu-central-1_AbCdEfGhI",
        MILLRACE_COGNITO_CLIENT_ID: "mill",
        MILLRACE_ALB_ARN:
          "arn:aws:elasticloadbalancing:eu-central-1:123456789012:loadbalancer/app/mill/50dc6c495c0c9188",
        MILLRACE_COGNITO_KEYS_URL: `${peer.url}${path}`,
      });
    expect(await poolAt("/keys")).toMatchObject([{ status: "ok" }]);
    expect(await poolAt("/empty")).toMatchObject([
      { status: "error", detail: expect.stringContaining("no public keys") },
    ]);
    expect(await poolAt("/none")).toMatchObject([
      {
        status: "error",
        detail: expect.stringContaining("404"),
        fix: expect.stringContaining("MILLRACE_COGNITO_USER_POOL_ID"),
      },
    ]);
  });

  it("detects a clock that was changed", async () => {
    const steady = await checkClock(systemClock, () => performance.now());
    expect(steady.map(({ check }) => check)).toEqual(["clock"]);
    let now = Date.now();
    const moved = await checkClock({ now: () => (now -= 5_000) }, () => 0);
    expect(moved).toMatchObject([
      { check: "clock", status: "warning", detail: expect.stringContaining("-5000 ms") },
    ]);
  });

  it("reads the grants of MySQL", () => {
    expect(
      findWriteGrants([
        "GRANT USAGE ON *.* TO `r`@`%` IDENTIFIED BY PASSWORD '*ABC'",
        "GRANT SELECT, SHOW VIEW, CREATE TEMPORARY TABLES ON `shop`.* TO `r`@`%`",
        "GRANT SELECT (`INSERT`) ON `shop`.`t` TO `r`@`%`",
      ]),
    ).toEqual([]);
    expect(
      findWriteGrants([
        "GRANT SELECT, INSERT, UPDATE (`a`) ON `shop`.* TO `w`@`%`",
        "GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` WITH GRANT OPTION",
        "GRANT `writers`@`%` TO `w`@`%`",
      ]),
    ).toEqual([
      "INSERT, UPDATE on `shop`.*",
      "ALL PRIVILEGES on *.*",
      "the privileges of its role `writers`@`%`, which were not checked",
    ]);
  });
});

import { describe, expect, it } from "vitest";
import { lookAtAddresses } from "../../src/commands/doctor/addresses.ts";
import { lookAtClock, lookAtSignOn } from "../../src/commands/doctor/program.ts";
import { readEnvironment } from "../../src/config/environment.ts";
import { grantsThatWrite } from "../../src/connections/databases/privileges.ts";
import { systemClock } from "../../src/core/clock.ts";

const at = (env: Record<string, string>, host = "127.0.0.1") =>
  lookAtAddresses(readEnvironment(env), host).map(({ what, verdict }) => `${verdict} ${what}`);

const signOn = (mode: Parameters<typeof lookAtSignOn>[0], env: Record<string, string> = {}) =>
  lookAtSignOn(mode, readEnvironment(env));

describe("doctor, of addresses and variables", () => {
  it.each([
    [{}, "127.0.0.1", ["ok base URL"]],
    [{}, "0.0.0.0", ["warning base URL"]],
    [{ MILLRACE_BASE_URL: "https://mill.example.com" }, "0.0.0.0", ["warning base URL"]],
    [{ MILLRACE_BASE_URL: "http://mill.example.com" }, "0.0.0.0", ["warning base URL"]],
    [{ MILLRACE_BASE_URL: "http://localhost:3000" }, "127.0.0.1", ["ok base URL"]],
    [
      { MILLRACE_BASE_URL: "https://mill.example.com/mill", MILLRACE_TRUSTED_PROXIES: "10.0.0.0/8" },
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
  ])("judges %j at %s", (env, host, expected) => {
    expect(at(env as unknown as Record<string, string>, host)).toEqual(expected);
  });

  it("names the variables that a way to sign in lacks", () => {
    expect(signOn("built-in")).toMatchObject([{ verdict: "ok" }]);
    const lacking = signOn("cognito");
    expect(lacking.every(({ verdict }) => verdict === "fault")).toBe(true);
    expect(lacking.map(({ detail }) => detail).join("\n")).toContain("MILLRACE_ALB_ARN");
    const oidc = { MILLRACE_OIDC_ISSUER: "https://id.example.com", MILLRACE_OIDC_CLIENT_ID: "mill" };
    expect(signOn("oidc", oidc)).toMatchObject([
      { verdict: "warning", detail: expect.stringContaining("base URL") },
    ]);
    expect(signOn("oidc", { ...oidc, MILLRACE_BASE_URL: "https://mill.example.com" })).toMatchObject([
      { verdict: "ok" },
    ]);
  });

  it("sees a clock that was moved", async () => {
    const steady = await lookAtClock(systemClock, () => performance.now());
    expect(steady.map(({ what }) => what)).toEqual(["clock"]);
    let now = Date.now();
    const moved = await lookAtClock({ now: () => (now -= 5_000) }, () => 0);
    expect(moved).toMatchObject([
      { what: "clock", verdict: "warning", detail: expect.stringContaining("-5000 ms") },
    ]);
  });

  it("reads what MySQL grants", () => {
    expect(
      grantsThatWrite([
        "GRANT USAGE ON *.* TO `r`@`%` IDENTIFIED BY PASSWORD '*ABC'",
        "GRANT SELECT, SHOW VIEW, CREATE TEMPORARY TABLES ON `shop`.* TO `r`@`%`",
        "GRANT SELECT (`INSERT`) ON `shop`.`t` TO `r`@`%`",
      ]),
    ).toEqual([]);
    expect(
      grantsThatWrite([
        "GRANT SELECT, INSERT, UPDATE (`a`) ON `shop`.* TO `w`@`%`",
        "GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` WITH GRANT OPTION",
        "GRANT `writers`@`%` TO `w`@`%`",
      ]),
    ).toEqual([
      "INSERT, UPDATE on `shop`.*",
      "ALL PRIVILEGES on *.*",
      "what its role `writers`@`%` may, which was not looked into",
    ]);
  });
});

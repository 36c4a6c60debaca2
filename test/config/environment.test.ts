import { userInfo } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ConfigError } from "../../src/config/config-file.ts";
import { readEnvironment } from "../../src/config/environment.ts";

function issues(env: Record<string, string>): readonly string[] {
  try {
    readEnvironment(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.issues;
    throw error;
  }
  throw new Error("it has none");
}

const warnings = (url: string) => readEnvironment({ MILLRACE_BASE_URL: url }).warnings;

describe("the environment", () => {
  it("can be empty", () => {
    const stateDir = join(userInfo().homedir, ".millrace");
    const empty = {
      MILLRACE_STATE_DIR: "",
      MILLRACE_BASE_URL: "",
      MILLRACE_LOG_LEVEL: "",
      MILLRACE_CONFIG: "",
    };
    for (const env of [{}, empty]) {
      expect(readEnvironment(env)).toMatchObject({
        stateDir,
        configFile: join(stateDir, "config.yaml"),
        configRequired: false,
        baseUrl: undefined,
        trustedProxies: [],
        logLevel: "info",
        warnings: [],
      });
    }
  });

  it("has its state below HOME, which must be absolute; without HOME below the home directory of the user", () => {
    expect(readEnvironment({ HOME: "/home/flows" }).stateDir).toBe("/home/flows/.millrace");
    expect(readEnvironment({ HOME: "" }).stateDir).toBe(join(userInfo().homedir, ".millrace"));
    for (const HOME of ["flows", ".", "./x", "~"]) {
      expect(issues({ HOME })).toEqual([
        expect.stringContaining(`HOME must be an absolute path, got "${HOME}"`),
      ]);
      expect(readEnvironment({ HOME, MILLRACE_STATE_DIR: "/s" }).stateDir).toBe("/s");
    }
  });

  it("sets directories, URLs and proxies", () => {
    expect(
      readEnvironment({
        MILLRACE_STATE_DIR: "/srv/state",
        MILLRACE_BASE_URL: "https://flows.example.com/x",
        MILLRACE_TRUSTED_PROXIES: "10.0.0.0/8, 192.168.1.7 ::1,fd00::/8",
        MILLRACE_LOG_LEVEL: "debug",
      }),
    ).toMatchObject({
      stateDir: "/srv/state",
      configFile: "/srv/state/config.yaml",
      baseUrl: new URL("https://flows.example.com/x"),
      trustedProxies: ["10.0.0.0/8", "192.168.1.7", "::1", "fd00::/8"],
      logLevel: "debug",
    });
  });

  it("prefers --config to MILLRACE_CONFIG to config.yaml in the state directory", () => {
    const env = { MILLRACE_STATE_DIR: "/s", MILLRACE_CONFIG: "/env.yaml" };
    expect(readEnvironment(env, "/option.yaml")).toMatchObject({
      configFile: "/option.yaml",
      configRequired: true,
    });
    expect(readEnvironment(env)).toMatchObject({ configFile: "/env.yaml", configRequired: true });
    expect(readEnvironment({ MILLRACE_STATE_DIR: "/s" })).toMatchObject({
      configFile: "/s/config.yaml",
      configRequired: false,
    });
  });

  it("is refused with all issues, each with its variable", () => {
    const found = issues({
      MILLRACE_BASE_URL: "flows.example.com",
      MILLRACE_TRUSTED_PROXIES: "10.0.0.0/99",
      MILLRACE_LOG_LEVEL: "loud",
    });
    expect(found).toHaveLength(3);
    for (const name of ["MILLRACE_BASE_URL", "MILLRACE_TRUSTED_PROXIES", "MILLRACE_LOG_LEVEL"])
      expect(found.some((issue) => issue.startsWith(`environment: ${name} must be `))).toBe(true);
  });

  it.each(["ftp://x", "javascript:alert(1)", "/path", "http://"])("refuses the base URL %s", (url) => {
    expect(issues({ MILLRACE_BASE_URL: url })).toHaveLength(1);
  });

  it.each(["10.0.0.0/33", "::1/129", "10.0.0/8", "localhost", "10.0.0.1/", "10.0.0.1/8/8", "1.2.3.4/-1"])(
    "refuses the proxies %s",
    (proxies) => {
      expect(issues({ MILLRACE_TRUSTED_PROXIES: proxies })).toHaveLength(1);
    },
  );

  it("accepts a URL below a path, of plain names", () => {
    for (const url of [
      "https://example.com/flows",
      "https://example.com/a/b_c~d.e-f/",
      "https://example.com",
    ])
      expect([url, warnings(url)]).toEqual([url, []]);
    for (const name of ["MILLRACE_BASE_URL", "MILLRACE_MCP_URL"])
      for (const path of ["/a%2Fb", "/a b", "/a//b", "/ä", "/a;b", '/"'])
        expect(issues({ [name]: `https://example.com${path}` })).toEqual([
          expect.stringMatching(new RegExp(`^environment: ${name} must have a path of plain names`)),
        ]);
  });

  it.each([
    ["MILLRACE_STATEDIR", "; did you mean MILLRACE_STATE_DIR?"],
    ["MILLRACE_BASEURL", "; did you mean MILLRACE_BASE_URL?"],
    ["MILLRACE_LOGLEVEL", "; did you mean MILLRACE_LOG_LEVEL?"],
    ["MILLRACE_COLOUR", ""],
    ["MILLRACE_PORT", ""],
  ])("warns about %s%s", (name, advice) => {
    expect(readEnvironment({ [name]: "a secret", PATH: "/bin" }).warnings).toEqual([
      `environment: ${name} is not a known variable${advice}`,
    ]);
  });
});

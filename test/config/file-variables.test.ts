import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { ConfigError } from "../../src/config/config-file.ts";
import { readEnvironment } from "../../src/config/environment.ts";
import { resolveFileVariables } from "../../src/config/file-variables.ts";
import { readSetup } from "../../src/config/setup.ts";
import { temporaryDirectory } from "../support/instance.ts";

let directory: string;
beforeEach(() => void (directory = temporaryDirectory()));

function file(contents: string | Buffer, name = "secret"): string {
  const path = join(directory, name);
  writeFileSync(path, contents);
  return path;
}

const issuesOf = (path: string): readonly string[] =>
  resolveFileVariables({ TEAM_TOKEN_FILE: path }, ["TEAM_TOKEN"]).issues;

function refused(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error("it was taken");
}

describe("a variable whose value is in a file", () => {
  it("is the exact content of the file, without one line break at its end", () => {
    fc.assert(
      fc.property(
        fc
          .string({ unit: "grapheme", minLength: 1, maxLength: 200 })
          .filter((text) => !text.includes("\0") && !text.startsWith("\ufeff") && !text.endsWith("\n")),
        fc.constantFrom("", "\n", "\r\n"),
        (text, end) => {
          // A lone \r before \n belongs to the line break.
          fc.pre(!(end === "\n" && text.endsWith("\r")));
          const { variables, issues } = resolveFileVariables({ TEAM_TOKEN_FILE: file(text + end) }, [
            "TEAM_TOKEN",
          ]);
          expect({ issues, value: variables["TEAM_TOKEN"] }).toEqual({ issues: [], value: text });
        },
      ),
      { numRuns: 50 },
    );
  });

  it("can be a symbolic link, as in Kubernetes, and readable by all users", () => {
    const link = join(directory, "link");
    symlinkSync(file("s3cret\n"), link);
    expect(resolveFileVariables({ TEAM_TOKEN_FILE: link }, ["TEAM_TOKEN"]).variables["TEAM_TOKEN"]).toBe(
      "s3cret",
    );
  });

  it("has at most 64 KiB", () => {
    expect(issuesOf(file("x".repeat(64 * 1024)))).toEqual([]);
    expect(issuesOf(file("x".repeat(64 * 1024 + 1)))).toEqual([
      `environment: TEAM_TOKEN_FILE names ${join(directory, "secret")}, which is larger than 64 KiB`,
    ]);
  });

  it.each([
    ["nothing", "", "which is empty"],
    ["only a line break", "\n", "which is empty"],
    ["bytes that are not UTF-8", Buffer.from([0x73, 0xff]), "which is not UTF-8 text"],
    ["a NUL", "s3c\0ret", "which is not UTF-8 text"],
  ])("is refused for %s, without repeating it", (_, contents, why) => {
    const [issue, ...more] = issuesOf(file(contents));
    expect(more).toEqual([]);
    expect(issue).toBe(`environment: TEAM_TOKEN_FILE names ${join(directory, "secret")}, ${why}`);
  });

  it("is refused for a missing file, a directory and a pipe without a writer", () => {
    const missing = join(directory, "missing");
    expect(issuesOf(missing)).toEqual([
      `environment: TEAM_TOKEN_FILE names ${missing}, which cannot be read: there is no such file`,
    ]);
    const below = join(directory, "below");
    mkdirSync(below);
    expect(issuesOf(below)[0]).toContain("cannot be read: it is a directory");
    const pipe = join(directory, "pipe");
    execFileSync("mkfifo", [pipe]);
    expect(issuesOf(pipe)[0]).toContain("cannot be read: it is not a regular file");
  });

  it("is refused if it is the secret itself, which is not repeated", () => {
    const [issue] = issuesOf("sk-4f9a");
    expect(issue).toMatch(/^environment: TEAM_TOKEN_FILE must be an absolute path/);
    expect(issue).not.toContain("4f9a");
  });

  it("is refused if the variable itself is set, and used if that is empty", () => {
    const path = file("s3cret");
    const both = resolveFileVariables({ TEAM_TOKEN: "x", TEAM_TOKEN_FILE: path }, ["TEAM_TOKEN"]);
    expect(both.issues).toEqual([
      "environment: TEAM_TOKEN and TEAM_TOKEN_FILE are both set. Set only one of them",
    ]);
    const empty = resolveFileVariables({ TEAM_TOKEN: "", TEAM_TOKEN_FILE: path }, ["TEAM_TOKEN"]);
    expect(empty).toMatchObject({ issues: [], variables: { TEAM_TOKEN: "s3cret" } });
    expect(resolveFileVariables({ TEAM_TOKEN: "x", TEAM_TOKEN_FILE: "" }, ["TEAM_TOKEN"]).issues).toEqual([]);
  });

  it("is read only for known variables, because other variables may end in _FILE, too", () => {
    const env = { SSL_CERT_FILE: "/nowhere", TEAM_TOKEN_FILE: "/nowhere" };
    expect(resolveFileVariables(env, ["OTHER"])).toEqual({ issues: [], variables: env });
  });
});

describe("the environment's own variables", () => {
  it("can be read from files, and are checked like any other", () => {
    const url = file("https://flows.example.com\n");
    const { baseUrl, warnings } = readEnvironment({ MILLRACE_BASE_URL_FILE: url });
    expect(baseUrl?.href).toBe("https://flows.example.com/");
    expect(warnings).toEqual([]);
    const wrong = file("flows.example.com", "wrong");
    expect(refused(() => readEnvironment({ MILLRACE_BASE_URL_FILE: wrong }))).toMatch(
      /environment: MILLRACE_BASE_URL must be/,
    );
  });

  it("are reported with all issues", () => {
    const message = refused(() =>
      readEnvironment({
        MILLRACE_BASE_URL_FILE: "/nowhere/url",
        MILLRACE_MCP_URL: "http://x/",
        MILLRACE_MCP_URL_FILE: "/nowhere/mcp",
        MILLRACE_TRUSTED_PROXIES: "x",
      }),
    );
    for (const part of [
      "MILLRACE_BASE_URL_FILE names",
      "MILLRACE_MCP_URL_FILE are both",
      "MILLRACE_TRUSTED_PROXIES must",
    ])
      expect(message).toContain(part);
  });

  it.each(["MILLRACE_CONFIG_FILE", "MILLRACE_STATE_DIR_FILE", "MILLRACE_HOST_FILE"])(
    "have no file variant if they are paths or needed earlier: %s is unknown",
    (name) => {
      const { warnings, configRequired } = readEnvironment({ [name]: file("/x") });
      expect(warnings).toEqual([expect.stringContaining(`${name} is not a known variable`)]);
      expect(configRequired).toBe(false);
    },
  );
});

describe("the variables that the configuration names", () => {
  const models = "models: [{ name: m, vendor: openai, model_ref: x, key_var: WRITER_KEY }]\n";
  const servers = "mcp_servers: [{ name: t, command: x, key_var: T_KEY, env: { INNER: OUTER_NAME } }]\n";
  const secrets = "secrets: [{ name: s, key_var: S_KEY, hosts: [h] }]\n";
  const databases =
    "databases: [{ name: d, type: mysql, dataset: 'mysql://u@h/d', password_var: D_PASSWORD }]\n";
  const mail =
    "authentication: { basic: { smtp_user: a, smtp_password_var: SMTP_PASSWORD, smtp_server: s, smtp_port: 25 } }\n";
  const names = ["WRITER_KEY", "T_KEY", "OUTER_NAME", "S_KEY", "D_PASSWORD", "SMTP_PASSWORD"];

  it("can all be read from files", () => {
    const config = file(models + servers + secrets + databases + mail, "c.yaml");
    const env = Object.fromEntries(names.map((name) => [`${name}_FILE`, file(`value of ${name}\n`, name)]));
    const { settings, warnings } = readSetup({ ...env, MILLRACE_STATE_DIR: directory }, config);
    expect(warnings).toEqual([]);
    for (const name of names) expect(settings.secrets.get(name)).toBe(`value of ${name}`);
    // The paths of the files are not passed on.
    for (const name of names) expect(settings.secrets.get(`${name}_FILE`)).toBeUndefined();
  });

  it("can be one that the program reads itself", () => {
    const config = file(models.replace("WRITER_KEY", "MILLRACE_OIDC_CLIENT_SECRET"), "c.yaml");
    const env = { MILLRACE_STATE_DIR: directory, MILLRACE_OIDC_CLIENT_SECRET_FILE: file("s3cret") };
    expect(readSetup(env, config).settings.secrets.get("MILLRACE_OIDC_CLIENT_SECRET")).toBe("s3cret");
  });

  it("are named in warnings if their files cannot be read, because they can be read later", () => {
    const config = file(models + secrets, "c.yaml");
    const env = { WRITER_KEY_FILE: "/nowhere/1", S_KEY_FILE: "/nowhere/2", MILLRACE_STATE_DIR: directory };
    expect(readSetup(env, config).warnings).toEqual([
      `${config}: models: m can't be used: the file that WRITER_KEY_FILE names cannot be read: there is no such file`,
      `${config}: secrets: s can't be used: the file that S_KEY_FILE names cannot be read: there is no such file`,
    ]);
  });

  it("prevent the start if they are set twice or have a file that can't be meant, and are all reported", () => {
    const config = file(models + secrets, "c.yaml");
    const env = { WRITER_KEY: "x", WRITER_KEY_FILE: "/nowhere/1", S_KEY_FILE: "s3cret" };
    const message = refused(() => readSetup({ ...env, MILLRACE_STATE_DIR: directory }, config));
    expect(message).toContain("WRITER_KEY and WRITER_KEY_FILE are both set");
    expect(message).toContain("S_KEY_FILE must be an absolute path");
    expect(message).not.toContain("s3cret");
  });
});

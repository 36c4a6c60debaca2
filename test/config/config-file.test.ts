import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ConfigError, loadConfig, type LoadedConfig } from "../../src/config/config-file.ts";
import { temporaryDirectory } from "../support/instance.ts";
import { expectCost } from "../support/expect-cost.ts";

type Env = Record<string, string>;

/** Loads `text` as a file called c.yaml. */
function load(text: string, env: Env = {}): LoadedConfig & { directory: string } {
  const directory = temporaryDirectory();
  const file = join(directory, "c.yaml");
  writeFileSync(file, text);
  return { ...loadConfig(file, true, env), directory };
}

const UNUSABLE = "; this entry can't be used until it is corrected";

/** Returns the issues of `text`, each as `line:col: message`: those that refuse it, else those of entries. */
function issues(text: string): string[] {
  const directory = temporaryDirectory();
  const file = join(directory, "c.yaml");
  writeFileSync(file, text);
  const written = (issue: string): string => issue.replace(`${file}:`, "").trim();
  try {
    const { warnings } = loadConfig(file, true, {});
    return warnings.filter((one) => one.endsWith(UNUSABLE)).map((one) => written(one.replace(UNUSABLE, "")));
  } catch (error) {
    if (error instanceof ConfigError) return error.issues.map(written);
    throw error;
  }
}

/** Returns the paths of a value's objects that are not frozen. */
function findUnfrozen(value: unknown): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  return [...(Object.isFrozen(value) ? [] : [value]), ...Object.values(value).flatMap(findUnfrozen)];
}

const MODEL = (keyVar: string): string =>
  `models:\n  - { name: m, vendor: openai, model_ref: x, key_var: ${keyVar} }\n`;
const DATABASE = "databases:\n  - name: shop\n    type: sqlite\n    dataset: shop.db\n";

const databaseWithRoles = (type: string, dataset: string, ...names: string[]): string =>
  `databases:\n  - name: d\n    type: ${type}\n    dataset: ${dataset}\n    roles:\n` +
  names.map((name) => `      - { name: ${name}, user: u, password_var: DB_PASSWORD }\n`).join("");

describe("a configuration", () => {
  it("gives roles only to database servers, with names that are unique", () => {
    const url = "postgresql://u@localhost/d";
    for (const type of ["postgresql", "mysql", "MariaDB"])
      expect(issues(databaseWithRoles(type, url, "a", "b"))).toEqual([]);
    for (const type of ["sqlite", "DuckDB"])
      expect(issues(databaseWithRoles(type, "d.db", "a"))).toEqual([
        `5:5: databases[0].roles must be left out: a ${type.toLowerCase()} file has no logins. ` +
          "Remove roles, or grant the database with access: read-only",
      ]);
    expect(issues(databaseWithRoles("postgresql", url, "a", "a"))).toEqual([
      "7:11: databases[0].roles[1].name must be unique, but an earlier role has the same name",
    ]);
    const { missing } = load(databaseWithRoles("postgresql", url, "a"));
    expect(missing.join("\n")).toContain(
      "databases: d, role a can't be used: the environment variable DB_PASSWORD is not set",
    );
  });

  it("can be missing unless it is named explicitly", () => {
    const file = join(temporaryDirectory(), "none.yaml");
    expect(loadConfig(file, false, {})).toMatchObject({
      file: undefined,
      warnings: [],
      config: { databases: [] },
    });
    expect(() => loadConfig(file, true, {})).toThrowError(`${file}: cannot be read: there is no such file`);
  });

  it("can't be a directory, even if it may be missing", () => {
    const file = join(temporaryDirectory(), "dir.yaml");
    mkdirSync(file);
    expect(() => loadConfig(file, false, {})).toThrowError(/it is a directory/);
  });

  it.each(["gpt-4.1", "Sales DB", "1st", "überall", "a/b:c"])("accepts the name %j", (name) => {
    const { config } = load(
      `databases: [{ name: ${JSON.stringify(name)}, type: sqlite, dataset: a }]\n` +
        `models: [{ name: ${JSON.stringify(name)}, vendor: openai, model_ref: x }]\n` +
        `defaults: { database: ${JSON.stringify(name)} }\n`,
    );
    expect([config.databases[0]?.name, config.models[0]?.name, config.defaults.database]).toEqual([
      name,
      name,
      name,
    ]);
  });

  it("accepts types and vendors in any case", () => {
    const { config } = load(
      "databases: [{ name: d, type: PostgreSQL, dataset: 'postgresql://u@h/d' }]\n" +
        "models: [{ name: m, vendor: OpenAI-Compatible, model_ref: x, base_url: 'http://h/' }]\n",
    );
    expect([config.databases[0]?.type, config.models[0]?.vendor]).toEqual([
      "postgresql",
      "openai-compatible",
    ]);
    expect(issues("databases: [{ name: d, type: MySQL, dataset: ./file }]\n")).toHaveLength(1);
    expect(issues("models: [{ name: m, vendor: OPENAI-Compatible, model_ref: x }]\n")).toHaveLength(1);
  });

  it.each(["", "\n\n", "# nothing but a comment\n", "---\n", "{}", "\ufeff{}", "null"])(
    "can be empty: %j",
    (text) => {
      expect(load(text).config).toMatchObject({ databases: [], models: [], defaults: {}, limits: {} });
    },
  );

  it("is read completely, with defaults for missing keys", () => {
    const { config, directory, warnings } = load(
      `${DATABASE}defaults: { database: shop }\nauthentication:\n  basic: { smtp_user: a, smtp_password_var: SMTP_PASSWORD, smtp_server: s, smtp_port: 587 }\n`,
      { SMTP_PASSWORD: "x" },
    );
    expect(warnings).toEqual([]);
    expect(config).toMatchObject({
      databases: [{ name: "shop", type: "sqlite", dataset: join(directory, "shop.db"), access: "read-only" }],
      defaults: { database: "shop" },
      authentication: { basic: { smtp_port: 587 } },
      http: { allowed_hosts: [], public: "any", public_hosts: [], proxy_resolves: false },
    });
  });

  it("resolves file paths relative to its directory, but not absolute paths and URLs", () => {
    const { config, directory } = load(
      "databases:\n" +
        "  - { name: a, type: sqlite, dataset: ./data/a.db }\n" +
        "  - { name: b, type: duckdb, dataset: ../b.duckdb }\n" +
        "  - { name: c, type: sqlite, dataset: /srv/c.db }\n" +
        "  - { name: d, type: postgresql, dataset: 'postgresql://u@h:5432/d' }\n",
    );
    expect(config.databases.map((one) => one.dataset)).toEqual([
      join(directory, "data/a.db"),
      join(directory, "../b.duckdb"),
      "/srv/c.db",
      "postgresql://u@h:5432/d",
    ]);
  });

  it("is frozen at all levels", () => {
    const { config } = load(
      `${DATABASE}models: [{ name: m, vendor: openai, model_ref: x, prices: { input: 1, output: 2 } }]`,
    );
    expect(config.models[0]?.prices).toEqual({ input: 1, output: 2 });
    expect(findUnfrozen(config)).toEqual([]);
    expect(findUnfrozen(loadConfig(join(temporaryDirectory(), "none"), false, {}).config)).toEqual([]);
  });
});

describe("an entry that can't be used", () => {
  it("is a warning, and the rest of the configuration holds", () => {
    const { config, warnings, directory } = load(
      `${DATABASE}  - { name: Sales DB, type: oracle, dataset: x }\ndefaults: { database: Sales DB }\n`,
    );
    expect(config.databases.map(({ name }) => name)).toEqual(["shop"]);
    const message = "databases[1].type must be one of sqlite, duckdb, postgresql, mysql, mariadb";
    expect(config.unusable).toEqual([
      { list: "databases", name: "Sales DB", issues: [expect.stringContaining(message)] },
    ]);
    expect(warnings).toEqual([
      expect.stringMatching(
        new RegExp(
          `^${join(directory, "c.yaml")}:5:23: databases\\[1\\]\\.type must be one of .*${UNUSABLE}$`,
        ),
      ),
    ]);
    expect(findUnfrozen(config)).toEqual([]);
  });

  it.each([
    ["databases", "{ name: a, type: mysql, dataset: ./file }"],
    ["models", "{ name: a, vendor: openai-compatible, model_ref: x }"],
    ["mcp_servers", "{ name: a }"],
    ["secrets", "{ name: a, key_var: A, hosts: [''] }"],
  ] as const)("is found in %s", (list, entry) => {
    expect(load(`${list}:\n  - ${entry}\n`).config).toMatchObject({
      [list]: [],
      unusable: [{ list, name: "a" }],
    });
  });

  it("includes all entries with the same name, since it is not known which one is meant", () => {
    const { config } = load(`${DATABASE}  - { name: shop, type: duckdb, dataset: b }\n`);
    expect(config.databases).toEqual([]);
    expect(config.unusable).toMatchObject([{ list: "databases", name: "shop" }]);
  });

  it("without a name can't be asked for", () => {
    expect(load("models: [{ vendor: openai, model_ref: x }, 5]\n").config).toMatchObject({
      models: [],
      unusable: [],
    });
  });

  it("does not hide that the rest is refused", () => {
    expect(issues("models: [{ name: m, vendor: opnai, model_ref: x }]\nlimit: {}\n")).toHaveLength(2);
    expect(() => load("models: [{ name: m, vendor: opnai, model_ref: x }]\nlimit: {}\n")).toThrow(
      ConfigError,
    );
  });
});

describe("a configuration's issues", () => {
  it.each<[string, string, string[]]>([
    ["an unknown key", "databses: []\n", ["1:1: databses is not a known field; did you mean databases?"]],
    [
      "a nested unknown key",
      `${DATABASE}    acces: read-write\n`,
      ["5:5: databases[0].acces is not a known field; did you mean access?"],
    ],
    [
      "an unknown key with a dot",
      "http:\n  a.b: 1\n",
      [
        "2:3: http.a.b is not a known field; allowed: allowed_hosts, public, public_hosts, proxy_resolves, hosts",
      ],
    ],
    [
      "public hosts that limit nothing",
      "http:\n  public_hosts: [api.example.com]\n",
      [
        "2:3: http.public_hosts has no effect unless http.public is list. Set http.public to list, or remove public_hosts",
      ],
    ],
    [
      "a value that is not allowed",
      "databases:\n  - name: shop\n    type: sqlit\n    dataset: x\n",
      [
        "3:5: databases[0].type must be one of sqlite, duckdb, postgresql, mysql, mariadb; did you mean sqlite?",
      ],
    ],
    [
      "a missing key, at the object that lacks it",
      "models:\n  - name: m\n    vendor: openai\n",
      ["2:5: models[0].model_ref is required"],
    ],
    ["a wrong type", "databases: shop\n", ["1:1: databases must be a list, got text"]],
    ["a file that is a list", "- a\n", ["1:1: the file must be an object, got a list"]],
    ["a file that is text", "hello\n", ["1:1: the file must be an object, got text"]],
    [
      "a port out of range",
      "authentication: { basic: { smtp_user: a, smtp_password_var: B, smtp_server: s, smtp_port: 99999 } }",
      ["1:80: authentication.basic.smtp_port must be at most 65535, got 99999"],
    ],
    [
      "a dangling default with a near match",
      `${DATABASE}defaults:\n  database: shp\n`,
      ["6:3: defaults.database must be the name of an entry in databases; did you mean shop?"],
    ],
    [
      "a dangling default far from all",
      `${DATABASE}defaults:\n  database: warehouse\n`,
      ["6:3: defaults.database must be the name of an entry in databases; allowed: shop"],
    ],
    [
      "a default without databases",
      "defaults: { database: shop }\n",
      [
        "1:13: defaults.database must be the name of an entry in databases; allowed: nothing, because no entry is defined",
      ],
    ],
    [
      "a duplicate name",
      `${DATABASE}  - { name: shop, type: duckdb, dataset: b }\n`,
      ["5:7: databases[1].name must be unique, but an earlier entry has the same name"],
    ],
    [
      "a duplicate host",
      "http:\n  hosts:\n    - { host: a.example.com, idempotent: true }\n    - { host: a.example.com }\n",
      ["4:9: http.hosts[1].host must be unique, but an earlier entry has the same host"],
    ],
    [
      "an unknown policy for interrupted effects",
      "mail: { on_interrupted: aks }\n",
      ["1:9: mail.on_interrupted must be one of retry, fail, ask; did you mean ask?"],
    ],
    [
      "a compatible model without its address",
      "models:\n  - { name: m, vendor: openai-compatible, model_ref: x }\n",
      ["2:5: models[0] must have base_url, because its vendor is openai-compatible"],
    ],
    [
      "an MCP server without command and url",
      "mcp_servers:\n  - name: s\n",
      ["2:5: mcp_servers[0] must have either command or url"],
    ],
    [
      "an MCP server with both command and url",
      "mcp_servers:\n  - { name: s, command: npx, url: 'http://x/' }\n",
      ["2:5: mcp_servers[0] must have either command or url"],
    ],
    [
      "a server database whose dataset is not a URL",
      "databases:\n  - { name: d, type: mysql, dataset: ./file }\n",
      ["2:29: databases[0].dataset must be a URL, such as postgresql://user@host:5432/name"],
    ],
    ["a duplicate key", "defaults: {}\nlimits: {}\ndefaults: {}\n", ["3:1: Map keys must be unique"]],
    [
      "a nested duplicate key",
      "limits:\n  requests_per_minute: 1\n  requests_per_minute: 2\n",
      ["3:3: Map keys must be unique"],
    ],
  ])("name the line and the key of %s", (_, text, expected) => {
    expect(issues(text)).toEqual(expected);
  });

  it("are reported together, in the order of the file", () => {
    const text =
      "defaults:\n  database: shp\nlimit: {}\nmodels:\n  - { name: ' ', vendor: opnai, model_ref: '' }\n" +
      "  - { name: m, vendor: openai-compatible, model_ref: x, colour: red }\n  - { name: m, vendor: openai, model_ref: y }\n" +
      "databases:\n  - { name: shop, type: sqlite, dataset: a }\n  - { name: shop, type: sqlite }\nmcp_servers: none\n";
    expect(issues(text).map((one) => one.replace(/; .*| must match .*| must (not )?be .*/, ""))).toEqual([
      "2:3: defaults.database",
      "3:1: limit is not a known field",
      "5:7: models[0].name",
      "5:18: models[0].vendor",
      "5:33: models[0].model_ref",
      "6:5: models[1] must have base_url, because its vendor is openai-compatible",
      "6:57: models[1].colour is not a known field",
      "7:7: models[2].name",
      "10:5: databases[1].dataset is required",
      "10:7: databases[1].name",
      "11:1: mcp_servers",
    ]);
  });

  it.each([
    ["a quote that never ends", 'defaults: "\n'],
    ["a bracket that never ends", "databases: [\n"],
    ["a tab for a space", "limits:\n\trequests_per_minute: 1\n"],
    ["several documents", "a: 1\n---\nb: 2\n"],
    ["an unknown tag", "defaults: !!js/function x\n"],
    ["a NUL", "defaults: \u0000\n"],
  ])("of the YAML syntax have a line: %s", (_, text) => {
    for (const issue of issues(text)) expect(issue).toMatch(/^\d+:\d+: \S/);
  });

  it("name the alias that has no anchor", async () => {
    expect(issues("defaults: *nothing\n")).toEqual([
      expect.stringMatching(/cannot be read: Unresolved alias .*nothing/),
    ]);
  });

  it("are reported for aliases that expand too much", async () => {
    const levels = Array.from(
      { length: 12 },
      (_, i) => `l${i + 1}: &l${i + 1} [${Array(10).fill(`*l${i}`).join(", ")}]`,
    );
    const read = (): void => {
      expect(issues(`l0: &l0 [x]\n${levels.join("\n")}\n`).join()).toMatch(/cannot be read: .*alias/i);
    };
    await expectCost(10_000, read);
  });

  it("are reported for endless nesting and circular aliases", () => {
    expect(issues(`databases: ${"[".repeat(50_000)}`)).not.toEqual([]);
    expect(issues("databases: &a [*a]\n")).toEqual([
      expect.stringContaining("databases[0] must be an object"),
    ]);
  });

  it("are reported for a file that is too large", () => {
    expect(issues(`# ${"x".repeat(1024 * 1024)}`)).toEqual(["must be at most 1024 KiB"]);
  });
});

describe("a configuration's secrets", () => {
  it.each([
    "sk-proj-4f9a",
    "'pass word'",
    "hunter2!",
    "'4f9a2c'",
    "a.b.c",
    "74209137",
    "[4f9a]",
    "{ k: 4f9a }",
  ])("in place of a variable's name are refused and not repeated: %s", (secret) => {
    const [issue, ...more] = issues(MODEL(secret));
    expect(more).toEqual([]);
    expect(issue).toMatch(/^2:46: models\[0\]\.key_var must be/);
    for (const part of ["4f9a", "hunter2", "pass word", "a.b.c", "74209137"])
      expect(issue).not.toContain(part);
  });

  it.each([
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "AIzaSyA1b2C3",
    "hunter2",
    "AKIAIOSFODNN7EXAMPLE",
    "mill_0aB",
  ])("that look like a name are not repeated in the warning: %s", (secret) => {
    const { missing } = load(MODEL(secret));
    expect(missing).toEqual([
      expect.stringContaining("models: m can't be used: an environment variable (its name is hidden"),
    ]);
    expect(missing.join()).not.toContain(secret);
  });

  it("in a database's URL are refused and not repeated", () => {
    const text = "databases:\n  - { name: d, type: postgresql, dataset: 'postgresql://u:hunter2@h/d' }\n";
    expect(issues(text)).toEqual([
      "2:34: databases[0].dataset must not contain the password. Put it into a variable, and name that with password_var",
    ]);
  });

  it("in a model's or an MCP server's URL are refused and not repeated", () => {
    const model = "{ name: m, vendor: openai, model_ref: x, base_url: 'https://u:hunter2@h/v1' }";
    const server = "{ name: s, url: 'https://:hunter2@h/mcp' }";
    expect(issues(`models: [${model}]\nmcp_servers: [${server}]\n`)).toEqual([
      expect.stringMatching(
        /models\[0\]\.base_url must not contain the password\. Put it into a variable, and name that with key_var$/,
      ),
      expect.stringMatching(
        /mcp_servers\[0\]\.url must not contain the password\. Put it into a variable, and name that with key_var$/,
      ),
    ]);
  });

  it("that are not set are named with the variable and the entry that needs it", () => {
    const text =
      "databases: [{ name: d, type: mysql, dataset: 'mysql://u@h/d', password_var: D_PASSWORD }]\n" +
      "models: [{ name: m, vendor: openai, model_ref: x, key_var: OPENAI_API_KEY }]\n" +
      "mcp_servers: [{ name: t, url: 'http://x/', key_var: T_KEY }]\n" +
      "secrets: [{ name: s, key_var: S_KEY, hosts: [h] }]\n" +
      "authentication: { basic: { smtp_user: a, smtp_password_var: SMTP_PASSWORD, smtp_server: s, smtp_port: 25 } }\n";
    const names = ["D_PASSWORD", "OPENAI_API_KEY", "T_KEY", "S_KEY", "SMTP_PASSWORD"];
    const { missing } = load(text, { OPENAI_API_KEY: "" });
    expect(missing.map((one) => one.slice(one.indexOf(": ") + 2))).toEqual(
      ["databases: d", "models: m", "mcp_servers: t", "secrets: s", "authentication.basic"].map(
        (where, i) => `${where} can't be used: the environment variable ${names[i]} is not set`,
      ),
    );
    expect(load(text, Object.fromEntries(names.map((name) => [name, "x"]))).missing).toEqual([]);
  });
});

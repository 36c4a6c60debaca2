import { DatabaseSync } from "node:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { Config } from "../../schemas/config.ts";
import {
  type ConnectionView,
  limitConnections,
  NOTHING,
  viewKey,
  viewOfKey,
  viewOfProject,
} from "../../src/core/connection-view.ts";
import type { Connections } from "../../src/core/connections.ts";
import { fixedSecrets } from "../../src/core/secret-source.ts";
import { StepError } from "../../src/core/step-errors.ts";
import { createConnections } from "../../src/connections/index.ts";
import { callOf } from "../support/call-context.ts";
import { childProgram } from "../support/child-program.ts";
import { caseCount } from "../support/random.ts";

const HERE = new URL("../support/", import.meta.url).pathname;
const directory = mkdtempSync(join(tmpdir(), "millrace-test-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const file = (name: string): string => {
  const path = join(directory, `${name}.db`);
  const db = new DatabaseSync(path);
  db.exec(`create table ${name} (id integer, secret text); insert into ${name} values (1, 'of ${name}')`);
  db.close();
  return path;
};

const UNUSABLE = [
  { list: "databases" as const, name: "broken", issues: ["type must be known"] },
  { list: "models" as const, name: "broken", issues: ["vendor must be known"] },
  { list: "mcp_servers" as const, name: "broken", issues: ["url must be a URL"] },
  { list: "secrets" as const, name: "broken", issues: ["hosts must be a list"] },
];

/** Names that differ little, so that a near match among what is not granted would show. */
const CONFIG: Config = {
  ...Config.parse({
    databases: [
      {
        name: "shop",
        type: "sqlite",
        dataset: file("shop"),
        access: "read-write",
        concurrency: 3,
        rate: "5/s",
        on_interrupted: "ask",
      },
      { name: "shops", type: "sqlite", dataset: file("shops") },
      { name: "ledger", type: "sqlite", dataset: join(directory, "missing.db") },
    ],
    models: [
      { name: "writer", vendor: "openai", model_ref: "one", key_var: "MISSING", concurrency: 2 },
      { name: "writers", vendor: "openai", model_ref: "two", key_var: "MISSING" },
    ],
    mcp_servers: [
      { name: "crm", url: "http://127.0.0.1:9/mcp", key_var: "MISSING" },
      { name: "crms", url: "http://127.0.0.1:9/mcp", key_var: "MISSING", rate: "1/s" },
    ],
    secrets: [
      { name: "hook", key_var: "HOOK", hosts: ["10.0.0.1", "hooks.example.com"], methods: ["POST"] },
      { name: "hooks", key_var: "HOOKS", hosts: ["*.example.com"], headers: ["Authorization"] },
    ],
    http: { allowed_hosts: ["10.0.0.1", "10.0.0.2:8080", "*.internal.example.com"] },
    mail: { allowed_domains: ["Example.com", "example.org"], from: "bot@example.com" },
    authentication: {
      basic: { smtp_user: "bot", smtp_password_var: "MAIL", smtp_server: "127.0.0.1", smtp_port: 9 },
    },
    chats: [
      { name: "finance", type: "teams", webhook_url_var: "TEAMS" },
      { name: "finances", type: "teams", webhook_url_var: "TEAMS" },
    ],
    defaults: { database: "shop" },
  }),
  unusable: UNUSABLE,
};
const ENV = { HOOK: "a secret value", HOOKS: "another value", MAIL: "mail password" };
const open = (config: Config) => {
  const opened = createConnections(config, fixedSecrets(ENV), {
    stateDir: "/nonexistent",
    version: "0",
    now: () => 0,
    childProgram: childProgram(),
  });
  onTestFinished(() => opened.close());
  return opened;
};

const DATABASES = ["shop", "shops", "ledger", "broken"];
const MODELS = ["writer", "writers", "broken"];
const SERVERS = ["crm", "crms", "broken"];
const SECRETS = ["hook", "hooks", "broken"];
const HOSTS = CONFIG.http.allowed_hosts;
const CHATS = ["finance", "finances"];
const DOMAINS = ["Example.com", "example.org"];

const orAll = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null, freq: 3 });
const views: fc.Arbitrary<ConnectionView> = fc.record({
  databases: orAll(
    fc
      .subarray(DATABASES)
      .chain((names) =>
        fc
          .array(fc.boolean(), { minLength: names.length, maxLength: names.length })
          .map((flags) => new Map(names.map((name, at) => [name, flags[at] ? { readOnly: true } : {}]))),
      ),
  ),
  models: orAll(fc.subarray(MODELS)),
  mcpServers: orAll(fc.subarray(SERVERS).map((names) => new Map(names.map((name) => [name, null] as const)))),
  secrets: orAll(fc.subarray(SECRETS)),
  privateHosts: orAll(fc.subarray(HOSTS)),
  publicHttp: fc.constant(null),
  mailDomains: orAll(fc.subarray(DOMAINS).map((domains) => domains.map((domain) => domain.toLowerCase()))),
  chats: orAll(fc.subarray(CHATS)),
});

const ALL = viewOfProject({ connections: "all", httpPublic: "any" }, [])!;

const keep = (granted: { has(name: string): boolean } | null) => (entry: { name: string }) =>
  granted === null || granted.has(entry.name);

/** A configuration file that has only what the view grants, as an operator would write it. */
function fileOf(view: ConnectionView): Config {
  const lists = {
    databases: keep(view.databases),
    models: keep(view.models && new Set(view.models)),
    mcp_servers: keep(view.mcpServers),
    secrets: keep(view.secrets && new Set(view.secrets)),
  };
  const { http, mail } = CONFIG;
  return {
    ...CONFIG,
    databases: CONFIG.databases
      .filter(lists.databases)
      .map((entry) =>
        Object.assign(
          {},
          entry,
          view.databases?.get(entry.name)?.readOnly === true && { access: "read-only" },
        ),
      ),
    models: CONFIG.models.filter(lists.models),
    mcp_servers: CONFIG.mcp_servers.filter(lists.mcp_servers),
    secrets: CONFIG.secrets.filter(lists.secrets),
    chats: CONFIG.chats.filter(({ name }) => view.chats?.includes(name) !== false),
    unusable: UNUSABLE.filter((entry) => lists[entry.list](entry)),
    defaults: lists.databases({ name: "shop" }) ? CONFIG.defaults : {},
    http: {
      ...http,
      allowed_hosts: http.allowed_hosts.filter((host) => view.privateHosts?.includes(host) !== false),
    },
    mail: {
      ...mail,
      allowed_domains: mail.allowed_domains.filter(
        (domain) => view.mailDomains?.includes(domain.toLowerCase()) !== false,
      ),
    },
  };
}

const outcome = (work: () => Promise<unknown>): Promise<unknown> =>
  work().catch((error: unknown) => {
    if (!(error instanceof StepError)) throw error;
    const { fix, details, transient } = error.options;
    return { code: error.code, message: error.message, fix, details, transient };
  });

/** Names as workflows could write them: granted ones, others, near ones and unlikely ones. */
const NAMES = [
  "shop",
  "shopp",
  "shops",
  "ledger",
  "ledgr",
  "broken",
  "brokn",
  "scratch",
  "writer",
  "writers",
  "writerz",
  "crm",
  "crms",
  "crmz",
  "hook",
  "hooks",
  "hookz",
  "__proto__",
  "unlike anything",
];
const URLS = [
  "https://10.0.0.1/",
  "http://10.0.0.1/",
  "http://10.0.0.2:8080/",
  "http://10.0.0.2/",
  "http://10.0.0.3/",
  "https://hooks.example.com/",
  "http://localhost/",
];

/** Everything that a workflow or its author can find out without a network. */
async function observe(connections: Connections): Promise<unknown> {
  const { databases, models, http, mcpServers, mailer, chats } = connections;
  const call = callOf();
  const statement = { params: {}, maxRows: 10, maxBytes: 1_000, keepTruncated: true };
  const seen: unknown[] = [
    databases.list(),
    models.list(),
    mcpServers.list(),
    http.secrets(),
    mailer.unavailableReason(),
    mailer.allowedDomains(),
    chats.list(),
    connections.defaultDatabase,
  ];
  for (const entry of ["mail", "secrets"]) seen.push(connections.configurationOf(entry));
  seen.push(connections.interruptionRules);
  for (const name of NAMES) {
    for (const kind of ["database", "model", "mcp_server", "secret"])
      seen.push(connections.targetOf(`${kind}:${name}`), connections.configurationOf(`${kind}:${name}`));
    for (const list of [databases, models, mcpServers])
      seen.push(list.concurrencyOf(name), list.rateOf(name));
    for (const write of [true, false]) {
      const query = write ? `update ${name} set id = 2` : `select * from "${name}"`;
      seen.push(
        await outcome(() => databases.prepare({ database: name, query, params: [], write }, call)),
        await outcome(() => databases.query({ ...statement, database: name, query, write }, call)),
      );
    }
    seen.push(
      await outcome(() => databases.describe(name, { samples: 2, limit: 10 }, call)),
      await outcome(() => models.generate({ model: name, prompt: "Hi" }, call)),
      await outcome(() => mcpServers.tools(name, call)),
      await outcome(() => mcpServers.call(name, "find", {}, { idempotencyKey: "1" }, call)),
    );
    for (const url of URLS)
      seen.push(
        await http.check({ url, method: "POST", secrets: [{ name, header: "Authorization" }] }),
        await http.check({ url, method: null, secrets: [] }),
      );
    // This address is in no list, so nothing is sent.
    const headers = { Authorization: { secret: name } };
    seen.push(
      await outcome(() => http.send({ method: "GET", url: "http://10.9.9.9/", headers, maxBytes: 10 }, call)),
    );
  }
  const message = { title: "Approve?", text: "", url: "https://example.com/", decision: null };
  for (const name of CHATS)
    seen.push(
      connections.configurationOf(`chat:${name}`),
      chats.signingSecrets(name),
      await outcome(() => chats.post(name, message, call)),
    );
  for (const to of ["ada@nowhere.test", "ada@example.net"])
    seen.push(
      await outcome(() => mailer.send({ to: [to], subject: "Hi", text: "Hi", idempotencyKey: "1" }, call)),
    );
  return seen;
}

describe("connections that a view limits", () => {
  it("are the very same ones without a view", () => {
    const connections = open(CONFIG);
    expect(limitConnections(connections, null)).toBe(connections);
    expect(viewOfProject({ connections: "all", httpPublic: null }, [])).toBeNull();
    expect(viewOfKey(null, {})).toBeNull();
    expect(viewOfKey(null, null)).toBeNull();
  });

  it("can't be distinguished from those of a configuration that has only what is granted", async () => {
    const all = open(CONFIG);
    await fc.assert(
      fc.asyncProperty(views, async (view) => {
        const alone = createConnections(fileOf(view), fixedSecrets(ENV), {
          stateDir: "/nonexistent",
          version: "0",
          now: () => 0,
          childProgram: childProgram(),
        });
        try {
          // Errors about hosts and missing names have texts of their own in projects.
          const { privateHosts } = view;
          const everything = { ...ALL, publicHttp: null, privateHosts };
          expect(await observe(limitConnections(all, view))).toEqual(
            await observe(limitConnections(alone, everything)),
          );
        } finally {
          await alone.close();
        }
      }),
      { numRuns: caseCount(4, 15) },
    );
  });

  it("show nothing at all where nothing is granted", async () => {
    const seen = JSON.stringify(await observe(limitConnections(open(CONFIG), NOTHING)));
    // What the names ask for is shown back; what only the configuration knows is not.
    for (const text of ["openai", "missing.db", "internal.example.com", "example.org", "of shop"])
      expect(seen).not.toContain(text);
    const { databases, models, mcpServers, http, mailer, chats } = limitConnections(open(CONFIG), NOTHING);
    expect([
      databases.list(),
      models.list(),
      mcpServers.list(),
      http.secrets(),
      mailer.allowedDomains(),
      chats.list(),
    ]).toEqual([[], [], [], [], [], []]);
  });

  it("keep scratch, which reaches nothing", async () => {
    const { databases } = limitConnections(open(CONFIG), NOTHING);
    const { rows } = await databases.query(
      {
        database: "scratch",
        query: "select 1 as one",
        params: {},
        write: false,
        maxRows: 1,
        maxBytes: 100,
        keepTruncated: true,
      },
      callOf(),
    );
    expect(rows).toEqual([{ one: 1 }]);
  });

  it("refuse to write where only reading is granted, with the code of a read-only database", async () => {
    const view: ConnectionView = { ...NOTHING, databases: new Map([["shop", { readOnly: true }]]) };
    const write = {
      database: "shop",
      query: "delete from shop",
      params: {},
      write: true,
      maxRows: 1,
      maxBytes: 100,
      keepTruncated: true,
    };
    const { databases } = limitConnections(open(CONFIG), view);
    await expect(databases.query(write, callOf())).rejects.toMatchObject({ code: "database_read_only" });
    expect(await databases.prepare({ ...write, params: [] }, callOf())).toMatchObject({
      issues: [{ code: "database_read_only", path: ["write"] }],
    });
    expect(databases.list()).toMatchObject([{ name: "shop", access: "read-only" }]);
  });
});

const onlyTools = (tools: string[] | null): ConnectionView => ({
  ...NOTHING,
  mcpServers: new Map([["peer", tools]]),
});

describe("the tools of an MCP server", () => {
  const config = Config.parse({
    mcp_servers: [{ name: "peer", command: process.execPath, args: [`${HERE}mcp-server-stdio.ts`] }],
  });

  it("are those that are granted; others are as if the server did not have them", async () => {
    const { mcpServers } = limitConnections(open(config), onlyTools(["add", "not there"]));
    expect((await mcpServers.tools("peer", callOf())).map(({ name }) => name)).toEqual(["add"]);
    const sent = { idempotencyKey: "1" };
    expect(await mcpServers.call("peer", "add", { a: 1, b: 2 }, sent, callOf())).toEqual({ sum: 3 });
    const errorOf = (tool: string) => outcome(() => mcpServers.call("peer", tool, {}, sent, callOf()));
    const unknown = {
      code: "tool_failed",
      fix: expect.stringMatching(/^Its tools: add\. Only what is granted/),
      transient: false,
    };
    expect(await errorOf("environment")).toMatchObject({
      ...unknown,
      message: "The MCP server peer has no tool environment.",
    });
    expect(await errorOf("something")).toMatchObject({
      ...unknown,
      message: "The MCP server peer has no tool something.",
    });
    // Near to `say`, which is not granted.
    expect(await errorOf("sayy")).toMatchObject({
      fix: expect.stringMatching(/^Its tools: add\. Only what is granted/),
    });
  });

  it("are all of them where no tools are named, and none where the list is empty", async () => {
    const all = open(config);
    const names = async (tools: string[] | null) =>
      (await limitConnections(all, onlyTools(tools)).mcpServers.tools("peer", callOf())).map(
        ({ name }) => name,
      );
    expect(await names(null)).toContain("environment");
    expect(await names([])).toEqual([]);
  });
});

const hostView = (
  privateHosts: string[] | null,
  publicHttp: ConnectionView["publicHttp"],
): ConnectionView => ({
  ...NOTHING,
  privateHosts,
  publicHttp,
});

describe("a granted host", () => {
  const config = Config.parse({
    http: {
      allowed_hosts: ["10.0.0.1", "*.internal.test:8080"],
      public: "list",
      public_hosts: ["*.example.com"],
    },
  });
  const codesOf = async (limits: ConnectionView, ...urls: string[]) => {
    const { http } = limitConnections(open(config), limits);
    const checks = urls.map(async (url) =>
      (await http.check({ url, method: "GET", secrets: [] })).map(({ code }) => code),
    );
    return (await Promise.all(checks)).flat();
  };
  const ALLOWED = ["http://10.0.0.1/", "http://a.internal.test:8080/", "https://a.example.com/"];

  it("must be allowed by the configuration too", async () => {
    expect(await codesOf(hostView(["10.0.0.2"], null), "http://10.0.0.2/", "http://10.0.0.1/")).toEqual([
      "private_host",
      "private_host",
    ]);
    const all = ["*.internal.test", "10.0.0.1", "10.0.0.3", "*.example.com", "example.org"];
    expect(await codesOf(hostView(all, { policy: "list", hosts: all }), ...ALLOWED)).toEqual([]);
    expect(
      await codesOf(
        hostView(all, { policy: "any", hosts: [] }),
        "http://10.0.0.3/",
        "http://a.internal.test/",
        "https://example.org/",
      ),
    ).toEqual(["private_host", "host_not_allowed", "host_not_allowed"]);
  });

  it("is all that the project reaches", async () => {
    expect(await codesOf(hostView([], null), ...ALLOWED)).toEqual(["private_host", "host_not_allowed"]);
    expect(await codesOf(hostView([], { policy: "none", hosts: ["a.example.com"] }), ...ALLOWED)).toEqual([
      "private_host",
      "host_not_allowed",
      "host_not_allowed",
    ]);
    const one = ["a.example.com"];
    expect(
      await codesOf(
        hostView(one, { policy: "list", hosts: one }),
        "https://a.example.com/",
        "https://b.example.com/",
      ),
    ).toEqual(["host_not_allowed"]);
  });

  it("is checked when the request is sent, with a text that does not tell what others may call", async () => {
    const { http } = limitConnections(open(config), hostView([], { policy: "list", hosts: [] }));
    const errorOf = (url: string) =>
      outcome(() => http.send({ method: "GET", url, headers: {}, maxBytes: 10 }, callOf()));
    // One that the configuration allows, and one that it does not.
    for (const host of ["a.example.com", "b.nowhere.test"])
      expect(await errorOf(`https://${host}/`)).toMatchObject({
        code: "http_blocked",
        message: `${host}:443 is not one of the hosts that this project may call.`,
      });
    for (const host of ["10.0.0.1", "10.0.0.9"])
      expect(await errorOf(`http://${host}/`)).toMatchObject({ code: "http_blocked" });
  });

  it("is the same for approvals that an older release has asked for", () => {
    const plain = Config.parse({
      databases: [{ name: "shop", type: "sqlite", dataset: "shop.db" }],
      mcp_servers: [{ name: "crm", url: "https://crm.example.com/mcp", idempotent: false }],
    });
    const connections = open(plain);
    const seen = ["http", "mail", "database:shop", "mcp_server:crm"].map((entry) =>
      connections.configurationOf(entry),
    );
    expect(JSON.stringify(seen)).not.toMatch(/interrupted|idempotent|"hosts"/);
    const set = open({
      ...plain,
      http: { ...plain.http, hosts: [{ host: "a.example.com", idempotent: true }] },
    });
    expect(set.configurationOf("http")).not.toEqual(connections.configurationOf("http"));
  });

  const httpOf = (limits: ConnectionView | null) =>
    limitConnections(open(config), limits).configurationOf("http");

  it("is part of what an approval is bound to", () => {
    expect(httpOf(hostView(["10.0.0.1"], null))).not.toEqual(httpOf(hostView([], null)));
    expect(httpOf({ ...NOTHING, privateHosts: null, publicHttp: null })).toEqual(httpOf(null));
  });
});

describe("the view of a key", () => {
  const project = viewOfProject({ connections: "granted", httpPublic: "list" }, [
    { kind: "database", name: "shop", options: { access: "read-only", role: "analyst" } },
    { kind: "database", name: "ledger", options: null },
    { kind: "model", name: "writer", options: null },
    { kind: "mcp_server", name: "crm", options: { tools: ["find"] } },
    { kind: "secret", name: "hook", options: null },
    { kind: "host", name: "10.0.0.1", options: null },
    { kind: "mail", name: "example.com", options: null },
    { kind: "chat", name: "finance", options: null },
  ])!;

  it("is that of the project, limited to its databases and models", () => {
    expect(viewOfKey(project, { databases: ["shop", "other"], models: [] })).toEqual({
      ...project,
      databases: new Map([["shop", { readOnly: true, role: "analyst" }]]),
      models: [],
    });
    expect(viewOfKey(null, { models: ["writer"] })).toMatchObject({
      databases: null,
      models: ["writer"],
      mailDomains: null,
    });
  });

  it("has a key of its own for all that it allows", () => {
    const others = [
      viewOfKey(project, { databases: ["shop"] })!,
      viewOfKey(project, { models: [] })!,
      { ...project, mcpServers: new Map([["crm", null]]) },
      { ...project, databases: new Map([["shop", {}]]) },
      { ...project, publicHttp: null },
      { ...project, chats: [] },
      NOTHING,
    ];
    expect(new Set([project, ...others].map(viewKey)).size).toBe(others.length + 1);
    expect(viewKey({ ...project })).toBe(viewKey(project));
  });
});

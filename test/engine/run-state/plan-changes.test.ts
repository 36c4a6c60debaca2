/** A decision is bound to what concerns the steps that it lets run, and a change says what it concerns. */
import { describe, expect, it, onTestFinished } from "vitest";
import { Config } from "../../../schemas/config.ts";
import type { StepDefinition } from "../../../schemas/workflow-definition.ts";
import { createConnections } from "../../../src/connections/index.ts";
import { limitConnections, NOTHING } from "../../../src/core/connection-view.ts";
import type { ConfiguredConnections, Connections } from "../../../src/core/connections.ts";
import { readProxies } from "../../../src/core/outgoing-proxy.ts";
import { formatLevel } from "../../../src/core/plan-level.ts";
import { fixedSecrets } from "../../../src/core/secret-source.ts";
import { settingsOf, usesOf } from "../../../src/engine/run-state/configuration-uses.ts";
import { planChanges } from "../../../src/engine/run-state/plan-changes.ts";
import { stepTypes } from "../../../src/steps/index.ts";

const API = "https://api.example.com";
const sent = { key_var: "HOOK_KEY", hosts: ["api.example.com"] };
const smtp = {
  smtp_user: "m@example.com",
  smtp_password_var: "M",
  smtp_server: "mail.example.com",
  smtp_port: 587,
};
const mail = (domains: string[], more: object = {}) => ({
  authentication: { basic: { ...smtp, ...more } },
  mail: { allowed_domains: domains, from: "millrace@example.com" },
});
const post = {
  id: "send",
  type: "http",
  method: "POST",
  url: "https://api.example.com/orders/${{ run.id }}",
};
const withSecret = { ...post, headers: { Authorization: { secret: "hook" }, Note: "Run ${{ run.id }}" } };
const mailTo = (to: unknown) => ({ id: "send", type: "email", to, subject: "Hi", text: "Hi" });
const secrets = (...more: object[]) => ({ secrets: [{ name: "hook", ...sent }, ...more] });

const TYPES = new Map(stepTypes.map((type) => [type.type, type]));

function open(config: object, env: Record<string, string> = {}): ConfiguredConnections {
  const opened = createConnections(Config.parse(config), fixedSecrets({}), {
    stateDir: "/nonexistent",
    version: "0",
    now: () => 0,
    proxies: readProxies(env).proxies,
  });
  onTestFinished(() => opened.close());
  return opened;
}

/** What can run in one run now: the step, in a workflow. */
function levelOf(step: object, connections: Connections, workflowId = "orders", calls = {}) {
  const definition = { steps: [{ id: "send", ...step }] as StepDefinition[] };
  const resources = definition.steps.map((one) => TYPES.get(one.type)!.resource(one, connections));
  const compiled = { definition, resources, undo: new Map() } as unknown as Parameters<
    typeof usesOf
  >[0][number]["compiled"];
  const uses = usesOf([{ workflowId, compiled, positions: [0] }], TYPES);
  return { uses, connections, level: formatLevel({ work: [], calls, uses: settingsOf(uses, connections) }) };
}

const VIEWER = { isShown: () => true, isNamed: () => true, home: "orders" };

const between = (step: object, before: Connections, after: Connections) =>
  planChanges([levelOf(step, before).level], [levelOf(step, after)], VIEWER);

describe("a change of the configuration that does not concern what can run", () => {
  it.each([
    ["another private host", post, {}, { http: { allowed_hosts: ["10.0.0.5"] } }],
    [
      "a list of public hosts with its host",
      post,
      {},
      { http: { public: "list", public_hosts: ["*.example.com", "x.example.org"] } },
    ],
    ["another secret", withSecret, secrets(), secrets({ name: "other", ...sent })],
    [
      "another host of its secret",
      withSecret,
      secrets(),
      { secrets: [{ name: "hook", ...sent, hosts: [...sent.hosts, "b.example.com"] }] },
    ],
    [
      "a secret for another host, with computed headers",
      { ...post, headers: "${{ {'X-Run': run.id} }}" },
      secrets(),
      secrets({ name: "other", key_var: "O", hosts: ["b.example.com"] }),
    ],
    [
      "another domain of mail",
      mailTo("a@example.com"),
      mail(["example.com"]),
      mail(["example.com", "example.org"]),
    ],
  ])("leaves the decision to it: %s", (_what, step, before, after) => {
    expect(between(step, open(before), open(after))).toEqual([]);
  });
});

describe("a change of the configuration that concerns what can run", () => {
  it.each([
    [
      "a host that may not be called any more",
      post,
      {},
      { http: { public: "none" } },
      `"send" may not call ${API} any more.`,
    ],
    [
      "a host that may be private now",
      post,
      {},
      { http: { allowed_hosts: ["*.example.com"] } },
      `${API}, which "send" calls, may have a private address now.`,
    ],
    [
      "the hosts of a computed URL",
      { ...post, url: "${{ 'https://' + run.id }}" },
      {},
      { http: { allowed_hosts: ["10.0.0.5"] } },
      'The hosts that may be called have changed (allowed_hosts), and "send" computes its host.',
    ],
    [
      "another variable of a secret",
      withSecret,
      secrets(),
      { secrets: [{ name: "hook", ...sent, key_var: "OTHER" }] },
      `The secret hook, which "send" sends to ${API}, has changed: key_var.`,
    ],
    [
      "a secret that is gone",
      withSecret,
      secrets(),
      {},
      `The secret hook, which "send" sends to ${API}, is no longer configured or granted.`,
    ],
    [
      "one more secret that computed headers can name",
      { ...post, headers: { Authorization: { secret: "${{ run.id }}" } } },
      secrets(),
      secrets({ name: "other", ...sent }),
      `The secrets that "send" may send to ${API} have changed.`,
    ],
    [
      "a domain that may not get mail any more",
      mailTo(["a@example.com", "b@example.org"]),
      mail(["example.com", "example.org"]),
      mail(["example.com"]),
      'Mail to example.org, which "send" sends, is not allowed any more.',
    ],
    [
      "another mail server",
      mailTo("${{ run.id }}"),
      mail(["example.com"]),
      mail(["example.com"], { smtp_server: "other.example.com" }),
      'The mail settings, which "send" uses, have changed: server.',
    ],
  ])("is named: %s", (_what, step, before, after, text) => {
    expect(between(step, open(before), open(after))).toEqual([{ text, steps: ["send"] }]);
  });

  it("is named: another proxy", () => {
    const proxied = open({}, { HTTPS_PROXY: "http://proxy.example.com:3128" });
    expect(between(post, open({}), proxied)).toMatchObject([
      { text: `${API}, which "send" calls, is called through another proxy now.` },
    ]);
    expect(between(post, proxied, open({}))).toMatchObject([
      { text: expect.stringContaining("without a proxy") },
    ]);
  });

  it("is named: what a project is granted", () => {
    const all = open({ mcp_servers: [{ name: "crm", url: "http://127.0.0.1:9/mcp" }] });
    const tools = (...names: string[]) =>
      limitConnections(all, { ...NOTHING, mcpServers: new Map([["crm", names]]) });
    const call = { type: "tool", server: "crm", tool: "find" };
    expect(between(call, tools("find"), tools("find", "add"))).toEqual([]);
    expect(between(call, tools("find"), tools("add"))).toMatchObject([
      { text: 'The MCP server crm, which "send" uses, has changed: tool_allowed.' },
    ]);
    expect(between(post, all, limitConnections(all, NOTHING))).toMatchObject([
      { text: `"send" may not call ${API} any more.` },
    ]);
  });

  it("is named: another version of a called workflow", () => {
    const connections = open({});
    const before = levelOf(post, connections, "orders", { child: 1, gone: 2 });
    const now = levelOf(post, connections, "orders", { child: 2 });
    expect(planChanges([before.level], [now], VIEWER).map(({ text }) => text)).toEqual([
      "The workflow child runs version 2 now instead of version 1.",
      "The workflow gone does not exist any more.",
    ]);
  });

  it("does not tell what a workflow of another project does", () => {
    const before = levelOf(post, open({}), "secret-plan", { hidden: 1 });
    const now = levelOf(post, open({ http: { public: "none" } }), "secret-plan", { hidden: 2 });
    const viewer = { isShown: () => false, isNamed: () => false, home: "orders" };
    expect(planChanges([before.level], [now], viewer)).toEqual([
      { text: "Something that a workflow of another project uses or calls has changed.", steps: [] },
    ]);
  });

  it("is said where an older release did not record what it concerns", () => {
    expect(planChanges(["q0aZr4mXw1kq0Zr4mXw5pX"], [levelOf(post, open({}))], VIEWER)).toMatchObject([
      { text: expect.stringContaining("An older release asked this") },
    ]);
    expect(planChanges(null, [levelOf(post, open({}))], VIEWER)).toEqual([]);
  });
});

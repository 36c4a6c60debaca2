import { describe, expect, it } from "vitest";
import type { Connections } from "../../../../src/core/connections.ts";
import { type InterruptionRules } from "../../../../src/core/interruption-rules.ts";
import { emailStep } from "../../../../src/steps/email.ts";
import { httpStep } from "../../../../src/steps/http.ts";
import { sqlStep } from "../../../../src/steps/sql.ts";
import { toolStep } from "../../../../src/steps/tool.ts";
import { checkerOf } from "./test-checker.ts";

const rules: InterruptionRules = {
  hosts: [
    { host: "keys.example.com", idempotent: true, onInterrupted: null },
    { host: "ask.example.com", idempotent: false, onInterrupted: "ask" },
  ],
  resources: { "mcp_server:idempotent": { idempotent: true, onInterrupted: null } },
};

const connections = {
  defaultDatabase: "shop",
  interruptionRules: rules,
  databases: { prepare: () => Promise.resolve({ columns: [] }) },
  http: { check: () => Promise.resolve([]) },
  mailer: { unavailableReason: () => null, allowedDomains: () => ["example.com"] },
  mcpServers: {
    list: () => ["crm", "idempotent"].map((name) => ({ name, unavailableReason: null })),
    tools: () =>
      Promise.resolve(
        ["find", "create"].map((name) => ({
          name,
          inputSchema: { type: "object" },
          outputSchema: null,
          readOnly: name === "find",
        })),
      ),
  },
} as unknown as Connections;

async function warnings(fields: object, checkConnections = true) {
  const checker = checkerOf({ connections }, httpStep, sqlStep, toolStep, emailStep);
  const inputs = { type: "object", properties: { host: { type: "string" } }, required: ["host"] };
  const report = await checker.check({ inputs, steps: [{ id: "a", ...fields }] }, { checkConnections });
  expect(report.errors).toEqual([]);
  return report.warnings;
}

const post = (host: string, more: object = {}) => ({
  type: "http",
  method: "POST",
  url: `https://${host}/x`,
  ...more,
});
const call = (server: string, tool: string) => ({ type: "tool", server, tool });
const lookup = { type: "http", url: "https://pay.example.com/x", happened: "result.status_code == 200" };

describe("repeatWarnings", () => {
  it("names the receiver and what can be done, without a patch", async () => {
    expect(await warnings(post("pay.example.com"))).toEqual([
      {
        path: "steps[0]",
        code: "may_repeat",
        message:
          "has effects, and is sent again after an attempt without an answer: pay.example.com is not declared to recognize its idempotency key",
        fix: "Add on_interrupted: ask (a person decides), fail, or retry if a second request does no harm; or a lookup. The operator can declare the host in http.hosts.",
      },
    ]);
    const [ofTool] = await warnings(call("crm", "create"));
    expect(ofTool?.message).toContain("crm is not declared to recognize its idempotency key");
    expect(ofTool?.fix).toContain("The operator can declare the server in mcp_servers.");
    const [ofAnyHost] = await warnings(post("${{ inputs.host }}"));
    expect(ofAnyHost?.message).toContain("the host is known only when it runs");
  });

  it.each([
    ["a step that says what happens", post("pay.example.com", { on_interrupted: "retry" })],
    ["a step with a lookup", post("pay.example.com", { lookup })],
    ["a host that recognizes the key", post("keys.example.com")],
    ["a host with a policy", post("ask.example.com")],
    ["a server that recognizes the key", call("idempotent", "create")],
    ["a tool that is declared to only read", call("crm", "find")],
    ["a step without effects", post("pay.example.com", { method: "GET" })],
    ["a database, which gets no key", { type: "sql", query: "DELETE FROM t", write: true }],
    ["mail", { type: "email", to: "a@example.com", subject: "a", text: "b" }],
  ])("says nothing of %s", async (_, step) => {
    expect(await warnings(step)).toEqual([]);
  });

  it("says nothing where connections are not checked", async () => {
    expect(await warnings(post("pay.example.com"), false)).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import type { Connections } from "../../../../src/core/connections.ts";
import { DURATION_LIMITS } from "../../../../schemas/config.ts";
import { httpStep } from "../../../../src/steps/http.ts";
import { sqlStep } from "../../../../src/steps/sql.ts";
import { toolStep } from "../../../../src/steps/tool.ts";
import { workflowStep } from "../../../../src/steps/workflow.ts";
import { assert, checkerOf, set } from "./test-checker.ts";

const pay = (more: object = {}) => ({
  id: "pay",
  type: "http",
  method: "POST",
  url: "https://pay.example.com/payments",
  on_interrupted: "ask",
  ...more,
});
const lookup = (more: object = {}) => ({
  type: "http",
  url: "https://pay.example.com/payments",
  happened: "result.status_code == 200",
  ...more,
});
const query = (more: object = {}) => ({
  type: "sql",
  database: "shop",
  query: "SELECT id FROM payments WHERE reference = :reference",
  params: { reference: "${{ idempotency_key }}" },
  happened: "result.row_count > 0",
  output: { status_code: 201, headers: {}, body: "${{ result.rows[0] }}" },
  ...more,
});
const INPUTS = { type: "object", properties: { n: { type: "number" } } };
const types = [httpStep, sqlStep, toolStep, workflowStep];

/** Connections with a database and an MCP server of two tools. */
const connections = {
  defaultDatabase: null,
  interruptionRules: { hosts: [], resources: {} },
  databases: {
    list: () => [{ name: "shop" }],
    prepare: ({ database }: { database: string }) =>
      Promise.resolve(
        database === "shop"
          ? { columns: [{ name: "id", type: "INTEGER", kind: "number" }] }
          : { issues: [{ path: ["database"], code: "unknown_database", message: "is not configured" }] },
      ),
  },
  http: {
    check: ({ secrets }: { secrets: { name: string }[] }) =>
      Promise.resolve(
        secrets.map((_, index) => ({ path: ["secrets", index], code: "unknown_secret", message: "" })),
      ),
  },
  mcpServers: {
    list: () => [{ name: "crm", unavailableReason: null }],
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

async function check(steps: readonly object[], checkConnections = false) {
  const checker = checkerOf(
    { connections, limits: { ...DURATION_LIMITS, max_step_timeout: "1m" } },
    ...types,
  );
  return checker.check({ inputs: INPUTS, steps }, { checkConnections });
}

async function issues(...steps: object[]): Promise<string[]> {
  const { errors, warnings } = await check(steps);
  return [...errors, ...warnings].map(({ path, code }) => `${path} ${code}`);
}

async function connectedIssues(...steps: object[]): Promise<string[]> {
  const { errors, warnings } = await check(steps, true);
  return [...errors, ...warnings].map(({ path, code }) => `${path} ${code}`);
}

const reading = (expression: string) =>
  lookup({ url: `https://pay.example.com/payments/\${{ ${expression} }}` });

const REFUSED = ["steps[0].on_interrupted not_allowed", "steps[0].lookup not_allowed"];

describe("lookup", () => {
  it("is a request that reads what the step reads, and the idempotency key", async () => {
    expect(await issues(set("a", { x: 1 }), pay({ lookup: reading("idempotency_key") }))).toEqual([]);
    expect(await issues(set("a", { x: 1 }), pay({ lookup: reading("steps.a.x") }))).toEqual([]);
    const items = { for_each: "[{'id': 1}]", lookup: reading("item.id + index") };
    expect(await issues(pay(items))).toEqual([]);
    expect(await issues(pay({ if: "inputs.n != null", lookup: reading("string(inputs.n)") }))).toEqual([]);
  });

  it("reads nothing else, and nothing else reads the key", async () => {
    expect(await issues(pay({ lookup: reading("item.id") }))).toEqual(["steps[0].lookup.url unknown_name"]);
    expect(await issues(pay({ lookup: reading("steps.later.x") }), set("later", { x: 1 }))).toEqual([
      "steps[0].lookup.url not_an_ancestor",
    ]);
    expect(await issues(pay({ lookup: reading("result.body") }))).toEqual([
      "steps[0].lookup.url unknown_name",
    ]);
    const { errors } = await check([pay({ body: "${{ idempotency_key }}" })]);
    expect(errors).toEqual([
      expect.objectContaining({
        path: "steps[0].body",
        code: "unknown_name",
        fix: expect.stringContaining("move it to the lookup of the step") as string,
      }),
    ]);
  });

  it("checks happened as a condition that reads the result", async () => {
    expect(await issues(pay({ lookup: lookup({ happened: "result.body.found == true" }) }))).toEqual([]);
    expect(await issues(pay({ lookup: lookup({ happened: "result.stauts_code == 200" }) }))).toEqual([
      "steps[0].lookup.happened unknown_field",
    ]);
    expect(await issues(pay({ lookup: lookup({ happened: "result.status_code" }) }))).toEqual([
      "steps[0].lookup.happened wrong_type",
    ]);
    const { happened: _, ...without } = lookup();
    expect(await issues(pay({ lookup: without }))).toEqual(["steps[0].lookup.happened missing"]);
  });

  it("knows the columns of a query in the result", async () => {
    expect(await connectedIssues(pay({ lookup: query() }))).toEqual([]);
    const wrong = query({ happened: "result.rows[0].amount > 0" });
    expect(await connectedIssues(pay({ lookup: wrong }))).toEqual(["steps[0].lookup.happened unknown_field"]);
  });

  it("needs an output that is an object, unless it has the type of the step", async () => {
    expect(await issues(pay({ lookup: query() }))).toEqual([]);
    const { output: _, ...without } = query();
    const { errors } = await check([pay({ lookup: without })]);
    expect(errors).toEqual([
      expect.objectContaining({
        path: "steps[0].lookup.output",
        code: "missing",
        fix: "Add output: what the step returns if the effect happened, with status_code, headers, body. It reads the output of the lookup as result.",
      }),
    ]);
    for (const output of ["${{ result.row_count }}", "a ${{ result.row_count }}"])
      expect(await issues(pay({ lookup: query({ output }) }))).toEqual(["steps[0].lookup.output wrong_type"]);
    expect(await issues(pay({ lookup: query({ output: "none" }) }))).toEqual([
      "steps[0].lookup.output wrong_type",
    ]);
    expect(await connectedIssues(pay({ lookup: query({ output: "${{ result.rows[0] }}" }) }))).toEqual([
      "steps[0].lookup.output incomplete_output",
    ]);
  });

  it("must not have effects itself", async () => {
    expect(await issues(pay({ lookup: lookup({ method: "POST" }) }))).toEqual([
      "steps[0].lookup not_allowed",
    ]);
    expect(await issues(pay({ lookup: query({ write: true }) }))).toEqual(["steps[0].lookup not_allowed"]);
    const call = (tool: string) => query({ type: "tool", server: "crm", tool, happened: "result != null" });
    const tool = (name: string) => {
      const { database: _d, query: _q, params: _p, ...rest } = call(name) as Record<string, unknown>;
      return { ...rest, output: { status_code: 200, headers: {}, body: "${{ result.output }}" } };
    };
    expect(await connectedIssues(pay({ lookup: tool("find") }))).toEqual([]);
    expect(await connectedIssues(pay({ lookup: tool("create") }))).toEqual([
      "steps[0].lookup.tool may_have_effects",
    ]);
  });

  it("and on_interrupted need a step that can be interrupted", async () => {
    const both = { on_interrupted: "retry", lookup: lookup() };
    expect(await issues({ ...set("a", { x: 1 }), ...both })).toEqual(REFUSED);
    expect(await issues(pay({ method: "GET", ...both }))).toEqual(REFUSED);
    expect(await issues({ id: "w", type: "wait", for: "1m", ...both })).toEqual(REFUSED);
    expect(await issues({ id: "w", type: "approval", message: "Pay?", ...both })).toEqual(REFUSED);
    expect(await issues({ id: "w", type: "workflow", workflow: "tell-the-team", ...both })).toEqual(REFUSED);
    expect(await issues(assert("a", "true"), pay({ on_interrupted: "fail" }))).toEqual([]);
    expect(await issues(pay({ on_interrupted: "aks" }))).toEqual(["steps[0].on_interrupted not_allowed"]);
  });

  it("has the fields of its type, and none of a step", async () => {
    expect(await issues(pay({ lookup: lookup({ if: "true", id: "x" }) }))).toEqual([
      "steps[0].lookup.if unknown_key",
      "steps[0].lookup.id unknown_key",
    ]);
    expect(await issues(pay({ lookup: lookup({ methd: "GET" }) }))).toEqual([
      "steps[0].lookup.methd unknown_key",
    ]);
    expect(await issues(pay({ lookup: "GET" }))).toEqual(["steps[0].lookup wrong_type"]);
    const { errors } = await check([pay({ lookup: { type: "htpp", happened: "true" } })]);
    expect(errors).toEqual([
      expect.objectContaining({
        path: "steps[0].lookup.type",
        code: "not_allowed",
        message: "must be a type that can find out whether an effect happened: http, sql, tool",
        did_you_mean: "http",
      }),
    ]);
  });

  it("has the error codes and durations of steps", async () => {
    expect(await issues(pay({ lookup: lookup({ retry: { attempts: 2, on: ["http_status"] } }) }))).toEqual(
      [],
    );
    expect(await issues(pay({ lookup: lookup({ retry: { attempts: 2, on: ["http_sttaus"] } }) }))).toEqual([
      "steps[0].lookup.retry.on[0] not_allowed",
    ]);
    expect(await issues(pay({ lookup: lookup({ timeout: "1m" }) }))).toEqual([]);
    expect(await issues(pay({ lookup: lookup({ timeout: "2m" }) }))).toEqual([
      "steps[0].lookup.timeout duration_too_long",
    ]);
    expect(await issues(pay({ lookup: lookup({ timeout: "0s" }) }))).toEqual([
      "steps[0].lookup.timeout too_small",
    ]);
  });

  it("uses only what the project may use", async () => {
    expect(await connectedIssues(pay({ lookup: query({ database: "payroll" }) }))).toEqual([
      "steps[0].lookup.database unknown_database",
    ]);
    const headers = { Authorization: { secret: "other" } };
    expect(await connectedIssues(pay({ lookup: lookup({ headers }) }))).toEqual([
      "steps[0].lookup.headers.Authorization.secret unknown_secret",
    ]);
  });

  it("has no hidden characters in its description", async () => {
    expect(await issues(pay({ lookup: lookup({ description: "Finds\u200b it." }) }))).toEqual([
      "steps[0].lookup.description hidden_characters",
    ]);
  });
});

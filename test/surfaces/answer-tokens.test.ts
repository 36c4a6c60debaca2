/** The size of the answers that agents read most, on an instance of a realistic size. A growth is to be a decision. */
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { mcpHttpServer } from "../support/mcp-server-http.ts";
import { temporaryDirectory, testInstance } from "../support/instance.ts";
import { connect, outputOf } from "../support/mcp.ts";

const TABLES = { shop: 10, billing: 6, support: 4 };
const COLUMNS = [
  "id integer primary key",
  "customer_id integer not null",
  "status text not null",
  "amount real",
  "currency text not null",
  "note text",
  "created_at text not null",
  "updated_at text",
];
const WORKFLOWS = 30;

/** The largest size of each answer in tokens (a quarter of its characters): what was measured, and a twentieth more. */
const LIMITS: Readonly<Record<string, number>> = {
  describe_environment: 2_580,
  "describe_environment, tables": 840,
  "describe_environment, definition": 3_500,
  "describe_environment, expressions": 1_240,
  describe_database: 1_260,
  "describe_database, samples": 260,
  list_workflows: 1_460,
  "list_workflows, fields": 1_310,
  get_workflow: 175,
  run_workflow: 1_060,
  get_run: 610,
  "get_run, fields": 15,
  "get_run, full": 1_310,
  retry_run: 1_070,
  list_runs: 112,
  "get_workflow, 120 steps": 5_580,
  "get_workflow, one of 120 steps": 107,
  "update_workflow, one of 120 steps": 66,
};

function database(name: string, tables: number) {
  const dataset = join(temporaryDirectory(), `${name}.db`);
  const db = new DatabaseSync(dataset);
  for (let index = 0; index < tables; index += 1) {
    const table = `${name}_${["orders", "invoices", "payments", "customers", "products"][index % 5]}_${index}`;
    db.exec(`create table ${table} (${COLUMNS.join(", ")})`);
    db.exec(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000)
       insert into ${table} select i, i % 7, 'paid', i * 1.5, 'EUR', 'a note of some words ' || i, '2026-01-01', null from n`,
    );
  }
  db.close();
  return { name, type: "sqlite", dataset };
}

/** Steps of which each reads the one before it. */
const longSteps = (count: number): object[] =>
  Array.from({ length: count }, (_, index) => ({
    id: `step_${index}`,
    type: "set",
    description: `Adds what part ${index} of the report says.`,
    values: {
      text: `Row ${index} of the report for the team`,
      value: index === 0 ? "1" : `\${{ steps.step_${index - 1}.value }}`,
    },
  }));

/** An instance with 3 databases, 20 tables, 2 models, 2 servers and 30 workflows, and the client of an agent. */
async function open() {
  const servers = await Promise.all([mcpHttpServer(), mcpHttpServer()]);
  const config = {
    databases: Object.entries(TABLES).map(([name, tables]) => database(name, tables)),
    defaults: { database: "shop" },
    models: ["fast", "careful"].map((name) => ({
      name,
      vendor: "openai",
      model_ref: `gpt-5-${name}`,
      key_var: "OPENAI_KEY",
    })),
    mcp_servers: servers.map(({ url }, index) => ({ name: `crm${index}`, url })),
  };
  const env = { OPENAI_KEY: "sk-test" };
  const instance = await testInstance();
  await instance.executor({ config, env });
  const { url } = await instance.mcp({ config, env });
  const { value } = await instance.key();
  const client = await connect("v2 pinned to 2026-07-28", url, value);
  const call = async (name: string, args = {}) => {
    const result = await client.call(name, args);
    const tokens = Math.ceil(result.content[0]!.text.length / 4);
    return { tokens, output: outputOf(result) };
  };
  const rows = {
    steps: [
      {
        id: "orders",
        type: "sql",
        database: "shop",
        query: "SELECT * FROM shop_orders_0 WHERE amount > :least",
        params: { least: "${{ inputs.least }}" },
      },
    ],
    inputs: { type: "object", properties: { least: { type: "number", default: 0 } } },
    output: "${{ steps.orders.rows }}",
  };
  for (let index = 0; index < WORKFLOWS; index += 1)
    await call("create_workflow", {
      name: `Orders above a limit ${index}`,
      description: `Lists the orders above a limit, for the weekly report of team ${index}. Runs on Mondays.`,
      tags: ["orders", "weekly"],
      definition: rows,
    });
  return { call };
}

describe("the tokens of an answer", () => {
  it("are few for a realistic instance", async () => {
    const { call } = await open();
    const tokens: Record<string, number> = {};
    const measure = async (title: string, name: string, args = {}) => {
      const answer = await call(name, args);
      tokens[title] = answer.tokens;
      return answer.output;
    };
    const environment = await measure("describe_environment", "describe_environment");
    // Everything that a definition names is in it.
    expect(environment["workflows"]).toEqual({ total: WORKFLOWS });
    expect(environment["tables"].map(({ tables }: { tables: string[] }) => tables.length)).toEqual(
      Object.values(TABLES),
    );
    expect(environment["tools"]).toMatchObject([
      { tools: expect.arrayContaining(["add(a*, b*): {sum: number}", "say(text*)"]) },
      {},
    ]);
    await measure("describe_environment, tables", "describe_environment", { fields: ["tables"] });
    await measure("describe_environment, definition", "describe_environment", { topic: "definition" });
    await measure("describe_environment, expressions", "describe_environment", { topic: "expressions" });
    await measure("describe_database", "describe_database", { database: "shop" });
    await measure("describe_database, samples", "describe_database", {
      database: "shop",
      table: "shop_orders_0",
      samples: true,
    });
    await measure("list_workflows", "list_workflows");
    await measure("list_workflows, fields", "list_workflows", { fields: ["name", "description"] });
    await measure("get_workflow", "get_workflow", { workflow_id: "orders-above-a-limit-0" });
    const run = await measure("run_workflow", "run_workflow", { workflow_id: "orders-above-a-limit-0" });
    expect(run["output"]).toMatchObject({ truncated: true, lists: { "": 1_000 }, ref: "output" });
    await measure("get_run", "get_run", { run_id: run["id"] });
    await measure("get_run, fields", "get_run", { run_id: run["id"], fields: ["status"] });
    await measure("get_run, full", "get_run", { run_id: run["id"], detail: "full" });
    await measure("retry_run", "retry_run", { run_id: run["id"] });
    await measure("list_runs", "list_runs");
    const { id } = (await call("create_workflow", { name: "Long", definition: { steps: longSteps(120) } }))
      .output;
    await measure("get_workflow, 120 steps", "get_workflow", { workflow_id: id });
    await measure("get_workflow, one of 120 steps", "get_workflow", { workflow_id: id, steps: ["step_7"] });
    await measure("update_workflow, one of 120 steps", "update_workflow", {
      workflow_id: id,
      patch: [{ op: "update_step", id: "step_7", set: { values: { value: "2" } } }],
    });
    const exceeded = Object.entries(tokens).filter(([title, count]) => !(count <= LIMITS[title]!));
    expect(Object.fromEntries(exceeded)).toEqual({});
    expect(Object.keys(tokens)).toEqual(Object.keys(LIMITS));
  });
});

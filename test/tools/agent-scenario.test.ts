/** An agent's use of the tools over MCP, from discovery to a retry; and a script's over REST. */
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { apiClient } from "../support/http.ts";
import { temporaryDirectory, testInstance } from "../support/instance.ts";
import { connect, outputOf, problemOf } from "../support/mcp.ts";

/** A shop with orders, readable by workflows. */
function shop() {
  const dataset = join(temporaryDirectory(), "shop.db");
  const db = new DatabaseSync(dataset);
  db.exec("create table orders (region text not null, amount real not null)");
  db.exec("insert into orders values ('north', 120), ('south', 80), ('north', 1)");
  db.close();
  return { databases: [{ name: "shop", type: "sqlite", dataset }], defaults: { database: "shop" } };
}

async function opened() {
  const instance = await testInstance();
  const config = shop();
  await instance.executor({ config });
  const [rest, mcp] = [await instance.rest({ config }), await instance.mcp({ config })];
  const { value } = await instance.key({ scopes: ["read", "write", "publish", "run", "approve"] });
  const client = await connect("v2 pinned to 2026-07-28", mcp.url, value);
  return { instance, call: apiClient(rest.url, value), client };
}

const REVENUE = {
  inputs: { type: "object", properties: { least: { type: "number", default: 0 } } },
  steps: [
    {
      id: "revenue",
      type: "sql",
      query:
        "SELECT region, SUM(amount) AS total FROM orders WHERE amount >= :least GROUP BY region ORDER BY total DESC",
      params: { least: "${{ inputs.least }}" },
    },
    { id: "any", type: "assert", that: "steps.revenue.row_count > 0", message: "There are no orders." },
  ],
  output: { best: "${{ steps.revenue.rows[0].regoin }}" },
};

describe("an agent", () => {
  it("learns, writes a definition with an issue, fixes it by patch, publishes, runs, fails, and retries with a patch", async () => {
    const { client } = await opened();
    const ask = async (name: string, args = {}) => outputOf(await client.call(name, args));

    const environment = await ask("describe_environment");
    expect(environment).toMatchObject({
      databases: [{ name: "shop", type: "sqlite" }],
      default_database: "shop",
    });
    expect((await ask("describe_environment", { topic: "definition" }))["guide"]).toContain("for_each");
    const { tables } = await ask("describe_database", { database: "shop", samples: 1 });
    expect(tables).toMatchObject([
      { name: "orders", row_count: 3, sample: [{ region: "north", amount: 120 }] },
    ]);

    const created = await ask("create_workflow", { name: "Best region", definition: REVENUE });
    expect(created["issues"]).toMatchObject([{ path: "output.best", did_you_mean: "region" }]);
    const refused = problemOf(await client.call("publish_workflow", { workflow_id: "best-region" }));
    expect(refused).toMatchObject({ code: "workflow_not_runnable", errors: created["issues"] });

    const patch = [{ op: "update_top", set: { output: { best: "${{ steps.revenue.rows[0].region }}" } } }];
    const fields = ["version", "issues", "definition"];
    const fixed = await ask("update_workflow", { workflow_id: "best-region", patch, if_match: 1, fields });
    expect(fixed).toMatchObject({ version: 2, issues: [] });
    const { valid, steps, output } = await ask("validate_workflow", { definition: fixed["definition"] });
    expect({ valid, output }).toEqual({ valid: true, output: "{best: text or null}" });
    expect(steps).toMatchObject([{ id: "revenue", effects: false }, { id: "any" }]);
    expect(await ask("publish_workflow", { workflow_id: "best-region" })).toMatchObject({
      status: "published",
      published_version: 2,
    });

    const run = await ask("run_workflow", { workflow_id: "best-region" });
    expect(run).toMatchObject({ status: "succeeded", version: 2, trigger: "mcp", output: { best: "north" } });

    const failed = await ask("run_workflow", { workflow_id: "best-region", inputs: { least: 1_000 } });
    expect(failed).toMatchObject({
      status: "failed",
      error: {
        code: "assert_failed",
        message: expect.stringContaining("There are no orders."),
        step_id: "any",
      },
      failed_step: { id: "any", type: "assert" },
    });
    expect(failed["next"]).toContain("retry_run");
    expect(JSON.stringify(failed).length).toBeLessThan(4_000);

    const retried = await ask("retry_run", {
      run_id: failed["id"],
      patch: [
        { op: "remove_step", id: "any" },
        { op: "update_top", set: { output: { rows: "${{ steps.revenue.row_count }}" } } },
      ],
    });
    expect(retried).toMatchObject({
      status: "succeeded",
      retry_of: failed["id"],
      patched: true,
      output: { rows: 0 },
    });
    const whole = await ask("get_run", { run_id: retried["id"], detail: "full" });
    expect(whole["steps"]).toMatchObject([{ id: "revenue", status: "succeeded", reused_from: failed["id"] }]);
  });
});

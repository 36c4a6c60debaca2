import { rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { createSqliteFile } from "../../support/databases.ts";
import { eventually } from "../../support/eventually.ts";
import { runToEnd, testEngine } from "../../support/engine.ts";
import { temporaryDirectory } from "../../support/directories.ts";

const SHOP = "CREATE TABLE orders (id INTEGER PRIMARY KEY, region TEXT)";

async function engineWithShop(sql = SHOP) {
  const directory = temporaryDirectory();
  const dataset = createSqliteFile(directory, sql);
  const config = { databases: [{ name: "shop", type: "sqlite", dataset }], defaults: { database: "shop" } };
  return { dataset, harness: await testEngine({ config }) };
}

const query = (text: string, more: object = {}) => ({
  steps: [{ id: "a", type: "sql", query: text, ...more }],
});

describe("a definition known to be faulty", () => {
  it.each([
    ["a query that the database refuses", query("SELECT regoin FROM orders"), "no such column: regoin"],
    ["a missing parameter", query("SELECT id FROM orders WHERE id = :id"), "is missing"],
    ["a write to a read-only database", query("DELETE FROM orders", { write: true }), "is read-only"],
    ["a database that is not configured", query("SELECT 1", { database: "shpo" }), "got shpo"],
  ])("never starts a run: %s", async (_, definition, message) => {
    const { harness } = await engineWithShop();
    const workflow = await harness.define(definition);
    await expect(harness.start(workflow)).rejects.toMatchObject({
      code: "workflow_not_runnable",
      message: expect.stringContaining(message) as string,
    });
  });

  it("starts as soon as the database is repaired", async () => {
    const { harness, dataset } = await engineWithShop();
    const workflow = await harness.define(query("SELECT total FROM orders"));
    await expect(harness.start(workflow)).rejects.toMatchObject({ code: "workflow_not_runnable" });
    const db = new DatabaseSync(dataset);
    db.exec("ALTER TABLE orders ADD COLUMN total REAL");
    db.close();
    expect(await harness.start(workflow)).toMatch(/^run_/);
  });

  it("is found again after some minutes, when a table has changed", async () => {
    const { harness, dataset } = await engineWithShop();
    const workflow = await harness.define(query("SELECT region FROM orders"));
    await harness.start(workflow);
    const db = new DatabaseSync(dataset);
    db.exec("ALTER TABLE orders DROP COLUMN region");
    db.close();
    harness.clock.advance(5 * 60_000 + 1);
    await expect(harness.start(workflow)).rejects.toMatchObject({ code: "workflow_not_runnable" });
  });
});

describe("a database that can't be reached", () => {
  it("does not keep a run from starting", async () => {
    const { harness, dataset } = await engineWithShop();
    rmSync(dataset);
    const result = await runToEnd(harness, query("SELECT regoin FROM orders"));
    expect(result).toMatchObject({ status: "failed", error: { code: "database_unavailable" } });
  });

  it("is asked for again in the background, so that it delays only the first run", async () => {
    const { harness, dataset } = await engineWithShop();
    rmSync(dataset);
    const workflow = await harness.define(query("SELECT regoin FROM orders"));
    await harness.start(workflow);
    const db = new DatabaseSync(dataset);
    db.exec(SHOP);
    db.close();
    harness.clock.advance(30_001);
    await harness.start(workflow);
    await eventually(
      () =>
        harness.start(workflow).then(
          () => undefined,
          (error: unknown) => error,
        ),
      "the refusal",
    );
    await expect(harness.start(workflow)).rejects.toMatchObject({ code: "workflow_not_runnable" });
  });

  it("does not hide the other issues of the definition", async () => {
    const { harness, dataset } = await engineWithShop();
    rmSync(dataset);
    const steps = [
      { id: "a", type: "sql", query: "SELECT 1 AS one" },
      { id: "b", type: "sql", database: "scratch", query: "SELECT x FROM nothing" },
    ];
    const workflow = await harness.define({ steps });
    await expect(harness.start(workflow)).rejects.toMatchObject({
      code: "workflow_not_runnable",
      details: { errors: [{ path: "steps[1].query" }] },
    });
  });
});

describe("a list that a run loads into scratch", () => {
  const inputs = {
    type: "object",
    properties: {
      plan: {
        type: "array",
        items: { type: "object", properties: { category: { type: "string" }, amount: { type: "number" } } },
      },
    },
    required: ["plan"],
  };
  const SALES = `
    CREATE TABLE items (category TEXT, amount REAL, id INTEGER);
    INSERT INTO items VALUES ('tea', 2.5, 9007199254740993), ('tea', 1, 1)`;
  const compare = (sales: string, plan = "${{ inputs.plan }}") => ({
    inputs,
    steps: [
      {
        id: "sales",
        type: "sql",
        query: "SELECT category, amount, id FROM items WHERE category = :c",
        params: { c: "${{ inputs.plan.size() > 0 ? 'tea' : 'none' }}" },
      },
      {
        id: "behind",
        type: "sql",
        database: "scratch",
        tables: { plan, sales },
        query: `SELECT category, count(*) AS n, sum(plan.amount - sales.amount) AS missing, max(sales.id) AS id
          FROM plan JOIN sales USING (category) GROUP BY category`,
      },
    ],
    output: "${{ steps.behind.rows }}",
  });

  it.each([
    ["rows", "${{ steps.sales.rows }}"],
    ["rows that filter selects", "${{ steps.sales.rows.filter(r, r.category != 'x') }}"],
    [
      "rows that map makes",
      "${{ steps.sales.rows.map(r, {'category': r.category, 'amount': r.amount, 'id': r.id}) }}",
    ],
  ])("has its columns, empty or not: %s", async (_, sales) => {
    const { harness } = await engineWithShop(SALES);
    const definition = compare(sales);
    const empty = await runToEnd(harness, definition, { inputs: { plan: [] } });
    expect(empty).toMatchObject({ status: "succeeded", output: [] });
    const plan = [{ category: "tea", amount: 10 }];
    const full = await runToEnd(harness, definition, { inputs: { plan } });
    expect(full).toMatchObject({
      status: "succeeded",
      output: [{ category: "tea", n: 2, missing: 16.5, id: "9007199254740993" }],
    });
  });

  it("keeps the columns of the check that admitted its run while a database is unavailable", async () => {
    const { harness, dataset } = await engineWithShop(SALES);
    const definition = compare("${{ steps.sales.rows }}");
    const workflow = await harness.define(definition);
    await harness.start(workflow, { inputs: { plan: [] } });
    harness.clock.advance(5 * 60_000 + 1);
    rmSync(dataset);
    const id = await harness.start(workflow, { inputs: { plan: [] } });
    expect(await harness.read.runs.facts(id)).toMatchObject({
      behind: {
        tables: { sales: [{ name: "category", type: "string" }, { name: "amount" }, { name: "id" }] },
      },
    });
  });
});

async function inputsOf(definition: Record<string, unknown>, request: object) {
  const harness = await testEngine();
  const id = await harness.start(await harness.define(definition), { trigger: "mcp", ...request });
  return harness.read.runs.inputs(id);
}

describe("inputs of a run that starts over MCP (parseInputs)", () => {
  const text = { type: "string" };
  const exposed = (more: object) => ({
    expose_as_tool: true,
    inputs: { type: "object", properties: { größe: text }, ...more },
    steps: [{ id: "a", type: "set", values: {} }],
  });

  it("keep a name that the schema allows, though the tool lists another input by it", async () => {
    const open = exposed({ additionalProperties: text });
    expect(await inputsOf(open, { inputs: { groesse: "a" } })).toMatchObject({ groesse: "a" });
    const both = { groesse: "a", größe: "b" };
    expect(await inputsOf(open, { inputs: both })).toEqual(both);
  });

  it("are read by the listed name where the schema allows no other input of this name", async () => {
    expect(await inputsOf(exposed({}), { inputs: { groesse: "a" } })).toEqual({ größe: "a" });
  });

  it("stay as they are stored (areInputsStored)", async () => {
    const stored = { inputs: { groesse: "a" }, areInputsStored: true };
    await expect(inputsOf(exposed({}), stored)).rejects.toMatchObject({ code: "invalid_input" });
    const list = { inputs: { größe: "5" }, areInputsStored: true };
    const number = exposed({ properties: { größe: { type: "integer" } } });
    await expect(inputsOf(number, list)).rejects.toMatchObject({ code: "invalid_input" });
  });
});

/** A trail of single steps becomes a workflow: outputs are wired to inputs by where the values came from. */
import { describe, expect, it } from "vitest";
import { queryDatabase } from "../../tools/environment/query-database.ts";
import { runStep } from "../../tools/runs/run-step.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { takeOutLiterals } from "../../tools/workflows/trail-sql.ts";
import { trailValues } from "../../tools/workflows/trail-values.ts";
import { createSqliteFile } from "../support/databases.ts";
import { fakeClock, temporaryDirectory, testInstance } from "../support/instance.ts";
import { addProject } from "../support/projects.ts";
import { callAs, keyPrincipal } from "../support/users.ts";

async function open() {
  const dataset = createSqliteFile(
    temporaryDirectory(),
    `CREATE TABLE customers (id INTEGER, name TEXT); INSERT INTO customers VALUES (4711, 'Ann Example'), (4712, 'Ben Example');
     CREATE TABLE orders (customer_id INTEGER, ordered_on TEXT, amount REAL);
     INSERT INTO orders VALUES (4711, '2026-06-01', 10.5), (4711, '2026-06-20', 20), (4712, '2026-06-21', 5)`,
  );
  const config = { databases: [{ name: "shop", type: "sqlite", dataset, access: "read-write" }] };
  const instance = await testInstance({ clock: fakeClock(), config });
  await instance.executor({ config });
  const call = callAs(instance, keyPrincipal());
  return {
    instance,
    call,
    /** Runs a step to its end. @returns the id of its run */
    step: async (step: object, more: object = {}) => {
      const run = await call(runStep, { step, wait: 20, ...more });
      expect(run.status).toBe("succeeded");
      return run.id;
    },
    query: async (sql: string, params: object = {}) =>
      (await call(queryDatabase, { database: "shop", sql, params })).run_id,
  };
}

const LARGEST = "SELECT customer_id, SUM(amount) AS total FROM orders GROUP BY 1 ORDER BY 2 DESC LIMIT 1";

describe("create_workflow from a trail", () => {
  it("wires what was taken from runs, and does again what was done", async () => {
    const { call, step, query } = await open();
    const largest = await query(LARGEST);
    const name = await step(
      {
        id: "name",
        type: "sql",
        database: "shop",
        query: "SELECT name FROM customers WHERE id = :id",
        params: { id: "${{ inputs.customer }}" },
      },
      { from: { customer: `${largest}.rows[0].customer_id` } },
    );
    const line = await step(
      { id: "line", type: "set", values: { text: "${{ inputs.rows[0].name }}: ${{ inputs['total'] }}" } },
      { from: { rows: `${name}.rows`, total: `${largest}.rows[0].total` } },
    );
    const made = await call(createWorkflow, { name: "Largest", from: [largest, name, line] });
    expect(made.definition).toEqual({
      steps: [
        { id: "orders", type: "sql", database: "shop", query: LARGEST },
        {
          id: "name",
          type: "sql",
          database: "shop",
          query: "SELECT name FROM customers WHERE id = :id",
          params: { id: "${{ steps.orders.rows[0].customer_id }}" },
        },
        {
          id: "line",
          type: "set",
          values: { text: "${{ steps.name.rows[0].name }}: ${{ steps.orders.rows[0].total }}" },
        },
      ],
      examples: [
        {
          name: "As it was tried",
          inputs: {},
          given: {
            orders: expect.objectContaining({ rows: [{ customer_id: 4711, total: 30.5 }] }) as object,
            name: expect.objectContaining({ rows: [{ name: "Ann Example" }] }) as object,
          },
          expect: { text: "Ann Example: 30.5" },
        },
      ],
    });
    expect({ issues: made.issues, guesses: made.guesses }).toEqual({ issues: [], guesses: [] });
    const again = await call(runWorkflow, { workflow_id: made.id, wait: 20 });
    expect(again.output).toEqual({ text: "Ann Example: 30.5" });
    expect((await call(publishWorkflow, { workflow_id: made.id })).status).toBe("published");
  });

  it("finds where values came from that were copied, and says so", async () => {
    const { call, step, query } = await open();
    const largest = await query(LARGEST);
    const name = await query("SELECT name FROM customers WHERE id = :id", { id: 4711 });
    const line = await step({
      id: "line",
      type: "set",
      values: { who: "Ann Example", text: "The best is Ann Example, with order 4711.", n: 3 },
    });
    const made = await call(createWorkflow, { name: "Copied", from: [largest, name, line] });
    expect(made.issues).toEqual([]);
    const [, second, third] = made.definition!["steps"] as Record<string, unknown>[];
    expect(second).toMatchObject({
      id: "customers",
      params: { id: "${{ steps.orders.rows[0].customer_id }}" },
    });
    expect(third!["values"]).toEqual({
      who: "${{ steps.customers.rows[0].name }}",
      text: "The best is ${{ steps.customers.rows[0].name }}, with order ${{ steps.orders.rows[0].customer_id }}.",
      n: 3,
    });
    expect(made.guesses!.map(({ path }) => path)).toEqual([
      "steps[1].params.id",
      "steps[2].values.who",
      "steps[2].values.text",
      "steps[2].values.text",
    ]);
    expect(made.guesses![0]!.message).toBe(
      "reads steps.orders.rows[0].customer_id, because the value was the same: 4711.",
    );
  });

  it("proposes parameters as inputs, with schema, default and example", async () => {
    const { call, query } = await open();
    const recent = await query(
      "SELECT customer_id, amount FROM orders WHERE ordered_on >= '2026-06-15' AND amount > :least",
      { least: 7 },
    );
    const made = await call(createWorkflow, { name: "Recent", from: [recent] });
    expect(made.issues).toEqual([]);
    expect(made.definition).toEqual({
      inputs: {
        type: "object",
        properties: {
          least: { type: "integer", default: 7 },
          ordered_on: { type: "string", format: "date", default: "2026-06-15" },
        },
      },
      steps: [
        {
          id: "orders",
          type: "sql",
          database: "shop",
          query: "SELECT customer_id, amount FROM orders WHERE ordered_on >= :ordered_on AND amount > :least",
          params: { least: "${{ inputs.least }}", ordered_on: "${{ inputs.ordered_on }}" },
        },
      ],
      examples: [
        {
          name: "As it was tried",
          inputs: { least: 7, ordered_on: "2026-06-15" },
          given: { orders: expect.objectContaining({ row_count: 1 }) as object },
        },
      ],
    });
    expect(made.guesses).toEqual([
      {
        path: "inputs.least",
        message: "is proposed as an input (7): it was written in steps[0].params.least",
      },
      {
        path: "inputs.ordered_on",
        message: 'is proposed as an input ("2026-06-15"): it was written in steps[0].query',
      },
    ]);
    expect((await call(publishWorkflow, { workflow_id: made.id })).status).toBe("published");
    const run = await call(runWorkflow, { workflow_id: made.id, inputs: { least: 100 }, wait: 20 });
    expect(run.output).toMatchObject({ rows: [] });
  });

  it("reads an input in a text that has its value, and leaves the expressions of the text alone", async () => {
    const { call, step, query } = await open();
    const recent = await query("SELECT amount FROM orders WHERE ordered_on >= :since", {
      since: "2026-06-15",
    });
    const line = await step(
      {
        id: "line",
        type: "set",
        values: { text: 'Since 2026-06-15: [{"amount":20},{"amount":5}] for ${{ inputs.who }}.' },
      },
      { inputs: { who: "2026-06-15" } },
    );
    const made = await call(createWorkflow, { name: "Text", from: [recent, line] });
    expect(made.issues).toEqual([]);
    expect(made.definition!["steps"]).toMatchObject([
      { params: { since: "${{ inputs.since }}" } },
      { values: { text: "Since ${{ inputs.since }}: ${{ steps.orders.rows }} for ${{ inputs.who }}." } },
    ]);
    const run = await call(runWorkflow, { workflow_id: made.id, wait: 20 });
    expect(run.output).toEqual({
      text: 'Since 2026-06-15: [{"amount":20},{"amount":5}] for 2026-06-15.',
    });
  });

  it("keeps two values of one name apart, and gives each step its own id", async () => {
    const { call, step } = await open();
    const set = (name: string) =>
      step({ type: "set", values: { x: "${{ inputs.name }}" } }, { inputs: { name } });
    const made = await call(createWorkflow, {
      name: "Twice",
      from: [await set("one"), await set("two"), await set("one")],
    });
    expect(made.definition).toMatchObject({
      inputs: { properties: { name: { default: "one" }, set_2_name: { default: "two" } } },
      steps: [
        { id: "set", values: { x: "${{ inputs.name }}" } },
        { id: "set_2", values: { x: "${{ inputs.set_2_name }}" } },
        { id: "set_3", values: { x: "${{ inputs.name }}" } },
      ],
    });
    // All of it is computed in memory, so the output is certain.
    expect(made.definition!["examples"]).toMatchObject([{ expect: { x: "one" } }]);
  });

  it("publishes without repeating the effects of the trail", async () => {
    const { call, step } = await open();
    const write = await step({
      id: "log",
      type: "sql",
      database: "shop",
      query: "INSERT INTO customers VALUES (:id, 'New')",
      params: { id: 5000 },
      write: true,
    });
    const made = await call(createWorkflow, { name: "Writes", from: [write] });
    expect(made.issues).toEqual([]);
    expect(made.definition!["examples"]).toMatchObject([{ inputs: { id: 5000 }, given: { log: {} } }]);
    expect((await call(publishWorkflow, { workflow_id: made.id })).status).toBe("published");
    const { rows } = await call(queryDatabase, {
      database: "shop",
      sql: "SELECT count(*) AS n FROM customers WHERE id = 5000",
    });
    expect(rows).toEqual([{ n: 1 }]);
  });

  it("says which runs can't be a part of it", async () => {
    const { call, step, instance } = await open();
    await addProject(instance, "beta", {});
    const one = await step({ type: "set", values: { x: 1 } });
    const other = await step({ type: "set", values: { x: 1 } }, { project: "beta" });
    const failed = await call(runStep, { step: { type: "assert", that: "1 > 2" }, wait: 20 });
    const { id } = await call(createWorkflow, {
      name: "Hello",
      definition: { steps: [{ id: "a", type: "set", values: { x: 1 } }] },
    });
    const run = await call(runWorkflow, { workflow_id: id, wait: 20 });
    await expect(
      call(createWorkflow, { name: "No", from: [one, run.id, failed.id, one, other] }),
    ).rejects.toMatchObject({
      code: "invalid_input",
      details: {
        errors: [
          { path: "from[1]", code: "not_a_step" },
          { path: "from[2]", code: "no_output" },
          { path: "from[3]", code: "duplicate" },
          { path: "from[4]", code: "other_project" },
        ],
      },
    });
    await expect(call(createWorkflow, { name: "No", from: ["run_none"] })).rejects.toMatchObject({
      code: "run_not_found",
    });
    await expect(
      call(createWorkflow, { name: "No", from: [one], definition: { steps: [] } }),
    ).rejects.toMatchObject({ details: { errors: [{ path: "from", code: "not_allowed" }] } });
    await expect(call(createWorkflow, { name: "No", from: [one], project: "beta" })).rejects.toMatchObject({
      details: { errors: [{ path: "project" }] },
    });
    expect((await call(createWorkflow, { name: "Yes", from: [other] })).project).toBe("beta");
  });
});

describe("the values of a trail", () => {
  it("are found by name where they are short, and alone where they are hardly the same by chance", () => {
    const values = trailValues();
    values.add("old", { region: "north", id: 7, ids: [1, 2] });
    values.add("new", {
      rows: [
        { id: 7, mail: "ann@example.com" },
        { id: 8, mail: "b@example.com" },
      ],
      ok: true,
    });
    const find = (value: unknown, name?: string) => values.find(value, name)?.expression;
    expect(find(7, "id")).toBe("steps.new.rows[0].id");
    expect(find(7, "customer_id")).toBe("steps.new.rows[0].id");
    expect(find(7, "count")).toBeUndefined();
    expect(find("north")).toBe("steps.old.region");
    expect(find("2026-06-15", "day")).toBeUndefined();
    expect(find(true, "ok")).toBeUndefined();
    expect(find([7, 8])).toBe("steps.new.rows.map(r, r.id)");
    expect(
      find([
        { id: 7, mail: "ann@example.com" },
        { mail: "b@example.com", id: 8 },
      ]),
    ).toBe("steps.new.rows");
    expect(values.find("b@example.com", "to")).toMatchObject({ isOneOfMany: true });
  });

  it("are found inside a text, as JSON in several forms, not inside of words", () => {
    const values = trailValues();
    values.add("q", { rows: [{ region: "north", n: 1 }], token: "abcdef" });
    const find = (text: string) => values.findWithin(text).map(({ place }) => place.expression);
    for (const text of [
      '[{"region":"north","n":1}]',
      '[{"region": "north", "n": 1}]',
      JSON.stringify([{ region: "north", n: 1 }], null, 2),
    ])
      expect(find(`Summarize: ${text}.`)).toEqual(["steps.q.rows"]);
    expect(find("say abcdef, please")).toEqual(["steps.q.token"]);
    expect(find("say abcdefg, please")).toEqual([]);
  });
});

describe("the values of a query", () => {
  it("are taken out of comparisons, not out of comments, names and typed literals", () => {
    const query =
      "SELECT \"a'b\", 'text' FROM t -- it's a = 'comment'\nWHERE a >= '2026-01-01' AND b = 17 AND c < date '2026-01-02' AND d IN ('x''y') AND e = 1.5x";
    const found: unknown[] = [];
    const changed = takeOutLiterals(query, (literal) => {
      found.push(literal);
      return literal.column;
    });
    expect(found).toEqual([
      { value: "text", column: undefined },
      { value: "2026-01-01", column: "a" },
      { value: 17, column: "b" },
      { value: "x'y", column: undefined },
    ]);
    expect(changed).toBe(query.replace("'2026-01-01'", ":a").replace("= 17", "= :b"));
  });
});

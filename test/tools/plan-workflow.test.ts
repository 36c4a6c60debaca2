/** The plan of a run: what it would read, write and send, and what past runs needed. */
import { describe, expect, it } from "vitest";
import { planWorkflow } from "../../tools/workflows/plan-workflow.ts";
import { median } from "../../tools/workflows/expected-effort.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { exampleEnvironment } from "../support/example-environment.ts";
import type { Json } from "../support/json.ts";
import { callAs, keyPrincipal } from "../support/users.ts";

type Environment = Awaited<ReturnType<typeof exampleEnvironment>>;

const plan = (here: Environment, id: string, more: object = {}) =>
  here.call<Json>(planWorkflow, { workflow_id: id, ...more });

const customers = {
  id: "customers",
  type: "sql",
  database: "shop",
  query: "SELECT id FROM customers LIMIT 3",
};
const mail = {
  id: "send",
  type: "email",
  to: ["team@example.com", "${{ inputs.to }}"],
  subject: "Customers",
  text: "Rows: ${{ steps.customers.row_count }}",
  if: "steps.customers.row_count > 0",
};
const inputs = { type: "object", properties: { to: { type: "string", default: "ann@example.com" } } };

describe("plan_workflow", () => {
  it("says in words and as data what a run would do, and to whom", async () => {
    const here = await exampleEnvironment();
    await here.call(createWorkflow, {
      name: "Report",
      definition: {
        inputs,
        state: { n: { type: "integer", default: 0 } },
        steps: [customers, mail, { id: "done", type: "set", values: {} }],
        commit: { n: 1 },
        schedule: { cron: "0 7 * * 1" },
      },
    });
    const answer = await plan(here, "report");
    expect(answer).toMatchObject({
      workflow_id: "report",
      version: 1,
      schedule: { cron: "0 7 * * 1", timezone: "UTC" },
      saves_state: ["n"],
      expected: null,
    });
    expect(answer.workflows).toEqual([
      {
        workflow_id: "report",
        version: 1,
        role: "planned",
        steps: [
          {
            id: "customers",
            type: "sql",
            effect: "Reads the database shop",
            does: "reads",
            targets: ["shop"],
          },
          {
            id: "send",
            type: "email",
            effect: "Sends mail to team@example.com, ${{ inputs.to }}",
            does: "sends",
            targets: ["team@example.com", "${{ inputs.to }}"],
            if: "steps.customers.row_count > 0",
          },
          { id: "done", type: "set", effect: "Touches nothing outside of the run", does: "nothing" },
        ],
      },
    ]);
    expect(answer.words).toContain("- customers (sql): Reads the database shop\n");
    expect(answer.words).toContain("Once published it runs by itself: 0 7 * * 1 (UTC).");
    expect(here.mails).toEqual([]);
  });

  it("expects rows, time and cost as in past runs that succeeded, and not as in trials", async () => {
    const here = await exampleEnvironment({ model: () => "text" });
    const definition = {
      inputs,
      steps: [customers, { id: "text", type: "model", model: "writer", prompt: "Hi" }, mail],
    };
    await here.call(createWorkflow, { name: "Report", definition });
    await here.call(runWorkflow, {
      workflow_id: "report",
      given: { customers: { rows: [], columns: [], row_count: 999 }, text: {}, send: {} },
      wait: 20,
    });
    expect((await plan(here, "report")).expected).toBeNull();
    await here.run("report");
    const { expected, words } = await plan(here, "report");
    expect(expected).toMatchObject({
      runs: 1,
      input_tokens: expect.any(Number),
      steps: [{ id: "customers", rows: 3 }, { id: "text" }, { id: "send" }],
    });
    expect(expected.input_tokens).toBeGreaterThan(0);
    expect(words).toContain("Expected from its last run:");
    expect(words).toContain("customers 3 rows");
  });

  it("shows the workflows that it calls, but not the steps of those that the key can't see", async () => {
    const here = await exampleEnvironment();
    await here.call(createWorkflow, {
      name: "Inner",
      definition: { steps: [{ ...mail, to: ["team@example.com"], text: "x", if: "true" }] },
    });
    await here.call(publishWorkflow, { workflow_id: "inner" });
    await here.call(createWorkflow, {
      name: "Middle",
      definition: { steps: [{ id: "sub", type: "workflow", workflow: "inner" }] },
    });
    await here.call(publishWorkflow, { workflow_id: "middle" });
    await here.call(createWorkflow, {
      name: "Report",
      definition: { steps: [{ id: "sub", type: "workflow", workflow: "middle" }] },
    });
    const all = await plan(here, "report");
    expect(all.workflows.map((one: Json) => one.workflow_id)).toEqual(["report", "middle", "inner"]);
    expect(all.workflows[2].steps).toMatchObject([{ effect: "Sends mail to team@example.com" }]);
    const principal = keyPrincipal(["read"]);
    const keyLimits = { workflows: ["report"] };
    const limited = callAs(here, { ...principal, access: { ...principal.access, keyLimits } });
    const { workflows } = (await limited(planWorkflow, { workflow_id: "report" })) as Json;
    expect(workflows).toMatchObject([
      { workflow_id: "report", steps: [{ id: "sub" }] },
      { workflow_id: "middle", foreign: true, steps: [] },
    ]);
    expect(workflows).toHaveLength(2);
  });

  it("refuses a definition with issues, one that is missing, and a version that does not exist", async () => {
    const here = await exampleEnvironment();
    await here.call(createWorkflow, { name: "Faulty", definition: { steps: [{ id: "a", type: "sett" }] } });
    await here.call(createWorkflow, { name: "Empty" });
    for (const id of ["faulty", "empty"])
      await expect(plan(here, id)).rejects.toMatchObject({ code: "workflow_not_runnable" });
    await expect(plan(here, "empty", { version: 2 })).rejects.toMatchObject({ code: "version_not_found" });
  });
});

describe("the median", () => {
  it.each([
    [[3], 3],
    [[3, 1], 1],
    [[3, 1, 2], 2],
    [[4, 1, 3, 2], 2],
  ])("of %j is %d", (values, expected) => {
    expect(median(values)).toBe(expected);
  });
});

import { describe, expect, it } from "vitest";
import { archiveWorkflow } from "../../tools/workflows/archive-workflow.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { moveWorkflow } from "../../tools/workflows/move-workflow.ts";
import { testInstance } from "../support/instance.ts";
import { connect, outputOf } from "../support/mcp.ts";
import { addProject, memberOf } from "../support/projects.ts";
import { expectProblem, openRest } from "../support/rest.ts";
import { callAs, keyPrincipal } from "../support/users.ts";

async function open() {
  const instance = await testInstance();
  for (const id of ["finance", "sales"]) await addProject(instance, id);
  return {
    instance,
    call: callAs(instance, keyPrincipal()),
    of: (...projects: string[]) => callAs(instance, memberOf(projects)),
  };
}

describe("the id of create_workflow", () => {
  it("is the requested one, whatever the name", async () => {
    const { call } = await open();
    expect(await call(createWorkflow, { name: "每周收入", id: "weekly-revenue" })).toMatchObject({
      id: "weekly-revenue",
      name: "每周收入",
    });
    expect(await call(createWorkflow, { name: "A", id: "finance.a", project: "finance" })).toMatchObject({
      id: "finance.a",
      project: "finance",
    });
    expect(await call(createWorkflow, { name: "每周收入" })).toMatchObject({ id: "mei-zhou-shou-ru" });
  });

  it.each([
    ["Größe", {}, "wrong_format", "groesse", 'got "Größe"'],
    ["weekly revenue", {}, "wrong_format", "weekly-revenue", "lower-case letters"],
    ["-a", {}, "wrong_format", "a", "starting with a letter"],
    ["../etc", {}, "wrong_format", "etc", "lower-case letters"],
    ["validate", {}, "reserved", "validate-workflow", "path of the API"],
    ["new", {}, "reserved", "new-workflow", "path of the API"],
    ["New", {}, "wrong_format", "new-workflow", "lower-case letters"],
    ["Validate!", {}, "wrong_format", "validate-workflow", "lower-case letters"],
    ["sales.new", {}, "wrong_format", "new-workflow", "must not begin with another project"],
    ["Finance.Sales Report", { project: "finance" }, "wrong_format", "finance.sales-report", "lower-case"],
    ["a", { project: "finance" }, "wrong_format", "finance.a", 'must begin with "finance."'],
    ["sales.a", { project: "finance" }, "wrong_format", "finance.a", 'must begin with "finance."'],
    ["finance.Größe", { project: "finance" }, "wrong_format", "finance.groesse", "lower-case letters"],
    ["finance.a", {}, "wrong_format", "a", "must not begin with another project"],
  ])("is refused with a similar one that fits: %j of %j", async (id, more, code, near, message) => {
    const { call } = await open();
    await expect(call(createWorkflow, { name: "A", id, ...more })).rejects.toMatchObject({
      code: "invalid_input",
      details: {
        errors: [
          { path: "id", code, did_you_mean: near, message: expect.stringContaining(message) as string },
        ],
      },
    });
    expect(await call(createWorkflow, { name: "A", id: near, ...more })).toMatchObject({ id: near });
  });

  it("is refused with the workflow that has it, if the caller can see that", async () => {
    const { call, of } = await open();
    await call(createWorkflow, { name: "Weekly revenue", id: "revenue" });
    await call(archiveWorkflow, { workflow_id: "revenue" });
    await call(createWorkflow, { name: "Secret plan", id: "plan" });
    await call(moveWorkflow, { workflow_id: "plan", project: "finance" });
    const create = (caller: typeof call, id: string) =>
      caller(createWorkflow, { name: "A", id }).then(
        () => undefined,
        (error: Error & { code: string }) => `${error.code}: ${error.message}`,
      );
    expect(await create(call, "revenue")).toContain(
      'workflow_id_taken: The id "revenue" is already used by the archived workflow "Weekly revenue", and ids can\'t be reused.',
    );
    expect(await create(call, "plan")).toContain(
      'used by the draft workflow "Secret plan" in the project "finance"',
    );
    expect(await create(of("default"), "plan")).toMatch(
      /^workflow_id_taken: The id "plan" is already used, and ids/,
    );
  });

  it("can be chosen over REST and MCP, and a repeated request gets the same workflow", async () => {
    const { instance, call, key } = await openRest();
    const headers = { "Idempotency-Key": "create-revenue" };
    const body = { name: "收入", id: "revenue" };
    const first = await call("POST", "/workflows", body, headers);
    expect([first.status, first.body.id]).toEqual([201, "revenue"]);
    expect((await call("POST", "/workflows", body, headers)).body.id).toBe("revenue");
    expect(expectProblem(await call("POST", "/workflows", body), "workflow_id_taken").errors).toMatchObject([
      { path: "id", code: "taken" },
    ]);
    const agent = await connect("v2 pinned to 2026-07-28", (await instance.mcp()).url, key);
    expect(outputOf(await agent.call("create_workflow", { name: "收入", id: "revenue-2" })).id).toBe(
      "revenue-2",
    );
    const refused = await agent.call("create_workflow", { name: "收入", id: "revenue" });
    expect(JSON.parse(refused.content[0]!.text)).toMatchObject({
      code: "workflow_id_taken",
      errors: [{ path: "id", message: 'is already used by the draft workflow "收入"' }],
    });
  });
});

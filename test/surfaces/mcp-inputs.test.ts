import { describe, expect, it } from "vitest";
import { apiClient } from "../support/http.ts";
import { eventually } from "../support/eventually.ts";
import { startTestExecutor } from "../support/executor.ts";
import { testInstance } from "../support/instance.ts";
import { connect, outputOf, problemOf } from "../support/mcp.ts";

const inputs = {
  type: "object",
  properties: {
    order: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
    tags: { type: "array", items: { type: "string" } },
    count: { type: "integer" },
    note: { type: "string" },
  },
};
const definition = {
  expose_as_tool: true,
  inputs,
  steps: [{ id: "all", type: "set", values: { inputs: "${{ inputs }}" } }],
  output: "${{ steps.all.inputs }}",
};
/** Inputs as some clients send them: objects and lists as JSON text. */
const WRITTEN = { order: '{"id": 12345678901234567890}', tags: '["a"]', count: "3", note: '{"id":1}' };
const READ = { order: { id: "12345678901234567890" }, tags: ["a"], count: 3, note: '{"id":1}' };

async function open() {
  const instance = await testInstance();
  await startTestExecutor(instance);
  const [rest, mcp] = [await instance.rest(), await instance.mcp()];
  const { value } = await instance.key({ scopes: ["read", "write", "publish", "run", "approve", "admin"] });
  const agent = await connect("v2 pinned to 2026-07-28", mcp.url, value);
  const id = outputOf(await agent.call("create_workflow", { name: "Echo", definition })).id as string;
  outputOf(await agent.call("publish_workflow", { workflow_id: id }));
  const { value: other } = await instance.key({ name: "decider", scopes: ["read", "approve"] });
  const decider = await connect("v2 pinned to 2026-07-28", mcp.url, other);
  return { agent, decider, id, call: apiClient(rest.url, value) };
}

describe("JSON text in the inputs of a workflow", () => {
  it("is read by run_workflow, by a tool of the workflow, and by a retry", async () => {
    const { agent, id } = await open();
    const run = outputOf(await agent.call("run_workflow", { workflow_id: id, inputs: WRITTEN }));
    expect(run).toMatchObject({ status: "succeeded", output: READ });
    expect(outputOf(await agent.call("run_echo", WRITTEN))).toMatchObject({ output: READ });
    const text = { workflow_id: id, inputs: JSON.stringify(WRITTEN) };
    expect(outputOf(await agent.call("run_workflow", text))).toMatchObject({ output: READ });
    const retry = { run_id: run["id"], inputs: { ...WRITTEN, count: "4" } };
    expect(outputOf(await agent.call("retry_run", retry))).toMatchObject({ output: { ...READ, count: 4 } });
  });

  it("is read by validate_workflow", async () => {
    const { agent } = await open();
    const checked = outputOf(await agent.call("validate_workflow", { definition, inputs: WRITTEN }));
    expect(checked).toMatchObject({ valid: true, errors: [] });
  });

  it("is read in the form of an approval", async () => {
    const { agent, decider } = await open();
    const steps = [{ id: "ask", type: "approval", message: "Go?", form: inputs }];
    const asking = { steps, output: "${{ steps.ask.form }}" };
    const { id } = outputOf(await agent.call("create_workflow", { name: "Ask", definition: asking }));
    const { approvals, id: runId } = outputOf(await agent.call("run_workflow", { workflow_id: id }));
    const decision = { approval_id: approvals[0].id, decision: "approve", form: WRITTEN };
    outputOf(await decider.call("decide_approval", decision));
    const output = await eventually(
      async () => outputOf(await agent.call("get_run", { run_id: runId }))["output"] ?? undefined,
      "the end of the run",
    );
    expect(output).toMatchObject(READ);
  });

  it("is refused where it can't be read as it is written, with its path", async () => {
    const { agent, id } = await open();
    const bad = { order: '{"id": 1, "id": 2}', tags: "{}", count: "many" };
    const codes = { "order.id": "duplicate_key", tags: "wrong_type", count: "wrong_type" };
    const refused = problemOf(await agent.call("run_echo", bad));
    expect(refused.errors!.map(({ path, code }) => [path, code])).toEqual(Object.entries(codes));
    const { errors } = problemOf(await agent.call("run_workflow", { workflow_id: id, inputs: bad }));
    expect(errors!.map(({ path }) => path)).toEqual(Object.keys(codes).map((path) => `inputs.${path}`));
  });

  it("is refused over REST", async () => {
    const { call, id } = await open();
    const { status, body } = await call("POST", `/workflows/${id}/runs`, { inputs: WRITTEN });
    expect([status, body.errors.map(({ path }: { path: string }) => path)]).toEqual([
      400,
      ["inputs.order", "inputs.tags", "inputs.count"],
    ]);
  });
});

import { expect, it } from "vitest";
import { Scope } from "../../schemas/actor.ts";
import { testInstance } from "../support/instance.ts";
import { connect } from "../support/mcp.ts";

it("fields of list_runs names values of the runs by their paths, beside fields of the answer", async () => {
  const instance = await testInstance();
  await instance.executor();
  const { value: key } = await instance.key({ scopes: Scope.options });
  const client = await connect("v2 pinned to 2026-07-28", (await instance.mcp()).url, key);
  await client.call("create_workflow", {
    name: "Hello",
    definition: {
      inputs: { type: "object", properties: { n: { type: "integer" } } },
      steps: [{ id: "a", type: "set", values: { double: "${{ inputs.n * 2 }}" } }],
      output: { total: "${{ steps.a.double }}", rows: [{ id: "${{ inputs.n }}" }] },
    },
  });
  for (const n of [1, 2]) await client.call("run_workflow", { workflow_id: "hello", inputs: { n } });
  const list = async (args: object) =>
    (await client.call("list_runs", { workflow_id: "hello", ...args })).structuredContent!;
  const id = expect.any(String) as string;
  expect(await list({ fields: ["version", "output.total", "inputs.n"] })).toMatchObject({
    items: [
      { id, version: 1, values: { "output.total": 4, "inputs.n": 2 } },
      { id, version: 1, values: { "output.total": 2, "inputs.n": 1 } },
    ],
  });
  const both = await list({ fields: "status, steps.a", values: ["output.total"] });
  expect(both["items"]).toEqual([
    { id, status: "succeeded", values: { "output.total": 4, "steps.a": { double: 4 } } },
    { id, status: "succeeded", values: { "output.total": 2, "steps.a": { double: 2 } } },
  ]);
  expect(both).not.toHaveProperty("warnings");
  for (const values of ["output.total", ["output.total"], '["output.total"]'])
    expect(await list({ fields: ["status"], values })).toMatchObject({
      items: [
        { id, status: "succeeded", values: { "output.total": 4 } },
        { id, status: "succeeded", values: { "output.total": 2 } },
      ],
    });
  for (const values of ["output.total,output.rows[0].id", '["output.total", "output.rows[0].id"]'])
    expect(await list({ fields: ["inputs.n"], values })).toMatchObject({
      items: [
        { id, values: { "output.total": 4, "output.rows[0].id": 2, "inputs.n": 2 } },
        { id, values: { "output.total": 2, "output.rows[0].id": 1, "inputs.n": 1 } },
      ],
    });
  for (const fields of ["output.rows[0].id", "[output.rows[0].id]", '["output.rows[0].id"]'])
    expect(await list({ fields, values: "output.rows[0]" })).toMatchObject({
      items: [
        { values: { "output.rows[0]": { id: 2 }, "output.rows[0].id": 2 } },
        { values: { "output.rows[0]": { id: 1 }, "output.rows[0].id": 1 } },
      ],
    });
  for (const values of ["output.total,inputs.n", "output.total"])
    expect(await list({ fields: ["inputs.n"], values })).toMatchObject({
      items: [
        { id, values: { "output.total": 4, "inputs.n": 2 } },
        { id, values: { "output.total": 2, "inputs.n": 1 } },
      ],
    });
  expect(await list({ values: "output.total, inputs.n" })).toMatchObject({
    items: [
      { status: "succeeded", values: { "output.total": 4, "inputs.n": 2 } },
      { status: "succeeded", values: { "output.total": 2, "inputs.n": 1 } },
    ],
  });
  expect(await client.call("list_runs", { fields: ["inputs.n"], values: { total: true } })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining("values[0]") as string }],
  });
  expect(await list({ fields: ["outputs.total", "id"] })).toMatchObject({
    items: [{ id }, { id }],
    warnings: [{ path: "fields", message: expect.stringContaining("outputs.total") as string }],
  });
});

import { describe, expect, it } from "vitest";
import { AWKWARD_INPUTS } from "../support/awkward-inputs.ts";
import { startTestExecutor } from "../support/executor.ts";
import { testInstance } from "../support/instance.ts";
import { connect, outputOf, problemOf } from "../support/mcp.ts";
import { refusedByVendors } from "../support/vendor-rules.ts";

async function open() {
  const instance = await testInstance();
  await startTestExecutor(instance);
  const { url } = await instance.mcp();
  const { value } = await instance.key({ scopes: ["read", "write", "publish", "run", "admin"] });
  const agent = await connect("v2 pinned to 2026-07-28", url, value);
  const expose = async (name: string, inputs: object, more: object = {}): Promise<string> => {
    const steps = [{ id: "all", type: "set", values: { inputs: "${{ inputs }}" } }];
    const definition = { expose_as_tool: true, inputs, steps, output: "${{ steps.all.inputs }}" };
    const created = outputOf(await agent.call("create_workflow", { name, definition, ...more }));
    expect(created["issues"]).toEqual([]);
    outputOf(await agent.call("publish_workflow", { workflow_id: created["id"] }));
    return created["id"] as string;
  };
  const toolOf = async (id: string) =>
    (await agent.listTools()).find(({ name }) => name === `run_${id.replaceAll("-", "_")}`)!;
  return { agent, expose, toolOf };
}

const named = AWKWARD_INPUTS[0]!;

describe("the tool of a workflow with inputs that vendors refuse", () => {
  it.each(AWKWARD_INPUTS)(
    "is listed so that none refuses it, and takes arguments by it: $name",
    async (awkward) => {
      const { agent, expose, toolOf } = await open();
      const id = await expose(awkward.name, awkward.inputs);
      const tool = await toolOf(id);
      expect(refusedByVendors(tool.inputSchema)).toEqual([]);
      const run = outputOf(await agent.call(tool.name, awkward.args));
      expect(run).toMatchObject({ status: "succeeded", output: awkward.given });
      // The names of the definition stay right.
      expect(outputOf(await agent.call(tool.name, awkward.given))).toMatchObject({ output: awkward.given });
    },
  );

  it("reports issues by the names that it lists", async () => {
    const { agent, expose, toolOf } = await open();
    const { name } = await toolOf(await expose("Names", named.inputs));
    const { errors, detail } = problemOf(await agent.call(name, { groesse: "x", kunde_nrr: "K1", top: 1 }));
    const byPath = Object.fromEntries(errors!.map((issue) => [issue.path, issue]));
    expect(byPath).toMatchObject({
      kunde_nrr: { did_you_mean: "kunde_nr", fix: "Write kunde_nr, or remove it." },
      groesse: { code: "wrong_type" },
      kunde_nr: { code: "missing" },
    });
    expect(byPath["kunde_nrr"]!.allowed).toContain("groesse");
    expect(JSON.stringify([errors, detail])).not.toMatch(/größe|Kunde Nr|inputs/);
  });

  it("has inputs that run_workflow takes by the listed names, too, unless both are given", async () => {
    const { agent, expose } = await open();
    const workflow_id = await expose("Names", named.inputs);
    const run = (inputs: object) => agent.call("run_workflow", { workflow_id, inputs });
    expect(outputOf(await run(named.args))).toMatchObject({ status: "succeeded", output: named.given });
    expect(outputOf(await run(named.given))).toMatchObject({ status: "succeeded", output: named.given });
    const { errors } = problemOf(await run({ ...named.args, größe: 1 }));
    expect(errors).toMatchObject([{ path: "inputs.groesse", code: "not_allowed" }]);
  });

  it("refuses an input that is given by both names", async () => {
    const { agent, expose, toolOf } = await open();
    const { name } = await toolOf(await expose("Names", named.inputs));
    const { errors } = problemOf(await agent.call(name, { ...named.args, größe: 1 }));
    expect(errors).toMatchObject([{ path: "groesse", code: "not_allowed" }]);
  });

  it("enforces choices that it describes in words", async () => {
    const { agent, expose, toolOf } = await open();
    const { name, inputSchema } = await toolOf(await expose("Choices", AWKWARD_INPUTS[2]!.inputs));
    expect(inputSchema["description"]).toContain('{"anyOf":[{"required":["email"]},{"required":["phone"]}]}');
    const { errors } = problemOf(await agent.call(name, {}));
    expect(errors!.map(({ code }) => code)).toContain("no_match");
  });

  it("reads JSON text in it, with the listed names inside", async () => {
    const { agent, expose, toolOf } = await open();
    const { name } = await toolOf(await expose("Nested names", AWKWARD_INPUTS[1]!.inputs));
    const args = { bestell_zeilen: '[{"strasse": "A"}]' };
    expect(outputOf(await agent.call(name, args))).toMatchObject({ output: AWKWARD_INPUTS[1]!.given });
  });

  it("has a description that OpenAI takes, however long that of the workflow is", async () => {
    const { expose, toolOf } = await open();
    const { description } = await toolOf(
      await expose("Long", { type: "object" }, { description: '"\\ü\n'.repeat(400) }),
    );
    expect(description!.length).toBeLessThanOrEqual(1_024);
    expect(JSON.parse(/"(?:.|\n)*"$/.exec(description!)![0])).toMatch(/^"\\ü\n/);
  });
});

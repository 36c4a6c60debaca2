/** Resources, prompts and completion over every client: what they return is what the operations return, under the same rules. */
import { describe, expect, it } from "vitest";
import type { Scope } from "../../schemas/actor.ts";
import type { KeyLimits } from "../../src/core/access.ts";
import { eventually } from "../support/eventually.ts";
import { apiClient } from "../support/http.ts";
import { testInstance } from "../support/instance.ts";
import { CLIENT_NAMES, connect } from "../support/mcp.ts";

const GUIDE = "millrace://guide/{topic}";
const WORKFLOW = "millrace://workflows/{workflow_id}";
const RUN = "millrace://runs/{run_id}";
const APPROVAL = "millrace://approvals/{approval_id}";
const VALUE = "millrace://runs/{run_id}/values/{ref}{?offset}";

const definition = {
  inputs: { type: "object", properties: { text: { type: "string", default: "short" } } },
  steps: [{ id: "said", type: "set", values: { text: "${{ inputs.text }}" } }],
};

async function open(config: object = {}) {
  const instance = await testInstance({ config });
  await instance.executor({ config });
  const { url } = await instance.rest({ config });
  const mcp = await instance.mcp({ config });
  const admin = apiClient(url, (await instance.key({ scopes: ["write", "publish", "run"] })).value);
  const { body: workflow } = await admin("POST", "/workflows", { name: "Hello there", definition });
  const runOf = async (inputs: object = {}): Promise<string> =>
    (await admin("POST", `/workflows/${workflow.id}/runs`, { inputs, wait: 20 })).body.id;
  return {
    instance,
    admin,
    reader: apiClient(url, (await instance.key({ scopes: ["read"] })).value),
    workflow: workflow.id as string,
    run: await runOf(),
    runOf,
    agent: async (
      scopes: Scope[] = ["read", "write", "publish", "run"],
      limits: KeyLimits | null = null,
      way: (typeof CLIENT_NAMES)[number] = "v2 pinned to 2026-07-28",
    ) => connect(way, mcp.url, (await instance.key({ name: "agent", scopes, limits })).value),
  };
}

const message = (error: unknown): string => (error as Error).message;

describe("resources", () => {
  it.each(CLIENT_NAMES)("are listed, read and completed: %s", async (way) => {
    const { agent, workflow, run } = await open();
    const client = await agent(undefined, null, way);
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(
      expect.arrayContaining([
        "millrace://guide/definition",
        "millrace://guide/sql",
        `millrace://workflows/${workflow}`,
        `millrace://runs/${run}`,
      ]),
    );
    expect((await client.listResourceTemplates()).map(({ uriTemplate }) => uriTemplate)).toEqual([
      GUIDE,
      WORKFLOW,
      RUN,
      VALUE,
      APPROVAL,
    ]);
    const [guide] = await client.readResource("millrace://guide/expressions");
    expect(guide).toMatchObject({ uri: "millrace://guide/expressions", mimeType: "text/markdown" });
    expect(guide!.text).toMatch(/^# Expressions/);
    const [read] = await client.readResource(`millrace://runs/${run}`);
    expect(JSON.parse(read!.text)).toMatchObject({ id: run, status: "succeeded", steps: [{ id: "said" }] });
    expect(await client.readResource(`millrace://runs/${run}/values/steps.said.output`)).toEqual([
      {
        uri: `millrace://runs/${run}/values/steps.said.output`,
        mimeType: "application/json",
        text: '{"text":"short"}',
      },
    ]);
    expect(await client.complete({ uri: GUIDE }, "topic", "ex")).toEqual(["expressions"]);
    expect(await client.complete({ uri: WORKFLOW }, "workflow_id", "there")).toEqual([workflow]);
    expect(await client.complete({ uri: RUN }, "run_id", run.slice(0, 8))).toEqual([run]);
    expect(await client.complete({ uri: VALUE }, "ref", "steps", { run_id: run })).toEqual([
      "steps.said.output",
    ]);
    await expect(client.complete({ uri: "millrace://x/{y}" }, "y", "")).rejects.toThrow(
      "There is no resource template",
    );
    await client.close();
  });

  it("are what the operations of the same things return", async () => {
    const { agent, workflow, run } = await open();
    const client = await agent();
    for (const [uri, tool, args] of [
      [`millrace://workflows/${workflow}`, "get_workflow", { workflow_id: workflow }],
      [`millrace://runs/${run}`, "get_run", { run_id: run, detail: "steps" }],
    ] as const) {
      const [read] = await client.readResource(uri);
      expect(JSON.parse(read!.text)).toEqual((await client.call(tool, args)).structuredContent);
    }
    const { structuredContent } = await client.call("describe_environment", { topic: "http" });
    expect((await client.readResource("millrace://guide/http"))[0]!.text).toBe(structuredContent.guide);
  });

  it("have approvals, as REST returns them, for those who see their runs", async () => {
    const { reader, admin, agent } = await open();
    const asks = { steps: [{ id: "ask", type: "approval", message: "Send it?" }] };
    const { body: workflow } = await admin("POST", "/workflows", { name: "Asks", definition: asks });
    const { body: run } = await admin("POST", `/workflows/${workflow.id}/runs`, { wait: 0 });
    const [approval] = await eventually(async () => {
      const { body: items } = await reader("GET", `/approvals?run_id=${run.id}`);
      return items.length > 0 ? items : undefined;
    }, "the approval");
    const client = await agent();
    const uri = `millrace://approvals/${approval.id}`;
    const [read] = await client.readResource(uri);
    const { body } = await reader("GET", `/approvals/${approval.id}`);
    expect(JSON.parse(read!.text)).toEqual({ ...body, can_decide: JSON.parse(read!.text).can_decide });
    expect(await client.readResource(approval.id)).toEqual([read]);
    expect(await client.readResource(`approval/${approval.id}`)).toEqual([read]);
    expect(await client.complete({ uri: APPROVAL }, "approval_id", "apr_")).toEqual([approval.id]);
    const other = await agent(["read"], { workflows: ["other"] });
    const limited = await agent(["read", "run"], { tools: ["get_run"] });
    const refusal = (from: typeof client, of: string) => from.readResource(of).then(String, message);
    expect(await refusal(other, uri)).toBe(
      (await refusal(client, "millrace://approvals/apr_none")).replace("apr_none", approval.id),
    );
    expect(await refusal(limited, uri)).toContain("This key is limited to");
    expect((await limited.listResourceTemplates()).map(({ uriTemplate }) => uriTemplate)).toEqual([RUN]);
  });

  it("of more than 100,000 characters are read in pages that name the next one, and nothing is lost", async () => {
    const { agent, runOf } = await open();
    const text = "0123456789".repeat(15_000);
    const run = await runOf({ text });
    const client = await agent();
    const uri = `millrace://runs/${run}/values/inputs`;
    const [page, notice] = await client.readResource(uri);
    expect([page!.mimeType, page!.text.length]).toEqual(["text/plain", 100_000]);
    expect(notice!.uri).toBe(`${uri}?offset=100000`);
    expect(notice!.text).toContain(`The next page is ${uri}?offset=100000.`);
    const rest = await client.readResource(notice!.uri);
    expect(rest).toHaveLength(1);
    expect(JSON.parse(page!.text + rest[0]!.text)).toEqual({ text });
  });

  it("that do not exist, and URIs of no kind, are errors that say what there is", async () => {
    const { agent, run } = await open();
    const client = await agent();
    const refusal = (uri: string): Promise<string> => client.readResource(uri).then(String, message);
    expect(await refusal("millrace://workflows/none")).toContain('There is no workflow "none"');
    expect(await refusal("millrace://runs/run_none")).toContain("run_none");
    expect(await refusal(`millrace://runs/${run}/values/steps.none.output`)).toContain("has no value");
    expect(await refusal("millrace://guide/cooking")).toContain("topic");
    expect(await refusal(`millrace://runs/${run}/values/inputs?offset=x`)).toContain("offset");
    for (const uri of [
      "millrace://nothing",
      "millrace://workflows/",
      "millrace://workflows/a/b",
      "millrace://workflows/%E0%A4%A",
      `millrace://runs/${run}?offset=1`,
      "file:///etc/passwd",
    ])
      expect(await refusal(uri)).toContain(`URIs are ${GUIDE}`);
  });

  it("are read by the name that resources/list shows, too, and by the id of a run", async () => {
    const { agent, run } = await open();
    const client = await agent();
    const { resources } = await client.listResources();
    const listed = resources.filter(({ name }) =>
      /^(?:guide\/(?:definition|sql)|run\/|workflow\/)/.test(name),
    );
    expect(listed).toHaveLength(4);
    for (const { name, uri } of listed)
      expect(await client.readResource(name)).toEqual(await client.readResource(uri));
    expect((await client.readResource(run))[0]!.uri).toBe(`millrace://runs/${run}`);
    expect((await client.readResource("guide/for_each"))[0]!.text).toContain("Of a step: - `for_each`");
    for (const name of ["hello-there", "guide/", "run-value/x", "task/x", "guide/a b", "workflow/a/b"])
      await expect(client.readResource(name)).rejects.toThrow(`URIs are ${GUIDE}`);
    await expect(client.readResource("workflow/none")).rejects.toThrow('There is no workflow "none"');
  });

  it("are listed in pages, from the workflow that was changed last", async () => {
    const { admin, agent } = await open();
    for (let number = 1; number <= 60; number += 1)
      await admin("POST", "/workflows", { name: `Many ${number}` });
    // The client of v2 follows the cursors by itself.
    const client = await agent(undefined, null, "v1 over Streamable HTTP");
    const first = await client.listResources();
    expect(first.nextCursor).toBeDefined();
    const second = await client.listResources(first.nextCursor);
    expect(second.nextCursor).toBeUndefined();
    const workflows = [...first.resources, ...second.resources].filter(({ uri }) =>
      uri.includes("//workflows/"),
    );
    expect(workflows[0]!.title).toBe("Workflow: Many 60");
    expect(new Set(workflows.map(({ uri }) => uri)).size).toBe(61);
    expect(second.resources).toHaveLength(workflows.length - 50);
    await expect(client.listResources("bogus")).rejects.toThrow(/cursor/);
  });
});

describe("prompts", () => {
  it.each(CLIENT_NAMES)("are listed and returned with what the agent reads first: %s", async (way) => {
    const { agent, run } = await open();
    const client = await agent(undefined, null, way);
    expect((await client.listPrompts()).map(({ name }) => name)).toEqual(["write_workflow", "debug_run"]);
    const writing = await client.getPrompt("write_workflow", { task: "Count the orders of each day" });
    expect(writing[0]!.content).toMatchObject({
      type: "text",
      text: expect.stringContaining("for this task: Count the orders of each day") as string,
    });
    expect(writing[1]!.content).toMatchObject({
      type: "resource",
      resource: { uri: "millrace://guide/definition" },
    });
    const debugging = await client.getPrompt("debug_run", { run_id: run });
    expect(debugging[1]!.content).toMatchObject({ resource: { uri: `millrace://runs/${run}` } });
    expect(await client.complete({ name: "debug_run" }, "run_id", "run_")).toEqual([run]);
    await client.close();
  });

  it("name the argument that is missing, and the prompt that was probably meant", async () => {
    const { agent } = await open();
    const client = await agent();
    await expect(client.getPrompt("debug_run", {})).rejects.toThrow('needs the argument "run_id"');
    await expect(client.getPrompt("write_workflow", { task: " " })).rejects.toThrow(
      'needs the argument "task"',
    );
    await expect(client.getPrompt("debug_runs", {})).rejects.toThrow(
      "Did you mean debug_run? The prompts are: write_workflow, debug_run.",
    );
    const written = await client.getPrompt("write_workflow", { task: "Report." });
    for (const name of ["Write a workflow", "write-workflow", "WRITE_WORKFLOW"]) {
      expect(await client.getPrompt(name, { task: "Report." })).toEqual(written);
      await expect(client.complete({ name }, "task", "")).resolves.toEqual([]);
    }
    await expect(client.complete({ name: "nothing" }, "task", "")).rejects.toThrow(
      "The prompts are: write_workflow, debug_run.",
    );
    await expect(client.getPrompt("debug_run", { run_id: "run_none" })).rejects.toThrow("run_none");
    await expect(client.complete({ name: "constructor" }, "run_id", "")).rejects.toThrow(
      "There is no prompt",
    );
  });
});

describe("the limits of a key", () => {
  it("to tools hide the resources and prompts of other operations, and refuse them", async () => {
    const { agent, workflow, run } = await open();
    const client = await agent(["read", "write", "run"], { tools: ["get_workflow", "list_workflows"] });
    expect((await client.listResourceTemplates()).map(({ uriTemplate }) => uriTemplate)).toEqual([WORKFLOW]);
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual([
      `millrace://workflows/${workflow}`,
    ]);
    expect(await client.listPrompts()).toEqual([]);
    await client.readResource(`millrace://workflows/${workflow}`);
    for (const uri of [`millrace://runs/${run}`, "millrace://guide/sql", "millrace://runs/run_none"])
      await expect(client.readResource(uri)).rejects.toThrow("This key is limited to");
    await expect(client.getPrompt("debug_run", { run_id: run })).rejects.toThrow("This key is limited to");
    expect(await client.complete({ uri: RUN }, "run_id", "")).toEqual([]);
    expect(await client.complete({ uri: GUIDE }, "topic", "")).toEqual([]);
    expect(await client.complete({ uri: VALUE }, "ref", "", { run_id: run })).toEqual([]);
  });

  it("to workflows hide the others and their runs, as if they did not exist", async () => {
    const { admin, agent, workflow, run } = await open();
    const { body: other } = await admin("POST", "/workflows", { name: "Other", definition });
    const { body: hidden } = await admin("POST", `/workflows/${other.id}/runs`, { wait: 20 });
    const client = await agent(["read", "run"], { workflows: [workflow] });
    const listed = (await client.listResources()).resources.map(({ uri }) => uri);
    expect(listed).toEqual(
      expect.arrayContaining([`millrace://workflows/${workflow}`, `millrace://runs/${run}`]),
    );
    expect(JSON.stringify(listed)).not.toContain(other.id);
    expect(JSON.stringify(listed)).not.toContain(hidden.id);
    expect(await client.complete({ uri: WORKFLOW }, "workflow_id", "")).toEqual([workflow]);
    expect(await client.complete({ uri: RUN }, "run_id", "")).toEqual([run]);
    expect(await client.complete({ uri: VALUE }, "ref", "", { run_id: hidden.id })).toEqual([]);
    const missing = `${hidden.id.slice(0, -4)}none`;
    const refusal = (uri: string, id: string): Promise<string> =>
      client.readResource(uri).then(String, (error: unknown) => message(error).replaceAll(id, "(id)"));
    for (const part of ["", "/values/inputs", "/values/steps.said.output"])
      expect(await refusal(`millrace://runs/${hidden.id}${part}`, hidden.id)).toBe(
        await refusal(`millrace://runs/${missing}${part}`, missing),
      );
    expect(await refusal(`millrace://workflows/${other.id}`, other.id)).toBe(
      await refusal("millrace://workflows/zzz", "zzz"),
    );
  });

  it("and its scopes decide which prompts there are", async () => {
    const { agent, run } = await open();
    const reader = await agent(["read"]);
    expect((await reader.listPrompts()).map(({ name }) => name)).toEqual(["debug_run"]);
    await reader.getPrompt("debug_run", { run_id: run });
    await expect(reader.getPrompt("write_workflow", { task: "x" })).rejects.toThrow('the scope "write"');
  });
});

it("audit.reads records reads of resources and prompts as those of the operations", async () => {
  const { instance, agent, run, workflow } = await open({ audit: { reads: true } });
  const client = await agent();
  const entries = async () => instance.read.audit.page({ filter: {}, before: null, limit: 100 });
  const before = (await entries()).length;
  await client.readResource(`millrace://runs/${run}`);
  await client.readResource(`millrace://runs/${run}/values/inputs`);
  await client.getPrompt("debug_run", { run_id: run });
  await client.complete({ uri: VALUE }, "ref", "", { run_id: run });
  await client.readResource(`millrace://workflows/${workflow}`);
  await client.readResource("millrace://guide/sql");
  const added = (await entries()).toReversed().slice(before);
  expect(added).toMatchObject([
    { operation: "get_run", target: run, surface: "mcp", keyName: "agent", details: { detail: "steps" } },
    { operation: "get_run_value", target: run, details: { ref: "inputs" } },
    { operation: "get_run", target: run },
    { operation: "get_run", target: run },
  ]);
  expect(added).toHaveLength(4);
});

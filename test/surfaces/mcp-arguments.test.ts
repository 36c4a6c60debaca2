import { describe, expect, it } from "vitest";
import type { z } from "zod";
import { argumentReader } from "../../src/surfaces/mcp/arguments.ts";
import { catalogue } from "../../tools/index.ts";
import { CLIENT_NAMES, connect, outputOf, problemOf } from "../support/mcp.ts";
import { ACCEPT_HEADERS, modernRequest, openMcp, openSession, postMessage } from "../support/raw-mcp.ts";

const read = (name: string, args: Record<string, unknown>) =>
  argumentReader(catalogue.find((tool) => tool.name === name)!.input as z.ZodObject)(args);
const inputOf = (name: string, args: Record<string, unknown>) => {
  const { input, issues } = read(name, args);
  expect(issues).toEqual([]);
  return input;
};

describe("the arguments of a call", () => {
  it.each([
    ["null for an optional field", "run_workflow", { workflow_id: "a", version: null }, { workflow_id: "a" }],
    [
      "null for a definition",
      "update_workflow",
      { workflow_id: "a", definition: null },
      { workflow_id: "a" },
    ],
    ["text for an integer", "run_workflow", { workflow_id: "a", wait: "5" }, { workflow_id: "a", wait: 5 }],
    ["text for a boolean", "retry_run", { run_id: "a", confirm: "true" }, { run_id: "a", confirm: true }],
    [
      "JSON text for an object",
      "run_workflow",
      { workflow_id: "a", inputs: '{"n": null}' },
      { workflow_id: "a", inputs: { n: null } },
    ],
    [
      "JSON text for a list of objects",
      "update_workflow",
      { workflow_id: "a", patch: '[{"op": "remove_step", "id": "x"}]' },
      { workflow_id: "a", patch: [{ op: "remove_step", id: "x" }] },
    ],
    [
      "one object for a list",
      "update_workflow",
      { workflow_id: "a", patch: { op: "remove_step", id: "x", set: null } },
      { workflow_id: "a", patch: [{ op: "remove_step", id: "x" }] },
    ],
    ["one text for a list", "list_workflows", { include: "last_run" }, { include: ["last_run"] }],
    ["a list for one text", "get_run", { run_id: "a", detail: ["steps"] }, { run_id: "a", detail: "steps" }],
  ])("may have %s", (_what, name, args, expected) => {
    expect(inputOf(name, args)).toEqual(expected);
  });

  it.each([
    ["a null that the author wrote", "create_workflow", { name: "a", definition: { output: null } }],
    [
      "the text of a definition, which has a parser of its own",
      "create_workflow",
      { name: "a", definition: "{}" },
    ],
    ["null for a required field", "create_workflow", { name: null }],
    ["an unknown field", "create_workflow", { name: "a", nmae: null }],
    ["text that is no number", "run_workflow", { workflow_id: "a", wait: "5 s" }],
    ["a text of several values", "create_workflow", { name: "a", tags: "x, y" }],
    ["JSON text of another type", "run_workflow", { workflow_id: "a", inputs: "[1]" }],
    ["what looks like JSON", "run_workflow", { workflow_id: "a", inputs: "{a: 1}" }],
  ])("leave %s as it is", (_what, name, args) => {
    expect(inputOf(name, args)).toEqual(args);
  });

  it.each([
    [
      "a value of another field",
      "list_workflows",
      { include: ["archived"] },
      {
        code: "invalid_input",
        errors: [
          {
            path: "include[0]",
            code: "not_allowed",
            fix: 'Write {"status": "archived"} instead: it is a value of status.',
          },
        ],
      },
    ],
    [
      "the text null for an id",
      "get_run",
      { run_id: "null" },
      { code: "run_not_found", detail: expect.stringContaining('list_runs with {"limit": 5}') },
    ],
  ])("are refused with a call that works for %s", async (_what, name, args, expected) => {
    const { instance, url } = await openMcp();
    const { value } = await instance.key();
    const client = await connect(CLIENT_NAMES[0]!, url, value);
    expect(problemOf(await client.call(name, args))).toMatchObject(expected);
  });

  it("keep the digits of JSON text in them, and report what it would lose", () => {
    const { input, issues } = read("run_workflow", {
      workflow_id: "a",
      inputs: '{"id": 12345678901234567890, "b": 1, "b": 2, "n": [1e4000]}',
    });
    expect(input["inputs"]).toMatchObject({ id: "12345678901234567890" });
    expect(issues).toMatchObject([
      { path: "inputs.b", code: "duplicate_key" },
      { path: "inputs.n[0]", code: "not_finite" },
    ]);
  });

  it.each(CLIENT_NAMES)("are read so for %s", async (way) => {
    const { instance, url } = await openMcp();
    const { value } = await instance.key();
    const client = await connect(way, url, value);
    const created = await client.call("create_workflow", { name: "Hello", tags: '["a"]', reason: null });
    expect(outputOf(created)).toMatchObject({ id: "hello", tags: ["a"] });
    const refused = problemOf(await client.call("list_workflows", { limit: "many", search: null }));
    expect(refused.errors).toMatchObject([{ path: "limit", code: "wrong_type" }]);
  });
});

describe("a request to /mcp", () => {
  it.each([["*/*"], ["text/html, */*;q=0.8"], [undefined]])("may accept %s", async (accept) => {
    const { url, key } = await openMcp();
    const { Accept: _, ...headers } = key;
    const sent = { ...headers, ...(accept !== undefined && { Accept: accept }) };
    const session = await openSession(url, sent);
    expect(session["Mcp-Session-Id"]).toMatch(/\S/);
    const { body, headers: modern } = modernRequest(sent, "tools/list");
    expect((await postMessage(`${url}/mcp`, modern, body)).status).toBe(200);
  });

  it("gets an error for a cursor of tools/list that does not exist", async () => {
    const { url, key } = await openMcp();
    const { body, headers } = modernRequest({ ...key, ...ACCEPT_HEADERS }, "tools/list", { cursor: "bogus" });
    const { text } = await postMessage(`${url}/mcp`, headers, body);
    expect(JSON.parse(/\{.*\}/s.exec(text)![0])).toMatchObject({
      error: { code: -32602, message: expect.stringContaining("Leave cursor out") },
    });
  });
});

import { describe, expect, it } from "vitest";
import type { z } from "zod";
import type { Issue } from "../../schemas/problem.ts";
import { toAppError } from "../../src/core/errors.ts";
import { fieldOfAlias } from "../../src/core/field-aliases.ts";
import { meantField } from "../../src/core/input-aliases.ts";
import { parseInput } from "../../src/core/issues.ts";
import { catalogue } from "../../tools/index.ts";

type Input = Record<string, unknown>;

const schemaOf = (name: string): z.ZodObject =>
  catalogue.find((tool) => tool.name === name)!.input as z.ZodObject;

function issuesOf(name: string, input: Input): Issue[] {
  try {
    parseInput(schemaOf(name), input);
    return [];
  } catch (error) {
    return toAppError(error).details.errors!;
  }
}

const definition = { steps: [] };
const rfc6902 = (op: string, path: string) => ({ workflow_id: "a", patch: [{ op, path, value: 1 }] });

describe("meantField", () => {
  it.each<[string, Input, wrong: string, right: string]>([
    ["query_database", { database: "shop", query: "SELECT 1" }, "query", "sql"],
    ["query_database", { db: "shop", sql: "SELECT 1" }, "db", "database"],
    ["query_database", { database: "shop", sql: "SELECT :a", arguments: { a: 1 } }, "arguments", "params"],
    ["query_database", { database: "shop", sql: "SELECT 1", limit: 5 }, "limit", "max_rows"],
    ["group_runs", { by: ["version"] }, "by", "group_by"],
    ["group_runs", { limit: 5 }, "limit", "max_groups"],
    ["group_runs", { condition: "output == 1" }, "condition", "where"],
    ["describe_database", { name: "shop" }, "name", "database"],
    ["run_workflow", { id: "a" }, "id", "workflow_id"],
    ["run_workflow", { workflowId: "a" }, "workflowId", "workflow_id"],
    ["run_workflow", { name: "a" }, "name", "workflow_id"],
    ["run_workflow", { workflow_id: "a", input: {} }, "input", "inputs"],
    ["run_workflow", { workflow_id: "a", params: {} }, "params", "inputs"],
    ["run_workflow", { workflow_id: "a", arguments: {} }, "arguments", "inputs"],
    ["run_workflow", { workflow_id: "a", mocks: {} }, "mocks", "given"],
    ["run_workflow", { workflow_id: "a", timeout: 5 }, "timeout", "wait"],
    ["get_workflow", { id: "a" }, "id", "workflow_id"],
    ["plan_workflow", { id: "a" }, "id", "workflow_id"],
    ["publish_workflow", { id: "a" }, "id", "workflow_id"],
    ["publish_workflow", { workflow_id: "a", message: "why" }, "message", "reason"],
    ["archive_workflow", { workflow: "a" }, "workflow", "workflow_id"],
    ["update_workflow", { id: "a", description: "b" }, "id", "workflow_id"],
    [
      "update_workflow",
      { workflow_id: "a", operations: [{ op: "remove_step", id: "x" }] },
      "operations",
      "patch",
    ],
    ["create_workflow", { title: "A" }, "title", "name"],
    ["create_workflow", { name: "A", workflow: definition }, "workflow", "definition"],
    ["create_workflow", { name: "A", labels: ["a"] }, "labels", "tags"],
    ["validate_workflow", { workflow: definition }, "workflow", "definition"],
    ["validate_workflow", { definition, input: {} }, "input", "inputs"],
    ["run_step", { config: {} }, "config", "step"],
    ["get_run", { id: "run_1" }, "id", "run_id"],
    ["get_run", { run_id: "run_1", step: "x" }, "step", "step_id"],
    ["retry_run", { id: "run_1" }, "id", "run_id"],
    ["cancel_run", { id: "run_1" }, "id", "run_id"],
    ["list_runs", { workflow: "a" }, "workflow", "workflow_id"],
    ["list_workflows", { query: "a" }, "query", "search"],
    ["list_workflows", { page_size: 5 }, "page_size", "limit"],
    ["decide_approval", { id: "apr_1" }, "id", "approval_id"],
    ["decide_approval", { approval_id: "apr_1", reason: "ok" }, "reason", "comment"],
  ])("makes the error of %s %j name the field to send", (name, input, wrong, right) => {
    const issue = issuesOf(name, input).find(({ path }) => path === wrong);
    expect(issue).toMatchObject({ code: "unknown_key", did_you_mean: right });
    expect(issue!.fix).toBe(`Write ${right}, or remove it.`);
    const { [wrong]: value, ...others } = input;
    const unknown = issuesOf(name, { ...others, [right]: value }).filter(({ code }) =>
      ["unknown_key", "missing", "wrong_type"].includes(code),
    );
    expect(unknown).toEqual([]);
  });

  it.each<[string, Input, wrong: string]>([
    ["run_workflow", { workflow_id: "a", name: "b" }, "name"],
    ["run_workflow", { workflow_id: "a", wait: 3, timeout: 10 }, "timeout"],
    ["query_database", { database: "shop", sql: "SELECT 1", query: "SELECT 2" }, "query"],
  ])("makes no error of %s %j name a field that is there", (name, input, wrong) => {
    const issue = issuesOf(name, input).find(({ path }) => path === wrong);
    expect(issue!.did_you_mean).toBeUndefined();
    expect(issue!.fix).toMatch(/^Remove it/);
  });

  it("puts fields of a definition into it", () => {
    const [issue] = issuesOf("create_workflow", { name: "A", steps: [] });
    expect(issue).toMatchObject({
      path: "steps",
      did_you_mean: "definition",
      fix: 'Put it into definition: {"definition": {"steps": …}}.',
    });
  });

  it.each([
    ["replace", "/steps/0/query", '{"op": "update_step", "id": "(the id of steps[0])", "set": {"query": …}}'],
    ["remove", "/steps/2/retry", '{"op": "update_step", "id": "(the id of steps[2])", "unset": ["retry"]}'],
    ["remove", "/steps/2", '{"op": "remove_step", "id": "(the id of steps[2])"}'],
    ["add", "/steps/-", '{"op": "add_step", "step": {…}}'],
    ["add", "/steps/1", '{"op": "add_step", "step": {…}, "before": "(the id of steps[1])"}'],
    ["add", "/output", '{"op": "update_top", "set": {"output": …}}'],
    ["remove", "/timeout", '{"op": "update_top", "unset": ["timeout"]}'],
    ["replace", "/steps/1", '{"op": "update_step", "id": "(the id of steps[1])", "set": {…}}'],
    ["remove", "/inputs/properties/a", '{"op": "update_top", "set": {"inputs": …}}'],
    [
      "remove",
      "/steps/0/headers/x",
      '{"op": "update_step", "id": "(the id of steps[0])", "set": {"headers": …}}',
    ],
  ])("translates JSON Patch, %s %s, into an operation of patch", (op, path, written) => {
    const issues = issuesOf("update_workflow", rfc6902(op, path));
    const fixes = issues.filter(({ code }) => code === "unknown_key").map(({ path: at, fix }) => [at, fix]);
    const fix = `This is JSON Patch (RFC 6902), which patch does not take. Write ${written}.`;
    expect(fixes).toEqual([
      ["patch[0].path", fix],
      ["patch[0].value", fix],
    ]);
  });

  it("translates a move of a step by its source", () => {
    const patch = [{ op: "move", from: "/steps/3", path: "/steps/0" }];
    const [issue] = issuesOf("update_workflow", { workflow_id: "a", patch });
    expect(issue!.fix).toContain(
      'Write {"op": "move_step", "id": "(the id of steps[3])", "before": "(the id of another step)"}.',
    );
    const [last] = issuesOf("update_workflow", {
      workflow_id: "a",
      patch: [{ ...patch[0], path: "/steps/-" }],
    });
    expect(last!.fix).toContain('"after": "(the id of the last step)"}');
  });

  it.each([
    { op: "test", path: "/steps/0", value: 1 },
    { op: "copy", from: "/steps/0", path: "/steps/1" },
    { op: "move", from: "/steps/0/a", path: "/steps/0/b" },
    { op: "add_step", path: "/steps/0", step: {} },
    { op: "replace", path: "/steps", value: [] },
    { op: "replace", path: "/steps/-", value: {} },
    { op: "remove", path: "/steps/-" },
    { op: "add", path: "/steps/-/query", value: "" },
  ])("gives no advice about JSON Patch where no operation does the same (ofJsonPatch): %j", (operation) => {
    const issues = issuesOf("update_workflow", { workflow_id: "a", patch: [operation] });
    expect(issues.length).toBeGreaterThan(0);
    expect(JSON.stringify(issues)).not.toContain("JSON Patch");
  });

  it("shows no more than a part of a long path (ofJsonPatch)", () => {
    const long = "x".repeat(100_000);
    for (const path of [`/${long}`, `/steps/0/${long}`, `/steps/${long}`])
      expect(JSON.stringify(issuesOf("update_workflow", rfc6902("replace", path))).length).toBeLessThan(
        3_000,
      );
  });

  it("is for unknown fields alone, and leaves misspelt ones to their near match", () => {
    expect(meantField("zzz", ["workflow_id"], {})).toBeUndefined();
    expect(issuesOf("create_workflow", { name: "A", nmae: "B" })).toMatchObject([
      { path: "nmae", did_you_mean: "name" },
    ]);
    expect(fieldOfAlias("run-id", ["run_id"], {})).toBe("run_id");
  });
});

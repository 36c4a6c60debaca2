import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { z } from "zod";
import { DEFAULT_SCOPES, Scope } from "../../schemas/actor.ts";
import { accessEverywhere } from "../../src/core/access.ts";
import { ERRORS } from "../../src/core/errors.ts";
import { toolAnnotations, parseRoute, isServedOn } from "../../src/core/tool.ts";
import { listTools, toolLists } from "../../src/surfaces/mcp/tool-list.ts";
import { catalogue } from "../../tools/index.ts";
import { MAX_LIST_TOKENS } from "../support/tool-list-limit.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const listed = listTools(catalogue);
const tools = catalogue.map((tool) => [tool.name, tool] as const);
/** Operations that change nothing, but return data that the scope for reading does not allow. */
const READS_DATA: ReadonlySet<string> = new Set(["query_database", "validate_workflow"]);
const KINDS = ["read", "create", "update", "delete", "act"];

/** Every schema inside a JSON Schema. */
function* nodes(schema: unknown, path = ""): Generator<[path: string, node: Record<string, unknown>]> {
  if (typeof schema !== "object" || schema === null) return;
  if (!Array.isArray(schema)) yield [path, schema as Record<string, unknown>];
  for (const [key, value] of Object.entries(schema)) {
    if (!["example", "examples", "default", "enum", "const"].includes(key))
      yield* nodes(value, `${path}/${key}`);
  }
}

describe("the catalogue", () => {
  it("is sorted by name, with unique names and routes", () => {
    const names = catalogue.map((tool) => tool.name);
    expect(names).toEqual(names.toSorted());
    expect(new Set(names).size).toBe(names.length);
    const routes = catalogue.map((tool) => tool.route.replaceAll(/:\w+/g, ":"));
    expect(new Set(routes).size).toBe(routes.length);
  });

  it("contains every operation that has a file, under the file's name", () => {
    const files = globSync("tools/*/*.ts", { cwd: ROOT }).filter((file) =>
      readFileSync(`${ROOT}${file}`, "utf8").includes("defineTool("),
    );
    const fromFiles = files.map((file) => file.split("/").at(-1)!.replace(".ts", "").replaceAll("-", "_"));
    expect(fromFiles.toSorted()).toEqual(catalogue.map((tool) => tool.name));
    for (const file of files) {
      const source = readFileSync(`${ROOT}${file}`, "utf8");
      const name = file.split("/").at(-1)!.replace(".ts", "").replaceAll("-", "_");
      expect(source).toContain(`name: "${name}"`);
    }
  });

  it("is small enough for every client: at most 24 tools", () => {
    const forAll = catalogue.filter((tool) => isServedOn(tool, "mcp") && tool.mcpList === undefined);
    expect(forAll.length).toBeLessThanOrEqual(24);
  });

  it.each([
    ["a key with the default scopes", accessEverywhere(DEFAULT_SCOPES), MAX_LIST_TOKENS],
    [
      "a key with all scopes but admin in several projects",
      {
        everywhere: null,
        projects: new Map(
          ["default", "finance"].map((id) => [
            id,
            new Set(Scope.options.filter((scope) => scope !== "admin")),
          ]),
        ),
        keyLimits: null,
      },
      7_690,
    ],
    [
      "an admin of several projects",
      { everywhere: new Set(Scope.options), projects: new Map(), keyLimits: null, severalProjects: true },
      10_575,
    ],
  ])("has a tools/list for %s within its number of tokens", (_caller, access, tokens) => {
    const list = toolLists(listed, (name) => catalogue.find((tool) => tool.name === name)!)(access);
    expect(JSON.stringify({ tools: list }).length / 4).toBeLessThan(tokens);
  });

  it("is listed over MCP in the same order", () => {
    expect(listed.map((tool) => tool.name)).toEqual(
      catalogue.filter((tool) => isServedOn(tool, "mcp")).map((tool) => tool.name),
    );
  });
});

describe.each(tools)("%s", (name, tool) => {
  const input = tool.input as z.ZodObject;
  const inList = listed.find((one) => one.name === name);

  it("has a name that every client accepts, a title, and a description under 2 KB", () => {
    expect(name).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(name.length).toBeLessThanOrEqual(64);
    expect(tool.title).toMatch(/^[A-Z].*[^.]$/);
    expect(tool.description).toMatch(/\.$/);
    expect(Buffer.byteLength(tool.description)).toBeLessThan(2_048);
  });

  it("has hints that match its effect", () => {
    expect(KINDS).toContain(tool.effect);
    const hints = toolAnnotations(tool);
    for (const hint of ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const)
      expect(typeof hints[hint]).toBe("boolean");
    expect(hints.readOnlyHint).toBe(tool.effect === "read");
    expect(hints.readOnlyHint && hints.destructiveHint).toBe(false);
    // Users act on their own resources, and some reads are for admins only. Validation and queries reach into databases,
    // which the scope for reading does not allow.
    const reads = tool.effect === "read" && !READS_DATA.has(name);
    expect(tool.requiresUser || tool.scope === "admin" || (tool.scope === "read") === reads).toBe(true);
    expect(inList?.annotations ?? hints).toEqual(hints);
  });

  it("is not served over MCP if it is for signed-in users, and listed to admins only if it is for these", () => {
    expect(tool.requiresUser && isServedOn(tool, "mcp")).toBeFalsy();
    expect(tool.scope === "admin" && isServedOn(tool, "mcp") && tool.mcpList !== "admin").toBe(false);
    // A key that could create keys or users would leave another way in after it is revoked. Only a person reviews a change.
    expect(tool.requiresUser ?? false).toBe(
      /^decide_review$|_(api_keys?|key_changes|users?|invitation|user_password|sessions?|project_members?|absence)$/.test(
        name,
      ),
    );
  });

  it("does not store values that are shown once", () => {
    const shown = Object.keys((tool.output as z.ZodObject).def.shape);
    expect(tool.noStore ?? false).toBe(
      (shown.includes("value") && tool.requiresUser === true) ||
        shown.includes("link") ||
        shown.includes("secret"),
    );
  });

  it("has a method that fits its effect", () => {
    const { method } = parseRoute(tool);
    const methods = {
      // A definition, and the text of a query, are too large for a query string.
      read: READS_DATA.has(name) ? ["POST"] : ["GET"],
      create: ["POST"],
      update: ["PATCH", "POST", "PUT"],
      delete: ["DELETE"],
      act: ["POST"],
    };
    expect(methods[tool.effect]).toContain(method);
  });

  it("declares only errors of the table, each once", () => {
    for (const code of tool.errors) expect(ERRORS).toHaveProperty(code);
    expect(new Set(tool.errors).size).toBe(tool.errors.length);
  });

  it("accepts an Idempotency-Key for a POST with effects, and If-Match for changes of resources with revisions", () => {
    const headers = Object.values(tool.headers ?? {});
    expect(headers.includes("Idempotency-Key")).toBe(
      parseRoute(tool).method === "POST" && tool.effect !== "read",
    );
    const changes = tool.effect === "update" || tool.effect === "delete";
    expect(headers.includes("If-Match")).toBe(changes && tool.etag !== undefined);
    // Users, projects, grants, absences and subscriptions have no revisions: their fields are set unconditionally.
    expect(changes && tool.etag === undefined).toBe(
      name === "update_user" ||
        /^(update|delete|set|remove|add|end)_(project(_member)?|grant|absence|subscription)$/.test(name),
    );
    expect(tool.errors.includes("idempotency_key_reused")).toBe(headers.includes("Idempotency-Key"));
    expect(tool.errors.includes("version_conflict")).toBe(headers.includes("If-Match"));
    for (const field of Object.keys(tool.headers ?? {})) expect(input.shape).toHaveProperty(field);
  });

  it("has paging parameters only if it is a list", () => {
    const isList = /^(list|export)_/.test(name);
    expect(tool.page !== undefined).toBe(isList);
    expect(["limit", "cursor"].filter((field) => field in input.shape)).toHaveLength(isList ? 2 : 0);
    expect(tool.errors.includes("invalid_cursor")).toBe(isList);
  });

  it("refuses unknown fields, except where the workflow's author defines them", () => {
    for (const [path, node] of nodes(inList?.inputSchema)) {
      if (node["type"] !== "object" || path.endsWith("/properties")) continue;
      // The workflow language and a workflow's own inputs have schemas and checkers of their own.
      const open =
        /\/(definition|step|set|inputs|from|params|mocks|given|form)(\/anyOf\/\d+)*$/.test(path) ||
        // Listed in short: update_workflow lists the operations of a patch.
        (["retry_run", "backtest_workflow"].includes(name) && path.endsWith("/patch/items"));
      expect({ path, closed: node["additionalProperties"] === false }).toEqual({ path, closed: !open });
    }
  });

  it("declares the fields that a list always has as required, and the id of anything else", () => {
    const { shape } = (tool.output as z.ZodObject).def;
    const always = Object.keys(shape).filter(
      (field) => !(shape[field] as z.ZodType).safeParse(undefined).success,
    );
    // A model sees the fields of an answer in it. Only the id is never left out of those that agents can shorten.
    const required = tool.page === undefined ? always.filter((field) => field === "id") : always;
    const expected = { type: "object", ...(required.length > 0 && { required }) };
    expect(inList?.outputSchema ?? expected).toEqual(expected);
  });

  it("offers null for no field, because it counts as left out", () => {
    for (const [path, node] of nodes(inList?.inputSchema))
      expect({ path, type: node["type"] }).not.toEqual({ path, type: "null" });
  });

  it("describes every input field, also one that may be null", () => {
    for (const [field, schema] of Object.entries(inList?.inputSchema["properties"] ?? {})) {
      const { description } = schema as { description?: string };
      expect({ field, text: description }).toEqual({ field, text: expect.stringMatching(/\.$/) });
    }
  });
});

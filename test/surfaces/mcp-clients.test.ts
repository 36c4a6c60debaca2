import { describe, expect, it } from "vitest";
import { DEFAULT_SCOPES } from "../../schemas/actor.ts";
import { catalogue } from "../../tools/index.ts";
import { isServedOn } from "../../src/core/tool.ts";
import { apiClient } from "../support/http.ts";
import { testInstance } from "../support/instance.ts";
import { MCP_CLIENTS, CLIENT_NAMES, connect, type McpClient, outputOf, problemOf } from "../support/mcp.ts";

/** Both listeners on one state directory, opened separately as by the two processes. */
async function open(way: (typeof CLIENT_NAMES)[number]) {
  const web = await testInstance();
  const agents = await testInstance({ stateDir: web.stateDir });
  const { value } = await web.key();
  const [rest, mcp] = await Promise.all([web.rest(), agents.mcp()]);
  return { call: apiClient(rest.url, value), client: await connect(way, mcp.url, value) };
}

const refused = (client: McpClient, name: string) =>
  client.call(name).then(
    () => undefined,
    (error: Error & { code?: number }) => error,
  );

describe.each(CLIENT_NAMES)("an SDK client, %s", (way) => {
  it("negotiates the revision it asks for", async () => {
    const { client } = await open(way);
    expect(client.version).toBe(MCP_CLIENTS[way].version);
  });

  it("creates a workflow that is listed over REST", async () => {
    const { call, client } = await open(way);
    const created = outputOf(
      await client.call("create_workflow", { name: "Weekly revenue", description: "By region" }),
    );
    expect(created).toMatchObject({ id: "weekly-revenue", version: 1, created_by: "operator" });
    const { definition: _, ...listed } = created;
    expect((await call("GET", "/workflows")).body).toEqual([listed]);
  });

  it("lists a workflow that was created over REST", async () => {
    const { call, client } = await open(way);
    const { body } = await call("POST", "/workflows", { name: "Weekly revenue", description: "By region" });
    const { definition: _, ...listed } = body;
    const fields = Object.keys(listed);
    expect(outputOf(await client.call("list_workflows", { fields }))).toEqual({
      items: [listed],
      total: 1,
      next_cursor: null,
    });
  });

  it("lists every tool that the key can use, with title, description, four hints and an object as output", async () => {
    const { client } = await open(way);
    const tools = await client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual(
      catalogue
        .filter(
          (tool) =>
            isServedOn(tool, "mcp") && tool.mcpList === undefined && DEFAULT_SCOPES.includes(tool.scope),
        )
        .map((tool) => tool.name),
    );
    for (const tool of tools) {
      expect(tool).toMatchObject({
        description: expect.stringMatching(/\S/),
        inputSchema: { type: "object" },
        outputSchema: { type: "object" },
        annotations: {
          title: expect.stringMatching(/\S/),
          readOnlyHint: expect.any(Boolean),
          destructiveHint: expect.any(Boolean),
          idempotentHint: expect.any(Boolean),
          openWorldHint: expect.any(Boolean),
        },
      });
    }
    const hints = Object.fromEntries(tools.map((tool) => [tool.name, tool.annotations]));
    expect(hints["list_workflows"]).toMatchObject({ readOnlyHint: true, destructiveHint: false });
    expect(hints["archive_workflow"]).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    expect(hints["create_workflow"]).toMatchObject({ destructiveHint: false, idempotentHint: false });
  });

  it("gets the same answer as data and as JSON text", async () => {
    const { client } = await open(way);
    const answers = [
      await client.call("create_workflow", { name: 'Zürich, 東京 and "quotes"', tags: ["a", "b"] }),
      await client.call("list_workflows"),
    ];
    for (const { content, structuredContent, isError } of answers) {
      expect(isError ?? false).toBe(false);
      expect(content).toHaveLength(1);
      expect(content[0]!.type).toBe("text");
      expect(JSON.parse(content[0]!.text)).toEqual(structuredContent);
    }
  });

  it("reads a tool's error as a problem that says what to do", async () => {
    const { client } = await open(way);
    await client.call("create_workflow", { name: "Weekly revenue" });
    const unknown = problemOf(await client.call("get_workflow", { workflow_id: "weekly-revenu" }));
    expect(unknown).toMatchObject({
      type: "urn:millrace:problem:workflow_not_found",
      status: 404,
      code: "workflow_not_found",
      request_id: expect.stringMatching(/^req_/),
      detail: expect.stringContaining('Did you mean "weekly-revenue"?'),
      errors: [{ path: "workflow_id", code: "not_found", did_you_mean: "weekly-revenue" }],
    });
    const invalid = problemOf(await client.call("create_workflow", { nam: "x", tags: ["a", "a"] }));
    expect(invalid).toMatchObject({
      code: "invalid_input",
      detail: expect.stringMatching(/name is required/),
    });
    expect(invalid.errors!.map((issue) => [issue.path, issue.code])).toEqual([
      ["nam", "unknown_key"],
      ["name", "missing"],
      ["tags", "duplicate"],
    ]);
  });

  it("gets a protocol error for an unknown tool that names the nearest one", async () => {
    const { client } = await open(way);
    const error = await refused(client, "list_workflow");
    expect(error?.message).toContain("Did you mean list_workflows?");
    expect(error?.code).toBe(-32602);
  });
});

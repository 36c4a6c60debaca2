import { describe, expect, onTestFinished, test } from "vitest";
import { Config } from "../../schemas/config.ts";
import { createMcpServers } from "../../src/connections/mcp-servers/index.ts";
import { fixedSecrets } from "../../src/core/secret-source.ts";
import { NUMBER, objectOf, STRING } from "../../src/core/shapes.ts";
import { toolStep } from "../../src/steps/tool.ts";
import { mcpHttpServer } from "../support/mcp-server-http.ts";
import { checkStep, runStep } from "../support/step-check.ts";

async function world(key_var?: string) {
  const { url } = await mcpHttpServer();
  const servers = createMcpServers(
    Config.parse({ mcp_servers: [{ name: "peer", url, ...(key_var && { key_var }) }] }),
    fixedSecrets({}),
    { now: Date.now },
  );
  onTestFinished(() => servers.close());
  return { connections: { mcpServers: servers } };
}

const ADD = { server: "peer", tool: "add", arguments: { a: 1, b: 2 } };

describe("a tool step", () => {
  test("returns the output of the tool", async () => {
    expect(await runStep(toolStep, ADD, await world())).toEqual({
      kind: "done",
      output: { output: { sum: 3 } },
    });
  });

  test("derives its output from the tool, and uses the resource of its server", async () => {
    const { issues, output } = await checkStep(toolStep, ADD, await world());
    expect([issues, output]).toEqual([[], objectOf({ output: objectOf({ sum: NUMBER }) })]);
    expect(toolStep.resource({ id: "it", type: "tool", ...ADD }, { defaultDatabase: null })).toBe(
      "mcp_server:peer",
    );
  });

  test("suggests the nearest server and tool", async () => {
    const here = await world();
    expect((await checkStep(toolStep, { ...ADD, server: "pear" }, here)).issues).toMatchObject([
      { path: ["server"], code: "unknown_server", allowed: ["peer"], did_you_mean: "peer" },
    ]);
    expect((await checkStep(toolStep, { ...ADD, tool: "ad" }, here)).issues).toMatchObject([
      { path: ["tool"], code: "unknown_tool", did_you_mean: "add" },
    ]);
  });

  test("rejects arguments that the tool does not accept", async () => {
    const step = { ...ADD, arguments: { a: "one", bb: "${{ inputs.b }}" } };
    const { issues } = await checkStep(toolStep, step, await world());
    expect(issues.map(({ path, code }) => [path?.join("."), code])).toEqual([
      ["arguments.b", "missing"],
      ["arguments.bb", "unknown_key"],
      ["arguments.a", "wrong_type"],
    ]);
  });

  test("reports a server that is unavailable", async () => {
    expect((await checkStep(toolStep, ADD, await world("PEER_KEY"))).issues).toMatchObject([
      { path: ["server"], code: "unusable", message: expect.stringContaining("PEER_KEY") },
    ]);
    const gone = createMcpServers(
      Config.parse({ mcp_servers: [{ name: "peer", url: "http://127.0.0.1:1/mcp" }] }),
      fixedSecrets({}),
      { now: Date.now },
    );
    onTestFinished(() => gone.close());
    expect((await checkStep(toolStep, ADD, { connections: { mcpServers: gone } })).issues).toMatchObject([
      { path: ["server"], code: "tool_unavailable" },
    ]);
  });

  test("has an unknown output if the tool declares none", async () => {
    const { output } = await checkStep(
      toolStep,
      { ...ADD, tool: "say", arguments: { text: "${{ inputs.text }}" } },
      { ...(await world()), shapeAt: () => STRING },
    );
    expect(output).toBeUndefined();
  });
});

/** Runs the MCP project's own conformance suite against the MCP server, in a process of its own. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { catalogue } from "../../../tools/index.ts";
import { isServedOn } from "../../../src/core/tool.ts";
import { temporaryDirectory } from "../../support/instance.ts";
import { startKeyProxy } from "../../support/key-proxy.ts";
import { spawnCommand, startProgram } from "../../support/process.ts";

/** `millrace mcp-sse` with the fixtures that the suite expects. */
const SERVER_WITH_FIXTURES = fileURLToPath(new URL("../../support/conformance-server.ts", import.meta.url));
const SUITE = dirname(
  createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json"),
);

interface Check {
  id: string;
  status: string;
  errorMessage?: string;
}

/** Starts an MCP server, `millrace mcp-sse` itself by default, behind a proxy that adds an API key. */
async function startServer(main?: string): Promise<string> {
  const stateDir = temporaryDirectory();
  const { out } = await spawnCommand(
    [
      "keys",
      "create",
      "--name",
      "conformance",
      "--scope",
      "read",
      "write",
      "publish",
      "run",
      "approve",
      "admin",
    ],
    {
      MILLRACE_STATE_DIR: stateDir,
    },
  );
  const { url } = await startProgram("mcp-sse", stateDir, { main });
  return `${await startKeyProxy(url, out.trim())}/mcp`;
}

/** Runs the suite and returns the checks of each scenario. */
async function conform(url: string, revision: string): Promise<Map<string, Check[]>> {
  const results = temporaryDirectory();
  const main = join(SUITE, "dist/index.js");
  // The suite exits with 1 when a scenario fails; the result files say which.
  await new Promise<void>((resolve) => {
    execFile(
      process.execPath,
      [main, "server", "--url", url, "--requirements", revision, "-o", results],
      () => resolve(),
    );
  });
  return new Map(
    readdirSync(results).map((directory) => [
      /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(directory)![1]!,
      JSON.parse(readFileSync(join(results, directory, "checks.json"), "utf8")) as Check[],
    ]),
  );
}

function requiredScenarios(revision: string): string[] {
  const requirements = readFileSync(join(SUITE, "requirements", `${revision}.yaml`), "utf8");
  return (parse(requirements) as { server: string[] }).server;
}

const issuesOf = (checks: Check[] | undefined): string[] => {
  if (checks === undefined) return ["did not run"];
  const bad = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
  if (bad.length === 0 && !checks.some(({ status }) => status === "SUCCESS")) return ["checked nothing"];
  return bad.map(({ id, status, errorMessage }) => `${status} ${id}: ${errorMessage}`);
};

describe("the MCP conformance suite", () => {
  it.each([
    ["2025-11-25", 30],
    ["2026-07-28", 37],
  ])(
    "passes on /mcp: every scenario that %s requires, %i of them",
    async (revision, count) => {
      const required = requiredScenarios(revision);
      expect(required).toHaveLength(count);
      const results = await conform(await startServer(SERVER_WITH_FIXTURES), revision);
      const issues = required.map((name) => [name, issuesOf(results.get(name))] as const);
      expect(Object.fromEntries(issues.filter(([, found]) => found.length > 0))).toEqual({});
    },
    60_000,
  );

  it("finds none of its fixtures in the program itself", async () => {
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(await startServer())));
    expect(client.getServerCapabilities()).toEqual({
      tools: { listChanged: true },
      resources: {},
      prompts: {},
      completions: {},
      extensions: { "io.modelcontextprotocol/tasks": {} },
    });
    expect(JSON.stringify([await client.listResources(), await client.listPrompts()])).not.toContain("test");
    const { tools } = await client.listTools();
    const expected = catalogue.filter((tool) => isServedOn(tool, "mcp") && tool.mcpList === undefined);
    expect(tools.map((tool) => tool.name)).toEqual(expected.map((tool) => tool.name));
    await expect(client.callTool({ name: "test_simple_text" })).rejects.toThrow(/no tool "test_simple_text"/);
    await client.close();
  });
});

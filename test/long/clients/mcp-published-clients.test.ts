import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { describe, expect, it } from "vitest";
import { AWKWARD_INPUTS, exposeAwkwardInputs } from "../../support/awkward-inputs.ts";
import { startTestExecutor } from "../../support/executor.ts";
import { apiClient } from "../../support/http.ts";
import { temporaryDirectory, testInstance } from "../../support/instance.ts";
import { startLoadBalancer } from "../../support/load-balancer.ts";
import type { Json } from "../../support/json.ts";
import { connectV1, outputOf, problemOf } from "../../support/mcp.ts";

const script = (path: string): string =>
  fileURLToPath(new URL(`../../../node_modules/${path}`, import.meta.url));
const INSPECTOR = script("@modelcontextprotocol/inspector/clients/launcher/build/index.js");
const MCP_REMOTE = script("mcp-remote/dist/proxy.js");

async function open() {
  const instance = await testInstance();
  const [rest, copy] = await Promise.all([instance.rest(), instance.mcp()]);
  // A proxy in front of the copy records what the programs send.
  const mcp = await startLoadBalancer([copy.url]);
  const { value } = await instance.key();
  // Keeps the files of the programs out of the home directory.
  const home = temporaryDirectory();
  const env = { PATH: process.env["PATH"]!, HOME: home, MCP_REMOTE_CONFIG_DIR: home, NO_COLOR: "1" };
  return { instance, value, env, mcp, call: apiClient(rest.url, value) };
}

type Opened = Awaited<ReturnType<typeof open>>;

/** The revisions that requests named; the first ones of a 2025-era client name none. */
const revisions = ({ mcp }: Opened): unknown[] => [
  ...new Set(mcp.forwarded.map(({ revision }) => revision).filter((revision) => revision !== undefined)),
];

/** One run of the MCP Inspector's command line. */
async function inspect({ env, value }: Opened, url: string, args: readonly string[], key = value) {
  const common = ["--cli", url, "--header", `X-API-Key: ${key}`, "--stored-auth-only", "--format", "json"];
  const child = spawn(process.execPath, [INSPECTOR, ...common, ...args], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (out += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (err += chunk));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, out, err };
}

describe.each([
  ["/sse", ["--transport", "sse"], "2025-11-25"],
  ["/mcp", ["--transport", "http"], "2025-11-25"],
  ["/mcp in the 2026-07-28 revision", ["--transport", "http", "--protocol-era", "modern"], "2026-07-28"],
])("the MCP Inspector on %s", (name, how, revision) => {
  const path = name.split(" ")[0]!;
  const calling = (tool: string, ...args: string[]) => [
    ...how,
    "--method",
    "tools/call",
    "--tool-name",
    tool,
    ...args.flatMap((arg) => ["--tool-arg", arg]),
  ];

  it("creates a workflow that is listed over REST, and lists one that was created there", async () => {
    const opened = await open();
    const url = opened.mcp.url + path;
    await opened.call("POST", "/workflows", { name: "From REST", description: "" });
    const created = await inspect(
      opened,
      url,
      calling("create_workflow", "name=Weekly revenue", "description=By region"),
    );
    expect(created).toMatchObject({ code: 0, err: "" });
    expect((await opened.call("GET", "/workflows?sort=name")).body).toMatchObject([
      { id: "from-rest" },
      { id: "weekly-revenue", name: "Weekly revenue", description: "By region" },
    ]);
    const listed = await inspect(opened, url, calling("list_workflows", "sort=name"));
    expect(listed).toMatchObject({ code: 0, err: "" });
    expect(resultIn(listed.out).structuredContent.items).toMatchObject([
      { id: "from-rest" },
      { id: "weekly-revenue" },
    ]);
    expect(revisions(opened)).toEqual([revision]);
  });

  it("accepts the schemas of the tools", async () => {
    const opened = await open();
    const { code, out, err } = await inspect(opened, opened.mcp.url + path, [
      ...how,
      "--method",
      "tools/list",
      "--strict",
    ]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain("create_workflow");
  });

  it("accepts the tools of workflows with awkward inputs, and calls one by the names that it lists", async () => {
    const opened = await open();
    await startTestExecutor(opened.instance);
    await exposeAwkwardInputs(opened.instance);
    const url = opened.mcp.url + path;
    const listed = await inspect(opened, url, [...how, "--method", "tools/list", "--strict"]);
    expect(listed).toMatchObject({ code: 0, err: "" });
    for (const { name: workflow } of AWKWARD_INPUTS) expect(listed.out).toContain(`Workflow: ${workflow}`);
    const called = await inspect(opened, url, calling("run_names", "groesse=4", "kunde_nr=K1"));
    expect(called).toMatchObject({ code: 0, err: "" });
    expect(resultIn(called.out).structuredContent).toMatchObject({ output: { größe: 4, "Kunde Nr": "K1" } });
  });

  it("is refused with a wrong key, and is not asked to sign in", async () => {
    const opened = await open();
    const wrong = opened.value.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    const { code, err } = await inspect(
      opened,
      opened.mcp.url + path,
      [...how, "--method", "tools/list"],
      wrong,
    );
    expect(code).not.toBe(0);
    expect(err).toMatch(/401|auth/i);
  });
});

/** The tool's result in what the Inspector prints. */
function resultIn(out: string): { structuredContent: Json } {
  const printed = JSON.parse(out) as { result?: unknown };
  return (printed.result ?? printed) as { structuredContent: Json };
}

describe.each([
  ["/sse", ["--transport", "sse-only"], "2025-11-25"],
  ["/mcp", ["--transport", "http-only"], "2025-11-25"],
  ["/mcp, by default", [], "2025-11-25"],
  ["/mcp, with the newest revision it knows", ["--protocol", "auto"], "2026-07-28"],
  // The answer 405 makes a client that tries HTTP first fall back.
  ["/sse, HTTP first", ["--transport", "http-first"], "2025-11-25"],
])("mcp-remote on %s", (name, how, revision) => {
  it("serves a local client: creates, lists, and passes errors on", async () => {
    const opened = await open();
    const url = opened.mcp.url + name.split(",")[0];
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [MCP_REMOTE, url, ...how, "--header", `X-API-Key:${opened.value}`],
      env: opened.env,
      stderr: "pipe",
    });
    let log = "";
    transport.stderr!.on("data", (chunk: Buffer) => (log += chunk.toString()));
    const client = await connectV1(transport).catch((error: unknown) => {
      throw new Error(`mcp-remote did not connect:\n${log}`, { cause: error });
    });
    expect((await client.listTools()).map((tool) => tool.name)).toContain("create_workflow");
    const created = outputOf(await client.call("create_workflow", { name: "Weekly revenue" }));
    expect((await opened.call("GET", "/workflows")).body).toMatchObject([{ id: created["id"] }]);

    await opened.call("POST", "/workflows", { name: "From REST", description: "" });
    expect(outputOf(await client.call("list_workflows"))).toMatchObject({
      items: expect.arrayContaining([expect.objectContaining({ id: "from-rest" })]),
      total: 2,
    });
    expect(problemOf(await client.call("get_workflow", { workflow_id: "none" })).code).toBe(
      "workflow_not_found",
    );
    expect(revisions(opened)).toEqual([revision]);
  });
});

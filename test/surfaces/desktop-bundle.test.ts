/** The bundle for Claude Desktop: what is in it, and its program with MCP clients that start it. */
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { expect, it, onTestFinished } from "vitest";
import { temporaryDirectory, testInstance } from "../support/instance.ts";
import { connectV1, outputOf } from "../support/mcp.ts";
import { rawRequest } from "../support/raw-http.ts";

interface Manifest {
  server: {
    entry_point: string;
    mcp_config: { command: string; args: string[]; env: Record<string, string> };
  };
  user_config: Record<string, { sensitive?: boolean; required: boolean; default?: string }>;
}

/** The entries of a zip file whose entries are not compressed, by its directory. test/long/web/web-connect.test.ts has unzip check it. */
function entriesOf(zip: Buffer): [name: string, text: string][] {
  const end = zip.lastIndexOf("PK\x05\x06");
  let at = zip.readUInt32LE(end + 16);
  return Array.from({ length: zip.readUInt16LE(end + 10) }, () => {
    const [size, nameSize] = [zip.readUInt32LE(at + 24), zip.readUInt16LE(at + 28)];
    const name = zip.toString("utf8", at + 46, at + 46 + nameSize);
    const data = zip.readUInt32LE(at + 42) + 30 + nameSize;
    at += 46 + nameSize;
    return [name, zip.toString("utf8", data, data + size)];
  });
}

/** An MCP server, and the bundle for it as a host unpacks it. */
async function open() {
  const instance = await testInstance();
  await instance.executor();
  const mcp = await instance.mcp();
  const { url } = await instance.rest({ env: { MILLRACE_MCP_URL: mcp.url } });
  const directory = temporaryDirectory();
  const response = await fetch(`${url}/millrace.mcpb`);
  expect(response.headers.get("content-disposition")).toBe("attachment; filename=millrace.mcpb");
  const bundle = Buffer.from(await response.arrayBuffer());
  for (const [name, text] of entriesOf(bundle)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  const manifest = JSON.parse(readFileSync(join(directory, "manifest.json"), "utf8")) as Manifest;
  return { instance, mcp, url, directory, manifest, bundle };
}

/** Starts the program as a host does: with the values that the person has typed. */
function hostOf({ directory, manifest }: Awaited<ReturnType<typeof open>>, values: Record<string, string>) {
  const fill = (text: string): string =>
    text
      .replaceAll("${__dirname}", directory)
      .replaceAll(
        /\$\{user_config\.(\w+)\}/g,
        (_, name: string) => values[name] ?? manifest.user_config[name]!.default!,
      );
  const { args, env } = manifest.server.mcp_config;
  return new StdioClientTransport({
    command: process.execPath,
    args: args.map(fill),
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, fill(value)])),
    stderr: "inherit",
  });
}

it("asks for the key, which is not in it, and knows the address of the server", async () => {
  const opened = await open();
  const { manifest, mcp, url, directory, bundle } = opened;
  expect(manifest.user_config).toMatchObject({
    api_key: { sensitive: true, required: true },
    url: { default: `${mcp.url}/mcp` },
  });
  expect(manifest.user_config["api_key"]!.default).toBeUndefined();
  expect(bundle.toString("latin1")).not.toMatch(/mill_\w{10}/);
  // Nothing but what Node has: a host installs no packages.
  const program = readFileSync(join(directory, manifest.server.entry_point), "utf8");
  const imported = [...program.matchAll(/from "([^"]+)"/g)].map(([, name]) => name!);
  expect(imported.filter((name) => !name.startsWith("node:"))).toEqual([]);
  expect((await rawRequest("POST", `${url}/millrace.mcpb`, { body: {} })).status).toBe(405);
});

/** Some readers of lines end a line at its last characters. */
const TEXT = "Grüße ☀\u2028\u2029\u0085";

it("passes calls, errors, resources and notifications on, and ends with its host", async () => {
  const opened = await open();
  const { value, record } = await opened.instance.key({
    scopes: ["read", "write", "publish", "run", "admin"],
  });
  let changes = 0;
  const client = await connectV1(hostOf(opened, { api_key: value }), undefined, {
    onToolsChanged: () => (changes += 1),
  });
  expect((await client.listTools()).map(({ name }) => name)).toContain("run_workflow");
  const definition = { expose_as_tool: true, steps: [{ id: "a", type: "set", values: { text: TEXT } }] };
  const { id } = outputOf(await client.call("create_workflow", { name: "Hello", definition }));
  const run = outputOf(await client.call("run_workflow", { workflow_id: id, wait: 20 }));
  expect(run.output).toEqual({ text: TEXT });
  expect((await client.call("get_run", { run_id: "run_none" })).isError).toBe(true);
  const [read] = await client.readResource(`millrace://runs/${run.id}`);
  expect(read!.text).toContain("Grüße ☀");
  await client.call("publish_workflow", { workflow_id: id });
  await expect.poll(() => changes).toBeGreaterThan(0);
  await client.close();
  const { read: db } = opened.instance.store;
  const sessions = () => db.selectFrom("mcp_sessions").selectAll().where("key_id", "=", record.id).execute();
  await expect.poll(sessions).toEqual([]);
});

const refused = (code: number, message: string) => ({ jsonrpc: "2.0", id: null, error: { code, message } });

it("answers lines that are no message, and goes on", async () => {
  const opened = await open();
  const { args, env } = opened.manifest.server.mcp_config;
  const child = spawn(
    process.execPath,
    args.map((arg) => arg.replace("${__dirname}", opened.directory)),
    {
      env: {
        ...env,
        MILLRACE_API_KEY: (await opened.instance.key()).value,
        MILLRACE_MCP_URL: `${opened.mcp.url}/mcp`,
      },
    },
  );
  onTestFinished(() => void child.kill());
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (out += chunk));
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a", version: "1" } };
  child.stdin.write(
    `{"jsonrpc": "2.0"\nnull\n[]\n${JSON.stringify({ jsonrpc: "2.0", id: 7, method: "initialize", params })}\n`,
  );
  await expect.poll(() => out.split("\n").length).toBe(5);
  const answers = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
  expect(answers.slice(0, 3)).toEqual([
    refused(-32_700, "The line is not JSON."),
    refused(-32_600, "The line is not one message."),
    refused(-32_600, "The line is not one message."),
  ]);
  expect(answers[3]).toMatchObject({ id: 7, result: { serverInfo: { name: "millrace" } } });
});

it("starts a new session when the server has forgotten the old one", async () => {
  const opened = await open();
  const client = await connectV1(hostOf(opened, { api_key: (await opened.instance.key()).value }));
  outputOf(await client.call("list_workflows"));
  await opened.instance.store.transaction((trx) => trx.deleteFrom("mcp_sessions").execute());
  expect(outputOf(await client.call("list_workflows"))).toMatchObject({ total: 0 });
});

it("says why it can't connect", async () => {
  const opened = await open();
  await expect(connectV1(hostOf(opened, { api_key: "mill_wrong" }))).rejects.toThrow("needs a valid API key");
  await opened.mcp.stop(0);
  const url = `${opened.mcp.url}/mcp`;
  await expect(connectV1(hostOf(opened, { api_key: "mill_any", url }))).rejects.toThrow(
    `can't be reached at ${url} (ECONNREFUSED)`,
  );
  await expect(
    connectV1(hostOf(opened, { api_key: "mill_any", url: "http://localhost:1/mcp" })),
  ).rejects.toThrow("can't be reached at http://localhost:1/mcp (bad port)");
});

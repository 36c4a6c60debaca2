/** Calls published MCP servers as `tool` steps do. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { Config } from "../../../schemas/config.ts";
import { createMcpServers } from "../../../src/connections/mcp-servers/index.ts";
import { fixedSecrets } from "../../../src/core/secret-source.ts";
import { temporaryDirectory } from "../../support/instance.ts";
import { untilPassing } from "../../support/eventually.ts";
import { callOf } from "../../support/call-context.ts";

const BIN = new URL("../../../node_modules/@modelcontextprotocol/", import.meta.url).pathname;
const EVERYTHING = `${BIN}server-everything/dist/index.js`;
const FILES = `${BIN}server-filesystem/dist/index.js`;
const never = new AbortController().signal;
const options = { idempotencyKey: "run:step:-:abc" };

function peers(entry: object) {
  const all = createMcpServers(
    Config.parse({ mcp_servers: [{ name: "peer", ...entry }] }),
    fixedSecrets({}),
    {
      now: Date.now,
    },
  );
  onTestFinished(() => all.close());
  return all;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

describe("published MCP servers", () => {
  it("list and run their tools over stdio, and return structured content as data", async () => {
    const all = peers({ command: process.execPath, args: [EVERYTHING, "stdio"] });
    const tools = await all.tools("peer", callOf(never));
    expect(tools.map((tool) => tool.name)).toEqual(expect.arrayContaining(["echo", "get-sum"]));
    expect(await all.call("peer", "echo", { message: "hello" }, options, callOf(never))).toContain("hello");
    expect(await all.call("peer", "get-sum", { a: 2, b: 3 }, options, callOf(never))).toContain("5");
    const structured = tools.find((tool) => tool.outputSchema !== null)!;
    expect(await all.call("peer", structured.name, { location: "Chicago" }, options, callOf(never))).toEqual(
      expect.objectContaining({ temperature: expect.any(Number) }),
    );
  });

  it("list and run their tools over Streamable HTTP", async () => {
    const port = await freePort();
    const child = spawn(process.execPath, [EVERYTHING, "streamableHttp"], {
      env: { ...process.env, PORT: String(port) },
      stdio: "ignore",
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const all = peers({ url: `http://127.0.0.1:${port}/mcp` });
    await untilPassing(() => all.tools("peer", callOf(never)));
    expect(await all.call("peer", "get-sum", { a: 20, b: 22 }, options, callOf(never))).toContain("42");
  });

  it("can access only the directories that they were given", async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, "note.txt"), "from a file");
    const all = peers({ command: process.execPath, args: [FILES, directory] });
    const read = (path: string) => all.call("peer", "read_text_file", { path }, options, callOf(never));
    expect(await read(join(directory, "note.txt"))).toEqual({ content: "from a file" });
    await expect(read("/etc/hostname")).rejects.toMatchObject({ code: "tool_failed" });
  });
});

/** mcp-remote, through which programs connect that only start other programs: by the URL alone, with its own OAuth code. */
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { expect, it, onTestFinished } from "vitest";
import { eventually } from "../support/eventually.ts";
import { temporaryDirectory } from "../support/instance.ts";
import { consent, site } from "../support/oauth.ts";

const PROGRAM = fileURLToPath(new URL("../../node_modules/mcp-remote/dist/proxy.js", import.meta.url));

const tools = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);

it.each(["/mcp", "/sse"])(
  "mcp-remote connects to %s by its URL alone, and again without a person",
  async (path) => {
    const { mcp, browser, instance } = await site();
    const home = temporaryDirectory();
    const start = () => {
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: [PROGRAM, mcp + path, "--transport", path === "/sse" ? "sse-only" : "http-only"],
        // Its files stay out of the home directory, and it opens no browser.
        env: { PATH: "", HOME: home, MCP_REMOTE_CONFIG_DIR: home },
        stderr: "pipe",
      });
      let log = "";
      transport.stderr!.on("data", (chunk: Buffer) => (log += chunk.toString()));
      const client = new Client({ name: "test", version: "1" });
      const connected = client.connect(transport, { timeout: 60_000 });
      onTestFinished(() => client.close());
      return { client, connected, log: () => log };
    };

    const first = start();
    const url = await eventually(
      () => /https?:\/\/\S+\/oauth\/authorize\?\S+/.exec(first.log())?.[0],
      "the URL of the consent page",
      30_000,
    );
    const callback = await consent(browser, url, { allow: true, scopes: ["read", "run"] });
    expect((await fetch(callback)).status).toBe(200);
    await first.connected;
    expect(await tools(first.client)).toEqual(expect.arrayContaining(["list_workflows", "run_workflow"]));
    expect(await tools(first.client)).not.toContain("create_workflow");
    await first.client.close();

    const again = start();
    await again.connected;
    expect(await tools(again.client)).toContain("list_workflows");
    expect(again.log()).not.toContain("/oauth/authorize?");
    const keys = await instance.read.apiKeys.page({ filter: { application: true }, after: null, limit: 5 });
    expect(keys.items.map(({ owner, scopes }) => [owner, scopes])).toEqual([
      ["ann@example.com", ["read", "run"]],
    ]);
  },
);

/** Clients of other people against the real program: what an agent does, while its server restarts and its key is revoked. */
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { temporaryDirectory } from "../support/instance.ts";
import { spawnCommand, startProgram } from "../support/process.ts";
import { startClient } from "./start-client.ts";

/** The transports that each client has, and whether it goes on by itself after its server was restarted. */
const CLIENTS = [
  ["ai-sdk", "/mcp", { reconnects: true }],
  ["ai-sdk", "/sse", { reconnects: false }],
  ["openai-agents", "/mcp", { reconnects: true }],
  ["openai-agents", "/sse", { reconnects: true }],
  ["langchain", "/mcp", { reconnects: true }],
  ["langchain", "/sse", { reconnects: true }],
  // Mastra has no SSE transport.
  ["mastra", "/mcp", { reconnects: true }],
  ["mcp-use", "/mcp", { reconnects: true }],
  ["mcp-use", "/sse", { reconnects: true }],
  ["mcporter", "/mcp", { reconnects: true }],
  ["mcporter", "/sse", { reconnects: true }],
  ["genkit", "/mcp", { reconnects: true }],
  ["genkit", "/sse", { reconnects: true }],
] as const;

const DEFINITION = {
  steps: [
    { id: "pause", type: "wait", for: "3s" },
    { id: "say", type: "set", needs: ["pause"], values: { text: "Hello" } },
  ],
  output: "${{ steps.say.text }}",
};

describe.each(CLIENTS)("%s on %s", (name, path, { reconnects }) => {
  it("authors, runs, understands errors, survives restarts of the server, and loses a revoked key", async () => {
    const stateDir = temporaryDirectory();
    const env = { MILLRACE_STATE_DIR: stateDir };
    let server = await startProgram("mcp-sse", stateDir);
    const { port } = new URL(server.url);
    const key = (await spawnCommand(["keys", "create", "--name", "agent"], env)).out.trim();
    const client = startClient(name, `${server.url}${path}`, key);

    expect(await client.ask("connect")).toBe("{}");
    expect(await client.ask("list")).toContain('"create_workflow"');
    const workflow = { name: "Hello", description: "Says hello.", definition: DEFINITION };
    expect(await client.call("create_workflow", workflow)).toMatch(/\\?"id\\?":\\?"hello/);
    const run = await client.call("run_workflow", { workflow_id: "hello", wait: 30 });
    expect(run).toMatch(/\\?"status\\?":\\?"succeeded.*\\?"output\\?":\\?"Hello/);
    expect(await client.call("run_workflow", { workflow_id: "helo" })).toMatch(
      /workflow_not_found.*Did you mean/,
    );
    expect(await client.call("create_workflow", { name: "" })).toContain("must not be empty");

    const get = () => client.call("get_workflow", { workflow_id: "hello" });
    const answers = async () => (/Says hello/.test(await get()) ? true : undefined);
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      await server.stop(signal);
      server = await startProgram("mcp-sse", stateDir, { args: ["--port", port] });
      if (!reconnects) await client.ask("connect");
      expect(await eventually(answers, `an answer to ${name} after ${signal}`)).toBe(true);
    }

    await spawnCommand(["keys", "revoke", "agent"], env);
    expect(await get()).toMatch(/unauthorized.*mistyped, expired or revoked/);
    expect(await client.ask("connect").then(get)).not.toContain("Says hello");
  });
});

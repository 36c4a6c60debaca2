/** A program that runs `millrace mcp-sse --port 0` with the fixtures of the MCP conformance suite. */
import { fork } from "node:child_process";
import { mcpSse } from "../../src/commands/listeners.ts";
import { registerFixtures } from "./conformance-fixtures.ts";
import { PROGRAM } from "./built.ts";

await mcpSse(
  {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    terminal: false,
    errTerminal: false,
    env: process.env,
    onExit: (listener) => void process.on("exit", listener),
  },
  {
    onStop: (stop) => void process.once("SIGTERM", stop),
    ready() {},
    spawn: (args) => fork(PROGRAM, args, { stdio: ["ignore", "inherit", "inherit", "ipc"] }),
  },
  { host: "127.0.0.1", port: 0, drainDelay: 0, workers: 1 },
  registerFixtures,
);

/** Starts a client of somebody else, which answers commands (see driver.js). */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { temporaryDirectory } from "../support/instance.ts";
import { jsonLine } from "./json-line.ts";

const DRIVER = fileURLToPath(new URL("driver.js", import.meta.url));

/** Starts a client in a process of its own. Its answers are JSON texts: each client wraps results and errors in its own way. */
export function startClient(name: string, url: string, key: string) {
  const transport = url.endsWith("/sse") ? "sse" : "http";
  const child = spawn(process.execPath, [DRIVER, name, url, transport, key], {
    // Keeps the files of the clients out of the home directory, and what they count to themselves.
    env: {
      PATH: process.env["PATH"],
      HOME: temporaryDirectory(),
      MCP_USE_ANONYMIZED_TELEMETRY: "false",
      MASTRA_TELEMETRY_DISABLED: "1",
    },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (log += chunk));
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (...command: readonly unknown[]): Promise<string> => {
    child.stdin.write(jsonLine(command));
    for (;;) {
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`The client ended.\n${log}`);
      if (value.startsWith("@")) return value.slice(1);
    }
  };
  return { ask, call: (tool: string, args: object) => ask("call", tool, args) };
}

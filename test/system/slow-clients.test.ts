import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { startUndisturbedTimer } from "../support/cpu-time.ts";
import { apiClient } from "../support/http.ts";
import { temporaryDirectory } from "../support/instance.ts";
import { runCommand, startProgram } from "../support/process.ts";

async function serving(command: "serve" | "mcp-sse") {
  const stateDir = temporaryDirectory();
  const createKey = async (name: string): Promise<string> =>
    (await runCommand(["keys", "create", "--name", name], { MILLRACE_STATE_DIR: stateDir })).out.trim();
  const key = await createKey("attacker");
  const other = await createKey("other");
  const { url, child } = await startProgram(command, stateDir);
  // Of another owner: the slow bodies use up the memory that the attacker may have.
  const call = apiClient(url, other);
  const path = command === "serve" ? "/workflows" : "/mcp";
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
  const useful = () =>
    command === "serve"
      ? call("GET", path)
      : call("POST", path, list, { Accept: "application/json, text/event-stream" });
  return { url, key, path, call, useful, pid: child.pid! };
}

/** The attacks of slowhttptest, with their options. */
const KINDS = [
  ["headers", (_key: string) => ["-H"]],
  // It has no option for headers, so the key is injected with the media type.
  ["bodies", (key: string) => ["-B", "-f", `application/json\r\nX-API-Key: ${key}`]],
  ["reading", (key: string) => ["-X", "-w", "1", "-y", "2", "-k", "3", "-j", `x\r\nX-API-Key: ${key}`]],
] as const;

describe.each(["serve", "mcp-sse"] as const)("%s", (command) => {
  it.each(KINDS)(
    "answers within a second under slowhttptest with 1,000 connections: %s",
    async (_kind, kind) => {
      const { url, key, path, call, useful, pid } = await serving(command);
      const args = ["-c", "1000", "-r", "400", "-i", "2", "-l", "15", "-p", "3", "-u", `${url}${path}`];
      const tool = spawn("slowhttptest", [...kind(key), ...args]);
      let said = "";
      tool.stdout.setEncoding("utf8").on("data", (chunk: string) => (said += chunk));
      const exited = once(tool, "exit");
      let slowest = 0;
      let answered = 0;
      while (tool.exitCode === null) {
        for (const work of [() => call("GET", "/health"), useful]) {
          const elapsed = startUndisturbedTimer(pid);
          expect((await work()).status).toBe(200);
          slowest = Math.max(slowest, elapsed());
        }
        answered += 1;
      }
      await exited;
      // oxlint-disable-next-line no-control-regex
      const report = said.replaceAll(/\u001b\[[0-9;]*m/g, "");
      expect(report).toMatch(/connected: +[1-9]\d{2}/);
      expect(report).not.toMatch(/service available: +NO/);
      expect(answered).toBeGreaterThan(50);
      expect(slowest).toBeLessThan(1_000);
    },
  );
});

import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../support/instance.ts";
import { runCommand, startProgram } from "../support/process.ts";
import { formatRequest, socketClient } from "../support/sockets.ts";

const REQUEST_TIMEOUT_MS = 60_000;

/** Sends a body of 1,000 bytes, one in a second. @returns the answer, and after how many milliseconds it came */
async function sendSlowly(command: "serve" | "mcp-sse", path: string) {
  const stateDir = temporaryDirectory();
  const { out } = await runCommand(["keys", "create", "--name", "slow"], { MILLRACE_STATE_DIR: stateDir });
  const { url } = await startProgram(command, stateDir);
  const client = await socketClient(url);
  const headers = { "X-API-Key": out.trim(), "Content-Type": "application/json", "Content-Length": "1000" };
  client.send(formatRequest("POST", path, headers));
  const start = performance.now();
  const dribble = setInterval(() => client.send(" "), 1_000);
  await client.ended.finally(() => clearInterval(dribble));
  return { answer: client.received(), ms: performance.now() - start };
}

describe("a request whose body takes longer than a minute", () => {
  it("is aborted by both servers", async () => {
    const answers = await Promise.all([sendSlowly("serve", "/workflows"), sendSlowly("mcp-sse", "/mcp")]);
    for (const { answer, ms } of answers) {
      expect(answer).toMatch(/^HTTP\/1\.1 408 /);
      expect(ms).toBeGreaterThan(REQUEST_TIMEOUT_MS - 1_000);
      expect(ms).toBeLessThan(REQUEST_TIMEOUT_MS + 6_000);
    }
  });
});

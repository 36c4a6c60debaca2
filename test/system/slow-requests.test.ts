import { describe, expect, it, onTestFinished } from "vitest";
import { startUndisturbedTimer } from "../support/cpu-time.ts";
import { apiClient } from "../support/http.ts";
import { temporaryDirectory } from "../support/instance.ts";
import { runCommand, startProgram } from "../support/process.ts";
import { type SocketClient, socketClient, formatRequest } from "../support/sockets.ts";

const SLOW = 1_000;
const HEADERS_TIMEOUT_MS = 10_000;
const CHECKED_EVERY_MS = 2_000;

type Behaviour = "silent" | "dribbles headers" | "dribbles a body";
const BEHAVIOURS: readonly Behaviour[] = ["silent", "dribbles headers", "dribbles a body"];

/** A thousand clients, a third of each kind, that send one byte per second. */
async function slowClients(url: string, path: string, key: string) {
  const clients = await Promise.all(
    Array.from({ length: SLOW }, async (_, i) => {
      const behaviour = BEHAVIOURS[i % BEHAVIOURS.length]!;
      const client = await socketClient(url);
      if (behaviour === "dribbles headers")
        client.send(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-Slow: `);
      if (behaviour === "dribbles a body") {
        const headers = {
          "X-API-Key": key,
          "Content-Type": "application/json",
          "Content-Length": "1000",
        };
        client.send(formatRequest("POST", path, headers));
      }
      return { behaviour, client };
    }),
  );
  const dribble = setInterval(() => {
    for (const { behaviour, client } of clients)
      if (behaviour !== "silent" && client.socket.writable) client.send("a");
  }, 1_000);
  onTestFinished(() => clearInterval(dribble));
  return (behaviour: Behaviour): SocketClient[] =>
    clients.filter((one) => one.behaviour === behaviour).map((one) => one.client);
}

/** Measures the time of a request to a process, without the time in which others had the processors. */
async function timed<T>(pid: number, work: () => Promise<T>): Promise<{ answer: T; ms: number }> {
  const elapsed = startUndisturbedTimer(pid);
  const answer = await work();
  return { answer, ms: elapsed() };
}

const LISTENERS = [
  ["serve", "/workflows"],
  ["mcp-sse", "/mcp"],
] as const;

describe("a thousand slow clients", () => {
  it.each(LISTENERS)(
    "leave %s answering within a second, and are cut when they are too slow",
    { timeout: 40_000 },
    async (command, path) => {
      const stateDir = temporaryDirectory();
      const { out } = await runCommand(["keys", "create", "--name", "t"], { MILLRACE_STATE_DIR: stateDir });
      const key = out.trim();
      const { url, child } = await startProgram(command, stateDir);
      const call = apiClient(url, key);
      const useful = () =>
        command === "serve"
          ? call("GET", path)
          : call(...(["POST", path, { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }] as const), {
              Accept: "application/json, text/event-stream",
            });
      const opened = performance.now();
      const of = await slowClients(url, path, key);
      const slow = [...of("silent"), ...of("dribbles headers")];
      let cut = 0;
      const allCut = Promise.all(slow.map((client) => client.ended.then(() => (cut += 1))));
      let slowest = 0;
      let answered = 0;
      while (cut < slow.length) {
        for (const work of [() => call("GET", "/health"), useful]) {
          const { answer, ms } = await timed(child.pid!, work);
          expect(answer.status).toBe(200);
          slowest = Math.max(slowest, ms);
        }
        answered += 1;
        expect(performance.now() - opened).toBeLessThan(HEADERS_TIMEOUT_MS + 2 * CHECKED_EVERY_MS + 3_000);
      }
      await allCut;
      expect(slowest).toBeLessThan(1_000);
      expect(answered).toBeGreaterThan(100);
      for (const { received } of of("dribbles headers")) expect(received()).toMatch(/^HTTP\/1\.1 408 /);
      // Admitted clients have a minute to send their body.
      for (const { received } of of("dribbles a body")) expect(received()).toBe("");
    },
  );
});

import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { apiClient } from "../../support/http.ts";
import { testInstance } from "../../support/instance.ts";
import { socketClient, formatRequest } from "../../support/sockets.ts";

const CALLS = 200;
const LARGE = 800_000;
const MIB = 1024 * 1024;

/** A stream whose client does not read, and a workflow with a large definition. */
async function open() {
  const holder = await testInstance();
  const other = await testInstance({ stateDir: holder.stateDir });
  const { value: key } = await holder.key();
  const rest = await holder.rest();
  const definition = { note: "x".repeat(LARGE) };
  const made = await apiClient(rest.url, key)("POST", "/workflows", {
    name: "Large",
    description: "",
    definition,
  });
  expect(made.status).toBe(201);
  const copies = { holder: await holder.mcp(), other: await other.mcp() };
  const stream = await socketClient(copies.holder.url);
  stream.send(formatRequest("GET", "/sse", { "X-API-Key": key }));
  await stream.waitFor("sessionId=");
  const endpoint = /data: (\S+)/.exec(stream.received())![1]!;
  const post = (url: string, method: string, id: number, params: unknown) =>
    apiClient(url, key)("POST", endpoint, { jsonrpc: "2.0", id, method, params });
  await post(copies.holder.url, "initialize", 0, {
    protocolVersion: "2024-11-05",
    capabilities: {},
    clientInfo: { name: "never-reads", version: "1" },
  });
  await stream.waitFor('"id":0');
  stream.socket.pause();
  const read = (copy: keyof typeof copies, id: number) =>
    post(copies[copy].url, "tools/call", id, { name: "get_workflow", arguments: { workflow_id: "large" } });
  return { stream, copies, read };
}

/** Reads the rest and discards it, because it has hundreds of megabytes. */
function readUpTo(socket: Socket, text: string): Promise<void> {
  let tail = "";
  socket.removeAllListeners("data");
  return new Promise((resolve) => {
    socket.on("data", (chunk: string) => {
      tail = tail.slice(-text.length) + chunk;
      if (tail.includes(text)) resolve();
      tail = tail.slice(-text.length);
    });
    socket.resume();
  });
}

describe("a client that never reads its stream", () => {
  it.each(["holder", "other"] as const)(
    "is refused further requests once 4 MiB wait for it, whichever process receives them (%s)",
    async (copy) => {
      const { stream, copies, read } = await open();
      const before = process.memoryUsage.rss();
      let maxGrowth = 0;
      const statuses = new Map<number, number>();
      const accepted: number[] = [];
      for (let i = 0; i < CALLS; i += 20) {
        const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => read(copy, i + n + 1)));
        for (const [n, { status }] of answers.entries()) {
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          if (status === 202) accepted.push(i + n + 1);
        }
        // Lets messages to the other process arrive.
        await new Promise((resolve) => setTimeout(resolve, 30));
        maxGrowth = Math.max(maxGrowth, process.memoryUsage.rss() - before);
      }
      expect((await fetch(`${copies.holder.url}/health`)).status).toBe(200);
      // 200 responses of 1.6 MB each would need 320 MB, and more for the socket.
      expect(maxGrowth / MIB).toBeLessThan(160);
      // Requests to the process with the stream are refused; up to 100 of those to another process wait in the store.
      expect(statuses.get(503) ?? 0).toBeGreaterThanOrEqual(copy === "holder" ? CALLS / 2 : 1);

      // A client that reads again gets the waiting messages, and continues.
      await readUpTo(stream.socket, `"id":${accepted.at(-1)}}`);
    },
  );
});

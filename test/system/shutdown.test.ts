import { existsSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { apiClient } from "../support/http.ts";
import { temporaryDirectory } from "../support/instance.ts";
import { holdLock } from "../support/lock.ts";
import { runCommand, startProgram } from "../support/process.ts";
import { socketClient, formatRequest } from "../support/sockets.ts";

const LIMIT_MS = 10_000;

async function stateWithKey(): Promise<{ stateDir: string; key: string }> {
  const stateDir = temporaryDirectory();
  const { out } = await runCommand(["keys", "create", "--name", "test"], { MILLRACE_STATE_DIR: stateDir });
  return { stateDir, key: out.trim() };
}

const healthOf = async (url: string): Promise<{ status: number; body: unknown }> => {
  const response = await fetch(`${url}/health`, { headers: { Connection: "close" } });
  return { status: response.status, body: await response.json() };
};

async function openSse(url: string, key: string) {
  const client = await socketClient(url);
  client.send(formatRequest("GET", "/sse", { "X-API-Key": key, Accept: "text/event-stream" }));
  await client.waitFor("event: endpoint");
  return client;
}

describe("SIGTERM", () => {
  it.each(["serve", "mcp-sse"] as const)(
    "makes %s not healthy at once, and it goes on answering through the drain delay",
    async (command) => {
      const { stateDir, key } = await stateWithKey();
      const program = await startProgram(command, stateDir, { args: ["--drain-delay", "3"] });
      expect((await healthOf(program.url)).status).toBe(200);
      const end = program.stop();
      await vi.waitFor(async () => expect((await healthOf(program.url)).status).toBe(503), { timeout: 500 });
      const health = await healthOf(program.url);
      expect(health.body).toMatchObject({ status: "draining" });
      const path = command === "serve" ? "/workflows" : "/mcp";
      const body = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
      const answer = await apiClient(program.url, key)(
        command === "serve" ? "GET" : "POST",
        path,
        command === "serve" ? undefined : body,
        { Accept: "application/json, text/event-stream" },
      );
      expect(answer.status).toBe(200);
      expect(answer.headers.get("connection")).toBe("close");
      const { code, ms } = await end;
      expect(code).toBe(0);
      expect(ms).toBeGreaterThanOrEqual(3_000);
      expect(ms).toBeLessThan(3_000 + LIMIT_MS);
    },
  );

  it("finishes a write that waits for a lock, and ends soon after it", async () => {
    const { stateDir, key } = await stateWithKey();
    const program = await startProgram("serve", stateDir);
    const release = holdLock(stateDir);
    const created = apiClient(program.url, key)("POST", "/workflows", { name: "In flight", description: "" });
    // The answer to another client shows that the server has received the earlier write.
    await apiClient(program.url, key)("GET", "/workflows");
    const end = program.stop();
    await vi.waitFor(() => expect(program.log()).toContain("shutting down"), 5_000);
    release();
    expect((await created).status).toBe(201);
    const { code, ms } = await end;
    expect(code).toBe(0);
    expect(ms).toBeLessThan(5_000);
  });

  it("ends with 0 within 10 s with idle, silent and half-sent connections open", async () => {
    const { stateDir, key } = await stateWithKey();
    const program = await startProgram("serve", stateDir);
    const [idle, silent, halfHead, halfBody] = await Promise.all(
      Array.from({ length: 4 }, () => socketClient(program.url)),
    );
    idle!.send(formatRequest("GET", "/workflows", { "X-API-Key": key }));
    await idle!.waitFor("[]");
    halfHead!.send("POST /workflows HTTP/1.1\r\nHost: localhost\r\nX-Half");
    halfBody!.send(
      formatRequest("POST", "/workflows", {
        "X-API-Key": key,
        "Content-Type": "application/json",
        "Content-Length": "50",
      }) + '{"name":',
    );
    const { code, ms } = await program.stop();
    expect(code).toBe(0);
    expect(ms).toBeLessThan(LIMIT_MS);
    await Promise.all([idle, silent, halfHead, halfBody].map((client) => client!.ended));
  });

  it("closes event streams and ends with 0 soon if no call is in progress", async () => {
    const { stateDir, key } = await stateWithKey();
    const program = await startProgram("mcp-sse", stateDir);
    const streams = await Promise.all([1, 2, 3].map(() => openSse(program.url, key)));
    const { code, ms } = await program.stop();
    expect(code).toBe(0);
    expect(ms).toBeLessThan(5_000);
    await Promise.all(streams.map((stream) => stream.ended));
    // The answer is complete, not cut off.
    for (const stream of streams) expect(stream.received()).toMatch(/\r\n0\r\n\r\n$/);
  });

  it("answers callers that wait for a run with its present state", async () => {
    const { stateDir, key } = await stateWithKey();
    const program = await startProgram("serve", stateDir, { args: ["--workers", "0"] });
    const call = apiClient(program.url, key);
    const definition = { steps: [{ id: "pause", type: "wait", for: "1h" }] };
    await call("POST", "/workflows", { name: "Slow", description: "", definition });
    const waiting = call("POST", "/workflows/slow/runs", { wait: 50 });
    await vi.waitFor(async () => expect((await call("GET", "/runs")).body).toHaveLength(1), 5_000);
    const end = program.stop();
    const { status, body } = await waiting;
    expect([status, body.status]).toEqual([202, "queued"]);
    const { code, ms } = await end;
    expect(code).toBe(0);
    expect(ms).toBeLessThan(5_000);
  });

  it("answers MCP messages while it closes; the session continues on other copies", async () => {
    const { stateDir, key } = await stateWithKey();
    const program = await startProgram("mcp-sse", stateDir);
    const post = (body: unknown, headers: Record<string, string> = {}) =>
      apiClient(program.url, key)("POST", "/mcp", body, {
        Accept: "application/json, text/event-stream",
        ...headers,
      });
    const clientInfo = { name: "t", version: "1" };
    const begun = await post({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
    });
    const session = { "Mcp-Session-Id": begun.headers.get("mcp-session-id")! };
    await post({ jsonrpc: "2.0", method: "notifications/initialized" }, session);

    const list = JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/list", params: {} });
    const late = await socketClient(program.url);
    late.send(
      formatRequest("POST", "/mcp", {
        ...session,
        "X-API-Key": key,
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        "Content-Length": String(list.length),
        Expect: "100-continue",
      }),
    );
    await late.waitFor("100 Continue");
    const end = program.stop();
    await vi.waitFor(() => expect(healthOf(program.url)).rejects.toThrow("fetch failed"), 5_000);
    late.send(list);
    await late.ended;
    expect(late.received()).toContain("HTTP/1.1 200 ");
    expect(late.received()).toContain('"name":"create_workflow"');
    expect((await end).code).toBe(0);
  });

  it("ends with 0 within 10 s with streams open while another process holds the lock", async () => {
    const { stateDir, key } = await stateWithKey();
    const program = await startProgram("mcp-sse", stateDir);
    const stream = await openSse(program.url, key);
    holdLock(stateDir);
    const { code, ms } = await program.stop();
    expect(code).toBe(0);
    expect(ms).toBeLessThan(LIMIT_MS);
    await stream.ended;
  });

  it("ends with 0 when its log is no longer read", async () => {
    const { stateDir, key } = await stateWithKey();
    const program = await startProgram("serve", stateDir);
    program.child.stderr!.destroy();
    const call = apiClient(program.url, key);
    for (let i = 0; i < 20; i += 1) expect((await call("GET", "/workflows")).status).toBe(200);
    const { code, ms } = await program.stop();
    expect(code).toBe(0);
    expect(ms).toBeLessThan(LIMIT_MS);
  });

  it("leaves the database in one file, after a checkpoint", async () => {
    const { stateDir, key } = await stateWithKey();
    const program = await startProgram("serve", stateDir);
    await apiClient(program.url, key)("POST", "/workflows", { name: "One", description: "" });
    expect(await program.stop()).toMatchObject({ code: 0 });
    expect(existsSync(`${stateDir}/millrace.db-wal`)).toBe(false);
  });
});

describe("Ctrl-C", () => {
  it("ends a listener like SIGTERM, and at once when pressed again", async () => {
    const { stateDir } = await stateWithKey();
    const once = await startProgram("serve", stateDir);
    expect(await once.stop("SIGINT")).toMatchObject({ code: 0 });
    const twice = await startProgram("serve", stateDir, { args: ["--drain-delay", "60"] });
    const end = twice.stop("SIGINT");
    await vi.waitFor(() => expect(twice.log()).toContain("shutting down"), 5_000);
    twice.child.kill("SIGINT");
    const { code, ms } = await end;
    expect(code).toBe(130);
    expect(ms).toBeLessThan(5_000);
  });
});

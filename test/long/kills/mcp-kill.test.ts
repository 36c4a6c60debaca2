import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { apiClient } from "../../support/http.ts";
import { eventually } from "../../support/eventually.ts";
import { testInstance, type TestInstance } from "../../support/instance.ts";
import { type ClientName, connect, outputOf } from "../../support/mcp.ts";
import { mockHttpServer, sendJson } from "../../support/mock-http-server.ts";
import { type Program, startProgram } from "../../support/process.ts";
import { ACCEPT_HEADERS, LIST_WORKFLOWS_CALL, openSse, postMessage } from "../../support/raw-mcp.ts";

/** Starts an MCP server without an executor. */
const startMcp = (stateDir: string, port = "0"): Promise<Program> =>
  startProgram("mcp-sse", stateDir, { args: ["--workers", "0", "--port", port] });

/** Kills a server and starts it again on its port. */
async function killAndRestart(program: Program, stateDir: string): Promise<void> {
  await program.stop("SIGKILL");
  await startMcp(stateDir, new URL(program.url).port);
}

/** Starts an executor, and creates a workflow whose runs end when the test calls `release`. */
async function createSlow(instance: TestInstance, key: string) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const peer = await mockHttpServer(async (_request, response) => {
    await released;
    sendJson(response, { answer: 42 });
  });
  const config = { http: { allowed_hosts: [peer.host] } };
  writeFileSync(join(instance.stateDir, "config.yaml"), JSON.stringify(config));
  await instance.executor({ config });
  const call = apiClient((await instance.rest({ config })).url, key);
  const definition = {
    inputs: { type: "object", properties: { text: { type: "string", default: "" } } },
    steps: [{ id: "asked", type: "http", url: peer.url }],
    output: "${{ steps.asked.body.answer }}",
  };
  const created = await call("POST", "/workflows", { name: "Slow", description: "", definition });
  expect([created.status, created.body.issues]).toEqual([201, []]);
  const runCount = async () => ((await call("GET", "/runs")).body as unknown[]).length;
  return {
    release,
    runCount,
    started: () => eventually(async () => (await runCount()) > 0 || undefined, "a run"),
  };
}

/** The message of a call's error; "answered" without one. */
const outcomeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "answered",
    (error: Error) => error.message,
  );

/** A client of a server of its own, and a workflow. */
async function open(way: ClientName) {
  const instance = await testInstance();
  const { value: key } = await instance.key();
  const workflow = await createSlow(instance, key);
  const program = await startMcp(instance.stateDir);
  return { instance, program, workflow, client: await connect(way, program.url, key) };
}

describe("kill -9 of the process that holds an SSE stream", () => {
  it("makes messages to its stream 404, through every other process", { timeout: 60_000 }, async () => {
    const instance = await testInstance();
    const key = { "X-API-Key": (await instance.key()).value, ...ACCEPT_HEADERS };
    const [holder, other] = [await startMcp(instance.stateDir), await startMcp(instance.stateDir)];
    const { stream, messages } = await openSse(holder.url, key);
    const elsewhere = messages.replace(holder.url, other.url);
    expect((await postMessage(elsewhere, key, LIST_WORKFLOWS_CALL)).status).toBe(202);
    await stream.waitFor(/"structuredContent"/);

    await holder.stop("SIGKILL");
    const answer = await postMessage(elsewhere, key, LIST_WORKFLOWS_CALL);
    expect([answer.status, answer.json().code]).toEqual([404, "session_not_found"]);
    expect(await instance.store.read.selectFrom("mcp_messages").select("id").execute()).toEqual([]);
    expect(await instance.store.read.selectFrom("mcp_sessions").select("id").execute()).toEqual([]);
  });
});

describe("kill -9 of an MCP server while a client of 2026-07-28 waits for a call", () => {
  it("makes the call fail at once, because this revision can't resume it", { timeout: 60_000 }, async () => {
    const { workflow, program, client } = await open("v2 pinned to 2026-07-28");
    const outcome = outcomeOf(client.call("run_workflow", { workflow_id: "slow", wait: 50 }));
    await workflow.started();
    await program.stop("SIGKILL");
    expect(await outcome).toMatch(/fetch failed|closed|disconnect/i);
  });
});

describe.each(["v1 over Streamable HTTP", "v2 over Streamable HTTP, legacy"] as const)(
  "kill -9 of an MCP server while a client waits for a call: %s",
  (way) => {
    it("returns the output of the run, which was started once", { timeout: 60_000 }, async () => {
      const { instance, program, workflow, client } = await open(way);
      const answer = client.call("run_workflow", { workflow_id: "slow", wait: 50 });
      await workflow.started();
      await killAndRestart(program, instance.stateDir);
      workflow.release();
      expect(outputOf(await answer)).toMatchObject({ status: "succeeded", output: 42 });
      expect(await workflow.runCount()).toBe(1);
    });

    it("answers a call that is too large to resume with an error", { timeout: 60_000 }, async () => {
      const { instance, program, workflow, client } = await open(way);
      const text = randomBytes(20_000).toString("base64");
      const outcome = outcomeOf(
        client.call("run_workflow", { workflow_id: "slow", inputs: { text }, wait: 50 }),
      );
      await workflow.started();
      await killAndRestart(program, instance.stateDir);
      expect(await outcome).toMatch(/interrupted.*list_runs/s);
      expect(await workflow.runCount()).toBe(1);
    });
  },
);

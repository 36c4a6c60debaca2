import type { Client } from "@modelcontextprotocol/client";
import { createTaskSessionFromClient, resultFromTaskOutcome } from "@modelcontextprotocol/ext-tasks/client";
import { describe, expect, it, onTestFinished } from "vitest";
import { DAY } from "../../src/core/clock.ts";
import { eventually } from "../support/eventually.ts";
import { startTestExecutor } from "../support/executor.ts";
import { testInstance } from "../support/instance.ts";
import type { Json } from "../support/json.ts";
import { connect, outputOf } from "../support/mcp.ts";
import { openEventStream } from "../support/raw-http.ts";
import { ACCEPT_HEADERS, modernRequest, postMessage } from "../support/raw-mcp.ts";

const TASKS = { extensions: { "io.modelcontextprotocol/tasks": {} } };

/** The MCP server with an executor and a workflow that waits for an event. */
async function open() {
  const instance = await testInstance();
  await startTestExecutor(instance);
  const mcp = await instance.mcp();
  const { url } = mcp;
  const { value: key } = await instance.key({ scopes: ["read", "write", "publish", "run"] });
  const author = await connect("v2 pinned to 2026-07-28", url, key);
  const define = async (name: string, definition: object): Promise<string> => {
    const workflow = outputOf(await author.call("create_workflow", { name, definition }));
    expect(workflow.issues).toEqual([]);
    return workflow.id as string;
  };
  const ask = async (
    method: string,
    params: object,
    options: { key?: string; capabilities?: object } = {},
  ) => {
    const headers = { "X-API-Key": options.key ?? key, ...ACCEPT_HEADERS };
    const request = modernRequest(headers, method, params, options.capabilities ?? TASKS);
    const answer = await postMessage(`${url}/mcp`, request.headers, request.body);
    return answer.json();
  };
  return { instance, mcp, url, key, define, ask };
}

type Opened = Awaited<ReturnType<typeof open>>;

const SLOW = {
  steps: [
    { id: "pause", type: "wait", for: "1s" },
    { id: "say", type: "set", needs: ["pause"], values: { text: "Hello" } },
  ],
  output: "${{ steps.say.text }}",
};
const ENDLESS = { steps: [{ id: "pause", type: "wait", for: "1h" }] };

const start = async ({ ask }: Opened, id: string, options?: { capabilities?: object; key?: string }) =>
  (await ask("tools/call", { name: "run_workflow", arguments: { workflow_id: id, wait: 0 } }, options))
    .result;

/** How long runs are kept unless `retention.runs` says otherwise. */
const KEPT_MS = 90 * DAY;

describe("a run as a task", () => {
  it("is a handle while it goes on, and then the result of the call", async () => {
    const opened = await open();
    const { define, ask } = opened;
    const id = await define("Slow", SLOW);
    const task = await start(opened, id);
    expect(task).toMatchObject({
      resultType: "task",
      taskId: expect.stringMatching(/^run_/),
      status: "working",
      statusMessage: expect.stringMatching(/^The run is (queued|running|waiting)\. /),
      pollIntervalMs: 1_000,
    });
    expect(task.ttlMs).toBeGreaterThanOrEqual(KEPT_MS);
    expect(task.structuredContent).toBeUndefined();
    const ended = await eventually(async () => {
      const { result } = await ask("tasks/get", { taskId: task.taskId });
      expect(result.resultType).toBe("complete");
      return result.status === "working" ? undefined : result;
    }, "the end of the task");
    expect(ended).toMatchObject({ taskId: task.taskId, status: "completed" });
    // From its creation on, as the protocol says; runs are kept from their end on.
    const { created_at: created, finished_at: finished } = ended.result.structuredContent;
    expect(ended.ttlMs).toBe(Date.parse(finished) - Date.parse(created) + KEPT_MS);
    expect(ended.result.structuredContent).toMatchObject({
      id: task.taskId,
      status: "succeeded",
      output: "Hello",
    });
    expect(JSON.parse(ended.result.content[0].text)).toEqual(ended.result.structuredContent);
  });

  it("is the result at once when the run has ended in time", async () => {
    const { define, ask } = await open();
    const id = await define("Quick", { steps: [{ id: "say", type: "set", values: { n: 1 } }] });
    const { result } = await ask("tools/call", {
      name: "run_workflow",
      arguments: { workflow_id: id, wait: 20 },
    });
    expect(result).toMatchObject({ resultType: "complete", structuredContent: { status: "succeeded" } });
  });

  it("has the output of the call, cut at the same length", async () => {
    const { define, ask } = await open();
    const id = await define("Long", {
      steps: [{ id: "say", type: "set", values: { text: "x".repeat(9_000) } }],
      output: "${{ steps.say.text }}",
    });
    const { result: run } = await ask("tools/call", {
      name: "run_workflow",
      arguments: { workflow_id: id, wait: 20 },
    });
    const { result: task } = await ask("tasks/get", { taskId: run.structuredContent.id });
    expect(task.result.structuredContent.output).toEqual(run.structuredContent.output);
  });

  it("is completed, with its error, when the run fails", async () => {
    const { define, ask } = await open();
    const id = await define("Broken", {
      steps: [{ id: "check", type: "assert", that: "${{ false }}", message: "Never right." }],
    });
    const { result: run } = await ask("tools/call", {
      name: "run_workflow",
      arguments: { workflow_id: id, wait: 20 },
    });
    const { result } = await ask("tasks/get", { taskId: run.structuredContent.id });
    expect(result).toMatchObject({
      status: "completed",
      result: {
        structuredContent: { status: "failed", error: { message: expect.stringContaining("Never right.") } },
      },
    });
  });

  it("is cancelled with the run, and a second time without an error", async () => {
    const opened = await open();
    const { define, ask } = opened;
    const { taskId } = await start(opened, await define("Endless", ENDLESS));
    expect((await ask("tasks/update", { taskId, inputResponses: {} })).result).toMatchObject({
      resultType: "complete",
    });
    expect((await ask("tasks/cancel", { taskId })).result).toMatchObject({ resultType: "complete" });
    await eventually(
      async () => (await ask("tasks/get", { taskId })).result.status === "cancelled" || undefined,
      "the cancelled task",
    );
    expect((await ask("tasks/cancel", { taskId })).error).toBeUndefined();
  });

  it("goes on in another copy", async () => {
    const opened = await open();
    const { instance, define, key } = opened;
    const { taskId } = await start(opened, await define("Endless", ENDLESS));
    const copy = await instance.mcp();
    const request = modernRequest({ "X-API-Key": key, ...ACCEPT_HEADERS }, "tasks/get", { taskId }, TASKS);
    const answer = await postMessage(`${copy.url}/mcp`, request.headers, request.body);
    expect(answer.json().result).toMatchObject({ taskId, status: "working" });
  });
});

describe("a task is not made", () => {
  it("for a client that does not know tasks", async () => {
    const opened = await open();
    const result = await start(opened, await opened.define("Endless", ENDLESS), { capabilities: {} });
    expect(result).toMatchObject({ resultType: "complete", structuredContent: { finished_at: null } });
  });

  it("for a key that may not ask for runs", async () => {
    const opened = await open();
    const id = await opened.define("Endless", ENDLESS);
    const { value: key } = await opened.instance.key({
      scopes: ["read", "run"],
      limits: { tools: ["run_workflow"] },
    });
    expect(await start(opened, id, { key })).toMatchObject({ resultType: "complete" });
  });
});

describe("a task that the caller can't find", () => {
  it.each(["tasks/get", "tasks/update", "tasks/cancel"])("is refused by %s", async (method) => {
    const { ask } = await open();
    const { error } = await ask(method, { taskId: "run_000000000000" });
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("There is no run") });
    expect((await ask(method, {})).error).toMatchObject({ code: -32602 });
  });
});

/** Opens a subscription; `read` returns the messages that have come. */
async function listen({ url, key }: Opened, notifications: object, capabilities: object = TASKS) {
  const headers = { "X-API-Key": key, ...ACCEPT_HEADERS };
  const request = modernRequest(headers, "subscriptions/listen", { notifications }, capabilities);
  const stream = await openEventStream("POST", `${url}/mcp`, request);
  const read = (): Json[] =>
    [...stream.text().matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!));
  return { stream, read };
}

describe("a client that listens for tasks", () => {
  it("learns that they end, with their results, and the stream ends with the last", async () => {
    const opened = await open();
    const { define, ask } = opened;
    const [slow, endless] = [
      await start(opened, await define("Slow", SLOW)),
      await start(opened, await define("Endless", ENDLESS)),
    ];
    const ids = [slow.taskId, endless.taskId, "run_000000000000"];
    const { stream, read } = await listen(opened, { taskIds: ids });
    const ofTask = (id: string) =>
      read().flatMap(({ method, params }) =>
        method === "notifications/tasks" && params.taskId === id ? [params] : [],
      );
    await eventually(
      () => ofTask(slow.taskId).some(({ status }) => status === "completed") || undefined,
      "the end",
    );
    expect(read()[0]).toMatchObject({
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: { taskIds: [slow.taskId, endless.taskId] } },
    });
    expect(ofTask(slow.taskId).at(-1)).toMatchObject({
      result: { structuredContent: { output: "Hello" } },
      _meta: { "io.modelcontextprotocol/subscriptionId": 1 },
    });
    expect(stream.ended()).toBe(false);
    await ask("tasks/cancel", { taskId: endless.taskId });
    await eventually(() => stream.ended() || undefined, "the end of the stream");
    expect(ofTask(endless.taskId).at(-1)).toMatchObject({ status: "cancelled" });
    expect(read().at(-1)).toMatchObject({ id: 1, result: { resultType: "complete" } });
  });

  it("gets the other notifications on the same stream", async () => {
    const opened = await open();
    const { mcp, define } = opened;
    const { taskId } = await start(opened, await define("Slow", SLOW));
    const { stream, read } = await listen(opened, { taskIds: [taskId], toolsListChanged: true });
    await eventually(
      () => read().some(({ params }) => params?.status === "completed") || undefined,
      "the end",
    );
    expect(read()[0].params.notifications).toEqual({ taskIds: [taskId], toolsListChanged: true });
    expect(stream.ended()).toBe(false);
    await mcp.stop(0);
    await eventually(() => stream.ended() || undefined, "the end of the stream");
  });

  it("learns nothing about runs that it can't see", async () => {
    const opened = await open();
    const { value: key } = await opened.instance.key({
      scopes: ["read", "run"],
      limits: { workflows: ["other"] },
    });
    const { taskId } = await start(opened, await opened.define("Endless", ENDLESS));
    const { stream, read } = await listen({ ...opened, key }, { taskIds: [taskId] });
    await eventually(() => stream.ended() || undefined, "the end of the stream");
    expect(read().map(({ method, params }) => [method, params?.notifications])).toEqual([
      ["notifications/subscriptions/acknowledged", { taskIds: [] }],
      [undefined, undefined],
    ]);
  });

  it("is refused without the extension, and with too many tasks", async () => {
    const { ask } = await open();
    const taskIds = Array.from({ length: 21 }, (_, index) => `run_${index}`);
    const without = await ask("subscriptions/listen", { notifications: { taskIds } }, { capabilities: {} });
    expect(without.error).toMatchObject({ code: -32021, data: { requiredCapabilities: TASKS } });
    const tooMany = await ask("subscriptions/listen", { notifications: { taskIds } });
    expect(tooMany.error).toMatchObject({
      code: -32602,
      message: expect.stringContaining("at most 20 tasks"),
    });
  });
});

it("the tasks client of the MCP project settles a long run", async () => {
  const opened = await open();
  const { url, key, define } = opened;
  const id = await define("Slow", SLOW);
  const { Client: McpClient, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const info = { name: "tasks", version: "1" };
  const client: Client = new McpClient(info, {
    capabilities: TASKS,
    versionNegotiation: { mode: { pin: "2026-07-28" } },
  });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
      requestInit: { headers: { "X-API-Key": key } },
    }),
  );
  onTestFinished(() => client.close());
  const session = createTaskSessionFromClient(client, {
    endpointId: "millrace",
    async rawDispatch(request) {
      const body = request as { method: string; params?: { name?: string; taskId?: string } };
      const name = body.params?.name ?? body.params?.taskId;
      const headers = {
        "X-API-Key": key,
        ...ACCEPT_HEADERS,
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": body.method,
        ...(name !== undefined && { "Mcp-Name": name }),
      };
      const { result } = (
        await postMessage(`${url}/mcp`, headers, { jsonrpc: "2.0", id: 1, ...body })
      ).json();
      return { kind: "result", result };
    },
    v2RequestFraming: { protocolVersion: "2026-07-28", clientInfo: info, clientCapabilities: TASKS },
  });
  const execution = await session.callTool("run_workflow", { workflow_id: id, wait: 0 });
  const { outcome } = await execution.settle();
  expect(resultFromTaskOutcome(outcome)).toMatchObject({
    structuredContent: { status: "succeeded", output: "Hello" },
  });
  await session.close();
});

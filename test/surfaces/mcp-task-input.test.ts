/** Tasks whose runs wait for people: what the client shows them, and that only they decide. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createTaskSessionFromClient, resultFromTaskOutcome } from "@modelcontextprotocol/ext-tasks/client";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Run } from "../../schemas/run.ts";
import { pendingDecisions, urlRequests } from "../../src/surfaces/mcp/task-input.ts";
import { eventually } from "../support/eventually.ts";
import { startTestExecutor } from "../support/executor.ts";
import { testInstance } from "../support/instance.ts";
import type { Json } from "../support/json.ts";
import { connect, outputOf } from "../support/mcp.ts";
import { openEventStream } from "../support/raw-http.ts";
import { ACCEPT_HEADERS, modernRequest, postMessage } from "../support/raw-mcp.ts";

const TASKS = { extensions: { "io.modelcontextprotocol/tasks": {} } };
const SHOWS_PAGES = { ...TASKS, elicitation: { url: {} } };
const SHOWS_FORMS = { ...TASKS, elicitation: { form: {} } };
const WEB = "https://millrace.example.com/base";

const ASKS = {
  steps: [
    { id: "ask", type: "approval", message: "Send it?" },
    { id: "say", type: "set", needs: ["ask"], values: { text: "Sent" } },
  ],
  output: "${{ steps.say.text }}",
};

/** The MCP server of an installation with a public address, a key that runs workflows and a person who decides. */
async function open() {
  const instance = await testInstance();
  await startTestExecutor(instance);
  const { url } = await instance.mcp({ env: { MILLRACE_BASE_URL: WEB } });
  const { value: key } = await instance.key({ scopes: ["read", "write", "publish", "run"] });
  const { value: deciding } = await instance.key({ scopes: ["read", "approve"] });
  const author = await connect("v2 pinned to 2026-07-28", url, key);
  const person = await connect("v2 pinned to 2026-07-28", url, deciding);
  const define = async (name: string, definition: object): Promise<string> => {
    const workflow = outputOf(await author.call("create_workflow", { name, definition }));
    expect(workflow.issues).toEqual([]);
    return workflow.id as string;
  };
  const ask = async (method: string, params: object, capabilities: object = SHOWS_PAGES) => {
    const request = modernRequest({ "X-API-Key": key, ...ACCEPT_HEADERS }, method, params, capabilities);
    return (await postMessage(`${url}/mcp`, request.headers, request.body)).json();
  };
  const start = async (id: string, capabilities?: object) => {
    const call = { name: "run_workflow", arguments: { workflow_id: id, wait: 0 } };
    return (await ask("tools/call", call, capabilities)).result.taskId as string;
  };
  /** The task, once it has this status. */
  const reaches = (taskId: string, status: string, capabilities?: object): Promise<Json> =>
    eventually(async () => {
      const { result } = await ask("tasks/get", { taskId }, capabilities);
      return result.status === status ? result : undefined;
    }, `the status ${status}`);
  /** Decides all approvals that are pending. */
  const decide = async (decision: "approve" | "decline") => {
    const { items } = outputOf(await person.call("list_approvals", {}));
    for (const { id } of items as { id: string }[])
      outputOf(await person.call("decide_approval", { approval_id: id, decision }));
    return items.length as number;
  };
  return { instance, url, key, define, ask, start, reaches, decide };
}

describe("a task whose run waits for an approval", () => {
  it("requires input: the page of the approval, on which alone it is decided", async () => {
    const { define, ask, start, reaches, decide } = await open();
    const taskId = await start(await define("Asks", ASKS));
    const task = await reaches(taskId, "input_required");
    const [[key, request]] = Object.entries<Json>(task.inputRequests) as [[string, Json]];
    const approval = key.split(".")[0]!;
    expect(request).toEqual({
      method: "elicitation/create",
      params: {
        mode: "url",
        url: `${WEB}/ui/approvals/${approval}`,
        message: expect.stringMatching(
          /^A run of the workflow asks needs an approval: Send it\?\n\nOnly the page/,
        ),
      },
    });
    expect(task.statusMessage).toContain(`A person decides at ${WEB}/ui/approvals/${approval}.`);
    for (const action of ["accept", "decline", "cancel"]) {
      const answer = { taskId, inputResponses: { [key]: { action, content: { decision: "approve" } } } };
      expect((await ask("tasks/update", answer)).result).toMatchObject({ resultType: "complete" });
      const { result } = await ask("tasks/get", { taskId });
      expect([result.status, result.inputRequests]).toEqual(["input_required", task.inputRequests]);
    }
    expect(await decide("approve")).toBe(1);
    const ended = await reaches(taskId, "completed");
    expect(ended.inputRequests).toBeUndefined();
    expect(ended.result.structuredContent).toMatchObject({ status: "succeeded", output: "Sent" });
  });

  it.each([
    ["nothing", TASKS],
    ["forms alone", SHOWS_FORMS],
  ])("names the page in its message for a client that shows people %s", async (_what, capabilities) => {
    const { define, start, reaches } = await open();
    const taskId = await start(await define("Asks", ASKS), capabilities);
    const task = await reaches(taskId, "input_required", capabilities);
    expect(task.inputRequests).toEqual({});
    expect(task.statusMessage).toMatch(/A person decides at https:\S+\/base\/ui\/approvals\/[\w-]+\.$/);
  });

  it("requires it while other steps run, and where the answer to a call creates the task", async () => {
    const { define, ask, reaches, decide } = await open();
    const beside = { steps: [...ASKS.steps, { id: "pause", type: "wait", for: "1h" }] };
    const args = { workflow_id: await define("Beside", beside), wait: 0, idempotency_key: "once" };
    const create = async () => (await ask("tools/call", { name: "run_workflow", arguments: args })).result;
    const { taskId } = await create();
    await reaches(taskId, "input_required");
    const again = await create();
    expect(again).toMatchObject({ resultType: "task", taskId, status: "input_required" });
    expect(again.inputRequests).toBeUndefined();
    await decide("decline");
    await reaches(taskId, "working");
  });

  it("is not seen by a key that can't see its run", async () => {
    const { instance, url, define, start, reaches } = await open();
    const taskId = await start(await define("Asks", ASKS));
    await reaches(taskId, "input_required");
    const { value: key } = await instance.key({ scopes: ["read", "run"], limits: { workflows: ["other"] } });
    const headers = { "X-API-Key": key, ...ACCEPT_HEADERS };
    const request = modernRequest(headers, "tasks/get", { taskId }, SHOWS_PAGES);
    const answer = (await postMessage(`${url}/mcp`, request.headers, request.body)).json();
    expect(answer.error.message).toContain("There is no run");
    expect(JSON.stringify(answer)).not.toContain("approvals");
  });
});

it("a client that listens learns of each decision that its task requires", async () => {
  const { url, key, define, start, decide } = await open();
  const twice = {
    steps: [
      { id: "first", type: "approval", message: "First?" },
      { id: "second", type: "approval", message: "Second?", needs: ["first"] },
      { id: "pause", type: "wait", for: "1h", needs: ["second"] },
    ],
  };
  const taskId = await start(await define("Twice", twice));
  const headers = { "X-API-Key": key, ...ACCEPT_HEADERS };
  const params = { notifications: { taskIds: [taskId] } };
  const stream = await openEventStream(
    "POST",
    `${url}/mcp`,
    modernRequest(headers, "subscriptions/listen", params, SHOWS_PAGES),
  );
  const last = (): Json =>
    [...stream.text().matchAll(/^data: (.*)$/gm)]
      .map(([, data]) => JSON.parse(data!))
      .findLast(({ method }) => method === "notifications/tasks")?.params;
  const asked = (message: string) =>
    eventually(() => JSON.stringify(last()?.inputRequests ?? {}).includes(message) || undefined, message);
  await asked("First?");
  await decide("approve");
  await asked("Second?");
  await decide("approve");
  const next = await eventually(() => (last().status === "working" ? last() : undefined), "the next step");
  expect(next.inputRequests).toBeUndefined();
});

/** The tasks client of the MCP project, which shows `onInputRequest` what a task requires. */
async function taskSession(
  { url, key }: { url: string; key: string },
  capabilities: object,
  onInputRequest?: (request: Json) => Promise<Json>,
) {
  const info = { name: "tasks", version: "1" };
  const client = new Client(info, {
    capabilities,
    versionNegotiation: { mode: { pin: "2026-07-28" } },
  });
  const options = { requestInit: { headers: { "X-API-Key": key } } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), options));
  onTestFinished(() => client.close());
  const session = createTaskSessionFromClient(client, {
    endpointId: "millrace",
    ...(onInputRequest && { onInputRequest: onInputRequest as never }),
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
      const answer = await postMessage(`${url}/mcp`, headers, { jsonrpc: "2.0", id: 1, ...body });
      return { kind: "result", result: answer.json().result };
    },
    v2RequestFraming: {
      protocolVersion: "2026-07-28",
      clientInfo: info,
      clientCapabilities: capabilities as never,
    },
  });
  onTestFinished(() => session.close());
  return session;
}

describe("the tasks client of the MCP project", () => {
  it("shows the page once, and settles when the person has decided", async () => {
    const opened = await open();
    const id = await opened.define("Asks", ASKS);
    const shown: string[] = [];
    const session = await taskSession(opened, SHOWS_PAGES, async ({ kind, params }) => {
      shown.push(`${kind} ${params.url}`);
      await opened.decide("approve");
      return { action: "accept" };
    });
    const execution = await session.callTool("run_workflow", { workflow_id: id, wait: 0 });
    const { outcome } = await execution.settle();
    expect(resultFromTaskOutcome(outcome)).toMatchObject({ structuredContent: { output: "Sent" } });
    expect(shown).toEqual([expect.stringMatching(/^elicitation https:.*\/ui\/approvals\/[\w-]+$/)]);
  });

  it("settles as well where it shows no pages, and where nobody opens them", async () => {
    const opened = await open();
    const id = await opened.define("Asks", ASKS);
    for (const capabilities of [TASKS, SHOWS_PAGES]) {
      const session = await taskSession(opened, capabilities);
      const execution = await session.callTool("run_workflow", { workflow_id: id, wait: 0 });
      const settling = execution.settle();
      await eventually(async () => (await opened.decide("approve")) === 1 || undefined, "the approval");
      const { outcome } = await settling;
      expect(resultFromTaskOutcome(outcome)).toMatchObject({ structuredContent: { output: "Sent" } });
    }
  });
});

const decisionsOf = (fields: object, base = WEB) =>
  pendingDecisions({ id: "run_1", workflow_id: "pay", ...fields } as unknown as Run, (path) =>
    Promise.resolve(`${base}${path}`),
  );
const requestsOf = async (message: string, base = WEB) =>
  urlRequests(await decisionsOf({ approvals: [{ id: "apr_1", step_id: "ask", message }] }, base));

describe("pendingDecisions", () => {
  it("has interruptions that wait for a person, with the page of the run, and no others", async () => {
    const interruption = { id: "int_1", step_id: "send", waiting: true };
    const interruptions = [interruption, { ...interruption, id: "int_2", waiting: false }];
    expect(await decisionsOf({ interruptions })).toEqual([
      {
        id: "int_1",
        url: `${WEB}/ui/runs/run_1`,
        message: expect.stringMatching(/^A run of the workflow pay was interrupted in the step "send"/),
      },
    ]);
  });

  it("shows hidden characters, and has a key for each request that it makes", async () => {
    expect(JSON.stringify(await requestsOf("a\u202Eb"))).toContain(String.raw`a\\u{202e}b`);
    expect(await requestsOf("a")).toEqual(await requestsOf("a"));
    const keys = [
      await requestsOf("a"),
      await requestsOf("b"),
      await requestsOf("a", "https://moved.example.com"),
    ].flatMap(Object.keys);
    expect(new Set(keys).size).toBe(3);
  });
});

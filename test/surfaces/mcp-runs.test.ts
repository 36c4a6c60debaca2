import { describe, expect, it } from "vitest";
import type { Json } from "../support/json.ts";
import { eventually } from "../support/eventually.ts";
import { startTestExecutor } from "../support/executor.ts";
import { testInstance } from "../support/instance.ts";
import { type ClientName, connect, outputOf, problemOf } from "../support/mcp.ts";
import { openEventStream } from "../support/raw-http.ts";
import type { KeyLimits } from "../../src/core/access.ts";
import { addProject } from "../support/projects.ts";
import {
  ACCEPT_HEADERS,
  INITIALIZE_REQUEST,
  LIST_WORKFLOWS_CALL,
  modernRequest,
  openSession,
  postMessage,
  toolCall,
} from "../support/raw-mcp.ts";
import { startTimer } from "../support/expect-cost.ts";

const WAYS: readonly ClientName[] = [
  "v1 over SSE",
  "v1 over Streamable HTTP",
  "v2 over Streamable HTTP, legacy",
  "v2 pinned to 2026-07-28",
];

/** The MCP server with an executor, a key that can run workflows and one that can decide approvals. */
async function open() {
  const instance = await testInstance();
  await startTestExecutor(instance);
  const { url } = await instance.mcp();
  const { value: key } = await instance.key({ scopes: ["read", "write", "publish", "run"] });
  const { value: decider } = await instance.key({ scopes: ["read", "approve"] });
  const author = await connect("v2 pinned to 2026-07-28", url, key);
  const { value: adminKey } = await instance.key({
    name: "admin",
    scopes: ["read", "write", "publish", "run", "admin"],
  });
  const admin = await connect("v2 pinned to 2026-07-28", url, adminKey);
  return {
    instance,
    url,
    key,
    decider,
    author,
    async define(name: string, definition: object, more: object = {}): Promise<string> {
      const workflow = outputOf(await author.call("create_workflow", { name, definition, ...more }));
      expect(workflow.issues).toEqual([]);
      return workflow.id as string;
    },
    /** Publishes as an admin, who thereby consents to a tool. */
    publish: async (id: string) => outputOf(await admin.call("publish_workflow", { workflow_id: id })),
  };
}

const sets = (id: string) => ({ id, type: "set", values: { n: 1 } });
const pauses = (id: string) => ({ id, type: "wait", for: "200ms" });

describe.each(WAYS)("progress, %s", (way) => {
  it("is reported while the caller waits for a run", async () => {
    const { url, key, define } = await open();
    const steps = [sets("first"), pauses("pause"), sets("middle"), pauses("rest"), sets("last")];
    const id = await define("Slow", { steps });
    const client = await connect(way, url, key);
    const received: { progress: number; total?: number | undefined; message?: string | undefined }[] = [];
    const answer = await client.call(
      "run_workflow",
      { workflow_id: id },
      { onprogress: (progress) => void received.push(progress) },
    );
    expect(outputOf(answer)).toMatchObject({ status: "succeeded", output: { n: 1 } });
    expect(received.map(({ total }) => total)).toEqual(received.map(() => 5));
    const values = received.map(({ progress }) => progress);
    expect(values).toEqual([...new Set(values)].toSorted((a, b) => a - b));
    const messages = received.map(({ progress, message }) => `${progress} ${message}`);
    expect(messages).toContainEqual(expect.stringMatching(/^1 .*; pause (running|waiting)$/));
    expect(messages).toContainEqual(expect.stringMatching(/^3 .*middle succeeded; rest (running|waiting)$/));
  });

  it("ends with the call, and the run continues", async () => {
    const { instance, key, define, author } = await open();
    const id = await define("Slow", { steps: [sets("first"), { id: "pause", type: "wait", for: "40s" }] });
    const copy = await instance.mcp();
    const client = await connect(way, copy.url, key);
    const controller = new AbortController();
    const call = client.call(
      "run_workflow",
      { workflow_id: id, wait: 50 },
      { signal: controller.signal, onprogress: () => controller.abort() },
    );
    await expect(call).rejects.toThrow(/abort/i);
    // The first progress may be reported before the run is recorded as running.
    const run = await eventually(async () => {
      const { items } = outputOf(await client.call("list_runs", { workflow_id: id }));
      expect(items).toMatchObject([{ status: expect.stringMatching(/^(queued|running|waiting)$/) }]);
      return items[0].status === "waiting" ? items[0] : undefined;
    }, "the run to reach its second step");
    // The server would wait for a call in progress, and for a response that is still open.
    const expectElapsed = startTimer();
    await copy.stop(0);
    expectElapsed(15_000);
    const afterStop = outputOf(await author.call("get_run", { run_id: run.id }));
    expect(afterStop).toMatchObject({ status: "waiting", error: null });
  });
});

describe("a call on /mcp that its client cancels", () => {
  it("ends its response without an answer, and the session continues", async () => {
    const { url, key, define } = await open();
    const id = await define("Slow", { steps: [sets("first"), { id: "pause", type: "wait", for: "40s" }] });
    const session = await openSession(url, { "X-API-Key": key, ...ACCEPT_HEADERS });
    const params = {
      name: "run_workflow",
      arguments: { workflow_id: id, wait: 50 },
      _meta: { progressToken: "p" },
    };
    const response = await openEventStream("POST", `${url}/mcp`, {
      headers: session,
      body: { jsonrpc: "2.0", id: "slow", method: "tools/call", params },
    });
    await response.waitFor(/"notifications\/progress"/);
    const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "slow" } };
    expect((await postMessage(`${url}/mcp`, session, cancelled)).status).toBe(202);
    await eventually(() => response.ended() || undefined, "the end of the response");
    expect(response.text()).not.toContain('"id":"slow"');
    const next = await postMessage(`${url}/mcp`, session, LIST_WORKFLOWS_CALL);
    expect(next.json().result.structuredContent.items).toMatchObject([{ id }]);
  });

  it("stays open when another request is cancelled", async () => {
    const { url, key, define } = await open();
    const id = await define("Slow", { steps: [sets("first"), pauses("pause"), sets("last")] });
    const session = await openSession(url, { "X-API-Key": key, ...ACCEPT_HEADERS });
    const call = postMessage(`${url}/mcp`, session, {
      jsonrpc: "2.0",
      id: "slow",
      method: "tools/call",
      params: { name: "run_workflow", arguments: { workflow_id: id, wait: 50 } },
    });
    for (const params of [{ requestId: "other" }, {}]) {
      const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params };
      expect((await postMessage(`${url}/mcp`, session, cancelled)).status).toBe(202);
    }
    expect((await call).json().result.structuredContent).toMatchObject({ status: "succeeded" });
  });
});

const FORM = {
  type: "object",
  properties: {
    amount: { type: "integer", minimum: 1, maximum: 10, description: "How much." },
    colour: { type: "string", enum: ["red", "green"] },
    notes: { type: "array", items: { type: "string" } },
    id: { type: "integer", maximum: "9223372036854775807", default: "9007199254740993" },
  },
  required: ["amount"],
};
const asking = (form?: object) => ({
  steps: [{ id: "ask", type: "approval", message: "Send it?", ...(form && { form }) }],
  output: { by: "${{ steps.ask.by }}", said: "${{ steps.ask.form }}", why: "${{ steps.ask.comment }}" },
});

describe.each(WAYS)("an approval, %s", (way) => {
  it("is decided by the person through elicitation", async () => {
    const { url, decider, define, author } = await open();
    const id = await define("Ask", asking(FORM));
    const run = outputOf(await author.call("run_workflow", { workflow_id: id }));
    const approval = run.approvals[0].id as string;
    let request: Json;
    const client = await connect(way, url, decider, undefined, {
      elicit(question) {
        request = question;
        return {
          action: "accept",
          content: { decision: "approve", comment: "Right.", form_amount: 5, form_colour: "red" },
        };
      },
    });
    const decided = outputOf(await client.call("decide_approval", { approval_id: approval }));
    expect(decided).toMatchObject({
      status: "approved",
      comment: "Right.",
      answer: { amount: 5, colour: "red" },
    });
    expect(request.message).toBe("ask: Send it?\n\nNothing else runs after the decision.");
    expect(request.requestedSchema).toMatchObject({
      required: ["decision"],
      properties: {
        decision: { enum: ["approve", "decline"] },
        form_amount: { type: "integer", minimum: 1, title: "amount" },
        form_colour: { type: "string", enum: ["red", "green"] },
        form_id: { type: "integer", title: "id" },
      },
    });
    expect(Object.keys(request.requestedSchema.properties)).not.toContain("form_notes");
    // A client could not hold its limit and its default.
    expect(request.requestedSchema.properties.form_id).toEqual({ title: "id", type: "integer" });
    const ended = await eventually(async () => {
      const now = outputOf(await author.call("get_run", { run_id: run.id }));
      return now.status === "succeeded" ? now : undefined;
    }, "the end of the run");
    expect(ended.output).toMatchObject({ said: { amount: 5, colour: "red" }, why: "Right." });
  });

  it("stays pending when the person gives no answer or an invalid one", async () => {
    const { url, decider, define, author } = await open();
    const id = await define("Ask", asking(FORM));
    const run = outputOf(await author.call("run_workflow", { workflow_id: id }));
    const approval = run.approvals[0].id as string;
    const answers = [
      { action: "decline" as const },
      { action: "cancel" as const },
      { action: "accept" as const, content: { decision: "approve" } },
    ];
    const client = await connect(way, url, decider, undefined, { elicit: () => answers.shift()! });
    for (const code of ["confirmation_needed", "confirmation_needed", "invalid_input"]) {
      expect(problemOf(await client.call("decide_approval", { approval_id: approval })).code).toBe(code);
    }
    const { items } = outputOf(await author.call("list_approvals", {}));
    expect(items).toMatchObject([{ id: approval, status: "pending" }]);
  });

  it("is not shown to a person who may not decide it, nor decided without one", async () => {
    const { url, instance, define, author } = await open();
    const id = await define("Ask", asking({ ...FORM, required: ["notes"] }));
    const { value: starter } = await instance.key({ scopes: ["read", "run", "approve"] });
    let elicitations = 0;
    const elicit = () => {
      elicitations += 1;
      return { action: "cancel" as const };
    };
    const mine = await connect(way, url, starter, undefined, { elicit });
    const run = outputOf(await mine.call("run_workflow", { workflow_id: id }));
    const args = { approval_id: run.approvals[0].id as string };
    expect(problemOf(await mine.call("decide_approval", args)).code).toBe("approval_not_yours");
    const { value: other } = await instance.key({ scopes: ["approve"] });
    const able = await connect(way, url, other, undefined, { elicit });
    const tooMuch = problemOf(await able.call("decide_approval", args));
    expect(tooMuch.errors).toMatchObject([{ path: "form", message: expect.stringContaining("notes") }]);
    const unable = await connect(way, url, other);
    const missing = problemOf(await unable.call("decide_approval", args));
    expect(missing.errors).toMatchObject([{ path: "decision", allowed: ["approve", "decline"] }]);
    expect(elicitations).toBe(0);
    await author.close();
  });
});

describe("an approval, over JSON alone", () => {
  it("is asked for only where the answer can carry the question", async () => {
    const { url, decider, define, author } = await open();
    const id = await define("Ask", asking());
    const run = outputOf(await author.call("run_workflow", { workflow_id: id }));
    const call = toolCall("decide_approval", { approval_id: run.approvals[0].id as string });
    const headers = { "X-API-Key": decider, Accept: "application/json" };
    const capabilities = { elicitation: { form: {} } };

    const { params } = INITIALIZE_REQUEST;
    const initialize = { ...INITIALIZE_REQUEST, params: { ...params, capabilities } };
    const started = await postMessage(`${url}/mcp`, headers, initialize);
    const session = { ...headers, "Mcp-Session-Id": started.headers["mcp-session-id"] as string };
    const refused = JSON.parse((await postMessage(`${url}/mcp`, session, call)).text);
    expect(problemOf(refused.result).errors).toMatchObject([{ path: "decision" }]);

    const modern = modernRequest(headers, "tools/call", call.params, capabilities);
    const asked = JSON.parse((await postMessage(`${url}/mcp`, modern.headers, modern.body)).text);
    expect(asked.result.inputRequests.answer).toMatchObject({ method: "elicitation/create" });
  });
});

const exposed = (more: object = {}) => ({
  expose_as_tool: true,
  inputs: { type: "object", properties: { n: { type: "integer", default: 2 } } },
  steps: [{ id: "double", type: "set", values: { n: "${{ inputs.n * 2 }}" } }],
  ...more,
});

describe("a workflow that is exposed as a tool", () => {
  it("is listed once it is published, and called like any other", async () => {
    const { author, define, publish } = await open();
    const id = await define("Double it", exposed(), { description: "Doubles a number." });
    const find = async () => (await author.listTools()).find(({ name }) => name === "run_double_it");
    expect(await find()).toBeUndefined();
    await publish(id);
    const listed = (await author.listTools()).find(({ name }) => name === "run_workflow")!;
    expect(await find()).toMatchObject({
      title: "Workflow: Double it",
      description: expect.stringMatching(
        /Workflow by operator; .*text written by its author.*"Doubles a number\."$/,
      ),
      inputSchema: exposed().inputs,
      outputSchema: listed.outputSchema,
      annotations: { readOnlyHint: true, destructiveHint: false },
    });
    expect(outputOf(await author.call("run_double_it", { n: 4 }))).toMatchObject({
      workflow_id: id,
      status: "succeeded",
      output: { n: 8 },
    });
    const { errors } = problemOf(await author.call("run_double_it", { n: "x", m: 1 }));
    expect(errors!.map(({ path }) => path).toSorted()).toEqual(["m", "n"]);

    outputOf(
      await author.call("update_workflow", {
        workflow_id: id,
        definition: exposed({ expose_as_tool: false }),
      }),
    );
    expect(await find()).toBeDefined();
    await publish(id);
    expect(await find()).toBeUndefined();
    await expect(author.call("run_double_it", {})).rejects.toThrow(/no tool/);
  });

  it("requires the scope for running, and is removed with the workflow", async () => {
    const { author, define, publish, instance, url } = await open();
    const send = { id: "send", type: "http", method: "POST", url: "https://example.com/" };
    await publish(await define("Reach out", exposed({ steps: [send] })));
    const plain = await define("Plain", exposed());
    await publish(plain);
    const { value } = await instance.key({ scopes: ["read"] });
    const reader = await connect("v1 over Streamable HTTP", url, value);
    const acts = (await author.listTools()).find(({ name }) => name === "run_reach_out")!;
    expect(acts.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    expect((await reader.listTools()).map(({ name }) => name)).not.toContain("run_reach_out");
    expect(problemOf(await reader.call("run_plain", { n: 1 })).code).toBe("missing_scope");
    expect((await author.listTools()).map(({ name }) => name)).toContain("run_plain");
    outputOf(await author.call("archive_workflow", { workflow_id: plain }));
    expect((await author.listTools()).map(({ name }) => name)).not.toContain("run_plain");
  });

  it("has a unique name of at most 64 characters", async () => {
    const { author, define, publish } = await open();
    const long = "A very long name that goes on and on until nobody can read it any more at all";
    const ids: string[] = [];
    for (const name of ["Workflow", long, long]) {
      const id = await define(name, exposed());
      await publish(id);
      ids.push(id);
    }
    expect(ids[0]).toBe("workflow");
    const tools = await author.listTools();
    const names = tools
      .filter(({ title }) => title === "Workflow: Workflow" || title === `Workflow: ${long}`)
      .map(({ name }) => name);
    expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
    expect(names).toHaveLength(3);
    for (const name of names) {
      expect(name).toMatch(/^run_[a-z0-9_-]{1,60}$/);
      expect(outputOf(await author.call(name))).toMatchObject({ output: { n: 4 } });
    }
  });

  it("is listed if it is among the 50 oldest", async () => {
    const { author, define, publish } = await open();
    for (let n = 0; n < 51; n += 1) await publish(await define(`W${n}`, exposed()));
    const shown = (await author.listTools()).filter(({ name }) => /^run_w\d+$/.test(name));
    expect(shown).toHaveLength(50);
    expect(shown.map(({ name }) => name)).not.toContain("run_w50");
  });
});

describe.each(WAYS)("the list of tools, %s", (way) => {
  it("is reported as changed when a workflow is published", async () => {
    const { url, key, define, publish } = await open();
    const id = await define("Double it", exposed());
    let changed = 0;
    const client = await connect(way, url, key, undefined, { onToolsChanged: () => void (changed += 1) });
    await client.listTools();
    await publish(id);
    await eventually(() => (changed > 0 ? true : undefined), "the notification");
    expect((await client.listTools()).map(({ name }) => name)).toContain("run_double_it");
  });

  it("is not reported as changed to a client whose own list stays the same", async () => {
    const { url, instance, key, define, publish } = await open();
    await addProject(instance, "finance");
    const listening = async (limits: KeyLimits | null, projects?: string[]) => {
      const { value } = await instance.key({
        scopes: ["read", "run"],
        limits,
        ...(projects && { projects }),
      });
      let changed = 0;
      const client = await connect(way, url, value, undefined, { onToolsChanged: () => void (changed += 1) });
      await client.listTools();
      return { client, changed: () => changed };
    };
    const others = [
      await listening(null, ["finance"]),
      await listening({ tools: ["get_run"] }),
      await listening({ workflows: [await define("Other", exposed())] }),
    ];
    const own = await listening(null);
    const full = await connect(way, url, key);
    await publish(await define("Double it", exposed()));
    await eventually(() => (own.changed() > 0 ? true : undefined), "the notification");
    // Whatever was sent to the others before that has arrived after an answer on the same connection.
    for (const { client } of [...others, { client: full }]) await client.listTools();
    expect(others.map(({ changed }) => changed())).toEqual([0, 0, 0]);
    expect((await own.client.listTools()).map(({ name }) => name)).toContain("run_double_it");
  });
});

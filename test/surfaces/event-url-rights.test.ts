/** Event URLs act, so only callers who may run things in the project of the run see them, whatever shows the run. */
import { expect, it } from "vitest";
import { openDecisions, PAYMENT } from "../support/decisions.ts";
import { untilPassing } from "../support/eventually.ts";
import { startTestExecutor } from "../support/executor.ts";
import { type ApiClient, apiClient } from "../support/http.ts";
import { connect, outputOf } from "../support/mcp.ts";
import { addMember, addProject } from "../support/projects.ts";
import { openRest } from "../support/rest.ts";
import { addUser } from "../support/users.ts";

/** Longer than a preview, so that the URL is also read in pages. */
const PADDING = "x".repeat(5_000);
const definitionOf = (innerId: string) => ({
  inputs: { type: "object", properties: { note: { type: "string" } } },
  steps: [
    { id: "link", type: "set", values: { pad: "${{ inputs.note }}", url: "${{ run.event_urls.callback }}" } },
    { id: "passed", type: "workflow", workflow: innerId, inputs: { url: "${{ steps.link.url }}" } },
    { id: "no", type: "assert", that: "1 > 2", message: "${{ steps.link.url }}", on_error: "continue" },
    { id: "ask", type: "approval", message: "Send it to ${{ steps.link.url }}", timeout: "1h" },
    { id: "callback", type: "wait", event: {} },
  ],
});
const inner = {
  inputs: { type: "object", properties: { url: { type: "string" } } },
  steps: [{ id: "echo", type: "set", values: { url: "${{ inputs.url }}" } }],
  output: "${{ steps.echo.url }}",
};

async function waitingRun(project?: string) {
  const opened = await openRest();
  const { instance, call } = opened;
  if (project !== undefined) await addProject(instance, project);
  const executor = await startTestExecutor(instance);
  const { value: all } = await instance.key({
    scopes: ["read", "write", "run", "publish", "approve", "admin"],
    projects: [project ?? "default"],
  });
  const admin = apiClient(opened.url, all);
  const at = project === undefined ? {} : { project };
  const create = async (name: string, definition: object): Promise<string> => {
    const { body } = await admin("POST", "/workflows", { name, definition, ...at });
    expect(body.issues).toEqual([]);
    return body.id as string;
  };
  const callback = await create("Callback", definitionOf(await create("Inner", inner)));
  const { body: run } = await admin("POST", `/workflows/${callback}/runs`, { inputs: { note: PADDING } });
  executor.queue.wake();
  await executor.queue.waitUntilIdle();
  const { body } = await admin("GET", `/runs/${run.id}?step_id=callback`);
  const url = body.steps[0].event_url as string;
  expect(url).toMatch(/\/events\/run_/);
  return { ...opened, executor, call, admin, id: run.id as string, url, mac: url.split(".").at(-1)! };
}

/** All that a caller can read of the run and of what it made. */
async function everythingRead(call: ApiClient, id: string): Promise<string> {
  const texts: string[] = [];
  const read = async (path: string) => {
    const { status, body } = await call("GET", path);
    expect([path, status]).toEqual([path, 200]);
    texts.push(JSON.stringify(body));
    return body;
  };
  await read(`/runs/${id}`);
  const { steps } = await read(`/runs/${id}?detail=steps`);
  const child = (steps as { child_run?: string }[]).find(
    ({ child_run: run }) => run !== undefined,
  )!.child_run!;
  await read(`/runs/${child}?detail=steps`);
  await read(`/runs/${child}/values/output`);
  for (const step of ["link", "passed", "no", "ask", "callback"]) await read(`/runs/${id}?step_id=${step}`);
  await read("/runs");
  const [approval] = (await read("/approvals")) as { id: string }[];
  await read(`/approvals/${approval!.id}`);
  // Whatever the length of the pages, none ends or begins within a URL and shows a part that others complete.
  for (const max of [20_000, 97, 31]) {
    let text = "";
    for (let offset: number | null = max === 20_000 ? 0 : 4_900; offset !== null;) {
      const page: { text: string; next_offset: number | null } = await read(
        `/runs/${id}/values/steps.link.output?offset=${offset}&max_chars=${max}`,
      );
      text += page.text;
      offset = page.next_offset;
    }
    texts.push(text);
  }
  return texts.join("\n");
}

it.each([undefined, "finance"])(
  "A key that can only read sees no event URL (project %s)",
  async (project) => {
    const { instance, admin, id, url, mac, url: eventUrl } = await waitingRun(project);
    const base = new URL(eventUrl).origin;
    const { value } = await instance.key({ scopes: ["read"], projects: [project ?? "default"] });
    const seen = await everythingRead(apiClient(base, value), id);
    expect(seen).not.toContain(mac);
    expect(seen).not.toContain('"event_url"');
    // What replaces it says what it is, and keeps the lengths of values.
    expect(seen).toContain(`${url.slice(0, -mac.length)}${"*".repeat(mac.length)}`);
    expect(await everythingRead(admin, id)).toContain(url);
  },
);

it("A person who may run in one project and read in another sees event URLs of the first only", async () => {
  const { instance, id, url, mac } = await waitingRun("finance");
  await addUser(instance, { email: "eve@example.com", role: "editor" });
  await addMember(instance, { project: "finance", email: "eve@example.com", role: "viewer" });
  const { value } = await instance.key({
    scopes: ["read", "run"],
    projects: ["default", "finance"],
    owner: "eve@example.com",
  });
  const { origin } = new URL(url);
  expect(await everythingRead(apiClient(origin, value), id)).not.toContain(mac);
  await addMember(instance, { project: "finance", email: "eve@example.com", role: "editor" });
  expect(await everythingRead(apiClient(origin, value), id)).toContain(url);
});

it("A key that can only read sees no event URL over MCP, in resources and in the stream of changes", async () => {
  const { instance, id, url, mac, admin } = await waitingRun();
  const { value } = await instance.key({ scopes: ["read"] });
  const { url: mcp } = await instance.mcp();
  const client = await connect("v2 that negotiates", mcp, value);
  const called = await client.call("get_run", { run_id: id, step_id: "link" });
  const resource = await client.readResource(`millrace://runs/${id}`);
  const stored = await client.readResource(`millrace://runs/${id}/values/steps.link.output`);
  const texts = JSON.stringify([called, resource, stored]);
  expect(texts).toContain("*".repeat(mac.length));
  expect(texts).not.toContain(mac);
  await admin("POST", `/runs/${id}/cancel`);
  const events = await fetch(`${new URL(url).origin}/runs/${id}/events`, { headers: { "X-API-Key": value } });
  const streamed = await events.text();
  expect(streamed).toContain("*".repeat(mac.length));
  expect(streamed).not.toContain(mac);
});

it("A key that can only read finds out nothing of an event URL by conditions of group_runs and words of list_runs", async () => {
  const { instance, admin, url, mac } = await waitingRun();
  const { value } = await instance.key({ scopes: ["read"] });
  const reader = apiClient(new URL(url).origin, value);
  const grouped = async (call: ApiClient) => {
    const query = new URLSearchParams({ where: `steps.link.url.endsWith("${mac}")` });
    return (await call("GET", `/runs/groups?${query.toString()}`)).body as {
      runs: number;
      without_value?: object[];
    };
  };
  const isShort = { without_value: [{ runs: 1 }] };
  expect(await grouped(admin)).toMatchObject({ runs: 1, ...isShort });
  expect(await grouped(reader)).toMatchObject({ runs: 0, ...isShort });
  const found = async (call: ApiClient) =>
    ((await call("GET", `/runs?search=${mac}`)).body as object[]).length;
  // The run that took the URL over.
  expect(await found(admin)).toBe(1);
  expect(await found(reader)).toBe(0);
});

it("A person whose key can only decide answers a question that holds an event URL", async () => {
  const { instance, admin, id, mac } = await waitingRun();
  const { value } = await instance.key({ scopes: ["read", "approve"] });
  const { url: mcp } = await instance.mcp();
  const questions: string[] = [];
  const client = await connect("v2 that negotiates", mcp, value, undefined, {
    elicit({ message }) {
      questions.push(message);
      return { action: "accept", content: { decision: "approve", comment: "Right." } };
    },
  });
  const { body: approvals } = await admin("GET", `/approvals?run_id=${id}`);
  const decided = outputOf(await client.call("decide_approval", { approval_id: approvals[0].id }));
  expect(decided).toMatchObject({ status: "approved", comment: "Right." });
  expect(questions.join()).toContain("*".repeat(mac.length));
  expect(questions.join()).not.toContain(mac);
});

it("A link that no longer decides says so where the approval holds an event URL", async () => {
  const [ask, ...rest] = PAYMENT.steps;
  const message = "Send it to ${{ run.event_urls.callback }}";
  const steps = [{ ...ask, message }, ...rest, { id: "callback", type: "wait", event: {} }];
  const opened = await openDecisions({ definition: { ...PAYMENT, steps } });
  const { run } = await opened.ask();
  const path = await opened.link();
  expect((await opened.browser("GET", path)).html).toContain("*".repeat(32));
  await opened.call("POST", `/runs/${run}/cancel`);
  await opened.proceed();
  const page = await opened.browser("GET", path);
  expect(page.status).toBe(409);
  expect(page.html).toContain("This approval has ended");
});

it("A cached list and its ETag are not shared with callers who do not see its event URLs", async () => {
  const { instance, admin, url, mac } = await waitingRun();
  const { value } = await instance.key({ scopes: ["read"] });
  const reader = apiClient(new URL(url).origin, value);
  await admin("PATCH", "/workflows/inner", { description: `Called with ${url}` });
  const full = await admin("GET", "/workflows");
  const hidden = await reader("GET", "/workflows");
  expect(JSON.stringify(full.body)).toContain(mac);
  expect(JSON.stringify(hidden.body)).not.toContain(mac);
  expect(JSON.stringify((await admin("GET", "/workflows")).body)).toContain(mac);
  const tag = full.headers.get("etag")!;
  expect((await reader("GET", "/workflows", undefined, { "If-None-Match": tag })).status).toBe(200);
  expect((await admin("GET", "/workflows", undefined, { "If-None-Match": tag })).status).toBe(304);
});

it.each(["${{ steps.link }}", "${{ {'cut': steps.link.url.replace('.', ' / ')} }}"])(
  "An example of who may not run things shows no token of the run that it takes outputs from: %s",
  async (output) => {
    const { instance, url, id, mac, executor } = await waitingRun();
    const { value } = await instance.key({ scopes: ["read", "write", "publish"] });
    const call = apiClient(url.replace(/\/events\/.*$/, ""), value);
    const link = { id: "link", type: "set", values: { url: "${{ run.event_urls.callback }}" } };
    const wait = { id: "callback", type: "wait", event: {} };
    const given = {
      from_run: id,
      steps: ["link"],
      callback: { body: null, received_at: "2026-01-01T00:00:00Z" },
    };
    const changed = await call("PATCH", "/workflows/callback", {
      definition: { steps: [link, wait], output, examples: [{ given, expect: { url: "no", cut: "no" } }] },
    });
    expect(changed.body.issues).toEqual([]);
    const publishing = call("POST", "/workflows/callback/publish", {});
    const answer = await untilAnswered(publishing, () => executor.queue.wake());
    expect(answer).toMatchObject({ status: 409, body: { code: "examples_failed" } });
    expect(JSON.stringify(answer.body)).not.toContain(mac);
  },
);

/** Wakes the executor until a request is answered. */
async function untilAnswered<T>(request: Promise<T>, wake: () => void): Promise<T> {
  let isAnswered = false;
  void request.finally(() => (isAnswered = true));
  await untilPassing(() => {
    wake();
    expect(isAnswered).toBe(true);
  });
  return request;
}

/** A key that can write and publish, but not run things, and a workflow of an example that shows a URL in another form. */
async function publisherOf({ instance, url }: Awaited<ReturnType<typeof waitingRun>>) {
  const { value } = await instance.key({ scopes: ["read", "write", "publish"] });
  return apiClient(new URL(url).origin, value);
}
const DISGUISED = '${{ to_json(steps.link.url).replace("run_", "ruxx") }}';

it("A key without the scope run takes over no event URL from the runs of a trail", async () => {
  const here = await waitingRun();
  const { admin, url, mac, executor } = here;
  const step = { id: "link", type: "set", values: { url, echo: "${{ inputs.url }}" } };
  const { body: tried } = await admin("POST", "/runs", { step, inputs: { url }, wait: 0 });
  executor.queue.wake();
  await executor.queue.waitUntilIdle();
  const publisher = await publisherOf(here);
  const created = await publisher("POST", "/workflows", { name: "Trail", from: [tried.id] });
  expect(created.status).toBe(201);
  const { body: saved } = await admin("GET", `/workflows/${created.body.id}`);
  expect(JSON.stringify(saved)).toContain("callback");
  expect(JSON.stringify(saved)).not.toContain(mac);
  const { body: whole } = await admin("POST", "/workflows", { name: "Whole", from: [tried.id] });
  expect(JSON.stringify(whole)).toContain(mac);
});

const link = (url: string) => ({ id: "link", type: "set", values: { url } });
const reads = { id: "reads", type: "set", values: { text: DISGUISED } };
const called = { id: "link", type: "workflow", workflow: "holder" };
const fails = { examples: [{ name: "Any", inputs: {}, expect: { text: "other" } }] };

it.each([
  ["its own definition", (url: string) => ({ steps: [link(url), reads], output: "${{ steps.reads.text }}" })],
  [
    "a called workflow",
    () => ({
      steps: [called],
      output: { text: '${{ to_json(steps.link.output).replace("run_", "ruxx") }}' },
    }),
  ],
])(
  "A key without the scope run runs no examples of a version with an event URL in %s",
  async (_what, definitionFor) => {
    const here = await waitingRun();
    const { admin, url, mac } = here;
    const publisher = await publisherOf(here);
    const holder = { steps: [link(url)], output: "${{ steps.link.url }}" };
    await admin("POST", "/workflows", { name: "Holder", definition: holder });
    await admin("POST", "/workflows/holder/publish", {});
    const definition = { ...definitionFor(url), ...fails };
    const created = await admin("POST", "/workflows", { name: "Shows", definition });
    expect(created.body.issues).toEqual([]);
    const refused = await publisher("POST", "/workflows/shows/publish", {});
    expect(refused).toMatchObject({
      status: 409,
      body: { code: "examples_failed", errors: [{ path: "examples", code: "not_permitted" }] },
    });
    expect(JSON.stringify(refused.body)).not.toContain(mac);
    expect((await publisher("GET", "/runs?trigger=example")).body).toEqual([]);
    const ran = await admin("POST", "/workflows/shows/publish", {});
    expect(ran.body.errors).toMatchObject([{ code: "differs" }]);
  },
);

it("A key without the scope run runs no examples of a version whose workflow has saved an event URL", async () => {
  const here = await waitingRun();
  const { admin, url, executor } = here;
  const publisher = await publisherOf(here);
  const definition = {
    inputs: { type: "object", properties: { url: { type: "string" } } },
    state: { url: { type: "string", default: "" } },
    steps: [{ id: "kept", type: "set", values: { url: "${{ inputs.url }}" } }],
    commit: { url: "${{ steps.kept.url }}" },
    output: '${{ to_json(state).replace("run_", "ruxx") }}',
    examples: [{ inputs: { url: "other" } }],
  };
  expect((await admin("POST", "/workflows", { name: "Keeps", definition })).body.issues).toEqual([]);
  await admin("POST", "/workflows/keeps/runs", { inputs: { url } });
  executor.queue.wake();
  await executor.queue.waitUntilIdle();
  expect((await publisher("POST", "/workflows/keeps/publish", {})).body).toMatchObject({
    code: "examples_failed",
    errors: [{ code: "not_permitted" }],
  });
  expect((await admin("POST", "/workflows/keeps/publish", {})).status).toBe(200);
});

/** Notices of changed resources, to every client, within its rights. */
import { describe, expect, it } from "vitest";
import type { KeyLimits } from "../../src/core/access.ts";
import { iso } from "../../src/core/clock.ts";
import { MAX_SUBSCRIPTIONS } from "../../src/core/mcp-subscription-port.ts";
import { eventually, untilPassing } from "../support/eventually.ts";
import { apiClient } from "../support/http.ts";
import { testInstance } from "../support/instance.ts";
import { CLIENT_NAMES, type ClientName, connect } from "../support/mcp.ts";
import { addProject } from "../support/projects.ts";
import { openEventStream } from "../support/raw-http.ts";
import { ACCEPT_HEADERS, modernRequest, openSession, openSse, postMessage } from "../support/raw-mcp.ts";

const SCOPES = ["read", "write", "publish", "run", "approve", "admin"] as const;
const ASKS = { steps: [{ id: "ask", type: "approval", message: "The secret question" }] };
const MODERN: ClientName = "v2 pinned to 2026-07-28";
const LEGACY: ClientName = "v1 over SSE";

async function open() {
  const instance = await testInstance();
  let listeners = 0;
  const subscribe = instance.changes.subscribe;
  instance.changes.subscribe = (...args) => {
    const end = subscribe(...args);
    let isOpen = true;
    listeners += 1;
    return () => {
      if (isOpen) listeners -= 1;
      isOpen = false;
      end();
    };
  };
  await instance.executor();
  const { url } = await instance.rest();
  const mcp = await instance.mcp();
  const call = apiClient(url, (await instance.key({ scopes: SCOPES })).value);
  const define = async (name: string, definition: object = ASKS): Promise<string> =>
    (await call("POST", "/workflows", { name, definition })).body.id;
  const change = (id: string, description: string) => call("PATCH", `/workflows/${id}`, { description });
  const agent = async (
    way: ClientName,
    { limits = null, projects }: { limits?: KeyLimits | null; projects?: string[] } = {},
  ) => {
    const { value, record } = await instance.key({
      scopes: ["read", "run"],
      limits,
      ...(projects && { projects }),
    });
    const notices: object[] = [];
    const client = await connect(way, mcp.url, value, undefined, {
      onResourceUpdated: (params) => void notices.push(params),
    });
    const uris = () => notices.map((notice) => (notice as { uri: string }).uri);
    const until = (uri: string, count = 1) =>
      eventually(
        () => uris().filter((one) => one === uri).length >= count || undefined,
        `${count} notices of ${uri}`,
      );
    return { client, value, record, notices, uris, until };
  };
  return { instance, rest: url, url: mcp.url, call, define, change, agent, listeners: () => listeners };
}

const refusalOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "accepted",
    (error: unknown) => (error as Error).message,
  );

describe.each(CLIENT_NAMES)("a subscription, %s", (way) => {
  it("notifies of changes of a run, its approval and a workflow, by address only, until it ends", async () => {
    const { call, define, change, agent } = await open();
    const [workflow, other] = [await define("Asks"), await define("Other")];
    const { body: run } = await call("POST", `/workflows/${workflow}/runs`, { wait: 0 });
    const approval = await eventually(
      async () => (await call("GET", `/approvals?run_id=${run.id}`)).body[0]?.id as string | undefined,
      "the approval",
    );
    const { client, notices, uris, until } = await agent(way);
    // As `resources/read` takes them: by name, by id, by URI.
    await client.subscribe(`workflow/${workflow}`);
    await client.subscribe(run.id);
    await client.subscribe(`millrace://approvals/${approval}`);
    await client.subscribe(`millrace://workflows/${other}`);
    // It ends the approval too.
    expect((await call("POST", `/runs/${run.id}/cancel`)).status).toBe(200);
    await until(`millrace://runs/${run.id}`);
    await until(`millrace://approvals/${approval}`);
    await change(workflow, "Changed");
    await until(`millrace://workflows/${workflow}`);
    await client.unsubscribe(`workflow/${workflow}`);
    await client.unsubscribe(`workflow/${workflow}`);
    const before = uris().filter((uri) => uri.endsWith(`/${workflow}`)).length;
    await change(workflow, "Changed again");
    await change(other, "Changed");
    await until(`millrace://workflows/${other}`);
    expect(uris().filter((uri) => uri.endsWith(`/${workflow}`))).toHaveLength(before);
    for (const notice of notices)
      expect(Object.keys(notice).filter((key) => key !== "_meta")).toEqual(["uri"]);
    expect(JSON.stringify(notices)).not.toContain("secret");
  });

  it("is refused for what the caller can't find, as if it did not exist, and for what has no notices", async () => {
    const { instance, define, agent } = await open();
    await addProject(instance, "finance");
    const workflow = await define("Asks");
    const strangers = [
      await agent(way, { projects: ["finance"] }),
      await agent(way, { limits: { workflows: [await define("Other")] } }),
    ];
    for (const { client } of strangers) {
      const refusal = await refusalOf(client.subscribe(`millrace://workflows/${workflow}`));
      expect(refusal).not.toBe("accepted");
      const missing = await refusalOf(client.subscribe("millrace://workflows/none"));
      expect(refusal.replaceAll(workflow, "none")).toBe(missing);
    }
    const { client } = await agent(way, { limits: { tools: ["list_workflows"] } });
    expect(await refusalOf(client.subscribe(`millrace://workflows/${workflow}`))).not.toBe("accepted");
    const full = await agent(way);
    for (const uri of ["millrace://guide/sql", "millrace://runs/run_none", "file:///etc/passwd", "", "run/"])
      expect(await refusalOf(full.client.subscribe(uri))).not.toBe("accepted");
  });

  it("sends nothing about a workflow that moved to where the caller can't read it", async () => {
    const { instance, rest, define, change, agent } = await open();
    await addProject(instance, "finance");
    const [moved, kept] = [await define("Moved"), await define("Kept")];
    const { client, uris, until } = await agent(way, { projects: ["default"] });
    await client.subscribe(`millrace://workflows/${moved}`);
    await client.subscribe(`millrace://workflows/${kept}`);
    const everywhere = apiClient(
      rest,
      (await instance.key({ scopes: SCOPES, projects: ["default", "finance"] })).value,
    );
    const answer = await everywhere("POST", `/workflows/${moved}/move`, { project: "finance" });
    expect([answer.status, answer.body.code]).toEqual([200, undefined]);
    await everywhere("PATCH", `/workflows/${moved}`, { description: "Elsewhere" });
    await change(kept, "Changed");
    await until(`millrace://workflows/${kept}`);
    expect(uris().filter((uri) => uri.endsWith(`/${moved}`))).toEqual([]);
  });
});

describe("subscriptions", () => {
  it.each([LEGACY, MODERN])("of a revoked key end: %s", async (way) => {
    const { instance, define, change, agent, listeners } = await open();
    const workflow = await define("Asks");
    const before = listeners();
    const [revoked, valid] = [await agent(way), await agent(way)];
    for (const { client } of [revoked, valid]) await client.subscribe(`millrace://workflows/${workflow}`);
    expect(listeners()).toBeGreaterThan(before);
    await instance.keys.revoke(revoked.record.id, iso(Date.now()), "operator");
    await change(workflow, "Changed");
    await valid.until(`millrace://workflows/${workflow}`);
    expect(revoked.uris()).toEqual([]);
    await valid.client.close();
    await eventually(() => listeners() === before || undefined, "the end of all listeners");
  });

  it.each(CLIENT_NAMES)("leave nothing behind when their client goes: %s", async (way) => {
    const { define, agent, listeners } = await open();
    const workflow = await define("Asks");
    const before = listeners();
    for (let nth = 0; nth < 3; nth += 1) {
      const { client } = await agent(way);
      await client.subscribe(`millrace://workflows/${workflow}`);
      await client.close();
    }
    await untilPassing(() => expect(listeners()).toBe(before));
  });

  it("of a session are continued by another copy, with what changed in between", async () => {
    const here = await open();
    const { define, change, instance } = here;
    const there = await testInstance({ stateDir: instance.stateDir });
    const other = await there.mcp();
    const workflow = await define("Asks");
    const key = { "X-API-Key": (await instance.key()).value, ...ACCEPT_HEADERS };
    const session = await openSession(here.url, key);
    const params = { uri: `workflow/${workflow}` };
    const asked = { jsonrpc: "2.0", id: 2, method: "resources/subscribe", params };
    expect((await postMessage(`${here.url}/mcp`, session, asked)).json().result).toEqual({});
    await change(workflow, "Changed before there is a stream");
    const stream = await openEventStream("GET", `${other.url}/mcp`, { headers: session });
    const [notice] = await stream.waitFor(/^data: .*resources\/updated.*$/m);
    expect(notice).toContain(`"params":{"uri":"millrace://workflows/${workflow}"}`);
  });

  it("need a session", async () => {
    const { instance, url, define } = await open();
    const key = { "X-API-Key": (await instance.key()).value, ...ACCEPT_HEADERS };
    const params = { uri: `workflow/${await define("Asks")}` };
    const asked = { jsonrpc: "2.0", id: 2, method: "resources/subscribe", params };
    expect((await postMessage(`${url}/mcp`, key, asked)).json().error).toMatchObject({
      message: expect.stringContaining("needs a session") as string,
    });
  });

  it("are limited in number, with an error that says how many there can be", async () => {
    const { instance, url, define } = await open();
    const key = { "X-API-Key": (await instance.key()).value, ...ACCEPT_HEADERS };
    const workflows: string[] = [];
    for (let nth = 0; nth <= MAX_SUBSCRIPTIONS; nth += 1) workflows.push(await define(`Asks ${nth}`));
    const uris = workflows.map((id) => `millrace://workflows/${id}`);
    const session = await openSession(url, key);
    const subscribe = async (uri: string) => {
      const asked = { jsonrpc: "2.0", id: 2, method: "resources/subscribe", params: { uri } };
      return (await postMessage(`${url}/mcp`, session, asked)).json();
    };
    for (const uri of uris.slice(1)) expect((await subscribe(uri)).result).toEqual({});
    expect((await subscribe(uris[0]!)).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining("subscribed to 100 resources, the maximum") as string,
      data: { code: "too_many_subscriptions" },
    });
    for (const count of [MAX_SUBSCRIPTIONS + 1, 10_000]) {
      const many = Array.from({ length: count }, (_, index) => `millrace://runs/run_${index}`);
      const request = modernRequest(key, "subscriptions/listen", {
        notifications: { resourceSubscriptions: many },
      });
      const answer = await postMessage(`${url}/mcp`, request.headers, request.body);
      expect(answer.json().error).toMatchObject({
        code: -32602,
        message: `A subscription has at most 100 resources, and this one names ${count}. Use several subscriptions.`,
      });
    }
  });

  it("of all streams of an owner are limited too", async () => {
    const { instance, url, define } = await open();
    const key = { "X-API-Key": (await instance.key()).value, ...ACCEPT_HEADERS };
    const uris: string[] = [];
    for (let nth = 0; nth < MAX_SUBSCRIPTIONS; nth += 1)
      uris.push(`millrace://workflows/${await define(`Asks ${nth}`)}`);
    const { headers, body } = modernRequest(key, "subscriptions/listen", {
      notifications: { resourceSubscriptions: uris },
    });
    const request = { headers, body };
    for (let nth = 0; nth < 10; nth += 1)
      await (await openEventStream("POST", `${url}/mcp`, request)).waitFor(/acknowledged/);
    const refused = await postMessage(`${url}/mcp`, headers, body);
    expect([refused.status, refused.json().code]).toEqual([409, "too_many_subscriptions"]);
    const { stream } = await openSse(url, key);
    expect(stream.ended()).toBe(false);
  });
});

import { deflateRawSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { testInstance } from "../support/instance.ts";
import { rawRequest } from "../support/raw-http.ts";
import { openMcp, openSession, postMessage, toolCall } from "../support/raw-mcp.ts";

const eventIds = (text: string): string[] => [...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id!);

/** An event id for a creation that the server never began. */
const forge = (args: string): string => {
  const json = `{"key":"k","id":1,"params":{"name":"create_workflow","arguments":${args}}}`;
  return `call.${deflateRawSync(json).toString("base64url")}`;
};

async function open() {
  const { instance, url, key } = await openMcp();
  const other = await (await testInstance({ stateDir: instance.stateDir })).mcp();
  const session = await openSession(url, key);
  const resume = (lastEventId: string, headers: Record<string, string> = session) =>
    rawRequest("GET", `${other.url}/mcp`, { headers: { ...headers, "Last-Event-ID": lastEventId } });
  return { instance, url, session, resume };
}

describe("a call of a 2025-11-25 session", () => {
  it("begins with an event that has an id and no data", async () => {
    const { url, session } = await open();
    const { text } = await postMessage(`${url}/mcp`, session, toolCall("list_workflows"));
    expect(text).toMatch(/^id: \S+\nretry: \d+\ndata: \n\n/);
  });

  it("is resumed on another copy with the same answer, and has its effect once", async () => {
    const { instance, url, session, resume } = await open();
    const sent = await postMessage(
      `${url}/mcp`,
      session,
      toolCall("create_workflow", { name: "Once" }, "c1"),
    );
    const [id] = eventIds(sent.text);
    for (let i = 0; i < 2; i += 1) {
      const again = await resume(id!);
      expect([again.status, again.headers["content-type"]]).toEqual([200, "text/event-stream"]);
      expect(again.json()).toEqual(sent.json());
    }
    expect(await instance.read.workflows.recentIds(10)).toEqual(["once"]);
  });

  it("has its effect when it is resumed, if it had none before", async () => {
    const { instance, url, session, resume } = await open();
    const [id] = eventIds(
      (await postMessage(`${url}/mcp`, session, toolCall("create_workflow", { name: "Late" }))).text,
    );
    // As if the process had died before the write.
    await instance.store.transaction(async (trx) => {
      await trx.deleteFrom("idempotency_keys").execute();
      await trx.deleteFrom("workflow_versions").execute();
      await trx.deleteFrom("workflows").execute();
    });
    expect((await resume(id!)).json().result.structuredContent).toMatchObject({ id: "late", version: 1 });
  });

  it("can't be resumed with another key", async () => {
    const { instance, url, session, resume } = await open();
    const [id] = eventIds((await postMessage(`${url}/mcp`, session, toolCall("list_workflows"))).text);
    const other = { ...session, "X-API-Key": (await instance.key({ name: "other" })).value };
    expect((await resume(id!, other)).status).toBe(404);
  });

  it("is not repeated after its end: the last event id has nothing after it", async () => {
    const { url, session, resume } = await open();
    const ids = eventIds((await postMessage(`${url}/mcp`, session, toolCall("unknown_tool"))).text);
    const answer = await resume(ids.at(-1)!);
    expect([ids.length, answer.status, answer.headers.allow]).toEqual([2, 405, "POST, DELETE"]);
  });

  it("is refused with a clear error when the id is not one of this server", async () => {
    const { resume } = await open();
    for (const id of ["x", "call.e30", `call.${"A".repeat(7_000)}`]) {
      const answer = await resume(id);
      expect([answer.status, answer.json().code]).toEqual([400, "invalid_request"]);
      expect(answer.json().detail).toContain("Last-Event-ID");
    }
  });

  it("is checked as a message is: a forged id has no values that a message must not have", async () => {
    const { instance, resume } = await open();
    for (const definition of ["[".repeat(20_000) + "]".repeat(20_000), "1e5000"]) {
      const answer = await resume(forge(`{"name":"Forged","definition":{"x":${definition}}}`));
      expect([answer.status, answer.json().code]).toEqual([400, "invalid_request"]);
    }
    expect(await instance.read.workflows.recentIds(10)).toEqual([]);
  });

  it("stays refused when it was refused for a number that can't be held", async () => {
    const { instance, url, session, resume } = await open();
    const call = JSON.stringify(toolCall("create_workflow", { name: "Large", definition: { x: 0 } }));
    const sent = await rawRequest("POST", `${url}/mcp`, {
      headers: {
        ...session,
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
      },
      body: call.replace('"x":0', '"x":1e5000'),
    });
    expect(sent.text).toContain("invalid_input");
    expect((await resume(eventIds(sent.text)[0]!)).json().error.message).toContain("can't be resumed");
    expect(await instance.read.workflows.recentIds(10)).toEqual([]);
  });

  it("has no event ids for a client of an older revision, which would not understand an event without data", async () => {
    const { url, session } = await open();
    const older = { ...session, "MCP-Protocol-Version": "2025-06-18" };
    const { text } = await postMessage(`${url}/mcp`, older, toolCall("list_workflows"));
    expect(eventIds(text)).toEqual([]);
  });
});

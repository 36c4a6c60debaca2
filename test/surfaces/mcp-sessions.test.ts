import { describe, expect, it } from "vitest";
import { iso } from "../../src/core/clock.ts";
import { eventually } from "../support/eventually.ts";
import { fakeClock, testInstance, type TestInstance } from "../support/instance.ts";
import { openEventStream, rawRequest } from "../support/raw-http.ts";
import {
  ACCEPT_HEADERS,
  INITIALIZE_REQUEST,
  LIST_WORKFLOWS_CALL,
  modernRequest,
  openMcp,
  openSession,
  openSse,
  postMessage,
  toolCall,
} from "../support/raw-mcp.ts";

describe("a session", () => {
  it("over SSE is not found with another valid key", async () => {
    const { instance, url, key } = await openMcp();
    const { messages } = await openSse(url, key);
    const other = { ...key, "X-API-Key": (await instance.key({ name: "other" })).value };
    const answer = await postMessage(messages, other, INITIALIZE_REQUEST);
    expect([answer.status, answer.json().code]).toEqual([404, "session_not_found"]);
    expect((await postMessage(messages, key, INITIALIZE_REQUEST)).status).toBe(202);
  });

  it("of /mcp is not found with another key, on any method", async () => {
    const { instance, url, key } = await openMcp();
    const session = await openSession(url, key);
    const other = { ...session, "X-API-Key": (await instance.key({ name: "other" })).value };
    for (const [method, body] of [
      ["POST", LIST_WORKFLOWS_CALL],
      ["GET", undefined],
      ["DELETE", undefined],
    ] as const) {
      const answer = await rawRequest(method, `${url}/mcp`, { headers: other, body });
      expect([method, answer.status, answer.json().code]).toEqual([method, 404, "session_not_found"]);
    }
    expect((await postMessage(`${url}/mcp`, session, LIST_WORKFLOWS_CALL)).status).toBe(200);
  });

  it("of /mcp keeps its streams when another key uses its id", async () => {
    const { instance, url, key } = await openMcp();
    const session = await openSession(url, key);
    const stream = await openEventStream("GET", `${url}/mcp`, { headers: session });
    const other = { ...session, "X-API-Key": (await instance.key({ name: "other" })).value };
    expect((await postMessage(`${url}/mcp`, other, LIST_WORKFLOWS_CALL)).status).toBe(404);
    // The only stream of the session is still open.
    expect((await rawRequest("GET", `${url}/mcp`, { headers: session })).status).toBe(409);
    expect(stream.ended()).toBe(false);
  });

  it("of one transport is not found on the other", async () => {
    const { url, key } = await openMcp();
    const session = await openSession(url, key);
    const { messages } = await openSse(url, key);
    const answers = [
      await postMessage(`${url}/messages?sessionId=${session["Mcp-Session-Id"]}`, key, LIST_WORKFLOWS_CALL),
      await postMessage(
        `${url}/mcp`,
        { ...session, "Mcp-Session-Id": messages.split("sessionId=")[1]! },
        LIST_WORKFLOWS_CALL,
      ),
    ];
    expect(answers.map((answer) => answer.status)).toEqual([404, 404]);
  });

  it("of /mcp continues on another copy and after a restart, with its client name", async () => {
    const { instance, url, stop, key } = await openMcp();
    const session = await openSession(url, key);
    await stop(0);
    for (const copy of [instance, await testInstance({ stateDir: instance.stateDir })]) {
      const next = await copy.mcp();
      const created = await postMessage(
        `${next.url}/mcp`,
        session,
        toolCall("create_workflow", { name: "Kept" }),
      );
      const { id } = created.json().result.structuredContent;
      const entry = await copy.read.workflows.findVersion(id as string, 1);
      expect(entry).toMatchObject({ client: "raw/1" });
    }
  });

  it("that is deleted ends on every copy, with its open stream", async () => {
    const { instance, url, key } = await openMcp();
    const other = await (await testInstance({ stateDir: instance.stateDir })).mcp();
    const session = await openSession(url, key);
    expect((await postMessage(`${other.url}/mcp`, session, LIST_WORKFLOWS_CALL)).status).toBe(200);
    const stream = await openEventStream("GET", `${url}/mcp`, { headers: session });
    expect(stream.status).toBe(200);
    expect((await rawRequest("DELETE", `${url}/mcp`, { headers: session })).status).toBe(200);
    await eventually(() => stream.ended() || undefined, "the stream's end");
    for (const copy of [url, other.url]) {
      const answer = await postMessage(`${copy}/mcp`, session, LIST_WORKFLOWS_CALL);
      expect([answer.status, answer.json().code]).toEqual([404, "session_not_found"]);
    }
  });

  it("is removed when its client disconnects", async () => {
    const { instance, url, key } = await openMcp();
    const { stream, messages } = await openSse(url, key);
    stream.close();
    await eventually(
      async () => (await postMessage(messages, key, LIST_WORKFLOWS_CALL)).status === 404 || undefined,
      "the session's end",
    );
    expect(await instance.store.read.selectFrom("mcp_sessions").selectAll().execute()).toEqual([]);
  });
});

describe.each(["revoked", "expired"] as const)("a key that is %s", (how) => {
  async function openWithKey() {
    const clock = fakeClock();
    const instance = await testInstance({ clock });
    const { url } = await instance.mcp();
    const { value, record } = await instance.key({ expiresAt: iso(clock.now() + 60_000) });
    const endKey = async (from: TestInstance = instance) => {
      if (how === "revoked") await from.keys.revoke(record.id, iso(clock.now()), "operator");
      else clock.advance(60_000);
    };
    return { instance, url, key: { "X-API-Key": value, ...ACCEPT_HEADERS }, endKey };
  }

  it("is refused at the next POST on every transport", async () => {
    const { url, key, endKey } = await openWithKey();
    const { messages } = await openSse(url, key);
    const session = await openSession(url, key);
    const stateless = modernRequest(key, "tools/call", LIST_WORKFLOWS_CALL.params);
    const requests: Parameters<typeof postMessage>[] = [
      [messages, key, LIST_WORKFLOWS_CALL],
      [`${url}/mcp`, session, LIST_WORKFLOWS_CALL],
      [`${url}/mcp`, key, INITIALIZE_REQUEST],
      [`${url}/mcp`, stateless.headers, stateless.body],
    ];
    for (const request of requests) expect((await postMessage(...request)).status).toBeLessThan(300);
    await endKey();
    for (const request of requests) {
      const answer = await postMessage(...request);
      expect([answer.status, answer.json().code]).toEqual([401, "unauthorized"]);
    }
  });

  it("loses its open streams, on every copy", async () => {
    const { instance, url, key, endKey } = await openWithKey();
    const other = await instance.key({ name: "other" });
    const survivor = await openSse(url, { ...key, "X-API-Key": other.value });
    const { stream } = await openSse(url, key);
    const get = await openEventStream("GET", `${url}/mcp`, { headers: await openSession(url, key) });
    const streams = [stream, get];
    expect(streams.map((one) => [one.status, one.ended()])).toEqual(streams.map(() => [200, false]));

    await endKey(await testInstance({ stateDir: instance.stateDir, clock: instance.clock }));
    await eventually(() => streams.every((one) => one.ended()) || undefined, "the streams' end");
    expect(survivor.stream.ended()).toBe(false);
  });
});

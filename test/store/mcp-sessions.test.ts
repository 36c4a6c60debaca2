import { describe, expect, it } from "vitest";
import { HOUR, MINUTE } from "../../src/core/clock.ts";
import { mcpSessionStore } from "../../src/store/mcp-sessions.ts";
import { testStore } from "../support/store.ts";

async function open() {
  const here = await testStore();
  const there = await testStore({ stateDir: here.stateDir, clock: here.clock });
  return {
    ...here,
    sessions: mcpSessionStore(here.store, here.clock),
    elsewhere: mcpSessionStore(there.store, here.clock),
  };
}

const http = {
  id: "s1",
  keyId: "key_1",
  kind: "http",
  initialize: '{"method":"initialize"}',
  holder: null,
} as const;
const sse = { id: "s2", keyId: "key_1", kind: "sse", initialize: null, holder: "copy-1" } as const;

describe("MCP sessions", () => {
  it("are found by every process, with their initialize request", async () => {
    const { sessions, elsewhere } = await open();
    await sessions.insert(http);
    await sessions.insert(sse);
    expect([await elsewhere.find("s1"), await elsewhere.find("s2")]).toEqual([http, sse]);
    expect(await elsewhere.find("s3")).toBeUndefined();
    await elsewhere.remove("s1");
    expect(await sessions.find("s1")).toBeUndefined();
  });

  it("are purged when unused: a client's after a day, a stream's after five minutes", async () => {
    const { sessions, clock } = await open();
    await sessions.insert(http);
    await sessions.insert(sse);
    const insertNext = async (id: string) => sessions.insert({ ...sse, id });
    clock.advance(5 * MINUTE);
    await insertNext("s3");
    expect(await sessions.find("s2")).toBeDefined();
    clock.advance(1);
    await insertNext("s4");
    expect([await sessions.find("s1"), await sessions.find("s2")]).toEqual([http, undefined]);
    clock.advance(24 * HOUR);
    await insertNext("s5");
    expect(await sessions.find("s1")).toBeUndefined();
  });

  it("are kept while a process renews them", async () => {
    const { sessions, elsewhere, clock } = await open();
    await sessions.insert(sse);
    for (let i = 0; i < 3; i += 1) {
      clock.advance(4 * MINUTE);
      await elsewhere.keepAlive(["s2"]);
      await sessions.insert({ ...sse, id: `other-${i}` });
    }
    expect(await sessions.find("s2")).toEqual(sse);
  });
});

describe("the holder of streams", () => {
  const stream = { id: "s2", holder: "copy-1" };

  it("is registered with its first stream, and counts its heartbeats", async () => {
    const { sessions, elsewhere } = await open();
    expect([await sessions.heartbeat("copy-1"), await sessions.heartbeatsOf("copy-1")]).toEqual([
      false,
      undefined,
    ]);
    await sessions.insert(sse);
    await sessions.insert({ ...sse, id: "s3" });
    expect([await sessions.heartbeat("copy-1"), await sessions.heartbeat("copy-1")]).toEqual([true, true]);
    expect(await elsewhere.heartbeatsOf("copy-1")).toBe(2);
    await sessions.removeHolder("copy-1");
    expect(await sessions.heartbeat("copy-1")).toBe(false);
  });

  it("is removed with all its streams and their messages when it is dead", async () => {
    const { sessions, elsewhere, rows } = await open();
    await sessions.insert(sse);
    await sessions.insert({ ...sse, id: "s3" });
    await sessions.insert({ ...sse, id: "s4", holder: "copy-2" });
    await elsewhere.enqueueMessage("s3", "a");
    await elsewhere.enqueueMessage("s4", "b");
    const messageId = await elsewhere.enqueueMessage("s2", "c");
    expect(await elsewhere.removeDeadHolder(stream, { messageId, heartbeats: 0 })).toBe(true);
    expect([await sessions.find("s2"), await sessions.find("s3")]).toEqual([undefined, undefined]);
    expect([await sessions.heartbeat("copy-1"), await sessions.heartbeat("copy-2")]).toEqual([false, true]);
    expect([(await sessions.find("s4"))?.id, await rows("mcp_messages")]).toEqual(["s4", 1]);
  });

  it("stays when it has fetched the message or sent a heartbeat meanwhile", async () => {
    const { sessions, elsewhere } = await open();
    await sessions.insert(sse);
    const messageId = await elsewhere.enqueueMessage("s2", "a");
    await sessions.heartbeat("copy-1");
    expect(await elsewhere.removeDeadHolder(stream, { messageId, heartbeats: 0 })).toBe(false);
    await sessions.dequeueMessages(["s2"], 10);
    expect(await elsewhere.isQueued(messageId)).toBe(false);
    expect(await elsewhere.removeDeadHolder(stream, { messageId, heartbeats: 1 })).toBe(false);
    expect(await sessions.find("s2")).toEqual(sse);
  });

  it("of an older release is not on record, so only that stream is removed", async () => {
    const { sessions, elsewhere } = await open();
    await sessions.insert({ ...sse, holder: null });
    await sessions.insert({ ...sse, id: "s3", holder: null });
    const messageId = await elsewhere.enqueueMessage("s2", "a");
    const unless = { messageId, heartbeats: undefined };
    expect(await elsewhere.removeDeadHolder({ id: "s2", holder: null }, unless)).toBe(true);
    expect([await sessions.find("s2"), (await sessions.find("s3"))?.id]).toEqual([undefined, "s3"]);
  });

  it("without streams is purged", async () => {
    const { sessions, rows } = await open();
    await sessions.insert(sse);
    await sessions.remove("s2");
    await sessions.insert(http);
    expect(await rows("mcp_holders")).toBe(0);
  });
});

describe("more sessions than a statement has variables", () => {
  it("are renewed in one call", async () => {
    const { sessions, clock } = await open();
    await sessions.insert(sse);
    clock.advance(4 * MINUTE);
    await sessions.keepAlive([...Array.from({ length: 33_000 }, (_, i) => `many-${i}`), "s2"]);
    clock.advance(4 * MINUTE);
    await sessions.insert({ ...sse, id: "s3" });
    expect(await sessions.find("s2")).toEqual(sse);
  });
});

describe("messages between processes", () => {
  it("are delivered once, in order, and only to the process with their stream", async () => {
    const { sessions, elsewhere } = await open();
    for (const body of ["1", "2", "3"]) await elsewhere.enqueueMessage("s2", body);
    await elsewhere.enqueueMessage("other", "not ours");
    expect(await sessions.dequeueMessages(["s2", "s9"], 10)).toEqual(
      ["1", "2", "3"].map((body) => ({ sessionId: "s2", body })),
    );
    expect(await sessions.dequeueMessages(["s2"], 10)).toEqual([]);
    expect(await elsewhere.dequeueMessages(["other"], 10)).toEqual([
      { sessionId: "other", body: "not ours" },
    ]);
  });

  it("are dequeued in batches, and the others stay", async () => {
    const { sessions } = await open();
    for (const body of ["1", "2", "3"]) await sessions.enqueueMessage("s2", body);
    expect((await sessions.dequeueMessages(["s2"], 2)).map((one) => one.body)).toEqual(["1", "2"]);
    expect((await sessions.dequeueMessages(["s2"], 2)).map((one) => one.body)).toEqual(["3"]);
  });

  it("are dequeued by only one of two concurrent readers", async () => {
    const { sessions, elsewhere } = await open();
    for (let i = 0; i < 20; i += 1) await sessions.enqueueMessage("s2", String(i));
    const taken = (
      await Promise.all([sessions, elsewhere, sessions].map((one) => one.dequeueMessages(["s2"], 10)))
    ).flat();
    expect(taken.map((one) => Number(one.body)).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, i) => i),
    );
  });

  it("are deleted with their session, and when nobody fetches them", async () => {
    const { sessions, clock, rows } = await open();
    await sessions.insert(sse);
    await sessions.enqueueMessage("s2", "a");
    await sessions.remove("s2");
    expect(await rows("mcp_messages")).toBe(0);
    await sessions.enqueueMessage("gone", "a");
    clock.advance(5 * MINUTE + 1);
    await sessions.keepAlive(["s2"]);
    expect(await rows("mcp_messages")).toBe(0);
  });

  it("are purged by a process without streams, which takes no lock while there are none", async () => {
    const { sessions, clock, rows, store } = await open();
    const readOnly = mcpSessionStore(
      { read: store.read, transaction: () => Promise.reject(new Error("a write")) },
      clock,
    );
    await sessions.enqueueMessage("gone", "a");
    await readOnly.keepAlive([]);
    clock.advance(5 * MINUTE + 1);
    await expect(readOnly.keepAlive([])).rejects.toThrow("a write");
    await sessions.keepAlive([]);
    expect(await rows("mcp_messages")).toBe(0);
  });

  it("are limited to 100 and 4 MiB per stream", async () => {
    const { sessions } = await open();
    for (let i = 0; i < 100; i += 1) await sessions.enqueueMessage("s2", "a");
    await expect(sessions.enqueueMessage("s2", "a")).rejects.toMatchObject({ code: "busy" });
    await sessions.dequeueMessages(["s2"], 1);
    await sessions.enqueueMessage("s2", "a");

    // Two bytes each in UTF-8.
    const mebibyte = "é".repeat(512 * 1024);
    for (let i = 0; i < 4; i += 1) await sessions.enqueueMessage("s3", mebibyte);
    await expect(sessions.enqueueMessage("s3", "a")).rejects.toMatchObject({ code: "busy" });
  });

  it("are polled without a write", async () => {
    const { sessions, store } = await open();
    const before = store.dataVersion();
    expect(await sessions.dequeueMessages(["s2"], 10)).toEqual([]);
    expect(store.dataVersion()).toBe(before);
  });
});

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as tick } from "node:timers/promises";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { NO_ACCESS } from "../../src/core/access.ts";
import { iso, MINUTE } from "../../src/core/clock.ts";
import { createStreamRegistry } from "../../src/surfaces/streams.ts";
import { eventually, untilPassing } from "../support/eventually.ts";
import { installWriteBarrier } from "../support/write-barrier.ts";
import { testInstance, type TestInstance } from "../support/instance.ts";
import { type EventStream, openEventStream, rawRequest } from "../support/raw-http.ts";
import {
  ACCEPT_HEADERS,
  INITIALIZE_REQUEST,
  modernRequest,
  openMcp,
  openSession,
  openSse,
  postMessage,
  toolCall,
} from "../support/raw-mcp.ts";
import { startTimer } from "../support/expect-cost.ts";

const comments = (stream: EventStream): number => stream.text().match(/^: ?.*$/gm)?.length ?? 0;

describe("streams", () => {
  afterEach(() => void vi.useRealTimers());

  it("are kept alive by a comment every 15 seconds", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const { url, key } = await openMcp();
    const { stream } = await openSse(url, key);
    const get = await openEventStream("GET", `${url}/mcp`, { headers: await openSession(url, key) });
    const [sseBefore, getBefore] = [comments(stream), comments(get)];
    vi.advanceTimersByTime(14_900);
    await tick();
    expect([comments(stream), comments(get)]).toEqual([sseBefore, getBefore]);
    for (const nth of [1, 2]) {
      vi.advanceTimersByTime(nth === 1 ? 200 : 15_000);
      await eventually(() => comments(stream) === sseBefore + nth || undefined, "a comment on /sse");
      await eventually(() => comments(get) === getBefore + nth || undefined, "a comment on /mcp");
    }
  });

  it("that are not read end when their key is revoked, and do not affect the server", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const { instance, url, key, record } = await openMcp();
    const { stream, messages } = await openSse(url, key);
    await postMessage(messages, key, INITIALIZE_REQUEST);
    stream.pause();
    // More than the socket takes, so that the stream can't end by itself.
    let status = 202;
    for (let id = 0; status === 202; id += 1) {
      ({ status } = await postMessage(messages, key, { jsonrpc: "2.0", id, method: "tools/list" }));
    }
    expect(status).toBe(503);
    await instance.keys.revoke(record.id, iso(Date.now()), "operator");
    vi.advanceTimersByTime(1_000);
    await eventually(
      () =>
        instance.store.read
          .selectFrom("mcp_sessions")
          .select("id")
          .executeTakeFirst()
          .then((session) => (session ? undefined : true)),
      "the stream's end",
    );
    vi.advanceTimersByTime(15_000);
    expect((await rawRequest("GET", `${url}/health`)).status).toBe(200);
  });
});

describe("a stream that was ended", () => {
  it("ignores what a late call still writes", async () => {
    const streams = createStreamRegistry("use /mcp");
    const server = createServer((_req, res) => {
      res.write("in time");
      streams.add({ principal: { keyId: "key", access: NO_ACCESS }, res });
      streams.closeAll();
      res.write("late");
    });
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    expect((await rawRequest("GET", `http://127.0.0.1:${port}/`)).text).toBe("in time");
  });
});

describe("a copy that stops", () => {
  it("ends its streams at once", async () => {
    const { url, stop, key } = await openMcp();
    const { stream } = await openSse(url, key);
    const get = await openEventStream("GET", `${url}/mcp`, { headers: await openSession(url, key) });
    const expectElapsed = startTimer();
    await stop(0);
    expectElapsed(10_000);
    await untilPassing(() => expect([stream.ended(), get.ended()]).toEqual([true, true]));
  });

  it("answers the calls in progress first, on every transport", async () => {
    const instance = await testInstance();
    const writes = installWriteBarrier(instance);
    const { url, stop } = await instance.mcp();
    const { value } = await instance.key();
    const key = { "X-API-Key": value, ...ACCEPT_HEADERS };
    const { stream, messages } = await openSse(url, key);
    await postMessage(messages, key, INITIALIZE_REQUEST);
    const session = await openSession(url, key);
    const { headers, body } = modernRequest(key, "tools/call", {
      name: "create_workflow",
      arguments: { name: "C" },
    });

    writes.hold();
    await postMessage(messages, key, toolCall("create_workflow", { name: "A" }, "sse"));
    const answers = [
      postMessage(`${url}/mcp`, session, toolCall("create_workflow", { name: "B" })),
      postMessage(`${url}/mcp`, headers, body),
    ];
    await eventually(() => writes.pendingCount() === 3 || undefined, "three calls in progress");
    const stopped = stop(0);
    expect((await rawRequest("GET", `${url}/health`).catch(() => undefined))?.status).not.toBe(200);
    expect(stream.ended()).toBe(false);
    writes.release();
    for (const answer of await Promise.all(answers)) {
      expect(answer.json().result.structuredContent).toMatchObject({ version: 1 });
    }
    const [, data] = await stream.waitFor(/^data: (\{.*"id":"sse".*\})$/m);
    expect(JSON.parse(data!).result.structuredContent).toMatchObject({ id: "a", version: 1 });
    await stopped;
    await eventually(() => stream.ended() || undefined, "the stream's end");
  });
});

describe("a client that disconnects", () => {
  it("while its stream is opened leaves no session behind", async () => {
    const instance = await testInstance();
    const writes = installWriteBarrier(instance);
    const { url } = await instance.mcp();
    const { value } = await instance.key();
    const client = new AbortController();
    writes.hold();
    const opening = fetch(`${url}/sse`, { headers: { "X-API-Key": value }, signal: client.signal });
    await eventually(() => writes.pendingCount() === 1 || undefined, "the stream being opened");
    client.abort();
    await expect(opening).rejects.toThrow(/abort/i);
    // The server notices it later than the client.
    await rawRequest("GET", `${url}/health`);
    writes.release();
    await eventually(() => writes.completedCount() === 2 || undefined, "the session made and removed");
    expect(await instance.store.read.selectFrom("mcp_sessions").select("id").execute()).toEqual([]);
  });
});

const rowCount = async ({ store }: TestInstance): Promise<number> =>
  (await store.read.selectFrom("mcp_messages").select("id").execute()).length;

describe("messages of other copies", () => {
  it("are fetched one batch at a time, and none is lost meanwhile", async () => {
    const holder = await testInstance();
    const writes = installWriteBarrier(holder);
    const subscribe = holder.changes.subscribe;
    let notices = 0;
    holder.changes.subscribe = (listener, maxDelayMs) =>
      subscribe(() => {
        notices += 1;
        listener();
      }, maxDelayMs);
    const other = await testInstance({ stateDir: holder.stateDir });
    const [here, there] = [await holder.mcp(), await other.mcp()];
    const key = { "X-API-Key": (await holder.key()).value, ...ACCEPT_HEADERS };
    const { stream, messages } = await openSse(here.url, key);
    await postMessage(messages, key, INITIALIZE_REQUEST);
    writes.hold();
    const answers: Promise<{ status: number }>[] = [];
    for (let id = 11; id <= 13; id += 1) {
      const before = notices;
      // The answer comes when the message was fetched.
      answers.push(
        postMessage(messages.replace(here.url, there.url), key, { jsonrpc: "2.0", id, method: "ping" }),
      );
      await eventually(
        async () => (await rowCount(other)) === answers.length || undefined,
        "the message in the store",
      );
      await eventually(() => notices > before || undefined, "the notice of a change");
    }
    expect(writes.pendingCount()).toBe(1);
    writes.release();
    for (let id = 11; id <= 13; id += 1)
      expect(await stream.waitFor(new RegExp(`"id":${id}`))).toContain(`"id":${id}`);
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([202, 202, 202]);
  });

  it("that are never fetched are removed by a copy without streams", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const { instance } = await openMcp();
    const created_at = iso(Date.now() - 6 * MINUTE);
    await instance.store.transaction((trx) =>
      trx.insertInto("mcp_messages").values({ session_id: "gone", body: "{}", created_at }).execute(),
    );
    vi.advanceTimersByTime(60_000);
    const gone = await eventually(
      async () =>
        (await instance.store.read.selectFrom("mcp_messages").select("id").executeTakeFirst()) ===
          undefined || undefined,
      "the message's end",
    );
    expect(gone).toBe(true);
  });
});

describe("a failing store", () => {
  it("does not end the polling for messages of other copies, and they arrive afterwards", async () => {
    const holder = await testInstance();
    const { transaction } = holder.store;
    let isFailing = false;
    let failures = 0;
    holder.store.transaction = (work, locking) => {
      if (!isFailing) return transaction(work, locking);
      failures += 1;
      return Promise.reject(new Error("database is locked"));
    };
    const other = await testInstance({ stateDir: holder.stateDir });
    const [here, there] = [await holder.mcp(), await other.mcp()];
    const key = { "X-API-Key": (await holder.key()).value, ...ACCEPT_HEADERS };
    const { stream, messages } = await openSse(here.url, key);
    isFailing = true;
    const answer = postMessage(messages.replace(here.url, there.url), key, INITIALIZE_REQUEST);
    await eventually(async () => (await rowCount(other)) === 1 || undefined, "the message in the store");
    await eventually(() => failures > 0 || undefined, "a failure to fetch it");
    isFailing = false;
    expect(await stream.waitFor(/"serverInfo"/)).toContain('"serverInfo"');
    expect((await answer).status).toBe(202);
  });
});

import { Writable } from "node:stream";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { createStreamRegistry } from "../../src/surfaces/streams.ts";
import { eventually } from "../support/eventually.ts";
import type { TestInstance } from "../support/instance.ts";
import { openEventStream, rawRequest } from "../support/raw-http.ts";
import {
  INITIALIZE_REQUEST,
  LIST_WORKFLOWS_CALL,
  modernRequest,
  openMcp,
  openSession,
  openSse,
  postMessage,
} from "../support/raw-mcp.ts";

const SHARE = 200;

/** For keys of `operator`, which several people share. */
function byOperator() {
  const { reserve } = createStreamRegistry("use /mcp");
  return (keyId: string) => reserve({ keyId, owner: "operator" }, "mcp");
}

describe("the open streams of a key", () => {
  it("are limited to a share of the copy, which is free again when they close", () => {
    const takeRoom = byOperator();
    const leave = Array.from({ length: SHARE }, () => takeRoom("key_1"));
    expect(() => takeRoom("key_1")).toThrow(expect.objectContaining({ code: "too_many_streams" }));
    takeRoom("key_2");
    leave[0]!();
    takeRoom("key_1");
    expect(() => takeRoom("key_1")).toThrow(expect.objectContaining({ code: "too_many_streams" }));
  });

  it("are limited per owner too, over all keys and sessions", () => {
    const { reserve } = createStreamRegistry("use /mcp");
    const [ann, ben] = ["ann@example.com", "ben@example.com"];
    const leave = Array.from({ length: SHARE }, (_, i) =>
      reserve({ keyId: `key_${i % 10}`, owner: ann }, "mcp"),
    );
    for (const keyId of ["key_0", "key_10", "ses_1"]) {
      expect(() => reserve({ keyId, owner: ann }, "mcp")).toThrow(
        expect.objectContaining({
          code: "too_many_streams",
          message:
            "The keys and sessions of ann@example.com have 200 open streams on this copy. Close one, or use /mcp.",
        }),
      );
    }
    reserve({ keyId: "key_11", owner: ben }, "mcp");
    leave[0]!();
    reserve({ keyId: "ses_1", owner: ann }, "mcp");
    expect(() => reserve({ keyId: "key_0", owner: ann }, "mcp")).toThrow(/open streams/);
  });

  it("are at most 2,000 for all keys together", () => {
    const takeRoom = byOperator();
    const leave = Array.from({ length: 2_000 }, (_, i) => takeRoom(`key_${i % 20}`));
    expect(() => takeRoom("key_20")).toThrow(expect.objectContaining({ code: "busy" }));
    leave[0]!();
    takeRoom("key_20");
  });

  it("are counted on every transport, also when opened concurrently", async () => {
    const { instance, url, key } = await openMcp();
    const session = await openSession(url, key);
    const listen = modernRequest(key, "subscriptions/listen", { notifications: { toolsListChanged: true } });
    const get = await openEventStream("GET", `${url}/mcp`, { headers: session });
    expect([get.status, get.ended()]).toEqual([200, false]);
    const opened = await Promise.all(
      Array.from({ length: SHARE + 3 }, () => openEventStream("GET", `${url}/sse`, { headers: key })),
    );
    const held = opened.filter((stream) => stream.status === 200);
    expect(held).toHaveLength(SHARE - 1);
    for (const [method, path, options] of [
      ["GET", "/sse", { headers: key }],
      ["GET", "/mcp", { headers: await openSession(url, key) }],
      ["POST", "/mcp", listen],
    ] as const) {
      const { status, json, headers } = await rawRequest(method, url + path, options);
      expect([path, status, json().code, headers["retry-after"]]).toEqual([
        path,
        429,
        "too_many_streams",
        "5",
      ]);
    }
    expect((await postMessage(`${url}/mcp`, session, LIST_WORKFLOWS_CALL)).status).toBe(200);
    const { value } = await instance.key({ name: "other" });
    await openSse(url, { ...key, "X-API-Key": value });

    for (const stream of [get, held[0]!]) stream.close();
    for (let free = 0; free < 2; free += 1) {
      await eventually(
        async () =>
          (await openEventStream("GET", `${url}/sse`, { headers: key })).status === 200 || undefined,
        "room",
      );
    }
  });
});

describe("a key that starts sessions without end", () => {
  it("keeps its sessions in use, and those of other keys", async () => {
    const { instance, url, key } = await openMcp();
    const { value } = await instance.key({ name: "other" });
    const [own, other] = [
      await openSession(url, key),
      await openSession(url, { ...key, "X-API-Key": value }),
    ];
    const streams = [
      await openEventStream("GET", `${url}/mcp`, { headers: own }),
      await openEventStream("GET", `${url}/mcp`, { headers: other }),
    ];
    const idle = await openSession(url, key);
    for (let i = 0; i < 1_010; i += 1) await postMessage(`${url}/mcp`, key, INITIALIZE_REQUEST);
    expect(streams.map((stream) => stream.ended())).toEqual([false, false]);
    // The session still exists and was not built again: it has one stream.
    for (const headers of [own, other]) {
      expect((await rawRequest("GET", `${url}/mcp`, { headers })).status).toBe(409);
    }
    expect((await postMessage(`${url}/mcp`, idle, LIST_WORKFLOWS_CALL)).status).toBe(200);
  });
});

const rows = ({ store }: TestInstance) => store.read.selectFrom("mcp_sessions").selectAll().execute();

describe("the row of a session", () => {
  it("stores only the part of initialize that another copy needs", async () => {
    const { instance, url, key } = await openMcp();
    const { params } = INITIALIZE_REQUEST;
    await postMessage(`${url}/mcp`, key, {
      ...INITIALIZE_REQUEST,
      id: "i",
      params: { ...params, _meta: { x: "y" }, other: 1 },
    });
    const [row] = await rows(instance);
    expect(JSON.parse(row!.initialize!)).toEqual({ ...INITIALIZE_REQUEST, id: 0 });
  });

  it("is not written when the initialize is refused", async () => {
    const { instance, url, key } = await openMcp();
    const refused = await postMessage(`${url}/mcp`, { ...key, Accept: "text/html" }, INITIALIZE_REQUEST);
    expect(refused.status).toBe(406);
    expect(await rows(instance)).toEqual([]);
  });
});

describe("the request id of a client", () => {
  it("is in the log line of a call over SSE", async () => {
    let log = "";
    const sink = new Writable({ write: (chunk, _encoding, done) => ((log += String(chunk)), done()) });
    const { url, key } = await openMcp({ log: pino({ level: "info" }, sink) });
    const { messages } = await openSse(url, key);
    await postMessage(messages, key, INITIALIZE_REQUEST);
    await postMessage(messages, { ...key, "X-Request-Id": "mine" }, LIST_WORKFLOWS_CALL);
    await eventually(() => log.includes("list_workflows") || undefined, "the log line");
    expect(log).toMatch(/"operation":"list_workflows","request_id":"mine"/);
  });
});

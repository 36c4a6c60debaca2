import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { apiClient } from "../support/http.ts";
import { testInstance } from "../support/instance.ts";
import { formatRequest, socketClient } from "../support/sockets.ts";
import { bodyMemory } from "../../src/surfaces/body-memory.ts";

const MIB = 1024 * 1024;

const requestOf = (headers: Record<string, string>): IncomingMessage =>
  ({ headers }) as unknown as IncomingMessage;
const megabyte = requestOf({ "content-length": String(MIB) });

function open(maxBytes: number) {
  const memory = bodyMemory(maxBytes);
  const responses: EventEmitter[] = [];
  /** Returns the code of the refusal; undefined if the body has its memory. */
  const reserve = (owner: string, req = megabyte): string | undefined => {
    const res = new EventEmitter();
    try {
      memory.reserve(req, res as unknown as ServerResponse, owner);
      responses.push(res);
      return undefined;
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  return { reserve, endAll: () => responses.splice(0).forEach((res) => res.emit("close")) };
}

describe("the memory for bodies", () => {
  it("is never all held by one owner", () => {
    const { reserve } = open(16 * MIB);
    const refused = Array.from({ length: 64 }, () => reserve("a")).filter((code) => code === "rate_limited");
    expect(refused).toHaveLength(64 - 12);
    expect(reserve("b")).toBeUndefined();
  });

  it("is free again when the responses have ended", () => {
    const { reserve, endAll } = open(4 * MIB);
    for (let round = 0; round < 10; round += 1) {
      expect([reserve("a"), reserve("a"), reserve("a"), reserve("a")]).toEqual([
        undefined,
        undefined,
        undefined,
        "rate_limited",
      ]);
      endAll();
    }
  });

  it("counts a body of unknown size as the largest, and no body as nothing", () => {
    const { reserve } = open(4 * MIB);
    const chunked = requestOf({ "transfer-encoding": "chunked" });
    const compressed = requestOf({ "content-length": "10", "content-encoding": "gzip" });
    expect([reserve("a", chunked), reserve("a", compressed), reserve("a", chunked)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(reserve("a", compressed)).toBe("rate_limited");
    for (let count = 0; count < 100; count += 1) expect(reserve("a", requestOf({}))).toBeUndefined();
  });

  it("is reserved before a body arrives, over REST and MCP", async () => {
    const instance = await testInstance();
    const { value: key } = await instance.key();
    const { value: other } = await instance.key();
    for (const [{ url }, path] of [
      [await instance.rest(), "/workflows/validate"],
      [await instance.mcp(), "/mcp"],
    ] as const) {
      const announce = async (value: string) => {
        const client = await socketClient(url);
        client.send(
          formatRequest("POST", path, {
            "X-API-Key": value,
            "Content-Type": "application/json",
            "Content-Length": String(MIB),
          }),
        );
        return client;
      };
      const clients = await Promise.all(Array.from({ length: 25 }, () => announce(key)));
      await eventually(
        () => clients.find((client) => client.received().includes("429 ")),
        "the refusal of one request",
      );
      expect(clients.filter((client) => client.received() !== "")).toHaveLength(1);
      expect(
        (await apiClient(url, other)("POST", path, { jsonrpc: "2.0", id: 1, method: "ping" })).status,
      ).not.toBe(429);
      for (const client of clients) client.socket.destroy();
    }
  });
});

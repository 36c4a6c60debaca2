/** An MCP server over Streamable HTTP whose messages are written by hand, as servers in other languages send them. */
import type { ServerResponse } from "node:http";
import { mockHttpServer, type MockHttpServer } from "./mock-http-server.ts";

interface Request {
  id?: number | string;
  method: string;
  params?: Record<string, unknown>;
}

/** The result of a request, in JSON, or what sends the whole response. */
export type Reply = string | ((response: ServerResponse, request: Request) => void);

export const INITIALIZED =
  '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"peer","version":"1"}}';

/** A list with one tool that has no schema of its own. */
export const ONE_TOOL = '{"tools":[{"name":"add","inputSchema":{"type":"object"}}]}';

/** Sends a response with a body. */
export const sends =
  (body: string, type = "application/json", status = 200, headers: Record<string, string> = {}): Reply =>
  (response) => {
    response.writeHead(status, { "content-type": type, ...headers });
    response.end(body);
  };

/**
 * Starts a server.
 * @param replies by method; a list of replies is used one after the other, and its last one remains
 */
export function scriptedMcpServer(
  replies: Readonly<Record<string, Reply | Reply[]>>,
): Promise<MockHttpServer> {
  const all: Record<string, Reply | Reply[]> = {
    initialize: INITIALIZED,
    "tools/list": ONE_TOOL,
    ...replies,
  };
  const counts = new Map<string, number>();
  return mockHttpServer(({ method, body }, response) => {
    if (method !== "POST") {
      response.writeHead(method === "DELETE" ? 204 : 405).end();
      return;
    }
    const request = JSON.parse(body) as Request;
    const list = [all[request.method] ?? []].flat();
    const count = counts.get(request.method) ?? 0;
    counts.set(request.method, count + 1);
    const reply = list[Math.min(count, list.length - 1)];
    if (typeof reply === "function") reply(response, request);
    else if (request.id === undefined) response.writeHead(202).end();
    else {
      response.writeHead(200, { "content-type": "application/json" });
      const outcome =
        reply === undefined ? '"error":{"code":-32601,"message":"Method not found"}' : `"result":${reply}`;
      response.end(`{"jsonrpc":"2.0","id":${JSON.stringify(request.id)},${outcome}}`);
    }
  });
}

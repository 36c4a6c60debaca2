/** An MCP server over Streamable HTTP or SSE on loopback, with the v1 SDK and Express. */
import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import express from "express";
import { onTestFinished } from "vitest";
import { toolServer } from "./mcp-server-tools.ts";

/** Breaks a response off after its headers and the beginning of its stream. */
function cut(response: express.Response): void {
  if (response.headersSent) response.write(": so far\n\n", () => response.destroy());
  else setImmediate(cut, response);
}

export interface McpHttpServer {
  url: string;
  /** The headers of every message. */
  headers: IncomingHttpHeaders[];
  /** The number of sessions that were opened. */
  openedSessionCount(): number;
  /** The number of open sessions. */
  openSessionCount(): number;
  /** Drops all sessions, as a restart would. */
  dropSessions(): void;
}

/** @param key what every request must show, now; @param leg which transport it serves */
export async function mcpHttpServer({
  key,
  leg = "streamable",
}: { key?: string | (() => string); leg?: "streamable" | "sse" } = {}): Promise<McpHttpServer> {
  const app = express();
  let opened = 0;
  const headers: IncomingHttpHeaders[] = [];
  let last: express.Response | undefined;
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const streams = new Map<string, SSEServerTransport>();
  app.use((request, response, next) => {
    const expected = typeof key === "function" ? key() : key;
    if (expected === undefined || request.headers.authorization === `Bearer ${expected}`) next();
    else response.status(401).json({ error: "no key" });
  });
  app.use((request, _response, next) => {
    headers.push(request.headers);
    next();
  });
  app.use(express.json({ limit: "8mb" }));
  if (leg === "streamable")
    app.all("/mcp", async (request, response) => {
      const id = request.headers["mcp-session-id"];
      const known = typeof id === "string" ? sessions.get(id) : undefined;
      const opens = id === undefined && (request.body as { method?: unknown }).method === "initialize";
      if (known === undefined && !opens) {
        response.status(id === undefined ? 400 : 404).json({ error: "no session" });
        return;
      }
      const transport =
        known ??
        new StreamableHTTPServerTransport({
          sessionIdGenerator: randomUUID,
          onsessioninitialized: (session) => {
            opened += 1;
            sessions.set(session, transport);
          },
          onsessionclosed: (session) => void sessions.delete(session),
        });
      // A crash, as one who waits sees it: the connection of the answer is cut.
      if (known === undefined) await toolServer(() => cut(last!)).connect(transport);
      last = request.method === "POST" ? response : last;
      await transport.handleRequest(request, response, request.body);
    });
  else {
    app.get("/mcp", async (_request, response) => {
      const transport = new SSEServerTransport("/messages", response);
      opened += 1;
      streams.set(transport.sessionId, transport);
      await toolServer(() => cut(response)).connect(transport);
    });
    app.post("/messages", async (request, response) => {
      await streams
        .get(request.query["sessionId"] as string)
        ?.handlePostMessage(request, response, request.body);
    });
  }
  const listener = app.listen(0, "127.0.0.1");
  await new Promise((resolve) => listener.once("listening", resolve));
  onTestFinished(() => {
    listener.closeAllConnections();
    listener.close();
  });
  const { port } = listener.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    headers,
    openedSessionCount: () => opened,
    openSessionCount: () => sessions.size,
    dropSessions: () => sessions.clear(),
  };
}

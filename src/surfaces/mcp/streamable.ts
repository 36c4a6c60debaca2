/**
 * `/mcp`: stateless for the 2026-07-28 revision and for 2025-era clients that open no session, and with sessions
 * for those that do. A session is a row: any copy builds it again by replaying the `initialize` it began with.
 */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  classifyInboundRequest,
  createMcpHandler,
  isInitializeRequest,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { AppError } from "../../core/errors.ts";
import type { McpSession, McpSessionStore, Principal } from "../../core/ports.ts";
import { isEventStream, MESSAGE_LIMIT, readMessage, sendWebResponse, toWebRequest } from "./exchange.ts";
import { type McpServers, type Report, toAuthInfo } from "./server.ts";
import type { Streams } from "./streams.ts";

/** How often a comment keeps a stream from being taken for dead. */
export const KEEP_ALIVE_MS = 15_000;
/** Built sessions that one copy keeps; the one used longest ago is dropped, and built again when it is used. */
const MAX_BUILT = 1_000;

export interface StreamableLeg {
  handle(req: IncomingMessage, res: ServerResponse, principal: Principal): Promise<void>;
  /** Sessions used since the last call. */
  takeUsed(): string[];
  close(): Promise<void>;
}

type Transport = WebStandardStreamableHTTPServerTransport;

export function streamableLeg(
  servers: McpServers,
  sessions: McpSessionStore,
  streams: Streams,
  report: Report,
): StreamableLeg {
  const stateless = createMcpHandler(() => servers.create(), {
    legacy: "stateless",
    keepAliveMs: KEEP_ALIVE_MS,
    maxRequestBodySize: MESSAGE_LIMIT,
    onerror: report.refused,
  });
  const built = new Map<string, Promise<Transport>>();
  const used = new Set<string>();

  function remember(id: string, transport: Promise<Transport>): Promise<Transport> {
    built.delete(id);
    built.set(id, transport);
    for (const [oldest, dropped] of built) {
      if (built.size <= MAX_BUILT) break;
      built.delete(oldest);
      void dropped.then((it) => it.close()).catch(report.failed);
    }
    return transport;
  }

  async function build(id: string): Promise<Transport> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      keepAliveMs: KEEP_ALIVE_MS,
      maxRequestBodySize: MESSAGE_LIMIT,
    });
    const server = servers.create();
    server.onerror = report.refused;
    await server.connect(transport);
    return transport;
  }

  /** A session that another copy opened, or this one before it was restarted. */
  async function rebuild(session: McpSession): Promise<Transport> {
    const transport = await build(session.id);
    const post = (body: unknown, headers: Record<string, string> = {}) =>
      transport.handleRequest(
        new Request("http://localhost/mcp", {
          method: "POST",
          headers: {
            "content-type": "application/json",
            accept: "application/json, text/event-stream",
            ...headers,
          },
          body: JSON.stringify(body),
        }),
      );
    const answer = await post(JSON.parse(session.initialize!));
    await answer.text();
    await post({ jsonrpc: "2.0", method: "notifications/initialized" }, { "mcp-session-id": session.id });
    return transport;
  }

  async function open(id: string, principal: Principal): Promise<Transport> {
    const session = await sessions.find(id);
    if (session === undefined || session.kind !== "http" || session.keyId !== principal.keyId) {
      void built.get(id)?.then((it) => it.close(), report.failed);
      built.delete(id);
      throw new AppError(
        "session_not_found",
        "There is no such session with this key. Start a new one with initialize.",
      );
    }
    used.add(id);
    return remember(id, built.get(id) ?? rebuild(session));
  }

  async function start(body: unknown, principal: Principal): Promise<Transport> {
    const id = randomUUID();
    const transport = await remember(id, build(id));
    await sessions.insert({ id, keyId: principal.keyId, kind: "http", initialize: JSON.stringify(body) });
    return transport;
  }

  async function serve(req: IncomingMessage, res: ServerResponse, principal: Principal): Promise<Response> {
    const body = req.method === "POST" ? await readMessage(req) : undefined;
    const gone = new AbortController();
    res.once("close", () => {
      if (!res.writableFinished) gone.abort();
    });
    const request = toWebRequest(req, gone.signal);
    const authInfo = toAuthInfo(principal, res.getHeader("x-request-id") as string | undefined);
    const options = { authInfo, ...(body !== undefined && { parsedBody: body }) };

    const id = req.headers["mcp-session-id"];
    if ((id !== undefined || methodOf(body) === "initialize") && isLegacy(req, body)) {
      if (typeof id === "string") {
        const response = await (await open(id, principal)).handleRequest(request, options);
        if (req.method === "DELETE" && response.ok) {
          built.delete(id);
          await sessions.remove(id);
        }
        return response;
      }
      if (isInitializeRequest(body)) return (await start(body, principal)).handleRequest(request, options);
    }
    return stateless.fetch(request, options);
  }

  return {
    async handle(req, res, principal) {
      const stream = req.method === "GET";
      if (stream) streams.checkRoom();
      const response = await serve(req, res, principal);
      const streamed = isEventStream(response);
      if (streamed) res.setHeader("X-Accel-Buffering", "no");
      const forget = streamed ? streams.add({ keyId: principal.keyId, res }) : undefined;
      await sendWebResponse(response, res).finally(forget);
    },
    takeUsed() {
      const ids = [...used];
      used.clear();
      return ids;
    },
    async close() {
      await stateless.close();
      await Promise.all(
        [...built.values()].map((it) => it.then((transport) => transport.close(), report.failed)),
      );
    },
  };
}

const methodOf = (body: unknown): unknown => (body as { method?: unknown } | null | undefined)?.method;

/** Whether a request is of the era in which there are sessions. */
function isLegacy(req: IncomingMessage, body: unknown): boolean {
  const of = (name: string) => (typeof req.headers[name] === "string" ? req.headers[name] : undefined);
  const [version, method, name] = [of("mcp-protocol-version"), of("mcp-method"), of("mcp-name")];
  const { kind } = classifyInboundRequest({
    httpMethod: req.method ?? "",
    body,
    ...(version !== undefined && { protocolVersionHeader: version }),
    ...(method !== undefined && { mcpMethodHeader: method }),
    ...(name !== undefined && { mcpNameHeader: name }),
  });
  return kind === "legacy";
}

/** Builds the SDK's transport of an `/mcp` session, new or from the stored `initialize` request. */
import {
  type CancelledNotification,
  type InitializeRequest,
  isJSONRPCNotification,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { McpSession } from "../../core/mcp-session-port.ts";
import { MAX_MESSAGE_BYTES } from "./http-messages.ts";
import type { McpServerFactory, ErrorReporter } from "./server.ts";
import { KEEP_ALIVE_MS } from "../streams.ts";

export type Transport = WebStandardStreamableHTTPServerTransport;

export function sessionTransports(servers: McpServerFactory, report: ErrorReporter) {
  async function build(id: string): Promise<Transport> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      keepAliveMs: KEEP_ALIVE_MS,
      maxRequestBodySize: MAX_MESSAGE_BYTES,
    });
    // A cancelled request gets no answer. The SDK would leave its response open, and shutdown would wait for it.
    transport.onmessage = (message) => {
      if (!isJSONRPCNotification(message) || message.method !== "notifications/cancelled") return;
      const { requestId } = (message as Partial<CancelledNotification>).params ?? {};
      if (requestId !== undefined) transport.closeSSEStream(requestId);
    };
    const server = await servers.create({ introduces: true });
    server.onerror = report.onRejected;
    // Keeps the listener above and calls it first.
    await server.connect(transport);
    return transport;
  }

  /** Builds a session that another copy started, or this one before a restart. */
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

  return { build, rebuild };
}

/** The part of `initialize` that is needed to build the session again; stored as long as the session. */
export function toInitializeReplay({ params }: InitializeRequest): string {
  const { protocolVersion, capabilities, clientInfo } = params;
  return JSON.stringify({
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion, capabilities, clientInfo },
  });
}

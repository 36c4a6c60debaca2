/** A helpdesk on loopback that speaks MCP: it finds tickets and takes comments. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";
import type { Effect } from "../effects.ts";

export interface Ticket {
  id: string;
  customer: string;
  status: "open" | "closed";
  subject: string;
  age_days: number;
}

export interface HelpdeskPeer {
  url: string;
  host: string;
  comments: { ticket_id: string; text: string }[];
  close(): Promise<void>;
}

const answer = (value: Record<string, unknown>) => ({
  content: [{ type: "text" as const, text: JSON.stringify(value) }],
  structuredContent: value,
});

/** Starts the helpdesk on a free port, without sessions. @param tickets read at every call, so a task can change them */
export async function startHelpdeskPeer(
  tickets: readonly Ticket[],
  effects: Effect[],
): Promise<HelpdeskPeer> {
  const comments: HelpdeskPeer["comments"] = [];
  const toolServer = (): McpServer => {
    const server = new McpServer({ name: "helpdesk", version: "1.0.0" });
    server.registerTool(
      "search_tickets",
      {
        description: "Finds the tickets of a customer.",
        inputSchema: { customer: z.string(), status: z.enum(["open", "closed"]).optional() },
        outputSchema: {
          tickets: z.array(
            z.object({ id: z.string(), subject: z.string(), status: z.string(), age_days: z.number() }),
          ),
        },
        annotations: { readOnlyHint: true },
      },
      ({ customer, status }) =>
        answer({
          tickets: tickets
            .filter((ticket) => ticket.customer === customer)
            .filter((ticket) => status === undefined || ticket.status === status)
            .map(({ id, subject, status: state, age_days }) => ({ id, subject, status: state, age_days })),
        }),
    );
    server.registerTool(
      "add_comment",
      {
        description: "Adds a comment that the customer can read.",
        inputSchema: { ticket_id: z.string(), text: z.string() },
        outputSchema: { ticket_id: z.string(), comments: z.number() },
      },
      ({ ticket_id, text }) => {
        comments.push({ ticket_id, text });
        effects.push({ kind: "tool", summary: `add_comment ${ticket_id}` });
        return answer({ ticket_id, comments: comments.filter((it) => it.ticket_id === ticket_id).length });
      },
    );
    return server;
  };
  const server = createServer((request, response) => {
    void (async () => {
      // Stateless: there is no stream to open and no session to end.
      if (request.method !== "POST") {
        response.writeHead(405).end();
        return;
      }
      const transport = new StreamableHTTPServerTransport();
      await toolServer().connect(transport);
      await transport.handleRequest(request, response);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}/mcp`,
    host,
    comments,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
